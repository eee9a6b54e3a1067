//! The committed fuzz corpora, replayed without a fuzzer.

use shoal_tests::fuzz::TARGETS;
use std::fs;
use std::path::Path;

#[test]
fn committed_corpora_find_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, target) in TARGETS {
        let folder = root.join(name);
        let mut files: Vec<_> = fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.expect("readable").path())
            .collect();
        files.sort();
        assert!(files.len() >= 4, "{name}: {} inputs", files.len());
        for file in files {
            // Shown if the target panics.
            println!("{}", file.display());
            target(&fs::read(&file).expect("readable"));
        }
    }
}

#[test]
fn every_target_has_a_binary_and_every_corpus_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("readable");
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in fuzz/Cargo.toml");
        assert!(root.join(format!("fuzz_targets/{name}.rs")).is_file(), "{name}");
    }
    for entry in fs::read_dir(root.join("corpus")).expect("readable") {
        let name = entry.expect("readable").file_name().into_string().expect("text");
        assert!(TARGETS.iter().any(|(target, _)| *target == name), "corpus {name} has no target");
    }
}
