//! The head of a link whose packets go straight onto the wire: see [`shoal_aqm::Closed`].

use super::{Hot, UNMONITORED};
use crate::recorder::Recorder;
use shoal_aqm::{AnyClosed, Backlog, Verdict};
use shoal_measure::Departure;
use shoal_packet::Packet;
use shoal_units::{Serialiser, Stream, Time};

/// Transmitter of a constant rate, and the queue in front of it.
pub(super) struct Closed {
    serialiser: Serialiser,
    overhead: u32,
    /// None if all packets pass as they are, and nobody asks how many wait.
    judge: Option<Judge>,
}

struct Judge {
    queue: AnyClosed,
    random: Stream,
    probe: u32,
}

impl Closed {
    pub(super) fn new(
        serialiser: Serialiser,
        overhead: u32,
        queue: AnyClosed,
        random: Stream,
        probe: u32,
    ) -> Self {
        let is_needed = probe != UNMONITORED || !queue.takes_all();
        let judge = is_needed.then_some(Judge { queue, random, probe });
        Self { serialiser, overhead, judge }
    }

    /// Handles the arrival of a packet.
    #[inline]
    pub(super) fn arrive(&mut self, packet: &Packet, hot: &mut Hot, now: Time, recorder: &mut Recorder) {
        let (start, overhead) = (hot.free.max(now), self.overhead);
        let mut is_marked = false;
        if let Some(judge) = &mut self.judge {
            judge.leave(overhead, now, recorder);
            match judge.arrive(packet, overhead, start, now, recorder) {
                Verdict::Dropped(_) => return recorder.on_lost(packet),
                Verdict::Queued { mark } => is_marked = mark.is_some(),
                Verdict::Displaced => {}
            }
        }
        hot.free = start + self.serialiser.span(u32::from(packet.size) + overhead);
        hot.wire.put(packet, hot.free, is_marked);
    }

    /// Reports the transmissions that have begun by `now`.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time, recorder: &mut Recorder) {
        if let Some(judge) = &mut self.judge {
            judge.leave(self.overhead, now, recorder);
        }
    }

    /// The average in bytes and the probability that the law keeps.
    pub(super) fn law_state(&self) -> (Option<f64>, Option<f64>) {
        let queue = self.judge.as_ref().map(|judge| &judge.queue);
        (queue.and_then(AnyClosed::average_bytes), queue.and_then(AnyClosed::probability))
    }
}

impl Judge {
    #[inline]
    fn arrive(
        &mut self,
        packet: &Packet,
        overhead: u32,
        start: Time,
        now: Time,
        recorder: &mut Recorder,
    ) -> Verdict {
        let verdict = self.queue.arrive(packet, start, now, &mut self.random);
        if self.probe != UNMONITORED {
            // Only rows about packets need the backlog that the packet finds, and with them ports are not closed.
            recorder.on_arrival(self.probe, packet, Backlog::default(), now);
            recorder.on_verdict(self.probe, packet, verdict, self.queue.backlog(), now);
        }
        if start == now {
            self.leave(overhead, now, recorder);
        }
        verdict
    }

    /// The packets leave whose transmission has begun by `now`.
    #[inline]
    fn leave(&mut self, overhead: u32, now: Time, recorder: &mut Recorder) {
        let probe = self.probe;
        self.queue.leave(now, |next, left| {
            if probe == UNMONITORED {
                return;
            }
            let departure = Departure {
                flow: next.flow.0,
                class: next.class,
                has_data: next.has_data,
                sojourn: next.at - next.since,
                wire_bytes: u32::from(next.size) + overhead,
            };
            recorder.collector.on_departure(probe, departure, left, next.at);
        });
    }
}
