//! The head of a link: queue, transmitter, and the packets in propagation.
//!
//! Dequeues are carried out lazily. A transmission that begins at time t is computed when the port is next looked at (an
//! arrival, a delivery, a sample), with t as its time: its outcome depends only on what arrived before, so nothing
//! changes except that a hop costs one event instead of two. At equal times a departure comes before an arrival.

use crate::impaired::Impaired;
use crate::recorder::Recorder;
use crate::wire::Wire;
use shoal_aqm::{AnyQueue, Backlog, Dequeued, Queue, Verdict};
use shoal_packet::{Packet, Reason};
use shoal_scenario::Link;
use shoal_units::cast::fit_u32;
use shoal_units::{OpportunityLine, Rate, RateChange, Stream, Time, Transmission};

/// One link with its queue.
pub(crate) struct Port {
    wire: Wire,
    /// Time from which the transmitter is free.
    free: Time,
    line: Option<Line>,
    /// Whether an event for this port is in the event queue.
    pub(crate) pending: bool,
    /// Whether the port shares memory or its wire is impaired, so that the network treats it apart from all others.
    pub(crate) is_special: bool,
    /// Whether the port is the card of a host.
    pub(crate) is_card: bool,
    /// Number of the port among the monitored links, or [`UNMONITORED`].
    probe: u32,
    /// Number of the port among those that share memory, or [`ALONE`].
    pub(crate) member: u32,
}

/// Transmitter and queue, which a pure delay lacks.
struct Line {
    queue: AnyQueue,
    random: Stream,
    transmission: Transmission,
    /// Opportunities to send instead of a rate; `transmission` is then never ready.
    opportunities: Option<Box<OpportunityLine>>,
    overhead: u32,
    /// Number of waiting packets and time of the law's next timer: copies that are updated once for each
    /// change of the queue.
    waiting: u32,
    timer: Time,
}

pub(crate) const UNMONITORED: u32 = u32::MAX;
/// Number of a port that shares its memory with no other port.
pub(crate) const ALONE: u32 = u32::MAX;

impl Port {
    pub(crate) fn new(link: &Link, seed: u64, probe: u32) -> Self {
        let line = link.rate.map(|rate: Rate| {
            let queue = AnyQueue::new(&link.queue, rate);
            let own = link.schedule.opportunities.as_ref().map(|own| own.opportunities.clone());
            let changes = match own {
                Some(_) => [RateChange { at: Time::ZERO, rate: Rate::from_bps(0) }].into(),
                None => link.schedule.rate.clone(),
            };
            Line {
                timer: queue.next_timer(),
                queue,
                random: Stream::new(seed, &format!("link/{}", link.name)),
                transmission: Transmission::new(rate, changes),
                opportunities: own.map(|own| Box::new(OpportunityLine::new(own))),
                overhead: u32::from(link.overhead_bytes),
                waiting: 0,
            }
        });
        Self {
            wire: Wire::new(link, seed),
            free: Time::ZERO,
            line,
            pending: false,
            is_special: link.impairments.is_some(),
            is_card: false,
            probe,
            member: ALONE,
        }
    }

    /// The place of a host's queue discipline in the list of ports. The network keeps what waits there.
    pub(crate) fn of_host_queue() -> Self {
        Self {
            wire: Wire::default(),
            free: Time::ZERO,
            line: None,
            pending: false,
            is_special: true,
            is_card: false,
            probe: UNMONITORED,
            member: ALONE,
        }
    }

    /// Handles the arrival of a packet.
    #[inline]
    pub(crate) fn arrive(&mut self, packet: Packet, now: Time, recorder: &mut Recorder) {
        let Some(line) = &mut self.line else {
            return self.wire.put(packet, now);
        };
        line.catch_up(&mut self.free, &mut self.wire, self.probe, now, recorder);
        if self.probe == UNMONITORED {
            if self.free <= now && line.transmission.ready(now) == now && line.queue.is_passed_by(&packet) {
                let wire_bytes = line.wire_bytes(&packet);
                return line.serialise(packet, wire_bytes, now, &mut self.free, &mut self.wire);
            }
        } else {
            // Only rows about packets need the backlog.
            let found = if recorder.has_sink() { line.queue.backlog() } else { Backlog::default() };
            recorder.on_arrival(self.probe, &packet, found, now);
        }
        let verdict = line.queue.enqueue(packet, now, &mut line.random);
        let backlog = line.refresh();
        if self.probe != UNMONITORED {
            recorder.on_verdict(self.probe, &packet, verdict, backlog, now);
        }
        match verdict {
            Verdict::Queued { .. } => {}
            Verdict::Dropped(_) => return,
            Verdict::Displaced => line.drop_displaced(self.probe, now, recorder),
        }
        if self.free <= now {
            if let Some(opportunities) = &mut line.opportunities {
                opportunities.lose(now);
                self.free = opportunities.ready();
                return;
            }
            line.transmit(&mut self.free, &mut self.wire, self.probe, now, recorder);
        }
    }

    /// Carries out everything that should have happened by `now`.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, recorder: &mut Recorder) {
        if let Some(line) = &mut self.line {
            line.catch_up(&mut self.free, &mut self.wire, self.probe, now, recorder);
        }
    }

    /// The packet that reaches the other end by `now`, if there is one.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Time) -> Option<Packet> {
        self.wire.deliver(now)
    }

    /// Time at which the port must be examined again: the next delivery, or the next transmission if no
    /// packet is in propagation.
    #[inline]
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.wire.next_delivery().or_else(|| {
            let line = self.line.as_ref()?;
            (line.waiting > 0).then_some(self.free)
        })
    }

    /// Carries out what an impaired wire does until `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        self.wire.advance(now);
    }

    /// The impairments of the link, if it has any.
    pub(crate) fn impaired(&self) -> Option<&Impaired> {
        self.wire.impaired()
    }

    pub(crate) fn impaired_mut(&mut self) -> Option<&mut Impaired> {
        self.wire.impaired_mut()
    }

    /// Time at which a port whose wire is impaired must be examined again. No transmission may be carried out late, since its
    /// packet may be delivered before those that are in propagation.
    pub(crate) fn next_event_of_impaired(&self) -> Option<Time> {
        let departs = self.line.as_ref().filter(|line| line.waiting > 0).map(|_| self.free);
        let happens = self.wire.impaired().and_then(Impaired::next_event);
        [self.wire.next_delivery(), departs, happens].into_iter().flatten().min()
    }

    /// The average in bytes and the probability that the law keeps, for the series.
    pub(crate) fn law_state(&self) -> (Option<f64>, Option<f64>) {
        let queue = self.line.as_ref().map(|line| &line.queue);
        (queue.and_then(Queue::average_bytes), queue.and_then(Queue::probability))
    }

    /// Time at which everything that waits now will have been sent, if the law drops none of it and the rate stays.
    pub(crate) fn idle_from(&self) -> Time {
        let Some(line) = &self.line else { return Time::ZERO };
        let Backlog { packets, bytes, .. } = line.queue.backlog();
        let waiting = bytes + u64::from(packets) * u64::from(line.overhead);
        if let Some(opportunities) = &line.opportunities {
            return if waiting == 0 { self.free } else { opportunities.sent_by(waiting) };
        }
        // In parts, since a span is computed of at most 4 GB.
        let most = u64::from(u32::MAX);
        let whole = line.transmission.span_now(u32::MAX).saturating_mul(waiting / most);
        self.free + whole + line.transmission.span_now(fit_u32(waiting % most))
    }

    /// Waiting bytes.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.line.as_ref().map_or(0, |line| line.queue.backlog().bytes)
    }

    /// Time before which no packet leaves the queue, unless an arrival makes it leave.
    pub(crate) fn next_change(&self) -> Time {
        self.line.as_ref().map_or(Time::NEVER, |line| self.free.min(line.timer))
    }

    /// Refuses a packet that arrives, for lack of shared memory. The port is up to date.
    pub(crate) fn refuse(&mut self, packet: &Packet, now: Time, recorder: &mut Recorder) {
        if let Some(line) = self.line.as_ref().filter(|_| self.probe != UNMONITORED) {
            let backlog = line.queue.backlog();
            recorder.on_arrival(self.probe, packet, backlog, now);
            recorder.on_drop(self.probe, packet, Reason::SharedBuffer, backlog, now);
        }
    }

    /// Number of packets that wait or are in propagation.
    pub(crate) fn held(&self) -> u64 {
        let waiting = self.line.as_ref().map_or(0, |line| line.queue.backlog().packets);
        u64::from(waiting) + self.wire.len() as u64
    }
}

impl Line {
    // Inlined in its callers: as a call of its own it costs 5 % of a run (benchmark S4).
    #[allow(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    fn catch_up(&mut self, free: &mut Time, wire: &mut Wire, probe: u32, now: Time, recorder: &mut Recorder) {
        loop {
            let departure = if self.waiting > 0 { *free } else { Time::NEVER };
            if departure.min(self.timer) > now {
                return;
            }
            if self.timer <= departure {
                self.queue.on_timer(self.timer);
                self.timer = self.queue.next_timer();
            } else {
                self.transmit(free, wire, probe, departure, recorder);
            }
        }
    }

    /// Must be called when the queue has changed.
    #[inline]
    fn refresh(&mut self) -> Backlog {
        let (backlog, timer) = self.queue.outlook();
        (self.waiting, self.timer) = (backlog.packets, timer);
        backlog
    }

    /// Counts the packets that an arrival has displaced.
    #[cold]
    fn drop_displaced(&mut self, probe: u32, now: Time, recorder: &mut Recorder) {
        while let Some((packet, reason)) = self.queue.take_displaced() {
            let backlog = self.refresh();
            if probe != UNMONITORED {
                recorder.on_drop_from_queue(probe, &packet, reason, backlog, now);
            }
        }
    }

    /// The transmitter takes the next packet at `at`; while the link is down, it is busy until the end of the outage.
    #[inline]
    fn transmit(&mut self, free: &mut Time, wire: &mut Wire, probe: u32, at: Time, recorder: &mut Recorder) {
        let ready = self.transmission.ready(at);
        if ready > at {
            if self.opportunities.is_some() {
                return self.transmit_at_opportunity(free, wire, probe, at, recorder);
            }
            *free = ready;
            return;
        }
        if let Some((packet, wire_bytes)) = self.take_next(probe, at, recorder) {
            self.serialise(packet, wire_bytes, at, free, wire);
        }
    }

    /// The same at an opportunity, for a packet that came before it.
    #[cold]
    #[inline(never)]
    fn transmit_at_opportunity(
        &mut self,
        free: &mut Time,
        wire: &mut Wire,
        probe: u32,
        at: Time,
        recorder: &mut Recorder,
    ) {
        let Some((packet, wire_bytes)) = self.take_next(probe, at, recorder) else { return };
        let Some(opportunities) = &mut self.opportunities else { return };
        wire.put(packet, opportunities.send(wire_bytes));
        *free = opportunities.ready();
    }

    /// The next packet and its size on the wire, after what the law drops instead.
    // Inlined in its callers: as a call of its own it would copy each packet once more.
    #[allow(clippy::inline_always, reason = "see above")]
    #[inline(always)]
    fn take_next(&mut self, probe: u32, at: Time, recorder: &mut Recorder) -> Option<(Packet, u32)> {
        loop {
            let dequeued = self.queue.dequeue(at, &mut self.random);
            let backlog = self.refresh();
            match dequeued {
                Dequeued::Empty => return None,
                Dequeued::Packet { packet, mark } => {
                    let wire_bytes = self.wire_bytes(&packet);
                    if probe != UNMONITORED {
                        recorder.on_departure(probe, &packet, mark, wire_bytes, backlog, at);
                    }
                    return Some((packet, wire_bytes));
                }
                Dequeued::Dropped { packet, reason } => {
                    if probe != UNMONITORED {
                        recorder.on_drop_from_queue(probe, &packet, reason, backlog, at);
                    }
                }
            }
        }
    }

    /// The transmitter, which is ready, begins with `packet` at `at`.
    #[inline]
    fn serialise(&mut self, packet: Packet, wire_bytes: u32, at: Time, free: &mut Time, wire: &mut Wire) {
        *free = at + self.transmission.span_now(wire_bytes);
        wire.put(packet, *free);
    }

    /// Size of the packet on the wire.
    #[inline]
    fn wire_bytes(&self, packet: &Packet) -> u32 {
        u32::from(packet.size) + self.overhead
    }
}

#[cfg(test)]
mod tests;
