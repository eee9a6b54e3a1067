//! Measures the simulator: CPU time per packet at the monitored links for the scenarios of `scenarios/bench`, and how
//! it grows with the number of flows. Prints a table; asserts nothing, because machines differ.
//!
//! `make bench`, or `cargo run --release -p shoal-benches -- [--repeat N] [CASE ...]`. `... -- --race PATH
//! [--repeat N] [CASE ...]` runs the cases and those of a peer in turns. `... -- --one CASE`
//! prints one run of one case on a line, with `--duration TIME` one of another length. `... -- --hashes` prints a hash
//! of the results of each shipped scenario, and `... -- --instructions [--keep]` what Callgrind counts of S1 to S4 and
//! lean. `... -- --link-alone` prints packets a CPU second through a link without a simulator.

mod hashes;
mod instructions;
mod line;
mod link_alone;
mod parts;
mod race;
mod table;
mod usage;

use shoal_scenario::Document;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The rows of the table: scenarios, and what is other in them behind a colon; see [`Variant`].
const CASES: &[&str] = &[
    "S1",
    "S2",
    "S3",
    "S4",
    "lean",
    "S3:unmetered",
    "S4:unmetered",
    "lean:unmetered",
    "S4:every-ack",
    "lean:every-ack",
    "scale:40",
    "scale:400",
    "scale:4000",
    "scale:40000",
    "coexistence",
    "fabric-1k",
    "fabric-8k",
    "fabric-web",
];

/// What the command line asks for.
#[derive(Default)]
struct Request {
    repeat: Option<u32>,
    one: Option<String>,
    peer: Option<String>,
    duration: Option<String>,
    hashes: bool,
    instructions: bool,
    link_alone: bool,
    keep: bool,
    /// Names of cases; none for all.
    names: Vec<String>,
}

impl Request {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--repeat" => {
                    let number = arguments.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
                    request.repeat = Some(number.ok_or("--repeat takes a number above zero")?);
                }
                "--one" => request.one = Some(arguments.next().ok_or("--one takes a case")?),
                "--race" => request.peer = Some(arguments.next().ok_or("--race takes the path of a peer")?),
                "--duration" => request.duration = Some(arguments.next().ok_or("--duration takes a time")?),
                "--hashes" => request.hashes = true,
                "--instructions" => request.instructions = true,
                "--link-alone" => request.link_alone = true,
                "--keep" => request.keep = true,
                option if option.starts_with("--") => return Err(format!("there is no option {option}")),
                _ => request.names.push(argument),
            }
        }
        Ok(request)
    }

    /// The cases that are named, or all. `scale` calls all that begin with it, `scale:40000` one.
    fn cases(&self) -> Result<Vec<&'static str>, String> {
        let calls = |name: &String, case: &str| name == case || case.split(':').next() == Some(name);
        if let Some(name) = self.names.iter().find(|name| !CASES.iter().any(|case| calls(name, case))) {
            return Err(no_such_case(name));
        }
        let wanted = |case: &&str| self.names.is_empty() || self.names.iter().any(|name| calls(name, case));
        Ok(CASES.iter().copied().filter(wanted).collect())
    }
}

fn no_such_case(name: &str) -> String {
    format!("there is no case {name}\nhint: {}", CASES.join(" "))
}

fn main() -> ExitCode {
    let read = Request::read(std::env::args().skip(1)).and_then(|r| Ok((r.cases()?, r)));
    let (cases, request) = match read {
        Ok(read) => read,
        Err(message) => return refuse(&message, 2),
    };
    if request.hashes {
        return hashes::print();
    }
    let printed = match (&request.one, &request.peer) {
        (None, None) if request.link_alone => link_alone::measure(),
        (None, None) if request.instructions => instructions::count(request.keep),
        (Some(name), _) => match CASES.iter().find(|case| *case == name) {
            Some(case) => measure(case, request.duration.as_deref()).map(|row| row.line.to_string()),
            None => return refuse(&no_such_case(name), race::NO_SUCH_CASE),
        },
        (None, Some(peer)) => {
            race::run(&cases, peer, request.repeat.unwrap_or(7)).map(|races| race::render(&races))
        }
        (None, None) => best(&cases, request.repeat).map(|rows| table::render(&rows)),
    };
    match printed {
        Ok(text) => {
            println!("{}", text.trim_end());
            ExitCode::SUCCESS
        }
        Err(message) => refuse(&message, 1),
    }
}

fn refuse(message: &str, code: u8) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(code)
}

/// The fastest of `repeat` runs of each case; by default of three, and of two where they are long.
fn best(cases: &[&str], repeat: Option<u32>) -> Result<Vec<table::Row>, String> {
    let mut rows = Vec::new();
    for case in cases {
        let repeat = repeat.unwrap_or(if case.starts_with("fabric") { 2 } else { 3 });
        let runs = (0..repeat).map(|_| measure(case, None)).collect::<Result<Vec<_>, _>>()?;
        if let Some(row) = runs.into_iter().min_by(|a, b| a.line.cpu_s.total_cmp(&b.line.cpu_s)) {
            eprintln!("{}", row.progress());
            rows.push(row);
        }
    }
    Ok(rows)
}

/// What a case has other than its scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant<'a> {
    /// Number of flows.
    Flows(&'a str),
    /// No link is monitored, as in a simulator that keeps no statistics of queues.
    Unmetered,
    /// Receivers acknowledge each packet, as in a simulator that knows no delayed acknowledgements.
    EveryAck,
}

impl<'a> Variant<'a> {
    fn of(name: &'a str) -> Self {
        match name {
            "unmetered" => Self::Unmetered,
            "every-ack" => Self::EveryAck,
            count => Self::Flows(count),
        }
    }

    fn replaced(self) -> Option<(String, String)> {
        match self {
            Self::Flows(count) => Some(("flows[0].count".to_owned(), count.to_owned())),
            Self::EveryAck => Some(("flows[0].delayed_ack".to_owned(), "false".to_owned())),
            Self::Unmetered => None,
        }
    }
}

fn measure(case: &str, duration: Option<&str>) -> Result<table::Row, String> {
    let (scenario, variant) =
        case.split_once(':').map_or((case, None), |(name, variant)| (name, Some(Variant::of(variant))));
    // The window covers the whole run, so that packets and CPU time are those of the same interval.
    let mut overrides = vec![("warmup".to_owned(), "\"0 s\"".to_owned())];
    overrides.extend(duration.map(|duration| ("duration".to_owned(), format!("\"{duration}\""))));
    overrides.extend(variant.and_then(Variant::replaced));
    let document = read(&scenario_path(scenario), &overrides)?;
    let setup = usage::thread_seconds();
    let mut experiment = document.resolve(None).map_err(|e| e.to_string())?;
    if variant == Some(Variant::Unmetered) {
        experiment.links.iter_mut().for_each(|link| link.monitored = false);
    }
    let start = usage::thread_seconds();
    let outcome =
        shoal_sim::run(&experiment, shoal_sim::Options::default()).ok_or("the run was interrupted")?;
    let end = usage::thread_seconds();
    Ok(table::Row::new(case, &experiment, &outcome, end - start, start - setup))
}

/// A scenario file with some values replaced.
fn read(path: &Path, overrides: &[(String, String)]) -> Result<Document, String> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| format!("{file}: {e}"))?;
    Document::with_overrides(&text, &file, overrides).map_err(|e| e.to_string())
}

fn scenario_path(name: &str) -> PathBuf {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let bench = scenarios.join(format!("bench/{}.toml", name.to_lowercase()));
    if bench.exists() { bench } else { scenarios.join(format!("{name}.toml")) }
}
