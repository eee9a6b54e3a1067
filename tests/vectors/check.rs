//! Vectors that the kernel modules' user-space harness replays (linux/modules/tests): written by the Rust models, committed, and
//! compared with what the models say now. Included by the tests that make them.

use std::path::Path;

/// Compares `text` with the committed file, or writes it if `SHOAL_WRITE_VECTORS` is set.
///
/// # Panics
/// If they differ.
pub fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/vectors").join(name);
    if std::env::var_os("SHOAL_WRITE_VECTORS").is_some() {
        std::fs::write(&path, text).expect("the folder of vectors is writable");
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = committed.lines().zip(text.lines()).position(|(old, new)| old != new);
    assert!(
        committed == text,
        "the models no longer say what tests/vectors/{name} holds (first difference: line {}); `make vectors` writes it anew",
        line.unwrap_or_else(|| committed.lines().count().min(text.lines().count())) + 1
    );
}
