//! `--set` arguments that apply.

use shoal_aqm::{Extent, QueueConfig};
use shoal_scenario::{App, Document, Experiment};
use shoal_units::{Rate, Time};

const TEXT: &str = r#"
duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dual-red"
reno = { min = "10 packets", max = "30 packets" }
dctcp.threshold = "15 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"

[[flows]]
name = "fast"
cc = "dctcp"
rtt = "25 ms"
"#;

fn with(set: &[(&str, &str)]) -> Experiment {
    let set: Vec<(String, String)> =
        set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let document = Document::with_overrides(TEXT, "test.toml", &set).unwrap_or_else(|e| panic!("{e}"));
    document.resolve(None).unwrap()
}

#[test]
fn quotes_may_be_there_or_taken_by_the_shell() {
    for value in ["\"20 packets\"", "20 packets", "'20 packets'"] {
        let QueueConfig::DualRed(red) = with(&[("bottleneck.aqm.dctcp.threshold", value)]).links[0].queue
        else {
            panic!()
        };
        assert_eq!(red.ect.min_bytes, 30_000.0, "{value}");
    }
}

#[test]
fn groups_by_number_name_and_controller() {
    for key in ["flows[1].count", "flows.fast.count", "flows.\"fast\".count"] {
        assert_eq!(with(&[(key, "7")]).flows.len(), 8, "{key}");
    }
    // A group without a name is called after its controller.
    assert_eq!(with(&[("flows.reno.cc", "cubic")]).groups[0].cc, "cubic");
    let all = with(&[("flows.*.cc", "cubic")]);
    assert!(all.groups.len() > 1 && all.groups.iter().all(|group| group.cc == "cubic"));
}

#[test]
fn tables_can_be_made_and_replaced() {
    let experiment = with(&[
        ("topology.kind", "dumbbell"),
        ("topology.access_rate", "1 Gbit/s"),
        ("topology.switches", "true"),
    ]);
    assert_eq!(experiment.paths[0].len(), 3);
    let experiment = with(&[("bottleneck.aqm", "{ kind = \"step\", threshold = \"5 packets\" }")]);
    let QueueConfig::Step(step) = experiment.links[0].queue else { panic!() };
    assert_eq!(step.threshold, Extent::Packets(5));
    let experiment =
        with(&[("flows[0].app", "{ on = \"1 s\", off = \"2 s\" }"), ("flows[0].start", "[\"3 s\"]")]);
    assert!(matches!(experiment.flows.of(0).app, App::OnOff { .. }));
    assert_eq!(experiment.flows.of(0).start.since(Time::ZERO).as_millis(), 3000);
}

#[test]
fn the_last_one_wins() {
    let experiment =
        with(&[("bottleneck.rate", "20 Mbit/s"), ("seed", "5"), ("bottleneck.rate", "30 Mbit/s")]);
    assert_eq!((experiment.links[0].rate, experiment.seed), (Some(Rate::from_bps(30_000_000)), 5));
}
