//! The example of design.md section 4, to the byte.

use shoal_aqm::{AverageScope, Extent, MarkSpacing, QueueConfig};
use shoal_cc::CcConfig;
use shoal_scenario::{App, Document};
use shoal_tcp::{EcnSetting, Profile};
use shoal_units::{Rate, Span, Stream, Time};

const EXAMPLE: &str = r#"
title    = "One Reno and one DCTCP flow behind a dual-RED bottleneck"
duration = "300 s"
warmup   = "30 s"
seed     = 1

[bottleneck]
rate   = "10 Mbit/s"
buffer = "4 BDP"

[bottleneck.aqm]
kind      = "dual-red"
reno.min  = "0.5 BDP"
reno.max  = "1.5 BDP"
reno.max_probability = 0.1
reno.weight          = 0.002
dctcp.threshold      = "0.67 BDP"      # step marking: min = max = K, weight 1

[[flows]]
name  = "reno"
cc    = "reno"
stack = "linux-3.2"
ecn   = "off"
rtt   = "25 ms"

[[flows]]
name  = "dctcp"
cc    = "dctcp-ikr"
stack = "linux-3.2"
rtt   = "25 ms"
count = 1
start = { uniform = ["0 s", "1 s"] }
"#;

#[test]
fn resolves_to_exact_numbers() {
    let document = Document::parse(EXAMPLE, "example.toml").unwrap();
    assert_eq!(document.warnings(), []);
    let experiment = document.resolve(None).unwrap();

    assert_eq!(
        (experiment.duration, experiment.warmup, experiment.seed),
        (Span::from_secs(300), Span::from_secs(30), 1)
    );
    // 10 Mbit/s x 25 ms = 31,250 B.
    let bottleneck = &experiment.links[0];
    assert_eq!((bottleneck.name.as_str(), bottleneck.monitored), ("bottleneck", true));
    assert_eq!(bottleneck.rate, Some(Rate::from_bps(10_000_000)));
    let QueueConfig::DualRed(red) = bottleneck.queue else { panic!("{:?}", bottleneck.queue) };
    assert_eq!(red.limit, Extent::Bytes(125_000));
    assert_eq!((red.not_ect.min_bytes, red.not_ect.max_bytes), (15_625.0, 46_875.0));
    assert_eq!((red.not_ect.max_probability, red.not_ect.weight), (0.1, 0.002));
    assert_eq!((red.ect.min_bytes, red.ect.max_bytes), (20_937.5, 20_937.5));
    assert_eq!((red.ect.max_probability, red.ect.weight), (1.0, 1.0));
    assert_eq!((red.average, red.ect.spacing), (AverageScope::Shared, MarkSpacing::Uniformised));
    assert_eq!((red.rate, red.mean_packet_bytes), (Rate::from_bps(10_000_000), 1500));

    // Two groups: data through the bottleneck and half of the propagation, ACKs through the other half.
    assert_eq!(experiment.links.len(), 5);
    for flow in &experiment.flows {
        let delay = |path: u32| -> u64 {
            experiment.paths[path as usize]
                .iter()
                .map(|id| experiment.links[id.0 as usize].delay.as_micros())
                .sum()
        };
        assert_eq!((delay(flow.forward), delay(flow.backward)), (12_500, 12_500));
        assert_eq!(experiment.paths[flow.forward as usize][0].0, 0);
        assert_eq!((flow.app, flow.stop), (App::Bulk, None));
    }
    assert_eq!(experiment.flows.of(0).start, Time::ZERO);
    // uniform [0 s, 1 s): the draw as a fraction of 2^64, rounded down to a picosecond.
    let draw = u128::from(Stream::new(1, "start/dctcp/0").uniform_u64());
    assert_eq!(u128::from(experiment.flows.of(1).start.as_picos()), (draw * 1_000_000_000_000) >> 64);

    let [reno, dctcp] = &experiment.endpoints[..] else { panic!() };
    assert_eq!((reno.stack, reno.ecn), (Profile::LINUX_3_2, EcnSetting::Off));
    assert_eq!((dctcp.cc, dctcp.ecn), (CcConfig::preset("dctcp-ikr").unwrap(), EcnSetting::On));
    assert_eq!((dctcp.mtu_bytes, dctcp.header_bytes), (1500, 52));
}

#[test]
fn the_seed_moves_only_what_is_drawn() {
    let document = Document::parse(EXAMPLE, "example.toml").unwrap();
    let (one, two) = (document.resolve(None).unwrap(), document.resolve(Some(2)).unwrap());
    assert_eq!(two.seed, 2);
    assert_eq!(one.flows.of(0), two.flows.of(0));
    assert_ne!(one.flows.of(1).start, two.flows.of(1).start);
    assert_eq!((one.links, one.paths, one.endpoints), (two.links, two.paths, two.endpoints));
}

#[test]
fn written_and_read_back() {
    let document = Document::parse(EXAMPLE, "example.toml").unwrap();
    let json = document.to_json();
    assert_eq!(json["bottleneck"]["aqm"]["dctcp"], serde_json::json!({ "threshold": "0.67 BDP" }));
    assert_eq!(json["flows"][1]["ecn"], "on");
    let again = Document::from_json(&json, "json").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((&again, again.to_json()), (&document, json));
    let toml = document.to_toml();
    let again = Document::parse(&toml, "toml").unwrap_or_else(|e| panic!("{toml}\n{e}"));
    assert_eq!(again, document);
    assert_eq!(again.resolve(None).unwrap(), document.resolve(None).unwrap());
}
