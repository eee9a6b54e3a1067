//! Any text as a scenario file.

use shoal_scenario::{Document, Experiment, LinkId, NodeId};
use std::collections::BTreeSet;

/// Reading and resolving never panics; what is accepted survives being written and read, and resolves to a graph whose
/// references are whole.
///
/// # Panics
/// If one of that does not hold.
pub fn scenario_toml(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let document = match Document::parse(text, "fuzz.toml") {
        Ok(document) => document,
        Err(errors) => {
            assert!(!errors.0.is_empty() && !errors.to_string().is_empty());
            return;
        }
    };
    let experiment = document.resolve(None).expect("what was read was checked");
    for flow in &experiment.flows {
        assert!((flow.group as usize) < experiment.groups.len());
        assert!((flow.endpoint as usize) < experiment.endpoints.len());
        for path in [flow.forward, flow.backward] {
            let path = &experiment.paths[path as usize];
            assert!(!path.is_empty() && path.iter().all(|link| (link.0 as usize) < experiment.links.len()));
            check_way(&experiment, path);
        }
    }
    let again = Document::from_json(&document.to_json(), "json").expect("what was written can be read");
    assert_eq!(again, document);
    let again = Document::parse(&document.to_toml(), "toml").expect("what was written can be read");
    assert_eq!(again, document);
}

/// A path has no gap and passes no node twice.
fn check_way(experiment: &Experiment, path: &[LinkId]) {
    let link = |id: &LinkId| &experiment.links[id.0 as usize];
    assert!(path.windows(2).all(|pair| link(&pair[0]).to == link(&pair[1]).from), "a gap");
    let mut passed: BTreeSet<NodeId> = path.iter().map(|id| link(id).to).collect();
    passed.insert(link(&path[0]).from);
    assert_eq!(passed.len(), path.len() + 1, "a loop");
}
