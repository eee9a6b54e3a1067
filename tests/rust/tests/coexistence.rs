//! Claims of Kuehlewind et al. 2014 about two flows at one queue that are cheap to run.

use shoal_scenario::Document;
use shoal_sim::Outcome;
use shoal_tests::run;
use shoal_trace::Column;

const COEXISTENCE: &str = include_str!("../../../scenarios/coexistence.toml");
const SLOPE: &str = include_str!("../../../scenarios/dual-red-slope.toml");

fn outcome(text: &str, set: &[(&str, &str)]) -> Outcome {
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let document =
        Document::with_overrides(text, "test.toml", &set).unwrap_or_else(|errors| panic!("{errors}"));
    run(&document.resolve(None).unwrap())
}

/// Share of the first group in the sum of both.
fn share(outcome: &Outcome) -> f64 {
    let rate = |group: usize| outcome.groups[group].wire_bps.sum.unwrap();
    rate(0) / (rate(0) + rate(1))
}

/// G2: with one average for each class, updated only by its own arrivals, Reno is locked out. After the slow-start
/// overshoot its average is above the upper threshold: every packet is dropped, the timeout backs off, and the average
/// falls by 0.2 % an arrival, of which there are ever fewer. The queue never idles because DCTCP fills it.
#[test]
fn average_per_class_locks_reno_out() {
    let narrow = [
        ("bottleneck.aqm.reno.min", "0.25 BDP"),
        ("bottleneck.aqm.reno.max", "0.75 BDP"),
        ("bottleneck.aqm.dctcp.threshold", "0.43 BDP"),
    ];
    let with = |scope: &'static str| {
        let mut set = narrow.to_vec();
        set.push(("bottleneck.aqm.average", scope));
        outcome(COEXISTENCE, &set)
    };
    let (shared, per_class) = (with("shared"), with("per-class"));
    assert!(share(&shared) > 0.25, "{}", share(&shared));
    assert!(share(&per_class) < 0.05, "{}", share(&per_class));
    // Timeouts after timeouts, not a small window: hardly anything is sent in 270 s.
    let reno = &per_class.groups[0].flows[0];
    assert!(reno.timeouts >= 3, "{reno:?}");
    assert!(
        per_class.bottlenecks[0].not_ect.drop_fraction > Some(0.3),
        "{:?}",
        per_class.bottlenecks[0].not_ect
    );
    assert!(per_class.bottlenecks[0].queue_empty < Some(0.2));
}

/// A23: the weight of DCTCP's average has minor influence: the ratio changes by less than 20 %, where the paper says so
/// (section IV-C: Min_R = BDP; equation 3 with x = 2). It does not hold where Reno's sawtooth crosses Min_D: with Min_R
/// of half a BDP a fast average gives Reno 1.6 times as much (papers/kuehlewind-2014, item w-dctcp).
#[test]
fn weight_of_the_dctcp_average_matters_little() {
    let ratio = |weight: &'static str| {
        let paper = [
            ("bottleneck.aqm.reno.min", "1 BDP"),
            ("bottleneck.aqm.reno.max", "3 BDP"),
            ("bottleneck.aqm.reno.max_probability", "0.1"),
            ("bottleneck.aqm.dctcp.min", "0.5 BDP"),
            ("bottleneck.aqm.dctcp.max", "2.5 BDP"),
            ("bottleneck.aqm.dctcp.max_probability", "0.2"),
            ("bottleneck.aqm.dctcp.weight", weight),
        ];
        let outcome = outcome(SLOPE, &paper);
        outcome.metrics.rate_ratio["reno/dctcp"].unwrap()
    };
    let ratios = ["0.002", "0.02", "0.2", "1.0"].map(ratio);
    let (low, high) = (ratios.into_iter().fold(f64::MAX, f64::min), ratios.into_iter().fold(0.0, f64::max));
    assert!(high / low < 1.2, "{ratios:?}");
}

/// A24: with the slope configuration DCTCP makes many small cuts and Reno few halvings: at least five times as many, of
/// at most a third each.
#[test]
fn dctcp_cuts_often_and_little_reno_seldom_and_much() {
    let outcome = outcome(SLOPE, &[("trace.controller_flows", "2")]);
    let reductions = |group: usize| outcome.groups[group].flows[0].reductions as f64;
    assert!(reductions(1) >= 5.0 * reductions(0), "{} {}", reductions(1), reductions(0));
    let cuts = mean_cut(&outcome, 1.0);
    assert!(cuts <= 1.0 / 3.0, "{cuts}");
}

/// Mean relative fall of `cwnd` of a flow from one row of its trace to the next, over the rows in which it fell.
fn mean_cut(outcome: &Outcome, flow: f64) -> f64 {
    let table = outcome.tables.iter().find(|table| table.spec().name == "controller").expect("recorded");
    let column = |name: &str| -> Vec<f64> {
        let position = table.spec().columns.iter().position(|spec| spec.name == name).expect("declared");
        match &table.columns()[position] {
            Column::U32(values) => values.iter().map(|&v| f64::from(v)).collect(),
            other => panic!("{other:?}"),
        }
    };
    let windows: Vec<f64> = column("flow")
        .iter()
        .zip(column("cwnd_packets"))
        .filter(|(f, _)| **f == flow)
        .map(|(_, w)| w)
        .collect();
    let falls: Vec<f64> = windows.windows(2).filter(|w| w[1] < w[0]).map(|w| 1.0 - w[1] / w[0]).collect();
    assert!(falls.len() > 100);
    falls.iter().sum::<f64>() / falls.len() as f64
}

/// A17: alone, Kuehlewind et al.'s DCTCP and the original one have the same mean window within 10 %.
#[test]
fn modified_and_original_dctcp_alone_are_alike() {
    let window = |cc: &str| {
        let text = format!(
            r#"
            duration = "100 s"
            warmup = "20 s"
            [bottleneck]
            rate = "10 Mbit/s"
            buffer = "4 BDP"
            aqm = {{ kind = "step", threshold = "0.5 BDP" }}
            [[flows]]
            cc = "{cc}"
            stack = "linux-3.2"
            rtt = "25 ms"
            "#
        );
        outcome(&text, &[]).groups[0].flows[0].cwnd_packets.mean.unwrap()
    };
    let (modified, original) = (window("dctcp-ikr"), window("dctcp-stanford"));
    assert!((modified / original - 1.0).abs() < 0.1, "{modified} {original}");
}
