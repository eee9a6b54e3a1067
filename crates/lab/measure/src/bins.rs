//! Bins of the time series: what accumulates between two rows.

use crate::FlowCounters;
use shoal_trace::{LinkIndex, QueueRow};
use shoal_units::{Rate, RateChange, Time, Transmission};
use std::sync::Arc;

/// The current bin of a link's [`QueueRow`]s. It is fed like a [`crate::QueueMeter`].
#[derive(Clone, Debug)]
pub struct QueueBin {
    link: LinkIndex,
    transmission: Transmission,
    start: Time,
    packets: u32,
    bytes: u64,
    backlog_since: Time,
    /// Integrals of the backlog: packets and bytes times picoseconds.
    packet_integral: u128,
    byte_integral: u128,
    /// Transmission time in this bin in picoseconds, including the part of the last packet that lies beyond
    /// it.
    busy_ps: u64,
    busy_until: Time,
    marks: u32,
    drops: u32,
}

impl QueueBin {
    /// The first bin of an empty queue at a link of `rate` until the first of `changes`.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(link: LinkIndex, rate: Rate, changes: Arc<[RateChange]>) -> Self {
        Self {
            link,
            transmission: Transmission::new(rate, changes),
            start: Time::ZERO,
            packets: 0,
            bytes: 0,
            backlog_since: Time::ZERO,
            packet_integral: 0,
            byte_integral: 0,
            busy_ps: 0,
            busy_until: Time::ZERO,
            marks: 0,
            drops: 0,
        }
    }
    /// The rate changes as `changes` say, which differ from those before only later than any event so far.
    pub fn replan(&mut self, changes: Arc<[RateChange]>) {
        self.transmission.replan(changes);
    }
    /// Reports that from `now` on `packets` with `bytes` in total wait.
    #[inline]
    pub fn on_backlog(&mut self, now: Time, packets: u32, bytes: u64) {
        let span = u128::from(now.since(self.backlog_since).as_picos());
        self.packet_integral += u128::from(self.packets) * span;
        self.byte_integral += u128::from(self.bytes) * span;
        self.backlog_since = now;
        self.packets = packets;
        self.bytes = bytes;
    }
    /// Counts a marked packet.
    #[inline]
    pub fn on_mark(&mut self) {
        self.marks += 1;
    }
    /// Counts a dropped packet.
    #[inline]
    pub fn on_drop(&mut self) {
        self.drops += 1;
    }
    /// Reports that the transmission of a packet begins.
    #[inline]
    pub fn on_departure(&mut self, now: Time, wire_bytes: u32) {
        let span = self.transmission.span(wire_bytes, now);
        self.busy_ps += span.as_picos();
        self.busy_until = now + span;
    }
    /// Ends the bin at `now`, after its start and not before the last report, and begins the next one.
    pub fn close(&mut self, now: Time, average_bytes: Option<f64>, probability: Option<f64>) -> QueueRow {
        self.on_backlog(now, self.packets, self.bytes);
        let span = now.since(self.start).as_picos() as f64;
        let beyond = self.busy_until.since(now).as_picos();
        let row = QueueRow {
            time_s: now.as_secs_f64(),
            link: self.link,
            packets: self.packet_integral as f64 / span,
            bytes: self.byte_integral as f64 / span,
            average_bytes,
            probability,
            marks: self.marks,
            drops: self.drops,
            utilisation: (self.busy_ps - beyond) as f64 / span,
        };
        self.start = now;
        (self.packet_integral, self.byte_integral, self.busy_ps) = (0, 0, beyond);
        (self.marks, self.drops) = (0, 0);
        row
    }
}

/// The current bin of a flow's [`crate::FlowRow`]s: the values of its counters at the start of the bin.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowBin {
    start: Time,
    delivered_bytes: u64,
    wire_bytes: u64,
}

/// Rates of a flow in one bin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowBinRates {
    /// Payload delivered in order, in bit/s.
    pub goodput_bps: f64,
    /// Bits on the bottleneck's wire, in bit/s.
    pub wire_bps: f64,
}

impl FlowBin {
    /// Start of the bin.
    pub const fn start(&self) -> Time {
        self.start
    }
    /// Ends the bin at `now`, after its start, and begins the next one.
    pub fn close(&mut self, now: Time, counters: &FlowCounters) -> FlowBinRates {
        let seconds = now.since(self.start).as_secs_f64();
        let rates = FlowBinRates {
            goodput_bps: 8.0 * (counters.delivered_bytes - self.delivered_bytes) as f64 / seconds,
            wire_bps: 8.0 * (counters.wire_bytes - self.wire_bytes) as f64 / seconds,
        };
        *self =
            Self { start: now, delivered_bytes: counters.delivered_bytes, wire_bytes: counters.wire_bytes };
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_units::Span;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn bins_partition_the_time() {
        let mut bin = QueueBin::new(LinkIndex(3), Rate::from_bps(10_000_000), [].into());
        bin.on_backlog(ms(5), 2, 3000);
        // 2500 B take 2 ms, of which the second bin contains half.
        bin.on_departure(ms(9), 2500);
        bin.on_mark();
        let first = bin.close(ms(10), Some(7.0), Some(0.25));
        assert_eq!((first.time_s, first.packets, first.bytes), (0.01, 1.0, 1500.0));
        assert_eq!((first.utilisation, first.marks), (0.1, 1));
        assert_eq!((first.average_bytes, first.probability), (Some(7.0), Some(0.25)));
        bin.on_drop();
        let second = bin.close(ms(20), None, None);
        assert_eq!((second.packets, second.utilisation, second.marks, second.drops), (2.0, 0.1, 0, 1));
        assert_eq!(bin.close(ms(30), None, None).utilisation, 0.0);
    }

    #[test]
    fn flow_rates_are_those_of_the_bin() {
        let mut bin = FlowBin::default();
        let counters =
            |bytes| FlowCounters { delivered_bytes: bytes, wire_bytes: 2 * bytes, ..Default::default() };
        assert_eq!(
            bin.close(ms(1000), &counters(1000)),
            FlowBinRates { goodput_bps: 8000.0, wire_bps: 16_000.0 }
        );
        assert_eq!(
            bin.close(ms(1500), &counters(1500)),
            FlowBinRates { goodput_bps: 8000.0, wire_bps: 16_000.0 }
        );
    }
}
