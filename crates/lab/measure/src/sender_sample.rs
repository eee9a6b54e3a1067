//! What a sender says about itself at one moment.

use crate::Summary;
use shoal_packet::CaState;
use shoal_trace::PathState;
use shoal_units::Span;

/// A controller's model of its path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathSample {
    /// State of the controller.
    pub state: PathState,
    /// Pacing rate in bytes of payload per second.
    pub pacing_bytes_per_s: u64,
    /// Estimate of the bandwidth in bytes of payload per second.
    pub bandwidth_bytes_per_s: u64,
    /// Estimate of the round-trip time without queues.
    pub min_rtt: Option<Span>,
    /// Long-term bound of the packets in flight.
    pub inflight_longterm: Option<u32>,
    /// Short-term bound of the packets in flight.
    pub inflight_shortterm: Option<u32>,
    /// Whether the path was found to be filled.
    pub full_bandwidth_reached: bool,
}

/// State of a sender. Windows are in the unit that the stack counts in: `quantum` of them are a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SenderSample {
    /// Congestion window.
    pub cwnd: u32,
    /// Slow-start threshold; `None` before the first reduction.
    pub ssthresh: Option<u32>,
    /// What a packet is of both: 1 where the stack counts packets, the MSS where it counts bytes.
    pub quantum: u32,
    /// DCTCP's estimate of the marked fraction; `None` for controllers without one.
    pub alpha: Option<f64>,
    /// Smoothed round-trip time; `None` before the first.
    pub srtt: Option<Span>,
    /// State of recovery.
    pub state: CaState,
    /// The controller's model of its path; `None` for controllers without one.
    pub path: Option<PathSample>,
    /// Packets in flight.
    pub in_flight: u32,
}

impl SenderSample {
    /// Congestion window in whole packets.
    pub const fn cwnd_packets(&self) -> u32 {
        self.cwnd / self.quantum
    }

    /// Slow-start threshold in packets.
    pub fn ssthresh_packets(&self) -> Option<f64> {
        self.ssthresh.map(|threshold| f64::from(threshold) / f64::from(self.quantum))
    }

    /// Whether a table of changes has the same to say about both.
    pub(crate) fn controls_as(&self, other: &Self) -> bool {
        self.cwnd == other.cwnd
            && self.ssthresh == other.ssthresh
            && self.alpha == other.alpha
            && self.state == other.state
    }
}

/// [`crate::FlowMeter`] sees windows that count bytes in this fraction of a packet.
const PARTS_OF_PACKET: u32 = 16;

/// The congestion window `cwnd` as a [`crate::FlowMeter`] takes it: in packets, or in sixteenths of a packet if it
/// counts bytes.
#[inline]
pub fn metered_window(cwnd: u32, quantum: u32) -> u32 {
    if quantum == 1 { cwnd } else { in_parts(cwnd, quantum) }
}

#[cold]
fn in_parts(cwnd: u32, quantum: u32) -> u32 {
    (u64::from(cwnd) * u64::from(PARTS_OF_PACKET) / u64::from(quantum)) as u32
}

/// What a meter found, in packets.
pub(crate) fn window_in_packets(summary: Summary, quantum: u32) -> Summary {
    if quantum == 1 {
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
        assert_eq!((metered_window(15_204, 1448), metered_window(10, 1)), (168, 10));
        let summary = Summary { mean: Some(168.0), sd: None, min: Some(16.0), max: Some(32.0) };
        let packets = Summary { mean: Some(10.5), sd: None, min: Some(1.0), max: Some(2.0) };
        assert_eq!(window_in_packets(summary, 1448), packets);
        assert_eq!(window_in_packets(summary, 1), summary);
    }
}
