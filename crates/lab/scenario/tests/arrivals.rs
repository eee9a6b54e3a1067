//! Flows that arrive at random, and the sizes they draw.

use shoal_scenario::{App, Document, Experiment, Flow};
use shoal_units::Time;

fn resolve(text: &str, seed: u64) -> Experiment {
    let document = Document::parse(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(document.warnings(), []);
    document.resolve(Some(seed)).unwrap()
}

fn scenario(flows: &str) -> String {
    format!(
        "duration = \"100 s\"\nbottleneck = {{ rate = \"10 Mbit/s\", buffer = \"100 packets\", overhead = \"38 B\" \
         }}\n{flows}"
    )
}

fn size(flow: &Flow) -> u64 {
    let App::Transfers { bytes, rounds: 1, .. } = flow.app else { panic!("{flow:?}") };
    bytes
}

const WEB: &str = "[[flows]]\nname = \"web\"\ncc = \"reno\"\nrtt = \"8 ms\"\napp = { transfer = { distribution = \
                   \"web-search\" } }\n";

#[test]
fn a_poisson_process_has_its_mean_and_variance() {
    let text =
        scenario(&format!("{WEB}start = {{ poisson = \"20 per s\", from = \"10 s\", until = \"60 s\" }}"));
    let at = |s: u64| Time::from_picos(s * 1_000_000_000_000);
    // 1000 flows expected in 50 s. The mean of 200 seeds has a standard deviation of sqrt(1000 / 200), their variance
    // one of about 1000 sqrt(2 / 200): four of each.
    let counts: Vec<f64> = (0..200)
        .map(|seed| {
            let flows = resolve(&text, seed).flows;
            assert!(flows.iter().collect::<Vec<_>>().windows(2).all(|pair| pair[0].start <= pair[1].start));
            assert!(flows.iter().all(|flow| (at(10)..at(60)).contains(&flow.start)));
            flows.len() as f64
        })
        .collect();
    let mean = counts.iter().sum::<f64>() / 200.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 199.0;
    assert!((mean - 1000.0).abs() < 4.0 * (1000.0f64 / 200.0).sqrt(), "{mean}");
    assert!((variance - 1000.0).abs() < 4.0 * 100.0, "{variance}");
}

#[test]
fn gaps_are_exponential() {
    let text = scenario(&format!("{WEB}start = {{ poisson = \"500 per s\" }}"));
    let flows = resolve(&text, 7).flows;
    let gaps: Vec<f64> = flows
        .iter()
        .collect::<Vec<_>>()
        .windows(2)
        .map(|pair| pair[1].start.since(pair[0].start).as_secs_f64() * 500.0)
        .collect();
    // P(gap > t) = exp(-t); four standard deviations of a proportion of 50,000.
    for t in [0.1, 0.5, 1.0, 2.0, 4.0] {
        let p = libm::exp(-t);
        let above = gaps.iter().filter(|gap| **gap > t).count() as f64 / gaps.len() as f64;
        assert!((above - p).abs() < 4.0 * (p * (1.0 - p) / gaps.len() as f64).sqrt(), "{t}: {above} {p}");
    }
}

#[test]
fn a_load_is_one_of_the_bottleneck() {
    // Transfers of 14,480 B: ten segments, each with 52 B of headers and 38 B of framing: 15,380 B on the wire.
    let app = "app = { transfer = \"14480 B\" }";
    let group = |name: &str, load: f64| {
        format!(
            "[[flows]]\nname = \"{name}\"\ncc = \"reno\"\nrtt = \"8 ms\"\n{app}\nstart = {{ load = {load} }}\n"
        )
    };
    let expected = 0.6 * 10e6 / (8.0 * 15_380.0) * 100.0;
    let flows = resolve(&scenario(&group("a", 0.6)), 3).flows;
    assert!((flows.len() as f64 - expected).abs() < 4.0 * expected.sqrt(), "{} {expected}", flows.len());

    // A star: the load is one of the links of both senders together.
    let text = format!(
        "duration = \"100 s\"\ntopology = {{ kind = \"star\", hosts = 4, rate = \"10 Mbit/s\", delay = \"1 ms\", \
         buffer = \"100 packets\" }}\n{}from = [\"h1\", \"h2\"]\nto = \"h4\"\n",
        group("a", 0.3).replace("rtt = \"8 ms\"\n", "")
    );
    let expected = 0.3 * 20e6 / (8.0 * 15_000.0) * 100.0;
    let flows = resolve(&text, 3).flows;
    assert!((flows.len() as f64 - expected).abs() < 4.0 * expected.sqrt(), "{} {expected}", flows.len());
}

#[test]
fn offered_load_counts_the_headers_of_drawn_sizes() {
    let text = scenario(&format!("{WEB}start = {{ load = 8 }}").replace("web-search", "tiny"))
        + "\n[distributions.tiny]\ncdf = [[\"2896 B\", 1]]\n";
    let flows = resolve(&text, 5).flows;
    let wire: u64 = flows.iter().map(|flow| size(&flow) + size(&flow).div_ceil(1448) * 90).sum();
    let offered = wire as f64 * 8.0 / 100.0 / 10e6;
    // 600,000 flows: the relative deviation of a compound Poisson sum of these sizes is below 0.2 %.
    assert!((offered / 8.0 - 1.0).abs() < 0.008, "{offered}");
}

#[test]
fn flows_keep_their_draws_when_others_come() {
    let start = "start = { poisson = \"20 per s\" }\n";
    let alone = resolve(&scenario(&format!("{WEB}{start}")), 9);
    let other = "[[flows]]\nname = \"other\"\ncc = \"cubic\"\nrtt = \"8 ms\"\napp = { transfer = { distribution = \
                 \"data-mining\" } }\n";
    let both = resolve(&scenario(&format!("{other}{start}{WEB}{start}")), 9);
    let drawn = |experiment: &Experiment, group: u32| -> Vec<(Time, u64)> {
        let flows = experiment.flows.iter().filter(|flow| flow.group == group);
        flows.map(|flow| (flow.start, size(&flow))).collect()
    };
    assert_eq!(drawn(&alone, 0), drawn(&both, 1));
    assert_ne!(drawn(&both, 0).first(), drawn(&both, 1).first());
    // A longer run has the same first flows.
    let longer = scenario(&format!("{WEB}{start}")).replace("100 s", "200 s");
    assert_eq!(drawn(&resolve(&longer, 9), 0)[..alone.flows.len()], drawn(&alone, 0));
    assert_ne!(drawn(&alone, 0), drawn(&resolve(&scenario(&format!("{WEB}{start}")), 10), 0));
}

#[test]
fn arrivals_end_with_the_group() {
    let text = scenario(&format!("{WEB}start = {{ poisson = \"20 per s\" }}\nstop = \"30 s\""));
    let last = resolve(&text, 1).flows.iter().last().unwrap().start.as_secs_f64();
    assert!((29.0..30.0).contains(&last), "{last}");
}
