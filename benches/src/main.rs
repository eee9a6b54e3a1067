//! Measures the simulator: CPU time per packet at the monitored links for the scenarios of `scenarios/bench`, and how it
//! grows with the number of flows. Prints a table; asserts nothing, because machines differ.
//!
//! `make bench`, or `cargo run --release -p shoal-benches -- [--repeat N] [NAME ...]`.

mod cpu;
mod table;

use shoal_scenario::Document;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One row of the table.
struct Case {
    /// Name of the scenario.
    name: &'static str,
    /// Keys replaced in it.
    set: &'static [(&'static str, &'static str)],
    /// Target of the project in million bottleneck packets per CPU second.
    target: Option<f64>,
}

impl Case {
    /// `scale` calls all its sizes, `scale:40000` one.
    fn is_called(&self, name: &str) -> bool {
        let size = self.set.first().map_or("", |(_, value)| value);
        match name.split_once(':') {
            Some((name, wanted)) => name == self.name && wanted == size,
            None => name == self.name,
        }
    }
}

const fn case(name: &'static str, target: f64) -> Case {
    Case { name, set: &[], target: Some(target) }
}
const fn scale(set: &'static [(&'static str, &'static str)]) -> Case {
    Case { name: "scale", set, target: None }
}
const fn fabric(name: &'static str) -> Case {
    Case { name, set: &[], target: None }
}

const CASES: &[Case] = &[
    case("S1", 3.0),
    case("S2", 3.0),
    case("S3", 3.0),
    case("S4", 3.0),
    case("lean", 6.0),
    scale(&[("flows[0].count", "40")]),
    scale(&[("flows[0].count", "400")]),
    scale(&[("flows[0].count", "4000")]),
    scale(&[("flows[0].count", "40000")]),
    Case { name: "coexistence", set: &[("duration", "\"300 s\"")], target: None },
    fabric("fabric-1k"),
    fabric("fabric-8k"),
    fabric("fabric-web"),
];

fn main() -> ExitCode {
    let mut repeat = 3;
    let mut wanted = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--repeat" {
            match arguments.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0) {
                Some(n) => repeat = n,
                None => {
                    eprintln!("error: --repeat takes a number above zero");
                    return ExitCode::from(2);
                }
            }
        } else {
            wanted.push(argument);
        }
    }
    let mut rows = Vec::new();
    for case in CASES {
        if !wanted.is_empty() && !wanted.iter().any(|name| case.is_called(name)) {
            continue;
        }
        match measure(case, repeat) {
            Ok(row) => {
                eprintln!("{}", row.progress());
                rows.push(row);
            }
            Err(message) => {
                eprintln!("error: {message}");
                return ExitCode::FAILURE;
            }
        }
    }
    if rows.is_empty() {
        eprintln!(
            "error: no such case\nhint: S1 S2 S3 S4 lean scale scale:40000 coexistence fabric-1k fabric-8k fabric-web"
        );
        return ExitCode::from(2);
    }
    println!("{}", table::render(&rows));
    ExitCode::SUCCESS
}

fn measure(case: &Case, repeat: u32) -> Result<table::Row, String> {
    let name = case.name;
    let path = scenario_path(name);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    // The window covers the whole run, so that packets and CPU time are those of the same interval.
    let overrides: Vec<(String, String)> = case
        .set
        .iter()
        .chain(&[("warmup", "\"0 s\"")])
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    let file = format!("{name}.toml");
    let document = Document::with_overrides(&text, &file, &overrides).map_err(|e| e.to_string())?;
    let mut best: Option<table::Row> = None;
    for _ in 0..repeat {
        let setup = cpu::thread_seconds();
        let experiment = document.resolve(None).map_err(|e| e.to_string())?;
        let start = cpu::thread_seconds();
        let outcome =
            shoal_sim::run(&experiment, shoal_sim::Options::default()).ok_or("the run was interrupted")?;
        let end = cpu::thread_seconds();
        let row = table::Row::new(name, &experiment, &outcome, end - start, start - setup, case.target);
        if best.as_ref().is_none_or(|b| row.cpu_s < b.cpu_s) {
            best = Some(row);
        }
    }
    best.ok_or_else(|| "nothing was measured".to_owned())
}

fn scenario_path(name: &str) -> PathBuf {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let bench = scenarios.join(format!("bench/{}.toml", name.to_lowercase()));
    if bench.exists() { bench } else { scenarios.join(format!("{name}.toml")) }
}
