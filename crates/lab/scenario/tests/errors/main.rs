//! What a user sees for each kind of mistake: whole messages, compared byte for byte.
//!
//! The cases are data: each `.txt` file in this folder is a table of them, described in `table.rs`, and each case is a
//! test (`cargo test -p shoal-scenario --test errors -- "keys: "` runs those of `keys.txt`). To add one, write its
//! heading and its input without a message; to write what is said now into every case whose message differs, and then
//! read the change with `git diff`:
//!
//! ```text
//! UPDATE_EXPECT=1 cargo test -p shoal-scenario --test errors
//! ```

mod table;

use libtest_mimic::{Arguments, Failed, FormatSetting, Trial};
use shoal_scenario::Document;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use table::{Case, Table};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/errors");

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.format.get_or_insert(FormatSetting::Terse);
    let bases = Arc::new(bases());
    let tables = tables();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return update(tables, &bases);
    }
    let mut trials = vec![unused_bases(&tables, &bases)];
    for table in tables {
        let mut names = BTreeSet::new();
        for case in table.cases {
            let name = format!("{}: {}", table.name, case.name);
            assert!(names.insert(name.clone()), "two cases have the name {name:?}");
            let bases = Arc::clone(&bases);
            trials.push(Trial::test(name, move || check(&case, &bases)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

type Bases = BTreeMap<String, String>;

/// The scenarios that cases start from, by name.
fn bases() -> Bases {
    let files = files(&Path::new(FOLDER).join("bases"), "toml");
    files.into_iter().map(|path| (stem(&path), read(&path))).collect()
}

fn tables() -> Vec<Table> {
    let tables: Vec<Table> = files(Path::new(FOLDER), "txt")
        .into_iter()
        .map(|path| {
            Table::parse(&stem(&path), &read(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        })
        .collect();
    assert!(!tables.is_empty(), "{FOLDER} holds the tables");
    tables
}

fn unused_bases(tables: &[Table], bases: &Bases) -> Trial {
    let used: BTreeSet<String> =
        tables.iter().flat_map(|table| &table.cases).map(|case| case.base.clone()).collect();
    let unused: Vec<String> = bases.keys().filter(|name| !used.contains(*name)).cloned().collect();
    Trial::test("every base is used", move || match unused.as_slice() {
        [] => Ok(()),
        names => Err(format!("no case starts from {names:?}").into()),
    })
}

fn check(case: &Case, bases: &Bases) -> Result<(), Failed> {
    let found = said(case, bases)?;
    if found == case.message {
        return Ok(());
    }
    let difference = table::difference(&case.message, &found);
    Err(format!("- what the table expects, + what is said\n{difference}").into())
}

/// Writes what is said into the tables, which are complete before the first file is touched.
fn update(tables: Vec<Table>, bases: &Bases) -> ExitCode {
    let mut texts = Vec::new();
    for mut table in tables {
        let mut changed = 0;
        for case in &mut table.cases {
            let found = said(case, bases).unwrap_or_else(|e| panic!("{}: {}: {e}", table.name, case.name));
            changed += u32::from(found != case.message);
            case.message = found;
        }
        if changed > 0 {
            texts.push((format!("{FOLDER}/{}.txt", table.name), table.to_string(), changed));
        }
    }
    for (path, text, changed) in texts {
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{path}: {e}"));
        println!("{path}: {changed} messages written anew");
    }
    ExitCode::SUCCESS
}

/// The errors of a scenario that is refused; the warnings and notes of one that is accepted.
fn said(case: &Case, bases: &Bases) -> Result<String, String> {
    let base = bases.get(&case.base).ok_or_else(|| format!("there is no bases/{}.toml", case.base))?;
    let document = match Document::with_overrides(&case.text(base)?, "demo.toml", &case.arguments) {
        Err(errors) => return Ok(errors.to_string()),
        Ok(document) => document,
    };
    let remarks: Vec<String> =
        document.warnings().iter().chain(document.notes()).map(ToString::to_string).collect();
    Ok(if remarks.is_empty() { "accepted, and nothing is said\n".to_owned() } else { remarks.join("\n") })
}

/// The files of a folder with this extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a file has a name").to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
