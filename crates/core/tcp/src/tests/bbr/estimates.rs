//! What one flow alone takes the bandwidth of its path to be: within 2 % of the rate at which the link carries payload.

use super::*;

/// The estimate after 20 s over the link's payload rate.
fn estimate_after(cc: &str, mbps: u64, rtt_ms: u64) -> f64 {
    let mut path = path(cc, mbps * 1000, ms(rtt_ms), 200);
    path.buffer_packets = path.buffer_packets.max(60);
    greedy(&mut path, true);
    path.run(ms(20_000));
    estimate(&path, mbps * 1000)
}

#[test]
fn the_bandwidth_is_estimated_within_two_percent() {
    let mut worst: f64 = 0.0;
    for cc in ["bbr", "bbr3"] {
        for mbps in [1, 10, 100, 400] {
            for rtt_ms in [5, 20, 100, 200] {
                let seen = estimate_after(cc, mbps, rtt_ms);
                println!("{cc} {mbps} Mbit/s {rtt_ms} ms: {seen:.4}");
                worst = worst.max((seen - 1.0).abs());
            }
        }
    }
    assert!(worst <= 0.02, "{worst}");
}
