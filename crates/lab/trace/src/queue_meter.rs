//! Measures one monitored link.

use crate::metrics::finite;
use crate::{
    Bottleneck, ClassCounts, ClassDelays, DropReason, DroppedBy, Histogram, MarkReason, MarkedBy,
    TrafficClass,
};
use shoal_units::{Rate, Serialiser, Span, Time};

/// Queue statistics, delays and counts of a link inside the measurement window, which ends where [`Self::finish`] says.
///
/// Calls of one kind come with times that never decrease; calls of different kinds may be interleaved freely, so the
/// caller may report the changes of the backlog later than the packets that caused them.
#[derive(Clone, Debug)]
pub struct QueueMeter {
    window_start: Time,
    rate: Rate,
    serialiser: Serialiser,
    /// The backlog since `backlog_since`, which is never before the start of the window.
    packets: u32,
    bytes: u64,
    backlog_since: Time,
    /// Weighted by picoseconds.
    queue_bytes: Histogram,
    queue_packets: Histogram,
    /// Transmission time since the start of the window, including what the last packet still needs.
    busy: Span,
    busy_until: Time,
    classes: [ClassMeter; 2],
    marks: [u64; MarkReason::NAMES.len()],
    drops: [u64; DropReason::NAMES.len()],
}

/// What is kept for each class.
#[derive(Clone, Debug, Default)]
struct ClassMeter {
    /// In picoseconds.
    delay: Histogram,
    arrived: u64,
    marked: u64,
    dropped: u64,
    departed: u64,
    departed_bytes: u64,
}

impl QueueMeter {
    /// A meter of an empty queue at a link of `rate` whose window opens at `window_start`.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(window_start: Time, rate: Rate) -> Self {
        Self {
            window_start,
            rate,
            serialiser: Serialiser::new(rate),
            packets: 0,
            bytes: 0,
            backlog_since: window_start,
            queue_bytes: Histogram::new(),
            queue_packets: Histogram::new(),
            busy: Span::ZERO,
            busy_until: Time::ZERO,
            classes: Default::default(),
            marks: Default::default(),
            drops: Default::default(),
        }
    }

    /// From `now` on, `packets` with `bytes` in total wait.
    #[inline]
    pub fn on_backlog(&mut self, now: Time, packets: u32, bytes: u64) {
        if now > self.backlog_since {
            let span = (now - self.backlog_since).as_picos();
            self.queue_bytes.record_weighted(self.bytes, span);
            self.queue_packets.record_weighted(u64::from(self.packets), span);
            self.backlog_since = now;
        } else {
            debug_assert!(
                now == self.backlog_since || now < self.window_start,
                "the backlog changed in the past"
            );
        }
        self.packets = packets;
        self.bytes = bytes;
    }

    /// A packet arrived at the queue, whatever becomes of it.
    #[inline]
    pub fn on_arrival(&mut self, now: Time, class: TrafficClass) {
        self.classes[class as usize].arrived += u64::from(now >= self.window_start);
    }

    /// The queue marked a packet, on arrival or departure.
    #[inline]
    pub fn on_mark(&mut self, now: Time, class: TrafficClass, reason: MarkReason) {
        let counts = u64::from(now >= self.window_start);
        self.classes[class as usize].marked += counts;
        self.marks[reason as usize] += counts;
    }

    /// The queue dropped a packet, on arrival or departure.
    #[inline]
    pub fn on_drop(&mut self, now: Time, class: TrafficClass, reason: DropReason) {
        let counts = u64::from(now >= self.window_start);
        self.classes[class as usize].dropped += counts;
        self.drops[reason as usize] += counts;
    }

    /// Transmission of a packet begins after it waited for `sojourn`; `wire_bytes` is what the link serialises, with framing.
    #[inline]
    pub fn on_departure(&mut self, now: Time, class: TrafficClass, sojourn: Span, wire_bytes: u32) {
        self.busy_until = now + self.serialiser.span(wire_bytes);
        // A packet in transmission when the window opens keeps the link busy for its rest.
        self.busy += self.busy_until.since(now.max(self.window_start));
        if now >= self.window_start {
            let class = &mut self.classes[class as usize];
            class.delay.record(sojourn.as_picos());
            class.departed += 1;
            class.departed_bytes += u64::from(wire_bytes);
        }
    }

    /// Delays of the packets of one class in picoseconds, one value a packet.
    pub fn delay(&self, class: TrafficClass) -> &Histogram {
        &self.classes[class as usize].delay
    }

    /// Closes the window at `end`, not before the last reported time. Gives the result and, for
    /// [`crate::QueueBucketRow`], the distribution of the waiting bytes weighted by picoseconds.
    pub fn finish(mut self, name: &str, end: Time) -> (Bottleneck, Histogram) {
        self.on_backlog(end, self.packets, self.bytes);
        let window = end.since(self.window_start);
        let seconds = window.as_picos() as f64;
        let busy = self.busy.saturating_sub(self.busy_until.since(end.max(self.window_start)));
        let empty = self
            .queue_packets
            .buckets()
            .next()
            .filter(|bucket| bucket.high == 0)
            .map_or(0, |bucket| bucket.weight);
        let [ect, not_ect] = &self.classes;
        let mut all = ect.delay.clone();
        all.merge(&not_ect.delay);
        let [buffer, threshold, early, forced] = self.drops;
        let dropped_by = DroppedBy { aqm: threshold + early + forced, buffer, threshold, early, forced };
        let [threshold, early, forced, coupled] = self.marks;
        let result = Bottleneck {
            name: name.to_owned(),
            rate_bps: self.rate.as_bps() as f64,
            utilisation: finite(busy.as_picos() as f64 / seconds),
            queue_bytes: self.queue_bytes.distribution(1.0),
            queue_packets: self.queue_packets.distribution(1.0),
            queue_empty: finite(empty as f64 / seconds),
            delay_s: ClassDelays {
                all: all.distribution(PICOS_PER_SECOND),
                ect: ect.delay.distribution(PICOS_PER_SECOND),
                not_ect: not_ect.delay.distribution(PICOS_PER_SECOND),
            },
            arrived: ect.arrived + not_ect.arrived,
            marked: ect.marked + not_ect.marked,
            dropped: ect.dropped + not_ect.dropped,
            departed: ect.departed + not_ect.departed,
            departed_bytes: ect.departed_bytes + not_ect.departed_bytes,
            dropped_by,
            marked_by: MarkedBy { threshold, early, forced, coupled },
            ect: ect.counts(),
            not_ect: not_ect.counts(),
        };
        (result, self.queue_bytes)
    }
}

const PICOS_PER_SECOND: f64 = 1e12;

impl ClassMeter {
    fn counts(&self) -> ClassCounts {
        ClassCounts {
            arrived: self.arrived,
            marked: self.marked,
            dropped: self.dropped,
            departed: self.departed,
            departed_bytes: self.departed_bytes,
            mark_fraction: finite(self.marked as f64 / self.arrived as f64),
            drop_fraction: finite(self.dropped as f64 / self.arrived as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MBIT_10: Rate = Rate::from_bps(10_000_000);
    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn backlog_is_averaged_over_the_window_only() {
        let mut meter = QueueMeter::new(ms(10), MBIT_10);
        meter.on_backlog(ms(1), 9, 9000);
        meter.on_backlog(ms(8), 2, 3000);
        meter.on_backlog(ms(20), 4, 6000);
        meter.on_backlog(ms(25), 0, 0);
        let (result, _) = meter.finish("l", ms(30));
        // 10 ms of 3000 B, 5 ms of 6000 B, 5 ms of nothing.
        assert_eq!(result.queue_bytes.mean, Some(3000.0));
        assert_eq!(result.queue_packets.mean, Some(2.0));
        assert_eq!(result.queue_empty, Some(0.25));
        assert_eq!(result.queue_packets.max, Some(4.0));
        // Variance of packets: (10 * 0 + 5 * 4 + 5 * 4) / 20 = 2.
        assert_eq!(result.queue_packets.sd, Some(2.0f64.sqrt()));
    }

    #[test]
    fn queue_that_never_changes_counts_as_empty() {
        let (result, _) = QueueMeter::new(ms(10), MBIT_10).finish("l", ms(30));
        assert_eq!(
            (result.queue_empty, result.queue_bytes.max, result.utilisation),
            (Some(1.0), Some(0.0), Some(0.0))
        );
        assert_eq!((result.delay_s.all.mean, result.ect.mark_fraction), (None, None));
    }

    #[test]
    fn empty_window_measures_nothing() {
        let (result, _) = QueueMeter::new(ms(10), MBIT_10).finish("l", ms(10));
        assert_eq!((result.utilisation, result.queue_empty, result.queue_bytes.mean), (None, None, None));
    }

    #[test]
    fn transmissions_are_cut_at_both_ends_of_the_window() {
        let mut meter = QueueMeter::new(ms(10), MBIT_10);
        let class = TrafficClass::Ect;
        // 1250 B take 1 ms: one packet half before the window, one inside, one half after it.
        meter.on_departure(Time::ZERO + Span::from_micros(9500), class, Span::from_millis(7), 1250);
        meter.on_departure(ms(12), class, Span::from_millis(3), 1250);
        meter.on_departure(Time::ZERO + Span::from_micros(19_500), class, Span::from_millis(1), 1250);
        let (result, _) = meter.finish("l", ms(20));
        assert_eq!(result.utilisation, Some(0.2));
        assert_eq!((result.departed, result.departed_bytes), (2, 2500));
        assert_eq!((result.delay_s.ect.mean, result.delay_s.ect.max), (Some(0.002), Some(0.003)));
        assert_eq!(result.delay_s.not_ect.mean, None);
    }

    #[test]
    fn counts_keep_class_and_reason_apart() {
        let mut meter = QueueMeter::new(ms(10), MBIT_10);
        for now in [ms(5), ms(10), ms(11)] {
            for class in [TrafficClass::Ect, TrafficClass::NotEct] {
                meter.on_arrival(now, class);
            }
            meter.on_mark(now, TrafficClass::Ect, MarkReason::Threshold);
            meter.on_drop(now, TrafficClass::NotEct, DropReason::Early);
        }
        meter.on_drop(ms(12), TrafficClass::Ect, DropReason::Buffer);
        let (result, _) = meter.finish("l", ms(20));
        assert_eq!((result.arrived, result.marked, result.dropped), (4, 2, 3));
        assert_eq!(result.dropped_by, DroppedBy { aqm: 2, buffer: 1, early: 2, ..DroppedBy::default() });
        assert_eq!(result.marked_by, MarkedBy { threshold: 2, ..MarkedBy::default() });
        assert_eq!((result.ect.arrived, result.ect.dropped, result.not_ect.dropped), (2, 1, 2));
        assert_eq!((result.ect.mark_fraction, result.not_ect.drop_fraction), (Some(1.0), Some(1.0)));
    }

    proptest! {
        /// Against sampling every millisecond, which is exact because all changes are at whole milliseconds.
        #[test]
        fn time_average_equals_the_integral(
            changes in prop::collection::vec((0u64..20, 0u32..100), 0..60),
            start in 0u64..200,
        ) {
            let mut meter = QueueMeter::new(ms(start), MBIT_10);
            let mut now = 0;
            let mut backlog = vec![0u32; 2000];
            for &(gap, packets) in &changes {
                now += gap;
                meter.on_backlog(ms(now), packets, u64::from(packets) * 1500);
                backlog[now as usize..].fill(packets);
            }
            let end = now.max(start) + 7;
            let inside: Vec<f64> = backlog[start as usize..end as usize].iter().map(|&p| f64::from(p)).collect();
            let exact = crate::metrics::order_statistics(&inside);
            let (result, _) = meter.finish("l", ms(end));
            let close = |a: Option<f64>, b: Option<f64>| (a.unwrap() - b.unwrap()).abs() < 1e-9;
            let measured = result.queue_packets;
            prop_assert!(close(measured.mean, exact.mean) && close(measured.sd, exact.sd), "{measured:?} {exact:?}");
            // Below 2048 the histogram's buckets are single values, so quantiles are exact too.
            prop_assert_eq!((measured.p5, measured.p50, measured.p99), (exact.p5, exact.p50, exact.p99));
            prop_assert_eq!((measured.min, measured.max), (exact.min, exact.max));
            let empty = inside.iter().filter(|&&p| p == 0.0).count() as f64 / inside.len() as f64;
            prop_assert!((result.queue_empty.unwrap() - empty).abs() < 1e-12);
        }
    }
}
