//! Queues differ from what they follow where their descriptions say so, and a test holds each difference. Some of these
//! tests are about whole scenarios, and lie outside the crate of the queues.

use shoal_aqm::DOCS;
use std::fs;
use std::path::Path;

#[test]
fn every_difference_of_a_queue_names_an_existing_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tests = String::new();
    for place in
        ["crates/core/aqm/src", "crates/core/aqm/tests", "crates/lab/scenario/tests", "tests/rust/tests"]
    {
        read(&root.join(place), &mut tests);
    }
    for doc in DOCS {
        assert!(!doc.differences.is_empty(), "{}", doc.name);
        for difference in doc.differences {
            let function = format!("#[test]\nfn {}()", difference.test);
            assert!(tests.contains(&function), "{}: {}", doc.name, difference.test);
        }
    }
}

/// Adds the sources in a folder, and in those below.
fn read(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            read(&path, sources);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            sources.push_str(&fs::read_to_string(&path).expect("readable"));
        }
    }
}
