//! Cases 5 to 9, 13, 14 and 22: probes for bandwidth, and what is between them.

use super::*;
use shoal_cc::PathState::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};

#[test]
fn case_5_a_probe_ends_on_a_plateau() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 800);
        until(&mut path, Up, 10_000);
        let (began, losses) = (path.now, path.sender.losses());
        assert!((pacing_gain(&path) - 1.25).abs() < 0.01);
        assert_eq!(next(&mut path, 2000), Down);
        assert_eq!(path.sender.losses(), losses);
        // Three round trips at least, of 40 ms and more.
        let took = path.now.since(began);
        assert!(took >= ms(120) && took <= ms(400), "{took:?}");
    }
}

/// In a probe, the application writes 15 Mbit/s from now on.
fn limited_probe(cc: &str) -> Bottleneck {
    let mut path = base(cc, 200);
    until(&mut path, Up, 10_000);
    greedy(&mut path, false);
    path
}

#[test]
fn case_6_a_probe_ends_on_losses_though_the_application_is_the_limit() {
    for cc in CONTROLLERS {
        let mut path = limited_probe(cc);
        path.run_application(ms(60), 1875, |_| false);
        assert_eq!(state(&path), Up);
        drop_one_in(&mut path, 10, ms(80));
        assert!(path.run_application(ms(200), 1875, |path| state(path) != Up));
        assert_eq!(state(&path), Down);
        // What the application limited is no bound, or one that was used.
        assert!(model(&path).inflight_longterm.is_none_or(|bound| bound >= PRODUCT / 2));
    }
}

#[test]
fn case_7_without_losses_an_application_never_ends_startup_or_a_probe() {
    for cc in CONTROLLERS {
        let mut path = path(cc, 20_000, ms(40), 200);
        path.run(ms(100));
        let other = |path: &Bottleneck| !matches!(state(path), Startup | ProbeRtt);
        assert!(!path.run_application(ms(20_000), 625, other), "{:?}", model(&path));
        let mut path = limited_probe(cc);
        let other = |path: &Bottleneck| state(path) != Up;
        // ProbeRTT ends it after five seconds at the latest.
        path.run_application(ms(20_000), 625, other);
        assert!(matches!(state(&path), ProbeRtt), "{:?}", state(&path));
    }
}

#[test]
fn case_8_the_way_down_ends_by_what_is_in_flight() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 200);
        until(&mut path, Up, 10_000);
        assert_eq!(next(&mut path, 2000), Down);
        assert!((pacing_gain(&path) - 0.9).abs() < 0.01, "{}", pacing_gain(&path));
        assert!(path.sender.in_flight() > PRODUCT);
        assert_eq!(next(&mut path, 4000), Cruise);
        assert!(path.sender.in_flight() <= PRODUCT + 2, "{}", path.sender.in_flight());
    }
}

#[test]
fn case_9_the_way_down_ends_after_its_longest_time() {
    for cc in CONTROLLERS {
        // 100 ms, so that 63 round trips do not come first.
        let mut path = path(cc, 20_000, ms(100), 200);
        greedy(&mut path, true);
        // The path becomes 2 ms shorter, so that ProbeRTT is not due for five seconds.
        until(&mut path, Refill, 20_000);
        path.delay = ms(49);
        until(&mut path, Up, 1000);
        assert_eq!(next(&mut path, 4000), Down);
        path.rate = Rate::from_bps(18_000_000);
        let began = path.now;
        let after = next(&mut path, 4000);
        let took = path.now.since(began);
        assert_eq!(after, Refill, "after {took:?}");
        assert!(took > ms(1900) && took < ms(3200), "{took:?}");
    }
}

#[test]
fn case_13_cruising_fills_the_link_with_aggregated_acknowledgements() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 400);
        until(&mut path, Cruise, 3000);
        path.ack_every = Some(ms(10));
        path.run(ms(2000));
        let before = path.receiver.delivered_bytes();
        path.run(ms(20_000));
        let share = (path.receiver.delivered_bytes() - before) as f64 / 20.0 / payload_per_s(20_000);
        assert!(share >= 0.95, "{share}");
        until(&mut path, Cruise, 5000);
        // The excess of an ACK, about 10 ms at the rate, on top of two products.
        assert!(path.sender.window().cwnd >= 2 * PRODUCT + 8, "{}", path.sender.window().cwnd);
    }
}

#[test]
fn case_14_a_product_below_a_packet() {
    for cc in CONTROLLERS {
        // 1 Mbit/s x 5 ms are 625 B.
        let mut path = path(cc, 1000, ms(5), 5000);
        greedy(&mut path, true);
        until(&mut path, Drain, 10_000);
        path.run(ms(5000));
        let before = path.receiver.delivered_bytes();
        let mut least = u32::MAX;
        path.run_until(ms(20_000), |path| {
            least = least.min(path.sender.window().cwnd);
            false
        });
        assert_eq!(least, 4, "the smallest window");
        let share = (path.receiver.delivered_bytes() - before) as f64 / 20.0 / payload_per_s(1000);
        assert!(share >= 0.95, "{share}");
        assert!((0.98..=1.02).contains(&estimate(&path, 1000)), "{}", estimate(&path, 1000));
    }
}

#[test]
fn case_22_an_application_that_stops_in_refill_lowers_no_estimate() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 200);
        until(&mut path, Refill, 10_000);
        let before = model(&path).bandwidth_bytes_per_s;
        greedy(&mut path, false);
        path.run(ms(30));
        greedy(&mut path, true);
        assert_eq!(model(&path).bandwidth_bytes_per_s, before);
        until(&mut path, Up, 200);
        assert!(model(&path).bandwidth_bytes_per_s >= before);
    }
}
