//! Coupled queues with TCP through them (De Schepper 2015;
//! [RFC 9332](https://www.rfc-editor.org/rfc/rfc9332)): 40 Mbit/s, 8 ms, Linux 3.18.

use shoal_measure::Bottleneck;
use shoal_scenario::Document;
use shoal_sim::Outcome;
use shoal_tests::run;

const COUPLED: &str = include_str!("../../../scenarios/coupled.toml");
const DUAL_COUPLED: &str = include_str!("../../../scenarios/dualq-coupled.toml");
const DUALPI2: &str = include_str!("../../../scenarios/dualpi2.toml");

/// A shorter run of `cubic` and `dctcp` flows.
fn outcome(text: &str, (cubic, dctcp): (u32, u32), set: &[(&str, &str)]) -> Outcome {
    let (cubic, dctcp) = (cubic.to_string(), dctcp.to_string());
    let common = [
        ("duration", "60 s"),
        ("warmup", "15 s"),
        ("trace", "{}"),
        ("flows[0].count", cubic.as_str()),
        ("flows[1].count", dctcp.as_str()),
    ];
    let set: Vec<_> =
        common.iter().chain(set).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let document =
        Document::with_overrides(text, "test.toml", &set).unwrap_or_else(|errors| panic!("{errors}"));
    run(&document.resolve(None).unwrap())
}

/// CUBIC's rate over DCTCP's, a flow each.
fn ratio(outcome: &Outcome) -> f64 {
    let rate = |group: usize| outcome.groups[group].wire_bps.mean.unwrap();
    rate(0) / rate(1)
}

fn queue(outcome: &Outcome) -> &Bottleneck {
    &outcome.bottlenecks[0]
}

/// A31 and A32: rates within a factor of two, and DCTCP waits for two packets at most in the median, ten in the 99th
/// percentile. A packet takes 0.3 ms.
#[test]
fn a_dual_queue_shares_the_rate_and_not_the_delay() {
    for flows in [(1, 1), (5, 1), (1, 5), (5, 5)] {
        let outcome = outcome(DUAL_COUPLED, flows, &[]);
        let (ratio, link) = (ratio(&outcome), queue(&outcome));
        assert!((0.5..=2.0).contains(&ratio), "{flows:?}: {ratio}");
        let delay = link.delay_s.ect;
        assert!(delay.p50 <= Some(0.6e-3) && delay.p99 <= Some(3e-3), "{flows:?}: {delay:?}");
        assert!(link.delay_s.not_ect.p50 >= Some(10e-3), "{flows:?}: {:?}", link.delay_s.not_ect);
        assert!(link.utilisation > Some(0.99), "{flows:?}");
        // It is the coupling that holds DCTCP back, not its threshold.
        assert!(link.marked_by.coupled > 20 * link.marked_by.threshold, "{flows:?}: {:?}", link.marked_by);
        assert_eq!(link.ect.dropped, 0);
    }
}

/// Without the coupling the priority starves CUBIC.
#[test]
fn it_is_the_coupling_that_shares() {
    let outcome = outcome(DUAL_COUPLED, (1, 1), &[("bottleneck.aqm.saturation", "1000 s")]);
    assert!(ratio(&outcome) < 0.1, "{}", ratio(&outcome));
}

/// A30: one coupled queue shares the rate, but the delay, too. The claim's ratio of 0.7 to 1.4 is reached from ten
/// flows of each kind on (0.72); one flow each gives 0.58, because CUBIC's answer to a drop at this small window is
/// weaker than the slides' law for Reno assumes, and DCTCP's to a mark stronger than 2/p.
#[test]
fn a_coupled_queue_shares_the_rate_and_the_delay() {
    for flows in [(1, 1), (10, 10)] {
        let outcome = outcome(COUPLED, flows, &[]);
        let (ratio, delay) = (ratio(&outcome), queue(&outcome).delay_s);
        assert!((0.5..=1.4).contains(&ratio), "{flows:?}: {ratio}");
        let delays = delay.not_ect.mean.unwrap() / delay.ect.mean.unwrap();
        assert!((0.9..=1.1).contains(&delays), "{flows:?}: {delays}");
        assert!(delay.ect.p50 > Some(5e-3));
    }
}

/// A37: measured in bytes with 90/10 round robin, ratios spread more than in time with priority.
#[test]
fn a_queue_in_bytes_shares_less_evenly() {
    let spread = |set: &[(&str, &str)]| {
        let logs =
            [(1, 1), (5, 5), (1, 10)].map(|flows| libm::log(ratio(&outcome(DUAL_COUPLED, flows, set))));
        let mean = logs.iter().sum::<f64>() / 3.0;
        (logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / 2.0).sqrt()
    };
    let time = spread(&[]);
    // 500 kB are 100 ms at 40 Mbit/s.
    let size = spread(&[("bottleneck.aqm.saturation", "500 kB"), ("bottleneck.aqm.scheduler", "weighted")]);
    assert!(size > 1.5 * time, "{size} and {time}");
}

/// RFC 9332: the classic queue is at its target whatever the number of flows.
#[test]
fn dualpi2_keeps_its_target() {
    for flows in [(1, 1), (10, 10)] {
        let outcome = outcome(DUALPI2, flows, &[]);
        let delay = queue(&outcome).delay_s;
        let classic = delay.not_ect.mean.unwrap();
        assert!((13e-3..17e-3).contains(&classic), "{flows:?}: {classic}");
        assert!(delay.ect.p50 <= Some(0.6e-3) && delay.ect.p99 <= Some(3e-3), "{flows:?}: {:?}", delay.ect);
        assert!(queue(&outcome).utilisation > Some(0.99));
    }
}

/// k = 2 makes windows equal, so rates are as the round-trip times, 8 + 15 ms to 8 + 0.4 ms: 0.37. To make rates equal
/// k grows by their inverse: 2 * 23 / 8.4 = 5.5.
#[test]
fn the_coupling_factor_trades_windows_for_rates() {
    let of = |k| ratio(&outcome(DUALPI2, (2, 2), &[("bottleneck.aqm.coupling", k)]));
    let (windows, rates) = (of("2"), of("6"));
    assert!((0.24..0.55).contains(&windows), "{windows}");
    assert!((0.66..1.5).contains(&rates), "{rates}");
}

/// RFC 9332's options hold the same targets: ramp, evenly spaced marks, time-shifted FIFO.
#[test]
fn the_options_of_the_rfc_work_together() {
    let rfc = [
        ("bottleneck.aqm.native", "ramp"),
        ("bottleneck.aqm.marking", "recur"),
        ("bottleneck.aqm.scheduler", "time-shifted"),
        ("bottleneck.aqm.tupdate", "15 ms"),
        ("bottleneck.aqm.alpha", "0.15"),
        ("bottleneck.aqm.beta", "3"),
    ];
    let outcome = outcome(DUALPI2, (2, 2), &rfc);
    let delay = queue(&outcome).delay_s;
    assert!((13e-3..17e-3).contains(&delay.not_ect.mean.unwrap()), "{:?}", delay.not_ect);
    assert!(delay.ect.p50 <= Some(0.6e-3), "{:?}", delay.ect);
}

/// CoNEXT 2016: one queue, at 20 ms for both.
#[test]
fn pi2_keeps_its_target_for_both() {
    let outcome = outcome(COUPLED, (5, 5), &[("bottleneck.aqm", "{ kind = \"pi2\" }")]);
    let delay = queue(&outcome).delay_s;
    for class in [delay.ect, delay.not_ect] {
        assert!((18e-3..23e-3).contains(&class.mean.unwrap()), "{class:?}");
    }
    let ratio = ratio(&outcome);
    assert!((0.6..1.4).contains(&ratio), "{ratio}");
}

/// One or ten Reno and DCTCP flows of Linux 6 through one coupled queue, 20 Mbit/s for each pair, 8 ms; k = 1.63.
fn pairs(count: u32) -> Outcome {
    let rate = format!("{} Mbit/s", 20 * count);
    let set = [
        ("bottleneck.rate", rate.as_str()),
        ("duration", "130 s"),
        ("warmup", "30 s"),
        ("flows[0].cc", "reno"),
        ("flows[0].stack", "linux-6"),
        ("flows[1].cc", "dctcp"),
        ("flows[1].stack", "linux-6"),
    ];
    outcome(COUPLED, (count, count), &set)
}

/// Windows of the same flows at the given probabilities, whatever waits: DCTCP's over Reno's, which is c_L / (k c_C).
fn open_loop_ratio(mark: f64, drop: f64) -> f64 {
    let aqm = format!("{{ kind = \"open-loop\", mark = {mark}, drop = {drop} }}");
    let set = [
        ("bottleneck.rate", "10 Gbit/s"),
        ("bottleneck.buffer", "unlimited"),
        ("bottleneck.aqm", aqm.as_str()),
        ("duration", "100 s"),
        ("flows[0].cc", "reno"),
        ("flows[0].stack", "linux-6"),
        ("flows[1].cc", "dctcp"),
        ("flows[1].stack", "linux-6"),
    ];
    let outcome = outcome(COUPLED, (10, 10), &set);
    let window = |group: usize| {
        outcome.groups[group].flows.iter().map(|flow| flow.cwnd_packets.mean.unwrap()).sum::<f64>()
    };
    window(1) / window(0)
}

/// The law of the coupling is one of means, the coupling one of instants: E[p^2] is above E[p]^2 where p swings.
/// Measured, two seeds each: drops are 1.24 times (p/k)^2 with one pair, 1.02 times with ten; rates miss the law by 15
/// % and by 3 %.
#[test]
fn one_flow_of_each_class_misses_the_coupled_law() {
    let [one, ten] = [1, 10].map(|count| {
        let outcome = pairs(count);
        let (p, q) =
            (queue(&outcome).ect.mark_fraction.unwrap(), queue(&outcome).not_ect.drop_fraction.unwrap());
        let mean = (p / 1.63).powi(2);
        let miss = 1.0 / ratio(&outcome) / open_loop_ratio(p, mean) - 1.0;
        (q / mean, miss)
    });
    assert!((1.1..1.5).contains(&one.0) && (0.95..1.08).contains(&ten.0), "{one:?} {ten:?}");
    assert!((0.08..1.0).contains(&one.1), "{one:?}");
    assert!(ten.1.abs() < 0.07, "{ten:?}");
}

/// DCTCP's W p beside Reno through DualPI2. Measured at 50 ms: 5.3 with the kernel's integers, 2.1 exactly; without the
/// step 5.8 and 2.2; at 10 ms 1.9 whatever is switched.
#[test]
fn dctcps_integers_raise_its_window_at_long_round_trips() {
    let constant = |rtt: &str, exact: bool, step: bool| {
        let mut set = vec![
            ("duration", "150 s"),
            ("warmup", "30 s"),
            ("flows[0].cc", "reno"),
            ("flows[0].stack", "linux-6"),
            ("flows[0].rtt", rtt),
            ("flows[1].cc", "dctcp"),
            ("flows[1].stack", "linux-6"),
            ("flows[1].rtt", rtt),
        ];
        if exact {
            set.push(("flows[1].cc_options", "{ alpha_resolution = \"exact\" }"));
        }
        if !step {
            set.push(("bottleneck.aqm.step_threshold", "unlimited"));
        }
        let outcome = outcome(DUALPI2, (1, 1), &set);
        let p = queue(&outcome).ect.mark_fraction.unwrap();
        p * outcome.groups[1].flows[0].cwnd_packets.mean.unwrap()
    };
    let near = constant("10 ms", false, true);
    let (integers, exact) = (constant("50 ms", false, true), constant("50 ms", true, true));
    let without_step = constant("50 ms", false, false);
    assert!((1.6..2.2).contains(&near), "{near}");
    assert!(integers > 1.8 * near, "{integers} and {near}");
    assert!((0.8..1.5).contains(&(exact / near)), "{exact} and {near}");
    // The step is not the cause.
    assert!(without_step > 1.8 * near, "{without_step} and {near}");
}
