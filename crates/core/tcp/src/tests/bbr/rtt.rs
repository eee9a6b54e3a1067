//! Cases 10 and 11: ProbeRTT.

use super::*;
use shoal_cc::PathState::{Cruise, ProbeRtt};

#[test]
fn case_10_probe_rtt_is_entered_and_left() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 200);
        until(&mut path, Cruise, 3000);
        until(&mut path, ProbeRtt, 7000);
        let began = path.now;
        let mut least = u32::MAX;
        assert!(path.run_until(ms(2000), |path| {
            if state(path) == ProbeRtt {
                least = least.min(path.sender.in_flight());
            }
            state(path) != ProbeRtt
        }));
        assert_eq!(state(&path), Cruise);
        assert!(path.now.since(began) >= ms(200), "{:?}", path.now.since(began));
        // Half of the product.
        assert!((PRODUCT / 2 - 4..=PRODUCT / 2 + 1).contains(&least), "{least}");
        // A packet takes 0.6 ms.
        let rtt = model(&path).min_rtt.unwrap();
        assert!(rtt >= ms(40) && rtt <= ms(40) + Span::from_micros(1300), "{rtt:?}");
        path.run(ms(100));
        assert!(path.sender.in_flight() > PRODUCT / 2, "it sends again");
    }
}

#[test]
fn case_11_an_idle_time_makes_probe_rtt_unnecessary() {
    for cc in CONTROLLERS {
        let mut path = base(cc, 200);
        until(&mut path, Cruise, 3000);
        greedy(&mut path, false);
        path.run(ms(6000));
        assert_eq!(path.sender.in_flight(), 0);
        greedy(&mut path, true);
        let probes = path.run_until(ms(2000), |path| state(path) == ProbeRtt);
        assert!(!probes, "at {:?}", path.now);
        // Without the pause it is due before five seconds more have passed.
        until(&mut path, ProbeRtt, 5500);
    }
}
