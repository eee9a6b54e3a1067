//! Measures one flow.

use crate::metrics::{acks_per_packet, finite};
use crate::{AlphaSummary, FlowResult, SrttSummary, Summary};
use shoal_units::{Span, Time};

/// What the engine counts for a flow from its start on.
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

/// What the engine counts of a flow's feedback. Apart from [`FlowCounters`], because [`FlowMeter`] holds those of the window's
/// start beside what every ACK touches. Counts wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FeedbackCounters {
    /// Data packets that arrived at the receiver.
    pub data_packets: u32,
    /// ACKs without data that the receiver sent.
    pub acks_sent: u32,
}

impl FeedbackCounters {
    /// Writes what was counted since `start` into the result of a flow.
    pub fn fill(&self, start: &Self, result: &mut FlowResult) {
        let since = |of: fn(&Self) -> u32| Some(u64::from(of(self).wrapping_sub(of(start))));
        result.data_packets = since(|counters| counters.data_packets);
        result.acks_sent = since(|counters| counters.acks_sent);
        result.acks_per_packet = acks_per_packet(result.acks_sent, result.data_packets);
    }
}

/// When a flow lived and what part of that is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowSpan {
    /// The measurement window opens.
    pub window_start: Time,
    /// The measurement window closes.
    pub window_end: Time,
    /// The flow connected.
    pub start: Time,
    /// Its last byte was acknowledged; `None` if it was still running at the end.
    pub stop: Option<Time>,
}

/// Averages of a flow inside the measurement window, and its counters when the window opened.
#[derive(Clone, Debug)]
pub struct FlowMeter {
    at_start: FlowCounters,
    /// The time averages begin here.
    from: Time,
    /// The values below hold since then.
    since: Time,
    /// Packet nanoseconds.
    cwnd_integral: u64,
    /// Packet^2 nanoseconds.
    cwnd_square_integral: f64,
    /// Nanoseconds; NaN once a value was unknown.
    alpha_integral: f64,
    /// Nanoseconds.
    srtt_sum: u64,
    srtt_min: Span,
    srtt_max: Span,
    srtt_count: u32,
    /// 0 until the first report.
    cwnd: u32,
    cwnd_min: u32,
    cwnd_max: u32,
    /// NaN if the controller has none. Fixed point of up to 24 bits is exact.
    alpha: f32,
}

// 40,000 flows fit a second-level cache only if they stay small.
const _: () = assert!(size_of::<FlowMeter>() <= 128);

impl FlowMeter {
    /// A meter whose window opens at `window_start`.
    pub const fn new(window_start: Time) -> Self {
        Self {
            at_start: FlowCounters {
                delivered_bytes: 0,
                wire_bytes: 0,
                marks_seen: 0,
                losses: 0,
                retransmissions: 0,
                timeouts: 0,
                reductions: 0,
            },
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
        }
    }

    /// The window opens: what was counted so far is not part of it. Not called for flows that start later.
    pub fn on_window_start(&mut self, counters: &FlowCounters) {
        self.at_start = *counters;
    }

    /// From `now` on the congestion window and DCTCP's alpha have these values. Times never decrease.
    #[inline]
    pub fn on_window(&mut self, now: Time, cwnd_packets: u32, alpha: Option<f64>) {
        let alpha = alpha.map_or(f32::NAN, |alpha| alpha as f32);
        // Most ACKs change nothing, and what does not change need not be added up yet.
        if cwnd_packets != self.cwnd || alpha.to_bits() != self.alpha.to_bits() {
            self.advance(now);
            self.cwnd = cwnd_packets;
            self.alpha = alpha;
        }
    }

    /// The smoothed round-trip time was updated.
    #[inline]
    pub fn on_srtt(&mut self, now: Time, srtt: Span) {
        // Before the window opens, `since` is when it will.
        if now >= self.since {
            self.srtt_count += 1;
            self.srtt_sum += srtt.as_nanos();
            self.srtt_min = self.srtt_min.min(srtt);
            self.srtt_max = self.srtt_max.max(srtt);
        }
    }

    /// The result, given the counters at the end. The caller adds what it knows of paths and transfers.
    pub fn finish(mut self, counters: &FlowCounters, span: FlowSpan) -> FlowResult {
        self.advance(span.stop.unwrap_or(span.window_end).min(span.window_end));
        let window_s = span.window_end.since(span.window_start).as_secs_f64();
        let rate = |bytes: u64| finite(8.0 * bytes as f64 / window_s);
        let delivered_bytes = counters.delivered_bytes - self.at_start.delivered_bytes;
        let counted = |of: fn(&FlowCounters) -> u32| u64::from(of(counters) - of(&self.at_start));
        FlowResult {
            goodput_bps: rate(delivered_bytes),
            wire_bps: rate(counters.wire_bytes - self.at_start.wire_bytes),
            cwnd_packets: self.cwnd_summary(),
            alpha: AlphaSummary { mean: finite(self.alpha_integral / self.covered_ns()) },
            srtt_s: self.srtt_summary(),
            marks_seen: counted(|c| c.marks_seen),
            losses: counted(|c| c.losses),
            retransmissions: counted(|c| c.retransmissions),
            timeouts: counted(|c| c.timeouts),
            reductions: counted(|c| c.reductions),
            data_packets: None,
            acks_sent: None,
            acks_per_packet: None,
            fct_s: Vec::new(),
            slowdown: Vec::new(),
            delivered_bytes,
            base_rtt_s: None,
            start_s: span.start.as_secs_f64(),
            stop_s: span.stop.map(Time::as_secs_f64),
            transfer_bytes: None,
            transfers_begun: 0,
            datagrams: None,
            exchanges: None,
            frames: None,
        }
    }

    /// Adds the time since the last change, in whole nanoseconds of the clock, so that rounding does not add up.
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

const fn nanos(time: Time) -> u64 {
    time.as_picos() / 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }
    fn span(start: u64, end: u64) -> FlowSpan {
        FlowSpan { window_start: ms(start), window_end: ms(end), start: Time::ZERO, stop: None }
    }

    #[test]
    fn averages_and_counts_begin_with_the_window() {
        let mut meter = FlowMeter::new(ms(100));
        let before =
            FlowCounters { delivered_bytes: 5000, wire_bytes: 6000, marks_seen: 3, ..Default::default() };
        meter.on_window(ms(0), 40, Some(1.0));
        meter.on_srtt(ms(50), Span::from_millis(900));
        meter.on_window(ms(60), 10, Some(0.5));
        meter.on_window_start(&before);
        meter.on_srtt(ms(110), Span::from_millis(20));
        meter.on_window(ms(150), 30, Some(0.25));
        meter.on_srtt(ms(160), Span::from_millis(30));
        let after = FlowCounters { delivered_bytes: 130_000, wire_bytes: 131_000, marks_seen: 8, ..before };
        let flow = meter.finish(&after, span(100, 200));
        // 125,000 B in 100 ms are 10 Mbit/s; half of the time at 10 packets, half at 30.
        assert_eq!((flow.goodput_bps, flow.wire_bps), (Some(10e6), Some(10e6)));
        assert_eq!((flow.delivered_bytes, flow.marks_seen, flow.losses), (125_000, 5, 0));
        assert_eq!(
            flow.cwnd_packets,
            Summary { mean: Some(20.0), sd: Some(10.0), min: Some(10.0), max: Some(30.0) }
        );
        assert_eq!(flow.alpha.mean, Some(0.375));
        assert_eq!((flow.srtt_s.mean, flow.srtt_s.min, flow.srtt_s.count), (Some(0.025), Some(0.02), 2));
    }

    #[test]
    fn feedback_is_counted_from_the_start_of_the_window_on() {
        let mut flow = FlowMeter::new(ms(0)).finish(&FlowCounters::default(), span(0, 100));
        assert_eq!((flow.data_packets, flow.acks_sent, flow.acks_per_packet), (None, None, None));
        let start = FeedbackCounters { data_packets: u32::MAX - 1, acks_sent: 900 };
        FeedbackCounters { data_packets: 6, acks_sent: 904 }.fill(&start, &mut flow);
        // 4,294,967,294 wraps around to 6 after 8 more; 4 / 8.
        assert_eq!((flow.data_packets, flow.acks_sent, flow.acks_per_packet), (Some(8), Some(4), Some(0.5)));
        start.fill(&start, &mut flow);
        // Nothing arrived: there is no ratio.
        assert_eq!((flow.data_packets, flow.acks_sent, flow.acks_per_packet), (Some(0), Some(0), None));
    }

    #[test]
    fn flow_that_lives_for_a_part_of_the_window_is_averaged_over_its_life() {
        let mut meter = FlowMeter::new(ms(0));
        meter.on_window(ms(40), 10, None);
        let flow = meter
            .finish(&FlowCounters::default(), FlowSpan { start: ms(40), stop: Some(ms(60)), ..span(0, 100) });
        assert_eq!(flow.cwnd_packets.mean, Some(10.0));
        assert_eq!((flow.alpha.mean, flow.goodput_bps, flow.stop_s), (None, Some(0.0), Some(0.06)));
    }

    #[test]
    fn flow_that_never_started_has_no_averages() {
        let flow = FlowMeter::new(ms(0)).finish(&FlowCounters::default(), span(0, 100));
        assert_eq!((flow.cwnd_packets, flow.srtt_s), (Summary::default(), SrttSummary::default()));
        assert_eq!(flow.goodput_bps, Some(0.0));
    }

    proptest! {
        #[test]
        fn time_average_equals_the_integral(
            changes in prop::collection::vec((1u64..20, 1u32..1000, 0u32..=1024), 1..60),
            start in 0u64..300,
        ) {
            let mut meter = FlowMeter::new(ms(start));
            let (mut now, mut trace) = (0, vec![(0, 0.0); 3000]);
            for &(gap, cwnd, alpha) in &changes {
                meter.on_window(ms(now), cwnd, Some(f64::from(alpha) / 1024.0));
                trace[now as usize..].fill((cwnd, f64::from(alpha) / 1024.0));
                now += gap;
            }
            let end = now.max(start + 1);
            let inside = &trace[start as usize..end as usize];
            let n = inside.len() as f64;
            let flow = meter.finish(&FlowCounters::default(), span(start, end));
            let cwnd = inside.iter().map(|s| f64::from(s.0)).sum::<f64>() / n;
            let alpha = inside.iter().map(|s| s.1).sum::<f64>() / n;
            prop_assert!((flow.cwnd_packets.mean.unwrap() - cwnd).abs() < 1e-9 * cwnd);
            prop_assert!((flow.alpha.mean.unwrap() - alpha).abs() < 1e-9);
            prop_assert_eq!(flow.cwnd_packets.max, inside.iter().map(|s| f64::from(s.0)).reduce(f64::max));
            prop_assert_eq!(flow.cwnd_packets.min, inside.iter().map(|s| f64::from(s.0)).reduce(f64::min));
        }
    }
}
