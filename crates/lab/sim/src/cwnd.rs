//! Congestion windows of packets and of bytes in one unit, for the meters.

use shoal_cc::Window;
use shoal_measure::Summary;

/// Meters see windows that count bytes in this fraction of a packet.
const PARTS_OF_PACKET: u32 = 16;

/// The window as a meter takes it: in packets, or in sixteenths of a packet if it counts bytes.
#[inline]
pub(crate) fn metered(window: &Window) -> u32 {
    if window.quantum == 1 { window.cwnd } else { in_parts(window) }
}

#[cold]
fn in_parts(window: &Window) -> u32 {
    (u64::from(window.cwnd) * u64::from(PARTS_OF_PACKET) / u64::from(window.quantum)) as u32
}

/// What a meter found, in packets.
pub(crate) fn in_packets(summary: Summary, window: &Window) -> Summary {
    if window.quantum == 1 {
        return summary;
    }
    let packets = |parts: Option<f64>| parts.map(|parts| parts / f64::from(PARTS_OF_PACKET));
    Summary {
        mean: packets(summary.mean),
        sd: packets(summary.sd),
        min: packets(summary.min),
        max: packets(summary.max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_metered_in_sixteenths_of_a_packet() {
        // 10.5 packets of 1448 B are 168 sixteenths; packets stay packets.
        let window = Window { cwnd: 15_204, ..Window::in_bytes(10, 1448) };
        assert_eq!((metered(&window), metered(&Window::in_packets(10))), (168, 10));
        let summary = Summary { mean: Some(168.0), sd: None, min: Some(16.0), max: Some(32.0) };
        let packets = Summary { mean: Some(10.5), sd: None, min: Some(1.0), max: Some(2.0) };
        assert_eq!(in_packets(summary, &window), packets);
        assert_eq!(in_packets(summary, &Window::in_packets(10)), summary);
    }
}
