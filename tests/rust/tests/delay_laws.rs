//! What the kernel's queues promise, end to end: four CUBIC flows at 40 Mbit/s and 20 ms. A packet takes 0.3 ms.

use shoal_measure::{Bottleneck, Distribution};
use shoal_scenario::Document;
use shoal_sim::Outcome;
use shoal_tests::run;

const CODEL: &str = include_str!("../../../scenarios/codel.toml");
const FQ_CODEL: &str = include_str!("../../../scenarios/fq-codel.toml");
const PIE: &str = include_str!("../../../scenarios/pie.toml");

/// A shipped scenario, cut to 30 s, with changes.
fn outcome(text: &str, set: &[(&str, &str)]) -> Outcome {
    let shortened = [("duration", "30 s"), ("warmup", "10 s")];
    let pairs = shortened.iter().chain(set).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let pairs: Vec<_> = pairs.collect();
    let document =
        Document::with_overrides(text, "test.toml", &pairs).unwrap_or_else(|errors| panic!("{errors}"));
    run(&document.resolve(None).unwrap())
}

fn link(outcome: &Outcome) -> &Bottleneck {
    &outcome.bottlenecks[0]
}

fn median_ms(delay: &Distribution) -> f64 {
    delay.p50.unwrap() * 1e3
}

/// The median wait is near the target of 5 ms, by drops and by marks alike (measured: 6.4 ms; without a law 262 ms).
#[test]
fn codel_holds_its_target() {
    for ecn in [false, true] {
        let set = [
            ("bottleneck.aqm.ecn", if ecn { "true" } else { "false" }),
            ("flows[0].ecn", if ecn { "on" } else { "off" }),
        ];
        let outcome = outcome(CODEL, &set);
        let link = link(&outcome);
        let median = median_ms(&link.delay_s.all);
        assert!((4.0..7.5).contains(&median), "{median}");
        assert!(link.utilisation > Some(0.99), "{:?}", link.utilisation);
        let signals = if ecn { (0, link.marked_by.sojourn) } else { (link.dropped_by.sojourn, 0) };
        assert_eq!((link.dropped, link.marked), signals);
        assert!(signals.0 + signals.1 > 50, "{signals:?}");
    }
    let fifo = outcome(CODEL, &[("bottleneck.aqm", "{ kind = \"fifo\" }")]);
    assert!(median_ms(&link(&fifo).delay_s.all) > 100.0);
}

/// The median wait is near the target of 15 ms (measured: 15.4 ms, with the rate estimator 16.3 ms), and moves with it.
#[test]
fn pie_holds_its_target() {
    for (estimator, target, range) in
        [("false", "15 ms", 13.5..16.5), ("true", "15 ms", 13.5..18.0), ("false", "30 ms", 26.0..34.0)]
    {
        let set = [("bottleneck.aqm.dq_rate_estimator", estimator), ("bottleneck.aqm.target", target)];
        let outcome = outcome(PIE, &set);
        let link = link(&outcome);
        let median = median_ms(&link.delay_s.all);
        assert!(range.contains(&median), "{estimator} {target}: {median}");
        assert!(link.utilisation > Some(0.99), "{:?}", link.utilisation);
        assert_eq!((link.dropped, link.marked), (link.dropped_by.early, 0));
        assert!(link.dropped > 20);
    }
}

/// A sparse flow waits for the packet that is being sent and no more (measured: 0.16 ms on average, 0.46 ms at most),
/// by hash and by flow; in one queue with the others it waits as long as they do. The bulk flows share evenly.
#[test]
fn fq_codel_isolates_a_sparse_flow() {
    for classifier in ["hash", "flow"] {
        let aqm = format!("{{ kind = \"fq-codel\", classifier = \"{classifier}\" }}");
        let outcome = outcome(FQ_CODEL, &[("bottleneck.aqm", &aqm)]);
        let delay = link(&outcome).delay_s;
        assert!(delay.ect.p99.unwrap() < 0.0006, "{:?}", delay.ect);
        assert!((2.0..7.5).contains(&median_ms(&delay.not_ect)), "{:?}", delay.not_ect);
        let rates: Vec<f64> = outcome.groups[0].flows.iter().map(|flow| flow.wire_bps.unwrap()).collect();
        let (least, most) = rates.iter().fold((f64::MAX, 0.0f64), |(l, m), &r| (l.min(r), m.max(r)));
        assert!(most / least < 1.05, "{rates:?}");
    }
    let together = outcome(FQ_CODEL, &[("bottleneck.aqm", "{ kind = \"codel\" }")]);
    assert!(median_ms(&link(&together).delay_s.ect) > 4.0);
}

/// Three of four CUBIC flows go through one tunnel: fair queueing shares between two, so that the fourth flow has
/// half of the link. Bound, stated before it was measured: within 5 % of a half, where it is a quarter without the
/// tunnel.
#[test]
fn a_tunnel_has_the_share_of_one_flow() {
    let group = |name: &str, count: u32, tunnel: &str| {
        format!("{{ name = \"{name}\", cc = \"cubic\", rtt = \"20 ms\", count = {count}{tunnel} }}")
    };
    let share = |tunnel: &str| {
        let flows = format!("[{}, {}]", group("many", 3, tunnel), group("one", 1, ""));
        let aqm = "{ kind = \"fq-codel\", classifier = \"flow\" }";
        let outcome = outcome(FQ_CODEL, &[("bottleneck.aqm", aqm), ("flows", &flows)]);
        let rate = |group: usize| {
            let rates = outcome.groups[group].flows.iter().map(|flow| flow.wire_bps.unwrap());
            rates.sum::<f64>()
        };
        rate(1) / (rate(0) + rate(1))
    };
    let (apart, together) = (share(""), share(", tunnel = \"vpn\""));
    assert!((apart / 0.25 - 1.0).abs() < 0.05, "{apart}");
    assert!((together / 0.5 - 1.0).abs() < 0.05, "{together}");
}

/// DCTCP behind CoDel with a ce_threshold of 1 ms: the law itself never acts, and nothing is lost (measured: median 0.4
/// ms, 97.6 % utilisation).
#[test]
fn dctcp_lives_below_the_ce_threshold() {
    let outcome = outcome(CODEL, &[("flows[0].cc", "dctcp"), ("bottleneck.aqm.ce_threshold", "1 ms")]);
    let link = link(&outcome);
    assert!(median_ms(&link.delay_s.all) < 1.0, "{:?}", link.delay_s.all);
    assert!(link.delay_s.all.p99.unwrap() < 0.004, "{:?}", link.delay_s.all);
    assert!(link.utilisation > Some(0.95), "{:?}", link.utilisation);
    assert_eq!((link.dropped, link.marked), (0, link.marked_by.threshold));
}

/// Ordinary flows meet the same law in a virtual queue of GRED as in RED (WRED, alone in its queue).
#[test]
fn gred_is_red_for_one_class() {
    let red = "min = \"60 kB\", max = \"180 kB\", probability = 0.05, limit = \"600 kB\"";
    let gred = format!("{{ kind = \"gred\", not_ect = {{ {red} }}, ect = {{ {red}, ecn = true }} }}");
    let delay = |aqm: &str| {
        let outcome = outcome(CODEL, &[("bottleneck.aqm", aqm)]);
        let link = link(&outcome);
        assert_eq!(link.dropped_by.buffer, 0);
        median_ms(&link.delay_s.all)
    };
    let (one, other) = (delay(&gred), delay(&format!("{{ kind = \"linux-red\", {red} }}")));
    assert!((one / other - 1.0).abs() < 0.15, "{one} {other}");
}
