use super::{Flow, PRAGUE_0_6, PRAGUE_0_7, PRAGUE_0_7_EARLY, PRAGUE_2020, VERSIONS};
use crate::{Burst, CongestionControl, Pace, PragueConfig};
use shoal_units::Span;

const MSS: u32 = 1448;

fn rate(flow: &Flow, in_flight: u32) -> u64 {
    flow.cc.pacing(&flow.window, Span::from_millis(10), in_flight, MSS).unwrap().bytes_per_s
}

/// 1500 B / 10 ms = 150,000 B/s a packet. `cwnd` is 20, the window 19.5.
#[test]
fn the_pacing_rate_is_that_of_the_window_that_the_version_takes() {
    for (config, few, many) in [
        (PRAGUE_2020, 20.0, 25.0),
        (PRAGUE_0_6, 19.5, 19.5),
        (PRAGUE_0_7_EARLY, 20.0, 25.0),
        (PRAGUE_0_7, 19.0, 25.0),
    ] {
        let mut flow = Flow::prague(config, 20, 10);
        flow.cc.level.value = -(1 << 19);
        assert_eq!(rate(&flow, 5), (few * 150_000.0) as u64, "{config:?}");
        assert_eq!(rate(&flow, 25), (many * 150_000.0) as u64, "{config:?}");
    }
}

#[test]
fn the_pacing_rate_is_doubled_far_below_the_threshold() {
    let mut flow = Flow::prague(PRAGUE_2020, 20, 10);
    for (ssthresh, packets) in [(41, 20), (42, 40), (crate::INFINITE_SSTHRESH, 40)] {
        flow.window.ssthresh = ssthresh;
        assert_eq!(rate(&flow, 5), packets * 150_000);
    }
    let config = PragueConfig { doubles_pace_in_slow_start: false, ..PRAGUE_2020 };
    let mut flow = Flow::prague(config, 20, 10);
    flow.window.ssthresh = crate::INFINITE_SSTHRESH;
    assert_eq!(rate(&flow, 5), 20 * 150_000);
}

#[test]
fn bursts_are_244_us_and_packets_full() {
    for config in VERSIONS {
        let flow = Flow::prague(config, 20, 10);
        let pace = flow.cc.pacing(&flow.window, Span::from_millis(10), 5, MSS);
        let burst = Burst::Within(Span::from_picos(244_140_625));
        assert_eq!(pace, Some(Pace { bytes_per_s: 3_000_000, burst }));
        assert_eq!(flow.cc.packet_bytes(), None);
        assert_eq!(flow.cc.pacing(&flow.window, Span::ZERO, 5, MSS), None, "before the first sample");
    }
}
