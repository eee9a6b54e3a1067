//! Vectors that the kernel modules' user-space harness replays (linux/modules/tests): what the Rust models say.
//! Included by the tests that make them.

use std::fmt::Write;
use std::path::Path;

/// Writes `text` into the folder that `SHOAL_VECTORS` names, if it names one (linux/modules/tests/Makefile), and
/// compares it with what tests/vectors/golden keeps of it: for each configuration the number of its rows, their
/// fingerprint and the last of them. Model and module might otherwise change alike and nobody would notice.
///
/// # Panics
/// If a configuration says something else.
pub(crate) fn check(name: &str, text: &str) {
    if let Some(folder) = std::env::var_os("SHOAL_VECTORS") {
        let path = Path::new(&folder).join(name);
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/vectors/golden").join(name);
    let found = summary(text);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&golden, found).expect("the folder of summaries is writable");
        return;
    }
    let kept = std::fs::read_to_string(&golden).unwrap_or_default();
    let differs = |(_, (old, new)): &(usize, (&str, &str))| old != new;
    let first = (1..).zip(kept.lines().zip(found.lines())).find(differs);
    let (place, change) = match first {
        Some((line, (old, new))) => (line, format!("- {old}\n+ {new}")),
        None => (
            kept.lines().count().min(found.lines().count()) + 1,
            "one has more lines than the other".to_owned(),
        ),
    };
    assert!(
        kept == found,
        "the model no longer says what it said (tests/vectors/golden/{name}, line {place}):\n{change}\n\
         hint: if that is meant, `make generate` writes the summaries anew; it keeps all rows in \
         linux/modules/tests/build/vectors, so that \
         those of two versions can be compared"
    );
}

/// The comments, and one line for each configuration, which begins with a row `config`.
fn summary(text: &str) -> String {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut summary = String::from(
        "# Rows, FNV-1a (64 bits) of their text, the last of them; `make generate` writes this anew.\n",
    );
    for line in text.lines() {
        match (line.split('\t').next(), blocks.last_mut()) {
            (Some("config"), _) => blocks.push(vec![line]),
            (_, Some(block)) => block.push(line),
            (_, None) => writeln!(summary, "{line}").expect("a text takes everything"),
        }
    }
    for block in blocks {
        let last = block.last().expect("a block has its first line");
        let sum =
            block.iter().flat_map(|line| line.bytes().chain([b'\n'])).fold(0xcbf2_9ce4_8422_2325, fnv_1a);
        writeln!(summary, "{}\t{sum:016x}\t{last}", block.len()).expect("a text takes everything");
    }
    summary
}

/// One step of the hash by Fowler, Noll and Vo (<http://www.isthe.com/chongo/tech/comp/fnv/>).
fn fnv_1a(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}
