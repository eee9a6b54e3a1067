//! What one flow alone takes the bandwidth of its path to be: within 2 % of the rate at which the link carries payload.

use super::*;

/// The estimate after `span_ms` over the link's payload rate.
fn estimate_after(cc: &str, mbps: u64, rtt_ms: u64, span_ms: u64) -> f64 {
    let mut path = path(cc, mbps * 1000, ms(rtt_ms), 200);
    path.buffer_packets = path.buffer_packets.max(60);
    greedy(&mut path, true);
    path.run(ms(span_ms));
    estimate(&path, mbps * 1000)
}

fn check(rates_mbps: &[u64], rtts_ms: &[u64], span_ms: impl Fn(u64) -> u64) {
    let mut worst: f64 = 0.0;
    for cc in ["bbr", "bbr3"] {
        for &mbps in rates_mbps {
            for &rtt_ms in rtts_ms {
                let seen = estimate_after(cc, mbps, rtt_ms, span_ms(rtt_ms));
                println!("{cc} {mbps} Mbit/s {rtt_ms} ms: {seen:.4}");
                worst = worst.max((seen - 1.0).abs());
            }
        }
    }
    assert!(worst <= 0.02, "{worst}");
}

#[test]
fn the_bandwidth_is_estimated_within_two_percent() {
    check(&[1, 10, 100], &[5, 20, 100], |rtt_ms| 1000 + 15 * rtt_ms);
}

#[test]
#[ignore = "half a minute: the whole grid, for longer"]
fn the_bandwidth_is_estimated_within_two_percent_on_the_whole_grid() {
    check(&[1, 10, 100, 400], &[5, 20, 100, 200], |_| 20_000);
}
