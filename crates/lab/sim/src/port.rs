//! The head of a link: queue, transmitter, and the packets in propagation.
//!
//! Dequeues are carried out lazily. A transmission that begins at time t is computed when the port is next looked at
//! (an arrival, a delivery, a sample), with t as its time: its outcome depends only on what arrived before, so nothing
//! changes except that a hop costs one event instead of two. At equal times a departure comes before an arrival.

mod closed;

use crate::card_queue::CardQueue;
use crate::impaired::Impaired;
use crate::recorder::Recorder;
use crate::wire::{Course, Wire};
use closed::Closed;
use shoal_aqm::{AnyQueue, Backlog, Dequeued, Queue, Tunnels, Verdict};
use shoal_packet::{Packet, Reason};
use shoal_scenario::{Link, Schedule};
use shoal_units::cast::fit_u32;
use shoal_units::{OpportunityLine, Rate, RateChange, Span, Stream, Time, Transmission};

/// One link with its queue. Fields are in the order in which packets need them, since each cache line of a port counts;
/// see [`Hot`].
#[repr(C)]
pub(crate) struct Port {
    pub(crate) hot: Hot,
    /// What else than a constant delay happens on the wire.
    course: Option<Box<Course>>,
    /// Number of the port among the monitored links, or [`UNMONITORED`].
    probe: u32,
    head: Head,
    /// Whether the port is the card of a host.
    pub(crate) is_card: bool,
    /// What a full queue in front of the card refuses.
    pub(crate) card_queue: Option<Box<CardQueue>>,
    /// Number of the port among those that share memory, or [`ALONE`].
    pub(crate) member: u32,
}

/// The part of a port that every event touches, in one cache line: in a network of thousands of links nothing else of a
/// port is in the nearest caches, and most deliveries need no more.
#[repr(C, align(64))]
pub(crate) struct Hot {
    pub(crate) wire: Wire,
    /// Time from which the transmitter is free, or of an idle one whose queue holds packets back, until which it does.
    free: Time,
    /// Time before which nothing happens at the queue, unless a packet arrives: the next transmission, or the law's
    /// timer.
    due: Time,
    /// Number of waiting packets: a copy that is updated once for each change of the queue.
    waiting: u32,
    /// Whether an event for this port is in the event queue.
    pub(crate) pending: bool,
    /// Whether the port shares memory or its wire is impaired, so that the network treats it apart from all others.
    pub(crate) is_special: bool,
    /// Whether it does so when packets come out of the port, too: one that shares memory and is closed is like all
    /// others then.
    pub(crate) steps_apart: bool,
    /// Whether the wire has a course of its own.
    has_course: bool,
    /// Whether all packets come from one other port, which knows when they do, and [`Port::is_unseen`].
    pub(crate) is_chained: bool,
    /// Whether packets go to such a port.
    pub(crate) has_chained: bool,
}

const _: () = assert!(size_of::<Hot>() == 64, "one cache line");

impl Hot {
    fn new(delay: Span, is_special: bool, has_course: bool) -> Self {
        Self {
            wire: Wire::new(delay),
            free: Time::ZERO,
            due: Time::NEVER,
            waiting: 0,
            pending: false,
            is_special,
            steps_apart: is_special,
            has_course,
            is_chained: false,
            has_chained: false,
        }
    }

    /// When the next transmission begins.
    #[inline]
    fn departure(&self) -> Time {
        if self.waiting > 0 { self.free } else { Time::NEVER }
    }

    /// The last bit of the packet leaves the transmitter at `left`.
    #[inline]
    fn put(&mut self, course: &mut Option<Box<Course>>, packet: &Packet, left: Time) {
        if self.has_course
            && let Some(course) = course
        {
            return self.wire.put_on_course(course, packet, left);
        }
        self.wire.put(packet, left, false);
    }
}

/// What packets pass before they are on the wire.
enum Head {
    /// Nothing: the link is a pure delay.
    None,
    /// A queue that may decide when a packet leaves it, or a transmitter whose rate changes.
    Line(Box<Line>),
    /// A queue that decides on arrival, and a transmitter of constant rate.
    Closed(Closed),
}

/// Transmitter and queue.
#[repr(C)]
struct Line {
    transmission: Transmission,
    overhead: u32,
    queue: AnyQueue,
    /// Time of the law's next timer: a copy, as the number of waiting packets is.
    timer: Time,
    /// If it equals `free`, the transmitter is idle although packets wait: the queue holds them back until then, but an
    /// arrival may be sent before. Any transmission from then on ends later.
    held_until: Time,
    random: Stream,
    /// Packets that queue protection has redirected so far, if the queue has it.
    redirected: Option<u64>,
    /// Time that all that waits will take, if the link is the card of a host and its rate never changes.
    waiting_span: Option<Span>,
    /// Opportunities to send instead of a rate; `transmission` is then never ready.
    opportunities: Option<Box<OpportunityLine>>,
}

pub(crate) const UNMONITORED: u32 = u32::MAX;
/// Number of a port that shares its memory with no other port.
pub(crate) const ALONE: u32 = u32::MAX;

impl Port {
    pub(crate) fn new(link: &Link, seed: u64, probe: u32) -> Self {
        let head = link.rate.map_or(Head::None, |rate: Rate| {
            let queue = AnyQueue::new(&link.queue, rate);
            let own = link.schedule.opportunities.as_ref().map(|own| own.opportunities.clone());
            let changes = match own {
                Some(_) => [RateChange { at: Time::ZERO, rate: Rate::from_bps(0) }].into(),
                None => link.schedule.rate.clone(),
            };
            Head::Line(Box::new(Line {
                timer: queue.next_timer(),
                held_until: Time::NEVER,
                queue,
                random: Stream::new(seed, &format!("link/{}", link.name)),
                redirected: link.queue.has_protection().then_some(0),
                waiting_span: None,
                transmission: Transmission::new(rate, changes),
                opportunities: own.map(|own| Box::new(OpportunityLine::new(own))),
                overhead: u32::from(link.overhead_bytes),
            }))
        });
        let course = Course::of(link, seed).map(Box::new);
        let delay = if course.is_some() { Span::ZERO } else { link.delay };
        let mut hot = Hot::new(delay, link.impairments.is_some(), course.is_some());
        if let Head::Line(line) = &head {
            hot.due = line.timer;
        }
        Self { hot, course, probe, head, is_card: false, card_queue: None, member: ALONE }
    }

    /// Tells the queue which flows it cannot tell apart, before anything comes through it.
    pub(crate) fn set_tunnels(&mut self, tunnels: &Tunnels) {
        if let Head::Line(line) = &mut self.head {
            line.queue.set_tunnels(tunnels);
        }
    }

    /// Makes the port the card of a host, before anything comes through it.
    pub(crate) fn become_card(&mut self) {
        self.is_card = true;
        if let Head::Line(line) = &mut self.head {
            line.waiting_span = line.transmission.constant().map(|_| Span::ZERO);
        }
    }

    /// Closes the port, through which nothing has come yet, if that changes nothing that anyone sees.
    pub(crate) fn close(&mut self, recorder: &Recorder) {
        let is_seen = self.probe != UNMONITORED && recorder.has_sink();
        let Head::Line(line) = &self.head else { return };
        if self.hot.has_course || is_seen {
            return;
        }
        if let Some(serialiser) = line.transmission.constant()
            && let Some(queue) = line.queue.closed()
        {
            let random = line.random.clone();
            self.head = Head::Closed(Closed::new(
                serialiser,
                line.overhead,
                queue,
                random,
                self.probe,
                self.member != ALONE,
            ));
        }
    }

    /// The head of a port that is not closed.
    fn line(&self) -> Option<&Line> {
        match &self.head {
            Head::Line(line) => Some(line),
            Head::None | Head::Closed(_) => None,
        }
    }

    /// The place of a host's queue discipline in the list of ports. The network keeps what waits there.
    pub(crate) fn of_host_queue() -> Self {
        Self {
            hot: Hot::new(Span::ZERO, true, false),
            course: None,
            probe: UNMONITORED,
            head: Head::None,
            is_card: false,
            card_queue: None,
            member: ALONE,
        }
    }

    /// Whether the port is closed.
    pub(crate) const fn is_closed(&self) -> bool {
        matches!(self.head, Head::Closed(_))
    }

    /// Whether it is known when a packet leaves the port as soon as it arrives.
    pub(crate) fn knows_departures(&self) -> bool {
        !self.hot.has_course && matches!(self.head, Head::None | Head::Closed(_))
    }

    /// Whether it is known when a packet leaves the port as soon as it arrives, and nobody else hears when that is.
    pub(crate) fn is_unseen(&self) -> bool {
        self.knows_departures() && self.probe == UNMONITORED
    }

    /// Handles the arrival of a packet at a port that [`Self::is_unseen`]. If it leaves the port, returns when its last
    /// bit leaves the transmitter. Whether a port has marked the packet is in `is_marked`, and not yet in the packet.
    #[inline]
    pub(crate) fn pass_unseen(&mut self, packet: &Packet, is_marked: &mut bool, now: Time) -> Option<Time> {
        let Head::Closed(closed) = &mut self.head else { return Some(now) };
        closed.arrive_unseen(packet, is_marked, &mut self.hot, now).then_some(self.hot.free)
    }

    /// Handles the arrival of a packet.
    #[inline]
    pub(crate) fn arrive(&mut self, packet: &Packet, now: Time, recorder: &mut Recorder) {
        if let Some((left, is_marked)) = self.pass(packet, now, recorder) {
            self.hot.wire.put(packet, left, is_marked);
        }
    }

    /// Handles the arrival of a packet. If it leaves the port on its way and is not yet on the wire, returns when its
    /// last bit leaves the transmitter, and whether it is marked.
    #[allow(clippy::inline_always, reason = "measured, see `Network::send_on`")]
    #[inline(always)]
    pub(crate) fn pass(
        &mut self,
        packet: &Packet,
        now: Time,
        recorder: &mut Recorder,
    ) -> Option<(Time, bool)> {
        let hot = &mut self.hot;
        match &mut self.head {
            Head::Closed(closed) => {
                let is_marked = closed.arrive(packet, hot, now, recorder)?;
                Some((hot.free, is_marked))
            }
            Head::None if hot.has_course => {
                hot.put(&mut self.course, packet, now);
                None
            }
            Head::None => Some((now, false)),
            Head::Line(_) => {
                self.queue(packet, now, recorder);
                None
            }
        }
    }

    /// Handles the arrival of a packet at a port whose queue holds it.
    #[inline]
    fn queue(&mut self, packet: &Packet, now: Time, recorder: &mut Recorder) {
        let (hot, course) = (&mut self.hot, &mut self.course);
        let Head::Line(line) = &mut self.head else { return };
        if hot.due <= now {
            line.catch_up(hot, course, self.probe, now, recorder);
        }
        // Only rows about packets need the backlog.
        let found = if recorder.has_sink() { line.queue.backlog() } else { Backlog::default() };
        let verdict = line.queue.enqueue(packet, now, &mut line.random);
        let backlog = line.refresh(hot);
        if self.probe != UNMONITORED {
            recorder.on_arrival(self.probe, packet, found, verdict, backlog, now);
            if line.redirects() {
                recorder.on_redirection(self.probe, packet, now);
            }
        }
        match verdict {
            Verdict::Queued { .. } => line.comes(packet),
            Verdict::Dropped(_) => {
                recorder.on_lost(packet);
                return line.await_next(hot);
            }
            Verdict::Displaced => {
                line.comes(packet);
                line.drop_displaced(hot, self.probe, now, recorder);
            }
        }
        if hot.free == line.held_until {
            line.release(hot, now);
        }
        if hot.free <= now {
            match &mut line.opportunities {
                Some(opportunities) => {
                    opportunities.lose(now);
                    hot.free = opportunities.ready();
                }
                None => line.transmit(hot, course, self.probe, now, recorder),
            }
        }
        line.await_next(hot);
    }

    /// Carries out everything that should have happened by `now`.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, recorder: &mut Recorder) {
        if self.hot.due <= now
            && let Head::Line(line) = &mut self.head
        {
            line.catch_up(&mut self.hot, &mut self.course, self.probe, now, recorder);
        }
    }

    /// Reports everything that should have happened by `now`.
    pub(crate) fn report(&mut self, now: Time, recorder: &mut Recorder) {
        match &mut self.head {
            Head::Closed(closed) => closed.catch_up(now, recorder),
            _ => self.catch_up(now, recorder),
        }
    }

    /// Whether the queue in front of the card takes a whole segment, which follows at once if it does.
    #[cold]
    pub(crate) fn takes(&mut self, bytes: u64, now: Time) -> bool {
        let begins = self.idle_from();
        self.card_queue.as_mut().is_none_or(|queue| queue.takes(bytes, begins, now))
    }

    /// Copies the packet that reaches the other end by `now` to `arrived`; returns whether there is one.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Time, arrived: &mut Packet) -> bool {
        self.hot.wire.deliver(now, arrived)
    }

    /// Time at which the port must be examined again: the next delivery, or the next transmission if no
    /// packet is in propagation.
    #[inline]
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.hot.wire.next_delivery().or_else(|| (self.hot.waiting > 0).then_some(self.hot.free))
    }

    /// Carries out what an impaired wire does until `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        if let Some(Course::Impaired(impaired)) = self.course.as_deref_mut() {
            self.hot.wire.advance(impaired, now);
        }
    }

    /// The impairments of the link, if it has any.
    pub(crate) fn impaired(&self) -> Option<&Impaired> {
        match self.course.as_deref() {
            Some(Course::Impaired(impaired)) => Some(impaired),
            _ => None,
        }
    }

    pub(crate) fn impaired_mut(&mut self) -> Option<&mut Impaired> {
        match self.course.as_deref_mut() {
            Some(Course::Impaired(impaired)) => Some(impaired),
            _ => None,
        }
    }

    /// Time at which a port whose wire is impaired must be examined again. No transmission may be carried out late,
    /// since its packet may be delivered before those that are in propagation.
    pub(crate) fn next_event_of_impaired(&self) -> Option<Time> {
        let departs = (self.hot.waiting > 0).then_some(self.hot.free);
        let happens = self.impaired().and_then(Impaired::next_event);
        [self.hot.wire.next_delivery(), departs, happens].into_iter().flatten().min()
    }

    /// The last time for which the rate and the delay of the link have been asked: no later change of them is known to
    /// the port.
    pub(crate) fn asked_until(&self) -> Time {
        if self.line().is_some() { self.hot.free } else { Time::ZERO }
    }

    /// The rate and the delay change as `schedule` says, which differs from the one before only later than
    /// [`Self::asked_until`].
    pub(crate) fn replan(&mut self, schedule: &Schedule) {
        if let Some(course) = &mut self.course {
            course.replan(schedule.delay.clone());
        }
        if let Head::Line(line) = &mut self.head
            && line.opportunities.is_none()
        {
            line.transmission.replan(schedule.rate.clone());
        }
    }

    /// The average in bytes and the probability that the law keeps, for the series.
    pub(crate) fn law_state(&self) -> (Option<f64>, Option<f64>) {
        if let Head::Closed(closed) = &self.head {
            return closed.law_state();
        }
        let queue = self.line().map(|line| &line.queue);
        (queue.and_then(Queue::average_bytes), queue.and_then(Queue::probability))
    }

    /// Time at which everything that waits now will have been sent, if the law drops none of it and the rate stays.
    pub(crate) fn idle_from(&self) -> Time {
        let line = match &self.head {
            Head::None => return Time::ZERO,
            Head::Closed(_) => return self.hot.free,
            Head::Line(line) => line,
        };
        if let Some(span) = line.waiting_span {
            return self.hot.free + span;
        }
        let Backlog { packets, bytes, .. } = line.queue.backlog();
        let waiting = bytes + u64::from(packets) * u64::from(line.overhead);
        if let Some(opportunities) = &line.opportunities {
            return if waiting == 0 { self.hot.free } else { opportunities.sent_by(waiting) };
        }
        // In parts, since a span is computed of at most 4 GB.
        let most = u64::from(u32::MAX);
        let whole = line.transmission.span_now(u32::MAX).saturating_mul(waiting / most);
        self.hot.free + whole + line.transmission.span_now(fit_u32(waiting % most))
    }

    /// What waits.
    fn backlog(&self) -> Backlog {
        match &self.head {
            Head::None => Backlog::default(),
            Head::Closed(closed) => closed.backlog(),
            Head::Line(line) => line.queue.backlog(),
        }
    }

    /// Whether the law of the queue has failed.
    pub(crate) fn law_has_failed(&self) -> bool {
        self.line().is_some_and(|line| line.queue.law_has_failed())
    }

    /// Waiting bytes, those of one queue if the port has several for traffic classes.
    pub(crate) fn waiting_bytes(&self, queue: Option<u8>) -> u64 {
        match (self.line(), queue) {
            (Some(Line { queue: AnyQueue::Classes(classes), .. }), Some(queue)) => {
                classes.backlog_bytes(queue)
            }
            _ => self.backlog().bytes,
        }
    }

    /// The queue that a packet joins, if the port has several for traffic classes; else the only one, 0.
    pub(crate) fn queue_of(&self, packet: &Packet) -> u8 {
        match self.line() {
            Some(Line { queue: AnyQueue::Classes(classes), .. }) => classes.queue_of(packet),
            _ => 0,
        }
    }

    /// Time before which no packet leaves the queue, unless an arrival makes it leave.
    pub(crate) fn next_change(&self) -> Time {
        match &self.head {
            Head::None => Time::NEVER,
            Head::Closed(closed) => closed.next_start(),
            Head::Line(line) => self.hot.free.min(line.timer),
        }
    }

    /// Refuses a packet that arrives, for lack of shared memory. The port is up to date.
    pub(crate) fn refuse(&mut self, packet: &Packet, now: Time, recorder: &mut Recorder) {
        if self.probe != UNMONITORED {
            let backlog = self.backlog();
            let verdict = Verdict::Dropped(Reason::SharedBuffer);
            recorder.on_arrival(self.probe, packet, backlog, verdict, backlog, now);
        }
        recorder.on_lost(packet);
    }

    /// When the next transmission begins; [`Time::NEVER`] if no packet waits. The port is up to date.
    pub(crate) fn next_departure(&self) -> Time {
        self.hot.departure()
    }

    /// The packets in propagation, each with its time of arrival as `enqueued`.
    pub(crate) fn in_propagation(&self) -> impl ExactSizeIterator<Item = Packet> {
        self.hot.wire.in_propagation()
    }

    /// Number of packets that wait or are in propagation.
    pub(crate) fn held(&self) -> u64 {
        let waiting = self.line().map_or(0, |line| line.queue.backlog().packets);
        u64::from(waiting) + self.hot.wire.len() as u64 + self.impaired().map_or(0, Impaired::len) as u64
    }
}

impl Line {
    // Inlined in its callers: as a call of its own it costs 5 % of a run (benchmark S4).
    #[allow(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    fn catch_up(
        &mut self,
        hot: &mut Hot,
        course: &mut Option<Box<Course>>,
        probe: u32,
        now: Time,
        recorder: &mut Recorder,
    ) {
        while hot.due <= now {
            let departure = hot.departure();
            if self.timer <= departure {
                self.queue.on_timer(self.timer);
                self.timer = self.queue.next_timer();
            } else {
                self.transmit(hot, course, probe, departure, recorder);
            }
            self.await_next(hot);
        }
    }

    /// Must be called at the end of whatever may have changed the queue or the transmitter.
    #[inline]
    fn await_next(&self, hot: &mut Hot) {
        hot.due = hot.departure().min(self.timer);
    }

    /// Must be called when the queue has changed.
    #[inline]
    fn refresh(&mut self, hot: &mut Hot) -> Backlog {
        let (backlog, timer) = self.queue.outlook();
        (hot.waiting, self.timer) = (backlog.packets, timer);
        backlog
    }

    /// Whether queue protection has redirected the packet that has just arrived.
    #[inline]
    fn redirects(&mut self) -> bool {
        let Some(before) = self.redirected else { return false };
        let redirected = self.queue.redirected();
        self.redirected = Some(redirected);
        redirected > before
    }

    /// An arrival comes while the queue holds packets back: it is asked again.
    #[cold]
    fn release(&mut self, hot: &mut Hot, now: Time) {
        hot.free = now;
        self.held_until = Time::NEVER;
    }

    /// A packet waits.
    #[inline]
    fn comes(&mut self, packet: &Packet) {
        let wire_bytes = self.wire_bytes(packet);
        if let Some(span) = &mut self.waiting_span {
            *span += self.transmission.span_now(wire_bytes);
        }
    }

    /// A packet waits no more.
    #[inline]
    fn goes(&mut self, packet: &Packet) {
        let wire_bytes = self.wire_bytes(packet);
        if let Some(span) = &mut self.waiting_span {
            *span -= self.transmission.span_now(wire_bytes);
        }
    }

    /// Counts the packets that an arrival has displaced.
    #[cold]
    fn drop_displaced(&mut self, hot: &mut Hot, probe: u32, now: Time, recorder: &mut Recorder) {
        while let Some((packet, reason)) = self.queue.take_displaced() {
            let backlog = self.refresh(hot);
            self.goes(&packet);
            if probe != UNMONITORED {
                recorder.on_drop_from_queue(probe, &packet, reason, backlog, now);
            }
            recorder.on_lost(&packet);
        }
    }

    /// The transmitter takes the next packet at `at`; while the link is down, it is busy until the end of the outage.
    #[inline]
    fn transmit(
        &mut self,
        hot: &mut Hot,
        course: &mut Option<Box<Course>>,
        probe: u32,
        at: Time,
        recorder: &mut Recorder,
    ) {
        let ready = self.transmission.ready(at);
        if ready > at {
            if self.opportunities.is_some() {
                return self.transmit_at_opportunity(hot, course, probe, at, recorder);
            }
            hot.free = ready;
            return;
        }
        if let Some((packet, wire_bytes)) = self.take_next(hot, probe, at, recorder) {
            self.serialise(&packet, wire_bytes, at, hot, course);
        }
    }

    /// Transmits the next packet at an opportunity, for which only packets count that came before it.
    #[cold]
    #[inline(never)]
    fn transmit_at_opportunity(
        &mut self,
        hot: &mut Hot,
        course: &mut Option<Box<Course>>,
        probe: u32,
        at: Time,
        recorder: &mut Recorder,
    ) {
        let Some((packet, wire_bytes)) = self.take_next(hot, probe, at, recorder) else { return };
        let Some(opportunities) = &mut self.opportunities else { return };
        hot.put(course, &packet, opportunities.send(wire_bytes));
        hot.free = opportunities.ready();
    }

    /// The next packet and its size on the wire, after what the law drops instead.
    // Inlined in its callers: as a call of its own it would copy each packet once more.
    #[allow(clippy::inline_always, reason = "see above")]
    #[inline(always)]
    fn take_next(
        &mut self,
        hot: &mut Hot,
        probe: u32,
        at: Time,
        recorder: &mut Recorder,
    ) -> Option<(Packet, u32)> {
        loop {
            let dequeued = self.queue.dequeue(at, &mut self.random);
            let backlog = self.refresh(hot);
            match dequeued {
                Dequeued::Empty => return None,
                Dequeued::Held { until } => {
                    (hot.free, self.held_until) = (until, until);
                    return None;
                }
                Dequeued::Packet { packet, mark, was_marked } => {
                    self.goes(&packet);
                    let wire_bytes = self.wire_bytes(&packet);
                    if probe != UNMONITORED {
                        let mark = if was_marked { None } else { mark };
                        recorder.on_departure(probe, &packet, mark, wire_bytes, backlog, at);
                    }
                    return Some((packet, wire_bytes));
                }
                Dequeued::Dropped { packet, reason } => {
                    self.goes(&packet);
                    if probe != UNMONITORED {
                        recorder.on_drop_from_queue(probe, &packet, reason, backlog, at);
                    }
                    recorder.on_lost(&packet);
                }
            }
        }
    }

    /// The transmitter, which is ready, begins with `packet` at `at`.
    #[inline]
    fn serialise(
        &mut self,
        packet: &Packet,
        wire_bytes: u32,
        at: Time,
        hot: &mut Hot,
        course: &mut Option<Box<Course>>,
    ) {
        hot.free = at + self.transmission.span_now(wire_bytes);
        hot.put(course, packet, hot.free);
    }

    /// Size of the packet on the wire.
    #[inline]
    fn wire_bytes(&self, packet: &Packet) -> u32 {
        u32::from(packet.size) + self.overhead
    }
}

#[cfg(test)]
mod tests;
