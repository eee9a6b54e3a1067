//! Cases 1 to 4, 12 and 20: Startup and Drain.

use super::*;
use shoal_cc::PathState::{Cruise, Down, Drain, ProbeRtt, Startup};

#[test]
fn case_1_startup_ends_on_a_plateau() {
    for cc in CONTROLLERS {
        // Also a slow path, whose buffer holds ten packets, and a fast one.
        for (kbps, rtt, longest_ms) in [(20_000, 40, 3000), (64, 100, 60_000), (1_000_000, 1, 1000)] {
            let mut path = path(cc, kbps, ms(rtt), 200);
            greedy(&mut path, true);
            assert!(path.run_until(ms(longest_ms), |path| state(path) == Drain), "{kbps}");
            let seen = estimate(&path, kbps);
            assert!((0.98..=1.02).contains(&seen), "{kbps} kbit/s: {seen}");
            assert!(model(&path).full_bandwidth_reached);
        }
    }
}

/// An application of 10 Mbit/s, 33 packets a round trip, of which one in `n` is lost for three round trips.
fn lossy_startup(cc: &str, n: u64) -> Bottleneck {
    let mut path = path(cc, 20_000, ms(40), 200);
    path.run(ms(100));
    path.run_application(ms(1000), 1250, |_| false);
    assert_eq!(state(&path), Startup);
    drop_one_in(&mut path, n, ms(120));
    path.run_application(ms(1000), 1250, |path| state(path) != Startup);
    path
}

#[test]
fn case_2_startup_ends_on_losses_though_the_application_is_the_limit() {
    for cc in CONTROLLERS {
        // 8 ranges in a round trip are lost.
        let many = lossy_startup(cc, 4);
        assert!(model(&many).full_bandwidth_reached);
        // So little is in flight that Drain is over with the same ACK.
        assert_eq!(state(&many), Cruise);
        // 3 are not enough, though they are more than 2 %.
        assert_eq!(state(&lossy_startup(cc, 11)), Startup);
    }
}

#[test]
fn case_3_drain_ends_by_what_is_in_flight() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 200);
        until(&mut path, Drain, 3000);
        assert!((pacing_gain(&path) - 0.5).abs() < 0.01, "{}", pacing_gain(&path));
        let mut before = path.sender.in_flight();
        assert!(path.run_until(ms(1000), |path| {
            let is_over = state(path) != Drain;
            before = if is_over { before } else { path.sender.in_flight() };
            is_over
        }));
        // At the first ACK, which acknowledges two packets, and before what it lets out.
        assert!((PRODUCT - 1..=PRODUCT + 4).contains(&before), "{before}");
        assert!(path.sender.in_flight() <= PRODUCT + 2, "{}", path.sender.in_flight());
    }
}

#[test]
fn case_4_drain_ends_after_three_round_trips() {
    for cc in CONTROLLERS {
        // The document takes 10 % off the rate, which lets the flight come down in time with a window of two products.
        // Here the rate is below that of Drain, so that it does not.
        let mut path = base(cc, 800);
        until(&mut path, Drain, 3000);
        path.rate = Rate::from_bps(6_000_000);
        let (began, delivered) = (path.now, path.sender.counters().delivered_packets);
        assert!(path.run_until(ms(3000), |path| state(path) != Drain));
        assert!(path.sender.in_flight() > PRODUCT + 6, "{}", path.sender.in_flight());
        // Three to four rounds of up to two products each.
        let rounds = (path.sender.counters().delivered_packets - delivered) as f64 / f64::from(2 * PRODUCT);
        assert!((1.5..=5.0).contains(&rounds), "{rounds} in {:?}", path.now.since(began));
        assert_eq!(state(&path), Down);
    }
}

#[test]
fn case_12_startup_finds_the_rate_with_aggregated_acknowledgements() {
    for cc in CONTROLLERS {
        let mut path = path(cc, 20_000, ms(40), 400);
        path.ack_every = Some(ms(10));
        greedy(&mut path, true);
        until(&mut path, Drain, 3000);
        let seen = estimate(&path, 20_000);
        assert!((0.98..=1.02).contains(&seen), "{seen}");
        let mut largest = 0;
        path.run_until(ms(500), |path| {
            largest = largest.max(path.sender.window().cwnd);
            false
        });
        assert!(largest > 2 * PRODUCT, "{largest}");
    }
}

#[test]
fn case_20_probe_rtt_in_startup_returns_to_startup() {
    for cc in CONTROLLERS {
        let mut path = path(cc, 20_000, ms(40), 200);
        path.run(ms(100));
        assert!(path.run_application(ms(6000), 625, |path| state(path) == ProbeRtt));
        assert!(!model(&path).full_bandwidth_reached);
        assert!(path.run_application(ms(1000), 625, |path| state(path) != ProbeRtt));
        assert_eq!(state(&path), Startup);
        // Then it finds the rate.
        greedy(&mut path, true);
        until(&mut path, Drain, 3000);
        assert!((0.98..=1.02).contains(&estimate(&path, 20_000)));
    }
}
