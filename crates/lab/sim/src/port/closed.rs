//! The head of a link whose packets go straight onto the wire: see [`shoal_aqm::Closed`].

use super::{Hot, UNMONITORED};
use crate::recorder::Recorder;
use crate::wire::Course;
use shoal_aqm::{AnyClosed, Backlog, Verdict};
use shoal_measure::Departure;
use shoal_packet::{Class, Ecn, Packet};
use shoal_units::{Serialiser, Stream, Time};
use std::collections::VecDeque;

/// Transmitter of a constant rate, and the queue in front of it.
pub(super) struct Closed {
    serialiser: Serialiser,
    overhead: u32,
    /// None if all packets pass as they are, and nobody asks how many wait.
    judge: Option<Box<Judge>>,
}

struct Judge {
    queue: AnyClosed,
    random: Stream,
    /// The packets that wait, in order, if the link is monitored.
    reports: VecDeque<Report>,
}

/// What the meters want to know when the transmission of a packet begins.
#[derive(Clone, Copy)]
struct Report {
    since: Time,
    flow: u32,
    wire_bytes: u32,
    class: Class,
    has_data: bool,
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
        let judge = is_needed.then(|| Box::new(Judge { queue, random, reports: VecDeque::new() }));
        Self { serialiser, overhead, judge }
    }

    /// Handles the arrival of a packet.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        mut packet: Packet,
        hot: &mut Hot,
        course: &mut Option<Box<Course>>,
        probe: u32,
        now: Time,
        recorder: &mut Recorder,
    ) {
        let wire_bytes = u32::from(packet.size) + self.overhead;
        let start = hot.free.max(now);
        if let Some(judge) = &mut self.judge {
            judge.leave(probe, now, recorder);
            match judge.arrive(&packet, wire_bytes, start, probe, now, recorder) {
                Verdict::Dropped(_) => return recorder.on_lost(&packet),
                Verdict::Queued { mark: Some(_) } => packet.ecn = Ecn::Ce,
                Verdict::Queued { mark: None } | Verdict::Displaced => {}
            }
        }
        hot.free = start + self.serialiser.span(wire_bytes);
        hot.put(course, packet, hot.free);
    }

    /// Reports the transmissions that have begun by `now`.
    #[inline]
    pub(super) fn catch_up(&mut self, probe: u32, now: Time, recorder: &mut Recorder) {
        if let Some(judge) = &mut self.judge {
            judge.leave(probe, now, recorder);
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
        wire_bytes: u32,
        start: Time,
        probe: u32,
        now: Time,
        recorder: &mut Recorder,
    ) -> Verdict {
        let verdict = self.queue.arrive(packet, start, now, &mut self.random);
        if probe != UNMONITORED {
            // Only rows about packets need the backlog that the packet finds, and with them ports are not closed.
            recorder.on_arrival(probe, packet, Backlog::default(), now);
            recorder.on_verdict(probe, packet, verdict, self.queue.backlog(), now);
            if let Verdict::Queued { .. } = verdict {
                self.reports.push_back(Report {
                    since: now,
                    flow: packet.flow.0,
                    wire_bytes,
                    class: Class::of(packet),
                    has_data: packet.payload > 0,
                });
            }
        }
        if start == now {
            self.leave(probe, now, recorder);
        }
        verdict
    }

    /// The packets leave whose transmission has begun by `now`.
    #[inline]
    fn leave(&mut self, probe: u32, now: Time, recorder: &mut Recorder) {
        let Self { queue, reports, .. } = self;
        queue.leave(now, |at, left| {
            let Some(Report { since, flow, wire_bytes, class, has_data }) = reports.pop_front() else {
                return;
            };
            let departure = Departure { flow, class, has_data, sojourn: at - since, wire_bytes };
            recorder.collector.on_departure(probe, departure, left, at);
        });
    }
}
