//! Every scenario in the scenarios folder reads without a warning, resolves, and survives writing and reading.

use std::fs;
use std::path::{Path, PathBuf};

use shoal_scenario::Document;

fn shipped() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios");
    let mut files: Vec<PathBuf> = [root.clone(), root.join("bench")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn all_of_them_resolve() {
    let files = shipped();
    assert!(files.len() >= 11, "{files:?}");
    for (path, text) in files {
        if text.contains("{ list = ") {
            // It names a list of flows, and nobody has read that here.
            let refused = Document::parse(&text, "test.toml").unwrap_err().to_string();
            assert!(refused.contains("has not been read"), "{refused}");
            continue;
        }
        let document = Document::parse(&text, &path.display().to_string()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(document.warnings(), [], "{path:?}");
        let experiment = document.resolve(None).unwrap();
        assert!(experiment.links.iter().any(|link| link.monitored), "{path:?}");
        let json =
            Document::from_json(&document.to_json(), "json").unwrap_or_else(|e| panic!("{path:?}\n{e}"));
        let toml = Document::parse(&document.to_toml(), "toml").unwrap_or_else(|e| panic!("{path:?}\n{e}"));
        assert_eq!((&json, &toml), (&document, &document), "{path:?}");
        assert_eq!(json.resolve(None).unwrap(), experiment, "{path:?}");
    }
}
