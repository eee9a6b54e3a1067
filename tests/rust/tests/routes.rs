//! Packets take the way that their flow group asks for.

use shoal_scenario::{Experiment, Link};
use shoal_tests::{check_conservation, experiment, monitor_all_links, run_logged};
use shoal_trace::PacketEvent;

/// s and d with three ways between them: over a, over b, and the long one over c and e.
fn diamond(groups: &str) -> String {
    let link = |from: &str, to: &str| {
        format!(
            "[[topology.links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n"
        )
    };
    let links: String = [("s", "a"), ("a", "d"), ("s", "b"), ("b", "d"), ("s", "c"), ("c", "e"), ("e", "d")]
        .into_iter()
        .map(|(from, to)| link(from, to))
        .collect();
    format!(
        "duration = \"1 s\"\n[topology]\nkind = \"graph\"\nnodes = [\"s\", \"a\", \"b\", \"c\", \"e\", \
         \"d\"]\n{links}{groups}"
    )
}

fn group(name: &str, ways: &str) -> String {
    format!(
        "[[flows]]\nname = \"{name}\"\ncc = \"reno\"\nfrom = \"s\"\nto = \"d\"\napp = {{ transfer = \"100 kB\" \
         }}\n{ways}"
    )
}

/// Names of the links that packets of a flow left, data apart from ACKs, in the order of their first packet.
fn links_of(experiment: &Experiment, seen: &[shoal_tests::Seen], flow: u32) -> (Vec<String>, Vec<String>) {
    let rated: Vec<&Link> = experiment.links.iter().filter(|link| link.rate.is_some()).collect();
    let of = |data: bool| {
        let mut names: Vec<String> = Vec::new();
        for seen in seen.iter().filter(|seen| seen.row.event == PacketEvent::Depart && seen.row.flow == flow)
        {
            let name = &rated[seen.row.link.0 as usize].name;
            if (seen.packet.payload > 0) == data && !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    };
    (of(true), of(false))
}

#[test]
fn data_and_acks_pass_the_nodes_that_are_named() {
    let text = diamond(
        &[
            group("short", ""),
            group("other", "via = \"b\"\n"),
            group("long", "via = [\"c\", \"e\"]\nvia_back = \"b\"\n"),
            group("far", "via_back = \"c\"\n"),
        ]
        .concat(),
    );
    let mut experiment = experiment(&text);
    monitor_all_links(&mut experiment);
    let (outcome, seen) = run_logged(&experiment);
    check_conservation(&outcome);
    let expected: [(&[&str], &[&str]); 4] = [
        (&["s->a", "a->d"], &["a->d/back", "s->a/back"]),
        (&["s->b", "b->d"], &["a->d/back", "s->a/back"]),
        (&["s->c", "c->e", "e->d"], &["b->d/back", "s->b/back"]),
        (&["s->a", "a->d"], &["e->d/back", "c->e/back", "s->c/back"]),
    ];
    for ((flow, (data, acks)), group) in (0..).zip(expected).zip(&outcome.groups) {
        let (seen_data, seen_acks) = links_of(&experiment, &seen, flow);
        // The SYN, without data, goes where data go.
        let acks: Vec<&str> = data.iter().chain(acks).copied().collect();
        assert_eq!(
            (seen_data, seen_acks),
            (data.iter().map(ToString::to_string).collect(), acks.iter().map(ToString::to_string).collect()),
            "flow {flow}"
        );
        assert!(group.flows[0].fct_s.iter().len() == 1, "{:?}", group.flows[0]);
    }
}

/// A transfer of one byte takes a SYN there, a SYN/ACK back, the byte there and its ACK back.
#[test]
fn a_longer_way_takes_longer_by_its_links() {
    let time = |ways: &str| {
        let text = diamond(&group("one", ways).replace("100 kB", "1 B"));
        let outcome = shoal_tests::run(&experiment(&text));
        outcome.groups[0].flows[0].fct_s[0]
    };
    // Headers: 60 B with the options of a SYN, else 52 B. Each link of 10 Mbit/s adds 1 ms and what it takes to send.
    let short = time("");
    let (there, back) = (time("via = [\"c\", \"e\"]\n") - short, time("via_back = [\"e\", \"c\"]\n") - short);
    let hop = |bytes: f64| 1e-3 + bytes * 8.0 / 10e6;
    assert!((there - hop(60.0) - hop(53.0)).abs() < 1e-9, "{there}");
    assert!((back - hop(60.0) - hop(52.0)).abs() < 1e-9, "{back}");
}
