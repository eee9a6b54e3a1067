//! Instructions and mispredicted branches a packet, counted by Callgrind: the same on a machine with much to do, so
//! that a change of a hundredth is seen. A bound is what was recorded for the same compiler and profile.

use crate::line::Line;
use crate::parts::{self, Parts};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// The cases, with two durations. What the longer run takes more is the cost of its packets, without set-up and result.
const CASES: &[(&str, [&str; 2])] = &[
    ("S1", ["5 s", "20 s"]),
    ("S2", ["1 s", "4 s"]),
    ("S3", ["20 ms", "80 ms"]),
    ("S4", ["10 ms", "30 ms"]),
    ("lean", ["10 ms", "30 ms"]),
];

/// What a count may be more than what was recorded.
const MARGIN: f64 = 0.02;

const TITLE: &str = "profile,compiler,case,instructions,mispredicted";

/// What a packet takes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Cost {
    instructions: f64,
    mispredicted: f64,
}

/// Counts all cases, prints a table, and compares it with what was recorded or replaces that.
pub(crate) fn count(keep: bool) -> Result<String, String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("instructions.csv");
    let recorded = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let build = build()?;
    let before = costs(&recorded, &build);
    let mut now = BTreeMap::new();
    let mut by_part = Vec::new();
    for (case, durations) in CASES {
        let (cost, costs) = cost(case, durations)?;
        now.insert((*case).to_owned(), cost);
        by_part.push((*case, costs));
        eprintln!("{case}: counted");
    }
    if keep {
        std::fs::write(&path, with(&recorded, &build, &now))
            .map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let mut text = format!("Instructions a packet of the bottleneck ({})\n\n", build.replace(',', ", "));
    text += "| case | instructions | mispredicted | recorded | ratio |\n|---|---:|---:|---:|---:|\n";
    let mut above = Vec::new();
    for (case, Cost { instructions, mispredicted }) in &now {
        let recorded = before.get(case);
        let ratio = recorded.map(|before| instructions / before.instructions);
        let known = recorded.map_or("-".to_owned(), |before| format!("{:.0}", before.instructions));
        let shown = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
        let _ = writeln!(text, "| {case} | {instructions:.0} | {mispredicted:.1} | {known} | {shown} |");
        above.extend(ratio.filter(|ratio| *ratio > 1.0 + MARGIN).map(|_| case.as_str()));
    }
    text += "\nInstructions a packet by the part of the program whose files they are in\n\n";
    text += &parts::table(&by_part);
    if before.is_empty() {
        text += "\nNothing is recorded of this compiler and profile, so nothing is compared.\n";
    }
    if keep || above.is_empty() {
        return Ok(text);
    }
    Err(format!(
        "{text}\nmore than 2 % above what was recorded: {}\nhint: if that is what it takes, `make bench-instructions \
         BENCH=--keep` records it, and the commit says why",
        above.join(", ")
    ))
}

/// The profile and the compiler of this build, as in the first two columns.
fn build() -> Result<String, String> {
    let profile = if cfg!(debug_assertions) { "ci" } else { "release" };
    let output = Command::new("rustc").arg("--version").output().map_err(|e| format!("rustc: {e}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(format!("{profile},{}", said.split(" (").next().unwrap_or_default().trim()))
}

/// The recorded costs of a build by their cases.
fn costs(recorded: &str, build: &str) -> BTreeMap<String, Cost> {
    let rows = recorded.lines().filter_map(|row| cells_of(row, build));
    let read = |row: &str| {
        let mut cells = row.split(',');
        let case = cells.next()?.to_owned();
        let mut number = || cells.next()?.parse().ok();
        Some((case, Cost { instructions: number()?, mispredicted: number()? }))
    };
    rows.filter_map(read).collect()
}

/// The cells of a row behind those that name the build; `None` if the row is of another one.
fn cells_of<'a>(row: &'a str, build: &str) -> Option<&'a str> {
    row.strip_prefix(build)?.strip_prefix(',')
}

/// The recorded rows with those of a build replaced.
fn with(recorded: &str, build: &str, costs: &BTreeMap<String, Cost>) -> String {
    let others = recorded.lines().skip(1).filter(|row| cells_of(row, build).is_none()).map(str::to_owned);
    let own = costs
        .iter()
        .map(|(case, cost)| format!("{build},{case},{:.1},{:.2}", cost.instructions, cost.mispredicted));
    let mut rows: Vec<String> = others.chain(own).collect();
    rows.sort();
    rows.insert(0, TITLE.to_owned());
    rows.join("\n") + "\n"
}

/// What a packet takes, and instructions by part.
fn cost(case: &str, durations: &[&str; 2]) -> Result<(Cost, BTreeMap<&'static str, f64>), String> {
    let [short, long] = [run(case, durations[0])?, run(case, durations[1])?];
    if long.packets <= short.packets {
        return Err(format!("{case}: no more packets in {} than in {}", durations[1], durations[0]));
    }
    let packets = (long.packets - short.packets) as f64;
    let per_packet = |one: u64, other: u64| (one as f64 - other as f64) / packets;
    let cost = Cost {
        instructions: per_packet(long.counts[0], short.counts[0]),
        mispredicted: per_packet(long.counts[1], short.counts[1]),
    };
    let of_part = |(part, count): (&&'static str, &u64)| {
        (*part, per_packet(*count, short.parts.get(part).copied().unwrap_or(0)))
    };
    Ok((cost, long.parts.iter().map(of_part).collect()))
}

/// What was counted of one run.
struct Counted {
    packets: u64,
    /// Instructions and mispredicted branches.
    counts: [u64; 2],
    parts: Parts,
}

fn run(case: &str, duration: &str) -> Result<Counted, String> {
    let here = std::env::current_exe().map_err(|e| format!("this program does not find itself: {e}"))?;
    let profile = std::env::temp_dir().join(format!("shoal-instructions-{}", std::process::id()));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--branch-sim=yes"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(here)
        .args(["--one", case, "--duration", duration])
        .output()
        .map_err(|e| {
            format!("valgrind cannot be started: {e}\nhint: it is a package of every distribution")
        })?;
    let written = std::fs::read_to_string(&profile);
    // Also after a run that failed; what was not written need not be removed.
    _ = std::fs::remove_file(&profile);
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{case} ended with {}\n{}", output.status, said.trim_end()));
    }
    let written = written.map_err(|e| format!("{}: {e}", profile.display()))?;
    let line: Line = String::from_utf8_lossy(&output.stdout).parse()?;
    let counts = counts(&said).ok_or_else(|| format!("{case}: no counts in\n{}", said.trim_end()))?;
    Ok(Counted { packets: line.packets, counts, parts: parts::parts(&written) })
}

/// Instructions and mispredicted branches (conditional and indirect ones) in what Callgrind says.
fn counts(said: &str) -> Option<[u64; 2]> {
    let after = |title: &str| {
        said.lines().find_map(|line| line.split_once(title)).map(|(_, rest)| rest.split_whitespace())
    };
    let names: Vec<&str> = after("Events    :")?.collect();
    let numbers: Vec<u64> = after("Collected :")?.map_while(|word| word.parse().ok()).collect();
    let of = |name: &str| {
        let place = names.iter().position(|other| *other == name)?;
        numbers.get(place).copied()
    };
    Some([of("Ir")?, of("Bcm")? + of("Bim")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrind_is_read() {
        let said = "==7== Events    : Ir Bc Bcm Bi Bim\n==7== Collected : 1000 100 7 20 3\n==7== \n";
        assert_eq!(counts(said), Some([1000, 10]));
        assert_eq!(counts("==7== Events    : Ir\n==7== Collected : 1000\n"), None);
    }

    #[test]
    fn a_build_replaces_its_own_rows() {
        let other = "release,rustc 1.9,S1,6.0,0.60\n";
        let recorded = format!("{TITLE}\nci,rustc 1,S1,10.0,1.00\nrelease,rustc 1,S1,5.0,0.50\n{other}");
        let build = "release,rustc 1";
        assert_eq!(costs(&recorded, build)["S1"], Cost { instructions: 5.0, mispredicted: 0.5 });
        assert!(costs(&recorded, "release,rustc 2").is_empty());
        let now = BTreeMap::from([("S1".to_owned(), Cost { instructions: 4.04, mispredicted: 0.25 })]);
        let written = with(&recorded, build, &now);
        assert_eq!(
            written,
            format!("{TITLE}\nci,rustc 1,S1,10.0,1.00\nrelease,rustc 1,S1,4.0,0.25\n{other}")
        );
    }
}
