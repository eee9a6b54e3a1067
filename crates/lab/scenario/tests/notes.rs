//! What a result's reader finds about a note: its kind, and the groups and links that it is about. The messages are in
//! `errors`.

use shoal_scenario::Document;

/// Kind, groups and links of every note of a scenario.
fn notes(text: &str) -> Vec<(&'static str, String, String)> {
    let document = Document::parse(text, "demo.toml").unwrap_or_else(|e| panic!("{e}"));
    let experiment = document.resolve(None).unwrap_or_else(|e| panic!("{e}"));
    experiment.notes.iter().map(|note| (note.kind, note.groups.join(" "), note.links.join(" "))).collect()
}

#[test]
fn dctcp_in_the_classic_queue_names_group_and_queue() {
    let found = notes(include_str!("errors/bases/dualpi2.toml"));
    assert_eq!(found, [("dctcp-in-classic-queue", "dctcp".to_owned(), "bottleneck".to_owned())]);
}

#[test]
fn a_queue_in_hosts_names_their_links() {
    let found = notes(include_str!("errors/bases/narrow-hosts.toml"));
    let found: Vec<_> = found.into_iter().map(|(kind, _, links)| (kind, links)).collect();
    assert_eq!(found, [("queue-in-hosts", "dctcp/access".to_owned())]);
}

#[test]
fn effects_of_laws_name_the_link() {
    let text = include_str!("errors/bases/dualpi2.toml");
    let text = text
        .replace("kind = \"dualpi2\"", "kind = \"dualpi2\", ecn_mask = \"any-ect\", alpha = 0.15, beta = 3");
    // 0.15 Hz acts as 0.1455 Hz, which is 3 % less, and 3 Hz as 2.998 Hz.
    assert_eq!(notes(&text), [("rounded-gain", String::new(), "bottleneck".to_owned())]);
}

#[test]
fn adaptive_red_is_noted_because_tc_does_not_start_it() {
    let text = include_str!("errors/bases/dualpi2.toml");
    let (before, rest) = text.split_once("kind = \"dualpi2\"").unwrap();
    let red = "kind = \"linux-red\", min = \"15 kB\", avpkt = \"1500 B\", adaptive = true";
    let text = format!("{before}{red}{rest}");
    assert_eq!(notes(&text), [("never-adapts-by-tc", String::new(), "bottleneck".to_owned())]);
}
