//! Cases 18, 19 and 21: losses, and those that were none.

use super::*;
use shoal_cc::PathState::{Down, Refill, Up};
use shoal_units::Time;

/// Holds the next `packets` data packets from now on for `by`.
fn hold(path: &mut Bottleneck, packets: u32, by: Span) {
    let mut left = packets;
    path.hook = Box::new(move |_, _: Time| {
        let held = left > 0;
        left = left.saturating_sub(1);
        Some(if held { by } else { Span::ZERO })
    });
}

#[test]
fn case_18_a_spurious_fast_recovery_is_taken_back() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 200);
        until(&mut path, Up, 10_000);
        path.run(ms(60));
        assert_eq!(state(&path), Up);
        // Four of about 80 packets are overtaken, more than 2 %.
        hold(&mut path, 4, ms(25));
        assert_eq!(next(&mut path, 200), Down);
        assert!(model(&path).inflight_longterm.is_some());
        assert!(path.run_until(ms(200), |path| path.sender.counters().undos > 0));
        assert_eq!(state(&path), Refill);
        assert_eq!(model(&path).inflight_longterm, None);
        assert_eq!(next(&mut path, 200), Up);
    }
}

#[test]
fn case_19_a_spurious_timeout_is_taken_back() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 200);
        until(&mut path, Up, 10_000);
        path.run(ms(60));
        let before = model(&path);
        // The path stands still for 400 ms.
        let until_then = path.now + ms(400);
        path.hook = Box::new(move |_, now| Some(until_then.since(now.min(until_then))));
        assert!(path.run_until(ms(1000), |path| path.sender.counters().timeouts > 0));
        assert!(path.run_until(ms(1000), |path| path.sender.counters().undos > 0));
        assert_eq!(model(&path).inflight_longterm, before.inflight_longterm);
        assert_eq!(model(&path).inflight_shortterm, before.inflight_shortterm);
        // The probe begins anew with Refill, whose window is two products.
        assert_eq!(state(&path), Refill);
        assert!(path.sender.window().cwnd >= 2 * PRODUCT, "{}", path.sender.window().cwnd);
        until(&mut path, Up, 4000);
    }
}

#[test]
fn case_21_losses_in_a_probe_with_a_bound() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 30);
        // Startup or the first probe finds a bound.
        assert!(path.run_until(ms(10_000), |path| model(path).inflight_longterm.is_some()));
        let mut ended = 0;
        for _ in 0..4 {
            until(&mut path, Up, 10_000);
            let losses = path.sender.losses();
            assert_eq!(next(&mut path, 2000), Down);
            if path.sender.losses() > losses {
                ended += 1;
                let bound = model(&path).inflight_longterm.unwrap();
                // Not below 0.7 of the product, and not above what fits.
                assert!((PRODUCT * 7 / 10 - 2..=PRODUCT + 25).contains(&bound), "{bound}");
            }
        }
        assert!(ended > 0, "no probe has ended by losses");
    }
}
