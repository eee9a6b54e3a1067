//! A link that keeps its own counts, for callers that bring packets and a clock.

#[cfg(test)]
mod tests;

use crate::{LinkConfig, LinkError, Observer, Port};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use shoal_aqm::{AnyQueue, Backlog, QueueConfig, Start, Verdict};
use shoal_netem::Counts;
use shoal_packet::{Ecn, Flags, FlowId, Packet, Reason};
use shoal_units::{Rate, Span, Time};

/// A link with its queue, without a clock and without packets' contents.
///
/// Whoever uses it tells the time in every call, counted from any beginning, and keeps the contents of packets: what it
/// hands over is a handle, which comes back when the packet has reached the other end or is dropped on the way. It is
/// the link of the simulator: the same calls at the same times have the same outcome there.
///
/// Times may not decrease; one that is before an earlier one counts as that one. The last time is
/// [`Bottleneck::LAST`], and what is to happen later never does.
///
/// ```
/// use shoal_aqm::{FifoConfig, Extent, QueueConfig, Verdict};
/// use shoal_bottleneck::{Bottleneck, LinkConfig, Next};
/// use shoal_packet::Ecn;
/// use shoal_units::{Rate, Span, Time};
///
/// let fifo = QueueConfig::Fifo(FifoConfig { limit: Extent::Packets(1) });
/// let link = LinkConfig::new(Rate::from_bps(12_000_000), Span::from_millis(5), fifo);
/// let mut bottleneck = Bottleneck::new(&link, 1)?;
/// let ms = |ms| Time::ZERO + Span::from_millis(ms);
///
/// // 1500 B take 1 ms. The first packet is sent, the second waits, and the third finds no room.
/// let verdicts = [0, 1, 2].map(|handle| bottleneck.enqueue(ms(0), 1500, Ecn::NotEct, 0, handle));
/// assert!(matches!(verdicts, [Verdict::Queued { .. }, Verdict::Queued { .. }, Verdict::Dropped(_)]));
/// assert_eq!(bottleneck.next(ms(0)), Next::At(ms(6)));
/// let Next::Packet(first) = bottleneck.next(ms(6)) else { unreachable!() };
/// assert_eq!((first.handle, first.at), (0, ms(6)));
/// assert_eq!(bottleneck.next(ms(6)), Next::At(ms(7)));
/// # Ok::<(), shoal_bottleneck::LinkError>(())
/// ```
pub struct Bottleneck {
    port: Port,
    log: Log,
    /// Time before which everything has been carried out.
    frontier: Time,
    is_impaired: bool,
    /// The rate with which the law of the queue was configured.
    line_rate: Option<Rate>,
}

/// The answer to the question what happens next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Next {
    /// A packet has reached the other end. Ask again: there may be more.
    Packet(Arrival),
    /// A packet that had been accepted is gone. Ask again.
    Lost(Lost),
    /// Nothing more has happened by now. Ask again at this time, which is later; if packets come before it, afterwards.
    At(Time),
    /// Nothing will happen unless packets come, or the rate changes.
    Nothing,
}

/// A packet that has reached the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// What the caller has given with it. If impairments send packets twice, the same handle may come again.
    pub handle: u64,
    /// When it arrived, which may be before the time of the question.
    pub at: Time,
    /// Its size in bytes.
    pub bytes: u16,
    /// Its flow.
    pub flow: u32,
    /// Its ECN codepoint now.
    pub ecn: Ecn,
    /// Whether the queue has marked it; false if it came with a mark.
    pub is_marked: bool,
}

/// A packet that was accepted and will not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// What the caller has given with it.
    pub handle: u64,
    /// When it was dropped, or left the transmitter for a wire that loses it.
    pub at: Time,
    /// Why the queue dropped it; `None` if impairments of the wire have lost or corrupted it.
    pub reason: Option<Reason>,
}

/// Packets that came to a bottleneck, and what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that came.
    pub arrived: u64,
    /// Packets that the queue marked, on arrival or on departure.
    pub marked: u64,
    /// Packets that the queue dropped: on arrival, on departure, or to make room.
    pub dropped: u64,
    /// Packets of which no copy arrives, because impairments of the wire have lost or corrupted all of them.
    pub lost: u64,
    /// Packets that have been handed over at the other end, each copy counted.
    pub delivered: u64,
    /// Bytes of these packets.
    pub delivered_bytes: u64,
}

impl Bottleneck {
    /// The last time that there is, 2^62 ps (53 days). All times count from the beginning of the caller's clock.
    pub const LAST: Time = Time::from_picos(1 << 62);

    /// The link that is configured so, in an experiment with this seed.
    ///
    /// # Errors
    /// If the configuration says what no link does; see [`LinkError`].
    pub fn new(link: &LinkConfig, seed: u64) -> Result<Self, LinkError> {
        link.check()?;
        Ok(Self {
            port: Port::new(link, seed, 0, (), ()),
            log: Log::default(),
            frontier: Time::ZERO,
            is_impaired: link.impairments.is_some(),
            line_rate: link.rate,
        })
    }

    /// A packet of `bytes` comes at `now`, whose IP header says `ecn`. Queues that tell flows apart do so by `flow`;
    /// `handle` is the caller's. A packet without a byte counts as one of one byte.
    ///
    /// A queue that has marked the packet at once says so. One that decides on departure says it with the packet, and
    /// by [`Next::Lost`] if it drops it; so does one that displaced a packet, perhaps this one, to make room.
    pub fn enqueue(&mut self, now: Time, bytes: u16, ecn: Ecn, flow: u32, handle: u64) -> Verdict {
        let now = self.advance_to(now);
        self.log.verdict = Verdict::Queued { mark: None };
        let packet = packet(bytes.max(1), ecn, flow, handle);
        self.port.arrive(&packet, now, &mut self.log);
        self.log.verdict
    }

    /// What has happened by `now` and was not told yet, one thing for each question; else, when to ask again.
    ///
    /// Packets come in the order in which they arrive. What is lost comes in an order of its own, when the question
    /// shows that it is.
    pub fn next(&mut self, now: Time) -> Next {
        let now = self.advance_to(now);
        self.port.catch_up(now, &mut self.log);
        if self.is_impaired {
            self.port.advance(now, &mut self.log);
        }
        if let Some(lost) = self.log.lost.pop_front() {
            return Next::Lost(lost);
        }
        let mut packet = Packet::empty(FlowId(0), 0);
        if self.port.deliver(now, &mut packet) {
            let arrival = arrival(&packet, self.port.delay());
            self.log.counters.delivered += 1;
            self.log.counters.delivered_bytes += u64::from(arrival.bytes);
            return Next::Packet(arrival);
        }
        let next = if self.is_impaired { self.port.next_event_of_impaired() } else { self.port.next_event() };
        next.filter(|at| *at <= Self::LAST).map_or(Next::Nothing, Next::At)
    }

    /// Transmissions that begin at `now` or later have this rate, and if it is zero, none begins: the link is down.
    /// Changes of the rate that the configuration plans for later do not happen any more. The law of the queue keeps
    /// the rate with which it was configured.
    ///
    /// A change counts as one of the next picosecond if something was asked about `now`, or came then, before it.
    ///
    /// # Errors
    /// [`LinkError::NoRate`] if the link is a pure delay, or sends at opportunities.
    pub fn set_rate(&mut self, now: Time, rate: Rate) -> Result<(), LinkError> {
        let at = self.advance_before(now);
        if self.port.set_rate(at, rate) { Ok(()) } else { Err(LinkError::NoRate) }
    }

    /// Packets whose last bit leaves the transmitter at `now` or later have this propagation delay, and none overtakes
    /// another unless impairments reorder them. Changes of the delay that the configuration plans for later do not
    /// happen any more. What [`Self::set_rate`] says of the time of a change is true here, too.
    ///
    /// # Errors
    /// [`LinkError::LongDelay`] if the delay is beyond [`Bottleneck::LAST`].
    pub fn set_delay(&mut self, now: Time, delay: Span) -> Result<(), LinkError> {
        LinkError::of_delay(delay)?;
        let at = self.advance_before(now);
        self.port.set_delay(at, delay);
        Ok(())
    }

    /// The law of the queue has the parameters of this configuration of the same law from `now` on, as after `tc qdisc
    /// change`: what waits stays, and so does what the law has learnt, such as a probability. Capacity, scheduler and
    /// queue protection stay as they were. What [`Self::set_rate`] says of the time of a change is true here, too.
    ///
    /// # Errors
    /// [`LinkError::FixedLaw`] if it is another law, or one that cannot: step marking, CoDel alone or with fair
    /// queueing, PI2 and DualPI2 can. [`LinkError::NoRate`] if the link has no queue; [`LinkError::Queue`].
    pub fn set_law(&mut self, now: Time, queue: &QueueConfig) -> Result<(), LinkError> {
        let line_rate = self.line_rate.ok_or(LinkError::NoRate)?;
        let newer = AnyQueue::try_new(queue, line_rate).map_err(LinkError::Queue)?;
        self.advance_before(now);
        if self.port.retune(&newer) { Ok(()) } else { Err(LinkError::FixedLaw) }
    }

    /// Keeps how long each packet waits, for [`Self::waits`], from now on.
    pub fn watch_waits(&mut self) {
        self.log.waits.get_or_insert_default();
    }

    /// How long packets have waited in the queue whose transmission has begun since the last call, each with the
    /// codepoint with which it leaves; none unless they are watched.
    pub fn waits(&mut self) -> impl Iterator<Item = (Ecn, Span)> {
        self.log.waits.iter_mut().flat_map(|waits| waits.drain(..))
    }

    /// What waits in the queue, as the last call has left it; the packet in transmission does not wait.
    pub fn backlog(&self) -> Backlog {
        self.port.backlog()
    }

    /// Packets that were accepted and whose fate is not told: those that wait, are on the wire, or have arrived.
    pub fn held(&self) -> u64 {
        self.port.held()
    }

    /// The average queue in bytes and the probability that the law keeps, if it does.
    pub fn law_state(&self) -> (Option<f64>, Option<f64>) {
        self.port.law_state()
    }

    /// What has become of packets so far.
    pub fn counters(&self) -> Counters {
        self.log.counters
    }

    /// What the impairments of the wire have done so far, counted as Linux's emulator counts it; `None` if there are
    /// none.
    pub fn impairment_counts(&self) -> Option<Counts> {
        self.port.impairment_counts()
    }

    /// The time as which `now` counts, up to which everything happens now.
    fn advance_to(&mut self, now: Time) -> Time {
        let latest = Time::from_picos(self.frontier.as_picos().saturating_sub(1));
        let now = now.clamp(latest, Self::LAST);
        self.frontier = now + PICOSECOND;
        now
    }

    /// The time as which that of a change counts, before which everything happens now.
    fn advance_before(&mut self, now: Time) -> Time {
        self.frontier = now.clamp(self.frontier, Self::LAST + PICOSECOND);
        if self.frontier > Time::ZERO {
            let before = self.frontier - PICOSECOND;
            self.port.catch_up(before, &mut self.log);
            self.port.advance(before, &mut self.log);
        }
        self.frontier
    }
}

const PICOSECOND: Span = Span::from_picos(1);

/// What has happened since the caller asked.
struct Log {
    verdict: Verdict,
    lost: VecDeque<Lost>,
    counters: Counters,
    /// How long packets have waited, as long as somebody wants to know.
    waits: Option<Vec<(Ecn, Span)>>,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            verdict: Verdict::Queued { mark: None },
            lost: VecDeque::new(),
            counters: Counters::default(),
            waits: None,
        }
    }
}

impl Observer for Log {
    #[inline]
    fn on_arrival(&mut self, _: u32, packet: &Packet, _: Backlog, verdict: Verdict, _: Backlog, _: Time) {
        self.counters.arrived += 1;
        self.verdict = match verdict {
            // It stays the mark of a queue before this one.
            Verdict::Queued { .. } if packet.ecn.is_ce() => Verdict::Queued { mark: None },
            verdict => verdict,
        };
        self.counters.marked += u64::from(matches!(self.verdict, Verdict::Queued { mark: Some(_) }));
    }
    fn on_redirection(&mut self, _: u32, _: &Packet, _: Time) {}
    #[inline]
    fn on_departure(&mut self, _: u32, packet: &Packet, mark: Option<Reason>, _: u32, _: Backlog, at: Time) {
        self.counters.marked += u64::from(mark.is_some());
        if let Some(waits) = &mut self.waits {
            waits.push((packet.ecn, at.since(packet.enqueued)));
        }
    }
    fn on_drop_from_queue(&mut self, _: u32, packet: &Packet, reason: Reason, _: Backlog, at: Time) {
        self.lost.push_back(Lost { handle: handle(packet), at, reason: Some(reason) });
    }
    fn on_start(&mut self, _: u32, _: &Start, _: u32, _: Backlog) {}
    fn on_passing(&mut self, _: u32, _: &Packet, _: Verdict, _: u32, _: Time) -> bool {
        true
    }
    fn on_lost(&mut self, _: &Packet) {
        self.counters.dropped += 1;
    }
    fn on_lost_on_wire(&mut self, packet: &Packet, at: Time) {
        self.counters.lost += 1;
        self.lost.push_back(Lost { handle: handle(packet), at, reason: None });
    }
}

/// What is set of a packet that comes with a mark; no queue reads flags.
const CAME_MARKED: Flags = Flags(1);

/// The packet that carries a handle through queue and wire, in fields that neither of them reads.
#[inline]
fn packet(bytes: u16, ecn: Ecn, flow: u32, handle: u64) -> Packet {
    let [high, low] = [(handle >> 32), handle & u64::from(u32::MAX)].map(shoal_units::cast::fit_u32);
    Packet {
        ts_val: high,
        ts_ecr: low,
        flags: if ecn.is_ce() { CAME_MARKED } else { Flags::default() },
        ecn,
        ..Packet::empty(FlowId(flow), bytes)
    }
}

#[inline]
fn handle(packet: &Packet) -> u64 {
    u64::from(packet.ts_val) << 32 | u64::from(packet.ts_ecr)
}

#[inline]
fn arrival(packet: &Packet, delay: Span) -> Arrival {
    Arrival {
        handle: handle(packet),
        at: packet.enqueued + delay,
        bytes: packet.size,
        flow: packet.flow.0,
        ecn: packet.ecn,
        is_marked: packet.ecn.is_ce() && packet.flags != CAME_MARKED,
    }
}
