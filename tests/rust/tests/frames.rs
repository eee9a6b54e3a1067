//! Frames with a deadline, against arithmetic.

use shoal_measure::FrameSummary;
use shoal_sim::Outcome;
use shoal_tests::{experiment, run};

/// One flow over 10 Mbit/s and 20 ms; `flow` is added to its section.
fn outcome(duration: &str, warmup: &str, flow: &str) -> Outcome {
    run(&experiment(&format!(
        r#"
        duration = "{duration}"
        warmup = "{warmup}"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "unlimited"
        [[flows]]
        name = "video"
        cc = "reno"
        stack = "linux-6"
        rtt = "20 ms"
        {flow}
        [trace]
        series = "1 s"
        "#
    )))
}

fn frames(duration: &str, warmup: &str, flow: &str) -> FrameSummary {
    outcome(duration, warmup, flow).groups[0].frames.expect("the group writes frames")
}

/// Ten segments fit the initial window: 10 x 1.2 ms on the wire and 10 ms of propagation are 22 ms. The first frame
/// waits for the handshake of 20.0896 ms.
#[test]
fn frames_within_the_window_take_their_time_on_the_wire() {
    let app = r#"app = { frame = "14480 B", every = "100 ms", deadline = "30 ms" }"#;
    let all = frames("10 s", "0 s", app);
    assert_eq!((all.due, all.on_time, all.late, all.missing), (100, 99, 1, 0));
    assert_eq!((all.delay_s.p50, all.delay_s.max), (Some(0.022), Some(0.042_089_6)));
    assert!((all.lateness_s.max.unwrap() - 0.012_089_6).abs() < 1e-12, "{:?}", all.lateness_s);
    assert_eq!((all.stalls, all.stalled_s), (0, 0.0));
    // Without the first second.
    let later = frames("10 s", "1 s", app);
    assert_eq!((later.due, later.on_time_fraction, later.delay_s.max), (90, Some(1.0), Some(0.022)));
    // No frame can be complete before its last bit has arrived.
    let app = r#"app = { frame = "14480 B", every = "100 ms", deadline = "21.9 ms" }"#;
    let late = frames("10 s", "1 s", app);
    assert_eq!((late.on_time_fraction, late.late), (Some(0.0), 90));
}

/// Frames of 10 segments (15,000 B) every 10 ms are 12 Mbit/s: each one is 2 ms later than the one before, and the
/// player stands still for 2 ms before each.
#[test]
fn frames_beyond_the_rate_fall_behind() {
    let flow = r#"app = { frame = "14480 B", every = "10 ms", deadline = "50 ms" }
        initial_window = "10000 packets""#;
    let outcome = outcome("3 s", "0 s", flow);
    let all = outcome.groups[0].frames.unwrap();
    // Frame n is complete at 30.0896 + 12 (n + 1) ms, 42.0896 + 2 n after its write: the first four are in time.
    assert_eq!((all.due, all.on_time), (296, 4));
    assert_eq!((all.delay_s.min, all.late + all.missing), (Some(0.042_089_6), 292));
    // Frames 0 to 246 arrive within 3 s (frame 246 at 2994.0896 ms); the others are missing.
    assert_eq!((all.late, all.missing), (243, 49));
    assert!((all.delay_s.max.unwrap() - 0.534_089_6).abs() < 1e-9, "{:?}", all.delay_s);
    // The first is shown at 50 ms, the fifth (4) is due at 90 ms and comes at 90.0896: from there on each stands still.
    assert_eq!(all.stalls, 243);
    assert!((all.stalled_s - (0.000_089_6 + 242.0 * 0.002)).abs() < 1e-9, "{all:?}");
    let table = outcome.tables.iter().find(|table| table.spec().name == "deliveries").expect("recorded");
    assert_eq!(table.len(), 247);
}

#[test]
fn frames_written_before_the_stop_still_arrive() {
    let flow = r#"app = { frame = "14480 B", every = "10 ms", deadline = "50 ms" }
        initial_window = "10000 packets"
        stop = "1 s""#;
    let outcome = outcome("3 s", "0 s", flow);
    let (all, flow) = (outcome.groups[0].frames.unwrap(), &outcome.groups[0].flows[0]);
    assert_eq!((all.due, all.missing), (100, 0));
    assert_eq!(flow.delivered_bytes, 100 * 14_480);
    // The last byte arrives at 1230.048 ms, its acknowledgement 10 ms later.
    assert!((1.24..1.29).contains(&flow.stop_s.expect("it stopped")), "{:?}", flow.stop_s);
}
