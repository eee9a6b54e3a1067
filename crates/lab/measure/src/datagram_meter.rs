//! Measures unresponsive traffic: numbered packets that are not acknowledged. What varies of their delays follows
//! [RFC 5481](https://www.rfc-editor.org/rfc/rfc5481).

use crate::delay_variation::{DelayVariation, above_least};
use crate::fields::described;
use crate::{Distribution, Histogram};
use serde::{Deserialize, Serialize};
use shoal_units::{Span, Time};

described! {

/// Unresponsive traffic: the packets of a flow that were sent inside the measurement window.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct DatagramSummary {
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived within the run; one that arrives twice counts once.
    pub received: u64,
    /// Packets that did not arrive although a later one did.
    pub lost: u64,
    /// Packets that arrived with CE.
    pub marked: u64,
    /// One-way delay in seconds.
    pub delay_s: Distribution,
    /// By how much delays exceed the smallest of them, in seconds (packet delay variation, RFC 5481 section 4.2).
    #[serde(default)]
    pub variation_s: Distribution,
    /// Absolute difference between the delays of two packets that were sent one after the other, if both arrived, in
    /// seconds (inter-packet delay variation, RFC 5481 section 4.1).
    #[serde(default)]
    pub successive_variation_s: Distribution,
}
}

/// Counts the packets of a flow that were sent inside the measurement window.
#[derive(Clone, Debug)]
pub struct DatagramMeter {
    window_start: Time,
    /// Number of all packets sent since the start of the flow.
    sent_ever: u64,
    /// Number of the first packet of the window.
    first: u64,
    received: u64,
    /// Whether each packet of the window has arrived, 64 of them in a word: a path may deliver one twice.
    arrived: Vec<u64>,
    marked: u64,
    /// One more than the largest number that was received.
    beyond: u64,
    /// Delay in picoseconds from the first bit sent to the last bit received.
    delay: Histogram,
    variation: DelayVariation,
    delivered_bytes: u64,
    marks_seen: u64,
}

impl DatagramMeter {
    /// A meter whose window opens at `window_start`.
    pub const fn new(window_start: Time) -> Self {
        Self {
            window_start,
            sent_ever: 0,
            first: 0,
            received: 0,
            arrived: Vec::new(),
            marked: 0,
            beyond: 0,
            delay: Histogram::new(),
            variation: DelayVariation::new(),
            delivered_bytes: 0,
            marks_seen: 0,
        }
    }

    /// Counts a packet that is sent; returns its number.
    pub fn on_sent(&mut self, now: Time) -> u64 {
        let number = self.sent_ever;
        self.sent_ever += 1;
        if now < self.window_start {
            self.first = self.sent_ever;
        }
        number
    }

    /// Counts packet `number`, sent at `sent`, which arrives with `payload_bytes` and, if `marked`, with CE.
    pub fn on_received(&mut self, number: u64, sent: Time, now: Time, payload_bytes: u64, marked: bool) {
        self.delivered_bytes += payload_bytes;
        self.marks_seen += u64::from(marked);
        if number < self.first {
            return;
        }
        if !self.is_first_arrival(number - self.first) {
            return;
        }
        self.received += 1;
        self.marked += u64::from(marked);
        self.beyond = self.beyond.max(number + 1);
        self.delay.record((now - sent).as_picos());
        self.variation.on_received(number - self.first, now - sent);
    }

    /// Whether packet `index` of the window has not arrived before.
    fn is_first_arrival(&mut self, index: u64) -> bool {
        let (word, bit) = ((index / 64) as usize, 1u64 << (index % 64));
        if word >= self.arrived.len() {
            self.arrived.resize(word + 1, 0);
        }
        let is_first = self.arrived[word] & bit == 0;
        self.arrived[word] |= bit;
        is_first
    }

    /// Payload bytes received since the start of the flow, those of copies included.
    pub const fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }
    /// Packets received with CE since the start of the flow.
    pub const fn marks_seen(&self) -> u64 {
        self.marks_seen
    }

    /// Summary of the packets in the window. A packet is lost if it has not arrived although a later one has;
    /// packets that were sent after the last arrival may still arrive.
    pub fn summary(&self) -> DatagramSummary {
        let seen = self.beyond.saturating_sub(self.first);
        let delay_s = self.delay.distribution(Span::from_secs(1).as_picos() as f64);
        DatagramSummary {
            sent: self.sent_ever - self.first,
            received: self.received,
            lost: seen - self.received,
            marked: self.marked,
            delay_s,
            variation_s: above_least(&delay_s),
            successive_variation_s: self.variation.distribution(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_before_the_window_do_not_count() {
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let mut meter = DatagramMeter::new(ms(10));
        for n in 0..10 {
            assert_eq!(meter.on_sent(ms(5 * n)), n);
        }
        // Numbers 0 and 1 were sent before 10 ms; 3 and 5 never arrive, 9 is still in the network.
        for (number, marked) in
            [(0, true), (1, false), (2, false), (4, true), (6, false), (7, true), (8, false)]
        {
            meter.on_received(number, ms(5 * number), ms(5 * number + 3), 100, marked);
        }
        let summary = meter.summary();
        assert_eq!((summary.sent, summary.received, summary.lost, summary.marked), (8, 5, 2, 2));
        assert_eq!((summary.delay_s.min, summary.delay_s.max), (Some(0.003), Some(0.003)));
        assert_eq!((meter.delivered_bytes(), meter.marks_seen()), (700, 3));
    }
}
