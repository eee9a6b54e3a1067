//! The head of a link: queue, transmitter, and the packets in propagation.
//!
//! Dequeues are carried out lazily. A transmission that begins at time t is computed when the port is next looked at
//! (an arrival, a delivery, a sample), with t as its time: its outcome depends only on what arrived before, so nothing
//! changes except that a hop costs one event instead of two. At equal times a departure comes before an arrival.

mod closed;
mod moves;

use crate::impaired::Impaired;
use crate::wire::{Course, Wire};
use crate::{DelayChange, LinkConfig, Observer};
use alloc::boxed::Box;
use alloc::sync::Arc;
use closed::Closed;
use shoal_aqm::{AnyQueue, Backlog, Dequeued, Queue, Tunnels, Verdict};
use shoal_netem::Counts;
use shoal_packet::{Packet, Reason};
use shoal_units::Stream;
use shoal_units::cast::fit_u32;
use shoal_units::{OpportunityLine, Rate, RateChange, Span, Time, Transmission};

/// One link with its queue. Fields are in the order in which packets need them, since each cache line of a port counts.
///
/// A caller that has many ports keeps beside each what it needs of its own: `Near`, which shares the first cache line
/// with what every packet touches and has at most six bytes, and `Far`.
#[repr(C)]
pub struct Port<Near = (), Far = ()> {
    hot: Hot<Near>,
    /// What else than a constant delay happens on the wire.
    course: Option<Box<Course>>,
    /// Number by which the observer knows the port, or [`UNMONITORED`].
    probe: u32,
    head: Head,
    /// What the caller keeps beside the port.
    pub far: Far,
}

/// The part of a port that every event touches, in one cache line: in a network of thousands of links nothing else of a
/// port is in the nearest caches, and most deliveries need no more.
#[repr(C, align(64))]
struct Hot<Near> {
    wire: Wire,
    /// Time from which the transmitter is free, or of an idle one whose queue holds packets back, until which it does.
    free: Time,
    /// Time before which nothing happens at the queue, unless a packet arrives: the next transmission, or the law's
    /// timer.
    due: Time,
    /// Number of waiting packets: a copy that is updated once for each change of the queue.
    waiting: u32,
    /// Whether the wire has a course of its own.
    has_course: bool,
    near: Near,
}

impl<Near> Hot<Near> {
    const IS_ONE_CACHE_LINE: () = assert!(size_of::<Self>() == 64, "what is near has at most six bytes");

    fn new(delay: Span, has_course: bool, near: Near) -> Self {
        let () = Self::IS_ONE_CACHE_LINE;
        Self { wire: Wire::new(delay), free: Time::ZERO, due: Time::NEVER, waiting: 0, has_course, near }
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
    /// If it equals `free`, the transmitter waits for the end of an outage.
    down_until: Time,
    random: Stream,
    /// Packets that queue protection has redirected so far, if the queue has it.
    redirected: Option<u64>,
    /// Time that all that waits will take, if the link is the card of a host and its rate never changes.
    waiting_span: Option<Span>,
    /// Opportunities to send instead of a rate; `transmission` is then never ready.
    opportunities: Option<Box<OpportunityLine>>,
}

/// Number of a port of whose queue no observer hears.
pub const UNMONITORED: u32 = u32::MAX;

impl<Near, Far> Port<Near, Far> {
    /// The port of a link in an experiment of this seed, known to observers as `probe`.
    pub fn new(link: &LinkConfig, seed: u64, probe: u32, near: Near, far: Far) -> Self {
        let head = link.rate.map_or(Head::None, |rate: Rate| {
            let queue = AnyQueue::new(&link.queue, rate);
            let changes = match link.opportunities {
                Some(_) => [RateChange { at: Time::ZERO, rate: Rate::from_bps(0) }].into(),
                None => link.rate_changes.clone(),
            };
            let opportunities = link.opportunities.clone();
            Head::Line(Box::new(Line {
                timer: queue.next_timer(),
                held_until: Time::NEVER,
                down_until: Time::ZERO,
                queue,
                random: link.stream(seed),
                redirected: link.queue.has_protection().then_some(0),
                waiting_span: None,
                transmission: Transmission::new(rate, changes),
                opportunities: opportunities.map(|all| Box::new(OpportunityLine::new(all))),
                overhead: u32::from(link.overhead_bytes),
            }))
        });
        let course = Course::of(link, seed).map(Box::new);
        let delay = if course.is_some() { Span::ZERO } else { link.delay };
        let mut hot = Hot::new(delay, course.is_some(), near);
        if let Head::Line(line) = &head {
            hot.due = line.timer;
        }
        Self { hot, course, probe, head, far }
    }

    /// What the caller keeps in the first cache line.
    #[inline]
    pub const fn near(&self) -> &Near {
        &self.hot.near
    }

    /// See [`Self::near`].
    #[inline]
    pub const fn near_mut(&mut self) -> &mut Near {
        &mut self.hot.near
    }

    /// Tells the queue which flows it cannot tell apart, before anything comes through it.
    pub fn set_tunnels(&mut self, tunnels: &Tunnels) {
        if let Head::Line(line) = &mut self.head {
            line.queue.set_tunnels(tunnels);
        }
    }

    /// Makes [`Self::idle_from`] cheap at a port whose rate never changes, before anything comes through it.
    pub fn count_waiting_span(&mut self) {
        if let Head::Line(line) = &mut self.head {
            line.waiting_span = line.transmission.constant().map(|_| Span::ZERO);
        }
    }

    /// Closes the port, through which nothing has come yet, if that changes nothing that anyone sees.
    /// One that shares memory with others is asked how much waits.
    pub fn close(&mut self, is_shared: bool, observer: &impl Observer) {
        let is_seen = self.probe != UNMONITORED && observer.sees_packets();
        let Head::Line(line) = &self.head else { return };
        if self.hot.has_course || is_seen {
            return;
        }
        if let Some(serialiser) = line.transmission.constant()
            && let Some(queue) = line.queue.closed()
        {
            let random = line.random.clone();
            self.head =
                Head::Closed(Closed::new(serialiser, line.overhead, queue, random, self.probe, is_shared));
        }
    }

    /// The head of a port that is not closed.
    fn line(&self) -> Option<&Line> {
        match &self.head {
            Head::Line(line) => Some(line),
            Head::None | Head::Closed(_) => None,
        }
    }

    /// Whether the port is closed.
    pub const fn is_closed(&self) -> bool {
        matches!(self.head, Head::Closed(_))
    }

    /// Whether it is known when a packet leaves the port as soon as it arrives.
    pub fn knows_departures(&self) -> bool {
        !self.hot.has_course && matches!(self.head, Head::None | Head::Closed(_))
    }

    /// Whether it is known when a packet leaves the port as soon as it arrives, and nobody else hears when that is.
    pub fn is_unseen(&self) -> bool {
        self.knows_departures() && self.probe == UNMONITORED
    }

    /// Handles the arrival of a packet at a port that [`Self::is_unseen`]. If it leaves the port, returns when its last
    /// bit leaves the transmitter. Whether a port has marked the packet is in `is_marked`, and not yet in the packet.
    #[inline]
    pub fn pass_unseen(&mut self, packet: &Packet, is_marked: &mut bool, now: Time) -> Option<Time> {
        let Head::Closed(closed) = &mut self.head else { return Some(now) };
        closed.arrive_unseen(packet, is_marked, &mut self.hot, now).then_some(self.hot.free)
    }

    /// Handles the arrival of a packet.
    #[inline]
    pub fn arrive(&mut self, packet: &Packet, now: Time, observer: &mut impl Observer) {
        if let Some((left, is_marked)) = self.pass(packet, now, observer) {
            self.hot.wire.put(packet, left, is_marked);
        }
    }

    /// Handles the arrival of a packet. If it leaves the port on its way and is not yet on the wire, returns when its
    /// last bit leaves the transmitter, and whether it is marked.
    #[allow(clippy::inline_always, reason = "measured, see `Network::send_on`")]
    #[inline(always)]
    pub fn pass(&mut self, packet: &Packet, now: Time, observer: &mut impl Observer) -> Option<(Time, bool)> {
        let hot = &mut self.hot;
        // Asked first and alone, this takes one comparison.
        if let Head::Closed(closed) = &mut self.head {
            let is_marked = closed.arrive(packet, hot, now, observer)?;
            return Some((hot.free, is_marked));
        }
        if let Head::Line(_) = &self.head {
            self.queue(packet, now, observer);
            return None;
        }
        if hot.has_course {
            hot.put(&mut self.course, packet, now);
            return None;
        }
        Some((now, false))
    }

    /// Handles the arrival of a packet at a port whose queue holds it.
    #[inline]
    fn queue(&mut self, packet: &Packet, now: Time, observer: &mut impl Observer) {
        let (hot, course) = (&mut self.hot, &mut self.course);
        let Head::Line(line) = &mut self.head else { return };
        if hot.due <= now {
            line.catch_up(hot, course, self.probe, now, observer);
        }
        // Only rows about packets need the backlog.
        let found = if observer.sees_packets() { line.queue.backlog() } else { Backlog::default() };
        let verdict = line.queue.enqueue(packet, now, &mut line.random);
        let backlog = line.refresh(hot);
        if self.probe != UNMONITORED {
            observer.on_arrival(self.probe, packet, found, verdict, backlog, now);
            if line.redirects() {
                observer.on_redirection(self.probe, packet, now);
            }
        }
        match verdict {
            Verdict::Queued { .. } => line.comes(packet),
            Verdict::Dropped(_) => {
                observer.on_lost(packet);
                return line.await_next(hot);
            }
            Verdict::Displaced => {
                line.comes(packet);
                line.drop_displaced(hot, self.probe, now, observer);
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
                None => line.transmit(hot, course, self.probe, now, observer),
            }
        }
        line.await_next(hot);
    }

    /// Carries out everything that should have happened by `now`.
    #[inline]
    pub fn catch_up(&mut self, now: Time, observer: &mut impl Observer) {
        if self.hot.due <= now
            && let Head::Line(line) = &mut self.head
        {
            line.catch_up(&mut self.hot, &mut self.course, self.probe, now, observer);
        }
    }

    /// Reports everything that should have happened by `now`.
    pub fn report(&mut self, now: Time, observer: &mut impl Observer) {
        match &mut self.head {
            Head::Closed(closed) => closed.catch_up(now, observer),
            _ => self.catch_up(now, observer),
        }
    }

    /// Copies the packet that reaches the other end by `now` to `arrived`; returns whether there is one.
    #[inline]
    pub fn deliver(&mut self, now: Time, arrived: &mut Packet) -> bool {
        self.hot.wire.deliver(now, arrived)
    }

    /// Time at which the port must be examined again: the next delivery, or the next transmission if no
    /// packet is in propagation.
    #[inline]
    pub fn next_event(&self) -> Option<Time> {
        self.hot.wire.next_delivery().or_else(|| (self.hot.waiting > 0).then_some(self.hot.free))
    }

    /// Carries out what an impaired wire does until `now`.
    pub fn advance(&mut self, now: Time, observer: &mut impl Observer) {
        if let Some(Course::Impaired(impaired)) = self.course.as_deref_mut() {
            self.hot.wire.advance(impaired, now, observer);
        }
    }

    /// What has happened on an impaired wire so far.
    pub fn impairment_counts(&self) -> Option<Counts> {
        self.impaired().map(Impaired::counts)
    }

    fn impaired(&self) -> Option<&Impaired> {
        match self.course.as_deref() {
            Some(Course::Impaired(impaired)) => Some(impaired),
            _ => None,
        }
    }

    /// Time at which a port whose wire is impaired must be examined again. No transmission may be carried out late,
    /// since its packet may be delivered before those that are in propagation.
    pub fn next_event_of_impaired(&self) -> Option<Time> {
        let departs = (self.hot.waiting > 0).then_some(self.hot.free);
        let happens = self.impaired().and_then(Impaired::next_event);
        [self.hot.wire.next_delivery(), departs, happens].into_iter().flatten().min()
    }

    /// The last time for which the rate and the delay of the link have been asked: no later change of them is known to
    /// the port.
    pub fn asked_until(&self) -> Time {
        if self.line().is_some() { self.hot.free } else { Time::ZERO }
    }

    /// The rate and the delay change as these say, which differ from those before only later than
    /// [`Self::asked_until`].
    pub fn replan(&mut self, rate: Arc<[RateChange]>, delay: Arc<[DelayChange]>) {
        if let Some(course) = &mut self.course {
            course.replan(delay);
        }
        if let Head::Line(line) = &mut self.head
            && line.opportunities.is_none()
        {
            line.transmission.replan(rate);
        }
    }

    /// The law of the queue has the parameters of another queue from now on; see [`Queue::retune`]. Returns whether it
    /// can.
    pub fn retune(&mut self, newer: &AnyQueue) -> bool {
        let Head::Line(line) = &mut self.head else { return false };
        let is_taken = line.queue.retune(newer);
        let _ = line.refresh(&mut self.hot);
        line.await_next(&mut self.hot);
        is_taken
    }

    /// The average in bytes and the probability that the law keeps, for the series.
    pub fn law_state(&self) -> (Option<f64>, Option<f64>) {
        if let Head::Closed(closed) = &self.head {
            return closed.law_state();
        }
        let queue = self.line().map(|line| &line.queue);
        (queue.and_then(Queue::average_bytes), queue.and_then(Queue::probability))
    }

    /// Time at which everything that waits now will have been sent, if the law drops none of it and the rate stays.
    pub fn idle_from(&self) -> Time {
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
    pub fn backlog(&self) -> Backlog {
        match &self.head {
            Head::None => Backlog::default(),
            Head::Closed(closed) => closed.backlog(),
            Head::Line(line) => line.queue.backlog(),
        }
    }

    /// Whether the law of the queue has failed.
    pub fn law_has_failed(&self) -> bool {
        self.line().is_some_and(|line| line.queue.law_has_failed())
    }

    /// Waiting bytes, those of one queue if the port has several for traffic classes.
    pub fn waiting_bytes(&self, queue: Option<u8>) -> u64 {
        match (self.line(), queue) {
            (Some(Line { queue: AnyQueue::Classes(classes), .. }), Some(queue)) => {
                classes.backlog_bytes(queue)
            }
            _ => self.backlog().bytes,
        }
    }

    /// The queue that a packet joins, if the port has several for traffic classes; else the only one, 0.
    pub fn queue_of(&self, packet: &Packet) -> u8 {
        match self.line() {
            Some(Line { queue: AnyQueue::Classes(classes), .. }) => classes.queue_of(packet),
            _ => 0,
        }
    }

    /// Time before which no packet leaves the queue, unless an arrival makes it leave.
    pub fn next_change(&self) -> Time {
        match &self.head {
            Head::None => Time::NEVER,
            Head::Closed(closed) => closed.next_start(),
            Head::Line(line) => self.hot.free.min(line.timer),
        }
    }

    /// Refuses a packet that arrives, for lack of shared memory. The port is up to date.
    pub fn refuse(&mut self, packet: &Packet, now: Time, observer: &mut impl Observer) {
        if self.probe != UNMONITORED {
            let backlog = self.backlog();
            let verdict = Verdict::Dropped(Reason::SharedBuffer);
            observer.on_arrival(self.probe, packet, backlog, verdict, backlog, now);
        }
        observer.on_lost(packet);
    }

    /// When the next transmission begins; [`Time::NEVER`] if no packet waits. The port is up to date.
    pub fn next_departure(&self) -> Time {
        self.hot.departure()
    }

    /// The last bit of the packet leaves the transmitter at `left`, with a mark if it `is_marked`, and is on the wire,
    /// which has a constant delay. Returns the packet there.
    #[inline]
    pub fn put(&mut self, packet: &Packet, left: Time, is_marked: bool) -> &mut Packet {
        self.hot.wire.put(packet, left, is_marked)
    }

    /// Time that each packet takes on a wire of constant delay.
    #[inline]
    pub const fn delay(&self) -> Span {
        self.hot.wire.delay()
    }

    /// The packets in propagation, each with its time of arrival as `enqueued`.
    pub fn in_propagation(&self) -> impl ExactSizeIterator<Item = Packet> {
        self.hot.wire.in_propagation()
    }

    /// Number of packets that wait or are in propagation.
    pub fn held(&self) -> u64 {
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
        hot: &mut Hot<impl Sized>,
        course: &mut Option<Box<Course>>,
        probe: u32,
        now: Time,
        observer: &mut impl Observer,
    ) {
        while hot.due <= now {
            let departure = hot.departure();
            if self.timer <= departure {
                self.queue.on_timer(self.timer);
                self.timer = self.queue.next_timer();
            } else {
                self.transmit(hot, course, probe, departure, observer);
            }
            self.await_next(hot);
        }
    }

    /// Must be called at the end of whatever may have changed the queue or the transmitter.
    #[inline]
    fn await_next(&self, hot: &mut Hot<impl Sized>) {
        hot.due = hot.departure().min(self.timer);
    }

    /// Must be called when the queue has changed.
    #[inline]
    fn refresh(&mut self, hot: &mut Hot<impl Sized>) -> Backlog {
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
    fn release(&mut self, hot: &mut Hot<impl Sized>, now: Time) {
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
    fn drop_displaced(
        &mut self,
        hot: &mut Hot<impl Sized>,
        probe: u32,
        now: Time,
        observer: &mut impl Observer,
    ) {
        while let Some((packet, reason)) = self.queue.take_displaced() {
            let backlog = self.refresh(hot);
            self.goes(&packet);
            if probe != UNMONITORED {
                observer.on_drop_from_queue(probe, &packet, reason, backlog, now);
            }
            observer.on_lost(&packet);
        }
    }

    /// The transmitter takes the next packet at `at`; while the link is down, it is busy until the end of the outage.
    #[inline]
    fn transmit(
        &mut self,
        hot: &mut Hot<impl Sized>,
        course: &mut Option<Box<Course>>,
        probe: u32,
        at: Time,
        observer: &mut impl Observer,
    ) {
        let ready = self.transmission.ready(at);
        if ready > at {
            if self.opportunities.is_some() {
                return self.transmit_at_opportunity(hot, course, probe, at, observer);
            }
            (hot.free, self.down_until) = (ready, ready);
            return;
        }
        if let Some((packet, wire_bytes)) = self.take_next(hot, probe, at, observer) {
            self.serialise(&packet, wire_bytes, at, hot, course);
        }
    }

    /// Transmits the next packet at an opportunity, for which only packets count that came before it.
    #[cold]
    #[inline(never)]
    fn transmit_at_opportunity(
        &mut self,
        hot: &mut Hot<impl Sized>,
        course: &mut Option<Box<Course>>,
        probe: u32,
        at: Time,
        observer: &mut impl Observer,
    ) {
        let Some((packet, wire_bytes)) = self.take_next(hot, probe, at, observer) else { return };
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
        hot: &mut Hot<impl Sized>,
        probe: u32,
        at: Time,
        observer: &mut impl Observer,
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
                        observer.on_departure(probe, &packet, mark, wire_bytes, backlog, at);
                    }
                    return Some((packet, wire_bytes));
                }
                Dequeued::Dropped { packet, reason } => {
                    self.goes(&packet);
                    if probe != UNMONITORED {
                        observer.on_drop_from_queue(probe, &packet, reason, backlog, at);
                    }
                    observer.on_lost(&packet);
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
        hot: &mut Hot<impl Sized>,
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
