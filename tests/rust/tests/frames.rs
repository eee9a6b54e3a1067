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

/// Alone on 10 Mbit/s, with a window of 12 packets that does not grow (17,376 B in 20 ms and what the own queue adds),
/// each frame is what the window carries in its budget; the bounds of the encoder hold beyond that.
#[test]
fn an_encoder_follows_the_rate_of_its_sender() {
    let frames = |min: &str, max: &str, budget: &str| {
        let encoder = format!(r#"{{ min_rate = "{min}", max_rate = "{max}", budget = "{budget}" }}"#);
        let app = format!(r#"app = {{ frame = {encoder}, every = "100 ms", deadline = "90 ms" }}"#);
        frames("10 s", "1 s", &format!("{app}\ncwnd_clamp = \"12 packets\"\ninitial_window = \"12 packets\""))
    };
    // 40 ms are at most two windows of 20 ms; packets of a window queue for up to 12 x 1.2 ms, which the SRTT has.
    let all = frames("80 kbit/s", "10 Mbit/s", "40 ms");
    let sizes = all.size_bytes.expect("an encoder adapts them");
    let (least, most) = (sizes.min.unwrap(), sizes.max.unwrap());
    assert!(
        (2.0 * 17_376.0 * 20.0 / 35.0..2.0 * 17_376.0).contains(&least) && most < 2.0 * 17_376.0,
        "{sizes:?}"
    );
    assert_eq!((all.due, all.on_time), (90, 90));
    let half = frames("80 kbit/s", "10 Mbit/s", "20 ms").size_bytes.unwrap();
    assert!((0.4..0.7).contains(&(half.mean.unwrap() / sizes.mean.unwrap())), "{half:?} {sizes:?}");
    // 80 kbit/s are 1 kB in 100 ms, 160 kbit/s 2 kB.
    let highest = frames("80 kbit/s", "160 kbit/s", "40 ms").size_bytes.unwrap();
    assert_eq!((highest.min, highest.max), (Some(2000.0), Some(2000.0)));
    let lowest = frames("8 Mbit/s", "9 Mbit/s", "1 ms").size_bytes.unwrap();
    assert_eq!((lowest.min, lowest.max), (Some(100_000.0), Some(100_000.0)));
}

/// Frames may be twice what the line carries in their budget: what waits is taken off the next one, and none falls
/// behind.
#[test]
fn what_waits_is_taken_off_the_next_frame() {
    let app = r#"app = { frame = { min_rate = "80 kbit/s", max_rate = "50 Mbit/s", budget = "40 ms" },
        every = "40 ms", deadline = "150 ms" }
        initial_window = "64 packets"
        cwnd_clamp = "64 packets""#;
    let all = frames("20 s", "2 s", app);
    let sizes = all.size_bytes.expect("an encoder adapts them");
    // 10 Mbit/s are 48.3 kB of payload in 40 ms; a window of 64 packets is a rate of that with an SRTT of 77 ms.
    assert!((45_000.0..48_400.0).contains(&sizes.mean.unwrap()), "{sizes:?}");
    assert_eq!((all.missing, all.late), (0, 0), "{all:?}");
}
