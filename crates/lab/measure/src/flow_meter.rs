//! Measures one flow.

use crate::fields::described;
use crate::metrics::{acks_per_packet, finite};
use crate::{DatagramSummary, FrameSummary, WaitSummary};
use serde::{Deserialize, Serialize};
use shoal_units::{Span, Time};

described! {

/// One flow. Counts and rates cover the measurement window only; a flow that lives for a part of it still has its
/// bytes divided by the whole window, so that rates add up.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FlowResult {
    /// Bits of payload delivered in order, a second.
    pub goodput_bps: Option<f64>,
    /// Bits on the bottleneck's wire, a second.
    pub wire_bps: Option<f64>,
    /// Congestion window in packets, weighted by time.
    pub cwnd_packets: Summary,
    /// DCTCP's estimate of the marked fraction, weighted by time; null for controllers without one.
    pub alpha: AlphaSummary,
    /// Smoothed round-trip time in seconds, one value an update.
    pub srtt_s: SrttSummary,
    /// Marked packets the receiver saw.
    pub marks_seen: u64,
    /// Packets the sender declared lost.
    pub losses: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions.
    pub reductions: u64,
    /// Data packets that arrived at the receiver, copies included. Null for unresponsive traffic, which nobody
    /// acknowledges. On Linux: `tcpi_data_segs_in` of the receiver.
    #[serde(default)]
    pub data_packets: Option<u64>,
    /// ACKs without data that the receiver sent; null where `data_packets` is. On Linux: `tcpi_segs_out` of the
    /// receiver less `tcpi_data_segs_out` and the handshake.
    #[serde(default)]
    pub acks_sent: Option<u64>,
    /// `acks_sent` over `data_packets`: 1/2 if every second packet is acknowledged; null without packets.
    #[serde(default)]
    pub acks_per_packet: Option<f64>,
    /// Completion times of its transfers in seconds, in order.
    pub fct_s: Vec<f64>,
    /// Completion times divided by the time each transfer would take alone; empty if that is not known.
    pub slowdown: Vec<f64>,
    /// Payload bytes delivered in order.
    pub delivered_bytes: u64,
    /// Propagation there and back, in seconds.
    #[serde(default)]
    pub base_rtt_s: Option<f64>,
    /// When it connected, in seconds after the start of the experiment; null if it never did.
    pub start_s: Option<f64>,
    /// When its last byte was acknowledged; null if it was still running at the end.
    pub stop_s: Option<f64>,
    /// Bytes of each of its transfers; null if its application does not transfer.
    #[serde(default)]
    pub transfer_bytes: Option<u64>,
    /// Transfers that began, completed or not.
    #[serde(default)]
    pub transfers_begun: u64,
    /// What became of its packets, if the traffic is unresponsive.
    #[serde(default)]
    pub datagrams: Option<Box<DatagramSummary>>,
    /// Its exchanges, if its client asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<Box<WaitSummary>>,
    /// Its frames, if it writes some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Box<FrameSummary>>,
}

/// Mean and range.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
}

/// Smoothed round-trip time of a flow.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SrttSummary {
    /// Mean over the updates.
    pub mean: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Number of updates.
    pub count: u64,
}

/// DCTCP's alpha.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AlphaSummary {
    /// Mean over time.
    pub mean: Option<f64>,
}
}

/// Counters of a flow since its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowCounters {
    /// Payload bytes delivered in order.
    pub delivered_bytes: u64,
    /// Bytes on the bottleneck's wire.
    pub wire_bytes: u64,
    /// Marked packets the receiver saw.
    pub marks_seen: u32,
    /// Packets the sender declared lost.
    pub losses: u32,
    /// Segments sent again.
    pub retransmissions: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Window reductions.
    pub reductions: u32,
}

/// Counters of a flow's feedback. They are kept apart from [`FlowCounters`], whose values at the start of the
/// window are stored in [`FlowMeter`] beside what every ACK uses. They wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FeedbackCounters {
    /// Data packets that arrived at the receiver.
    pub data_packets: u32,
    /// ACKs without data that the receiver sent.
    pub acks_sent: u32,
}

impl FeedbackCounters {
    /// Writes the counts since `start` into the result of a flow.
    pub fn fill(&self, start: &Self, result: &mut FlowResult) {
        let since = |of: fn(&Self) -> u32| Some(u64::from(of(self).wrapping_sub(of(start))));
        result.data_packets = since(|counters| counters.data_packets);
        result.acks_sent = since(|counters| counters.acks_sent);
        result.acks_per_packet = acks_per_packet(result.acks_sent, result.data_packets);
    }
}

/// Lifetime of a flow, and the part of it that is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowSpan {
    /// Start of the measurement window.
    pub window_start: Time,
    /// End of the measurement window.
    pub window_end: Time,
    /// Time at which the flow connected.
    pub start: Time,
    /// Time at which its last byte was acknowledged; `None` if it was still running at the end.
    pub stop: Option<Time>,
}

/// Averages of a flow inside the measurement window, and its counters when the window opened.
#[derive(Clone, Debug)]
pub struct FlowMeter {
    /// Counters when the window opened; `None` if the flow started later, or had not begun to count.
    at_start: Option<Box<FlowCounters>>,
    /// Start of the time averages.
    from: Time,
    /// Time since which the values below hold.
    since: Time,
    /// Integral of the window in packets times nanoseconds.
    cwnd_integral: u64,
    /// Integral of the squared window in packets^2 times nanoseconds.
    cwnd_square_integral: f64,
    /// Integral of alpha in nanoseconds; NaN if a value was unknown.
    alpha_integral: f64,
    /// Sum of the smoothed round-trip times in nanoseconds.
    srtt_sum: u64,
    srtt_min: Span,
    srtt_max: Span,
    srtt_count: u32,
    /// Congestion window in packets; 0 until the first report.
    cwnd: u32,
    cwnd_min: u32,
    cwnd_max: u32,
    /// Alpha, NaN if the controller has none. Single precision is exact for values of up to 24 bits.
    alpha: f32,
    /// Whether rows are kept of the flow as well, see [`Collector::traces`](crate::Collector::traces). It lies here
    /// since a sender with its meter would be a cache line longer with it elsewhere.
    pub is_traced: bool,
}

// The meters of 40,000 flows fit a second-level cache only if they stay small.
const _: () = assert!(size_of::<FlowMeter>() <= 96);

impl FlowMeter {
    /// A meter whose window opens at `window_start`.
    pub fn new(window_start: Time) -> Self {
        Self {
            at_start: None,
            from: window_start,
            since: window_start,
            cwnd_integral: 0,
            cwnd_square_integral: 0.0,
            alpha_integral: 0.0,
            srtt_sum: 0,
            srtt_min: Span::MAX,
            srtt_max: Span::ZERO,
            srtt_count: 0,
            cwnd: 0,
            cwnd_min: u32::MAX,
            cwnd_max: 0,
            alpha: f32::NAN,
            is_traced: false,
        }
    }

    /// Starts the window: what was counted before is not part of it. Not called for flows that start later.
    pub fn on_window_start(&mut self, counters: &FlowCounters) {
        self.at_start = Some(Box::new(*counters));
    }

    /// Reports the congestion window and DCTCP's alpha from `now` on. Times never decrease.
    #[inline]
    pub fn on_window(&mut self, now: Time, cwnd_packets: u32, alpha: Option<f64>) {
        let alpha = alpha.map_or(f32::NAN, |alpha| alpha as f32);
        // Most ACKs change nothing, and unchanged values are added later.
        if cwnd_packets != self.cwnd || alpha.to_bits() != self.alpha.to_bits() {
            self.advance(now);
            self.cwnd = cwnd_packets;
            self.alpha = alpha;
        }
    }

    /// Reports an update of the smoothed round-trip time.
    #[inline]
    pub fn on_srtt(&mut self, now: Time, srtt: Span) {
        // Before the window opens, `since` is the time of its start.
        if now >= self.since {
            self.srtt_count += 1;
            self.srtt_sum += srtt.as_nanos();
            self.srtt_min = self.srtt_min.min(srtt);
            self.srtt_max = self.srtt_max.max(srtt);
        }
    }

    /// The result, given the final counters. The caller adds what depends on paths and transfers.
    pub fn finish(mut self, counters: &FlowCounters, span: FlowSpan) -> FlowResult {
        self.advance(span.stop.unwrap_or(span.window_end).min(span.window_end));
        let window_s = span.window_end.since(span.window_start).as_secs_f64();
        let rate = |bytes: u64| window_rate_bps(bytes, window_s);
        let at_start = self.at_start.take().map_or_else(FlowCounters::default, |counters| *counters);
        let delivered_bytes = counters.delivered_bytes - at_start.delivered_bytes;
        let counted = |of: fn(&FlowCounters) -> u32| u64::from(of(counters) - of(&at_start));
        FlowResult {
            goodput_bps: rate(delivered_bytes),
            wire_bps: rate(counters.wire_bytes - at_start.wire_bytes),
            cwnd_packets: self.cwnd_summary(),
            alpha: AlphaSummary { mean: finite(self.alpha_integral / self.covered_ns()) },
            srtt_s: self.srtt_summary(),
            marks_seen: counted(|c| c.marks_seen),
            losses: counted(|c| c.losses),
            retransmissions: counted(|c| c.retransmissions),
            timeouts: counted(|c| c.timeouts),
            reductions: counted(|c| c.reductions),
            delivered_bytes,
            start_s: (span.start < Time::NEVER).then(|| span.start.as_secs_f64()),
            stop_s: span.stop.map(Time::as_secs_f64),
            ..FlowResult::default()
        }
    }

    /// Adds the time since the last change in whole nanoseconds of the clock, so that rounding errors do not
    /// accumulate.
    #[inline]
    fn advance(&mut self, now: Time) {
        if now <= self.since {
            return;
        }
        if self.cwnd == 0 {
            self.from = now;
        } else {
            let span = nanos(now) - nanos(self.since);
            let weighted = u64::from(self.cwnd) * span;
            self.cwnd_integral += weighted;
            self.cwnd_square_integral += f64::from(self.cwnd) * weighted as f64;
            self.alpha_integral += f64::from(self.alpha) * span as f64;
            self.cwnd_min = self.cwnd_min.min(self.cwnd);
            self.cwnd_max = self.cwnd_max.max(self.cwnd);
        }
        self.since = now;
    }

    fn covered_ns(&self) -> f64 {
        (nanos(self.since) - nanos(self.from)) as f64
    }

    fn cwnd_summary(&self) -> Summary {
        let Some(mean) = finite(self.cwnd_integral as f64 / self.covered_ns()) else {
            return Summary::default();
        };
        let variance = self.cwnd_square_integral / self.covered_ns() - mean * mean;
        Summary {
            mean: Some(mean),
            sd: Some(variance.max(0.0).sqrt()),
            min: Some(f64::from(self.cwnd_min)),
            max: Some(f64::from(self.cwnd_max)),
        }
    }

    fn srtt_summary(&self) -> SrttSummary {
        let seen = self.srtt_count > 0;
        SrttSummary {
            mean: finite(self.srtt_sum as f64 / f64::from(self.srtt_count) / 1e9),
            min: seen.then(|| self.srtt_min.as_secs_f64()),
            max: seen.then(|| self.srtt_max.as_secs_f64()),
            count: u64::from(self.srtt_count),
        }
    }
}

/// Rate in bit/s of so many bytes in a window of this length.
pub(crate) fn window_rate_bps(bytes: u64, window_s: f64) -> Option<f64> {
    finite(8.0 * bytes as f64 / window_s)
}

const fn nanos(time: Time) -> u64 {
    time.as_picos() / 1000
}

#[cfg(test)]
mod tests;
