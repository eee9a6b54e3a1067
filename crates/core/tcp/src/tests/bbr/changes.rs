//! Cases 15 to 17: rates that change, and a token bucket.

use super::*;
use crate::testing::Policer;
use shoal_cc::PathState::{Cruise, Up};

#[test]
fn case_15_ten_times_the_rate_is_found() {
    for cc in CONTROLLERS {
        let mut path = path(cc, 10_000, ms(40), 2000);
        greedy(&mut path, true);
        until(&mut path, Cruise, 5000);
        path.rate = Rate::from_bps(100_000_000);
        // Two cycles of at most three seconds, and what the second probe takes.
        let is_full = path.run_until(ms(8000), |path| estimate(path, 100_000) >= 0.95);
        assert!(is_full, "{}", estimate(&path, 100_000));
    }
}

#[test]
fn case_16_a_tenth_of_the_rate_is_found() {
    for cc in CONTROLLERS {
        let mut path = path(cc, 100_000, ms(40), 100);
        greedy(&mut path, true);
        until(&mut path, Up, 10_000);
        until(&mut path, Cruise, 5000);
        path.rate = Rate::from_bps(10_000_000);
        assert!(
            path.run_until(ms(5000), |path| model(path).inflight_shortterm.is_some()),
            "losses lower the short-term bounds"
        );
        // Two cycles of at most three seconds, with round trips of half a second.
        let is_low = path.run_until(ms(20_000), |path| estimate(path, 10_000) <= 1.02);
        assert!(is_low, "{}", estimate(&path, 10_000));
        assert!(estimate(&path, 10_000) >= 0.9);
    }
}

#[test]
fn case_17_a_token_bucket() {
    for cc in CONTROLLERS {
        let mut path = path(cc, 100_000, ms(40), 200);
        path.policer = Some(Policer::new(Rate::from_bps(10_000_000), 100_000));
        greedy(&mut path, true);
        assert!(path.run_until(ms(10_000), |path| model(path).inflight_shortterm.is_some()));
        path.run(ms(20_000));
        let (delivered, sent) = (path.receiver.delivered_bytes(), path.sender.counters().segments_sent);
        let dropped = path.dropped;
        path.run(ms(20_000));
        let share = (path.receiver.delivered_bytes() - delivered) as f64 / 20.0 / payload_per_s(10_000);
        let sent = (path.sender.counters().segments_sent - sent) as f64;
        let lost = (path.dropped - dropped) as f64 / sent;
        assert!((0.8..=1.01).contains(&share), "{share}");
        assert!(lost < 0.05, "{lost}");
    }
}
