//! A hash of all that the simulator measures of each shipped scenario: of two builds that are to have the same results,
//! each line is the same.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints the hashes, each with the path of its scenario.
pub(crate) fn print() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut paths = Vec::new();
    scenarios(&folder, &mut paths);
    paths.sort();
    for path in paths {
        let name = path.strip_prefix(&folder).unwrap_or(&path).display();
        match hash(&path) {
            Ok(hash) => println!("{hash:016x} {name}"),
            Err(reason) => println!("- {name}: {}", reason.lines().next().unwrap_or_default()),
        }
    }
    ExitCode::SUCCESS
}

fn scenarios(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
}

fn hash(path: &Path) -> Result<u64, String> {
    let experiment = crate::read(path, &[])?.resolve(None).map_err(|e| e.to_string())?;
    shoal_sim::check(&experiment).map_err(|e| format!("{e:?}"))?;
    let outcome =
        shoal_sim::run(&experiment, shoal_sim::Options::default()).ok_or("the run was interrupted")?;
    let mut hasher = DefaultHasher::new();
    // What a result consists of has names and numbers only; the number of events is no result.
    hasher.write(format!("{:?} {:?}", outcome.measured, outcome.conservation).as_bytes());
    Ok(hasher.finish())
}
