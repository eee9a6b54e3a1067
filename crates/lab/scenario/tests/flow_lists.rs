//! Lists of flows that are given with a scenario.

use shoal_scenario::{App, Document, FlowList, FlowLists, Laws, ListedHosts};
use shoal_units::{Span, Time};
use std::sync::Arc;

const STAR: &str = r#"
duration = "10 ms"
topology = { kind = "star", hosts = 3, rate = "1 Gbit/s", delay = "2 us", buffer = "100 packets" }
[[flows]]
cc = "dctcp"
start = { list = "flows.csv", flows = 3, sha256 = "abc" }
"#;

fn lists() -> FlowLists {
    let starts = [1, 1, 4].map(|us| Time::ZERO + Span::from_micros(us));
    let names = ["h1", "h2", "h3"].map(String::from).into();
    let hosts = ListedHosts { names, sources: vec![0, 1, 2], destinations: vec![2, 2, 0] };
    let list = FlowList::new(starts.into(), vec![700, 800, 900], Some(hosts)).unwrap();
    FlowLists::from([("abc".to_owned(), Arc::new(list))])
}

#[test]
fn each_flow_has_its_start_its_size_and_its_hosts() {
    let document =
        Document::with_files(STAR, "test.toml", &[], lists().into()).unwrap_or_else(|e| panic!("{e}"));
    let experiment = document.resolve(None).unwrap();
    let flows = experiment.flows.iter().map(|flow| {
        let App::Transfers { bytes, rounds: 1, barrier: false, .. } = flow.app else { panic!("{flow:?}") };
        let first = experiment.links_of(flow.forward).next().unwrap().from;
        let node = |id: shoal_scenario::NodeId| experiment.nodes[id.0 as usize].name.as_str();
        let ends = (node(first), node(experiment.end_of(flow.forward).unwrap()));
        (flow.start.since(Time::ZERO).as_micros(), bytes, ends)
    });
    let expected = [(1, 700, ("h1", "h3")), (1, 800, ("h2", "h3")), (4, 900, ("h3", "h1"))];
    assert_eq!(flows.collect::<Vec<_>>(), expected);
    // The list goes with the document, and its JSON does not hold it.
    let changed = document.overridden(&[("duration".to_owned(), "20 ms".to_owned())], Laws::new()).unwrap();
    assert_eq!(changed.resolve(None).unwrap().flows, experiment.flows);
    let json = document.to_json();
    assert!(Document::from_json(&json, "json").unwrap_err().to_string().contains("has not been read"));
    assert_eq!(Document::from_json_with_files(&json, "json", lists().into()).unwrap(), document);
}

#[test]
fn a_list_without_hosts_takes_those_of_the_group() {
    let starts = [1, 2].map(|us| Time::ZERO + Span::from_micros(us));
    let list = Arc::new(FlowList::new(starts.into(), vec![700, 800], None).unwrap());
    let lists = || FlowLists::from([("abc".to_owned(), Arc::clone(&list))]);
    let without = Document::with_files(STAR, "test.toml", &[], lists().into()).unwrap_err().to_string();
    assert!(without.contains("missing key `from`"), "{without}");
    let text = format!("{STAR}from = [\"h1\", \"h2\"]\nto = \"h3\"\n");
    let document =
        Document::with_files(&text, "test.toml", &[], lists().into()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(document.resolve(None).unwrap().flows.len(), 2);
}
