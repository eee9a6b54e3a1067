//! DualPI2: two queues, one PI controller (RFC 9332; Linux net/sched/sch_dualpi2.c).

mod coin;
mod native;
mod pi;

use crate::dual::DualQueue;
use crate::sched::Lane;
use crate::store::mark;
use crate::{Backlog, Class, DecideAt, Dequeued, DualPi2Config, Queue, Reason, Verdict};
use coin::Coin;
use native::{Native, wait_ns};
use pi::{MAX_PROBABILITY, Pi};
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// DualPI2. The longer of the two queueing times drives p'; L packets are marked with k p', C packets dropped, or marked if they
/// are ECT, with p'^2.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    queues: DualQueue,
    pi: Pi,
    coin: Coin,
    native: Native,
    decide: DecideAt,
    coupling: u8,
    ecn_mask: u8,
    drop_on_overload: bool,
    min_backlog_bytes: u64,
    memory_limit_bytes: u64,
    tupdate: Span,
    update_at: Time,
}

/// What becomes of a packet.
type Fate = Result<Option<Reason>, Reason>;

impl DualPi2 {
    /// An empty queue at a line of `line_rate`.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(config: &DualPi2Config, line_rate: Rate) -> Self {
        // tc hands over microseconds; an update needs time to pass.
        let whole_micros = |span: Span| Span::from_picos(span.as_picos() / 1_000_000 * 1_000_000);
        let tupdate = whole_micros(config.tupdate).max(Span::from_micros(1));
        let stop_at = (!config.drop_on_overload).then_some(config.coupling);
        Self {
            queues: DualQueue::new(config.limit, config.scheduler, config.mtu, line_rate),
            pi: Pi::new(
                whole_micros(config.target).as_nanos(),
                config.alpha_256th_hz,
                config.beta_256th_hz,
                stop_at,
            ),
            coin: Coin::new(config.tossing),
            native: Native::new(config.native),
            decide: config.decide,
            coupling: config.coupling.max(1),
            ecn_mask: config.ecn_mask,
            drop_on_overload: config.drop_on_overload,
            min_backlog_bytes: config.min_backlog_bytes,
            memory_limit_bytes: config.memory_limit_bytes,
            tupdate,
            update_at: Time::ZERO + tupdate,
        }
    }

    /// The queue that `packet` joins (`dualpi2_skb_classify`).
    #[inline]
    const fn lane_of(&self, packet: &Packet) -> Lane {
        if packet.ecn.bits() & self.ecn_mask != 0 { Lane::Low } else { Lane::Classic }
    }

    #[inline]
    fn fits(&self, packet: &Packet) -> bool {
        self.queues.fits(packet)
            && self.queues.backlog().bytes + u64::from(packet.size) <= self.memory_limit_bytes
    }

    /// Applies the probability (`must_drop`), not to a backlog, without the packet, below two packets. `native` is the ramp's
    /// likelihood of a mark.
    #[inline]
    fn apply(&mut self, lane: Lane, packet: &mut Packet, native: u64, random: &mut Stream) -> Fate {
        let small = self.queues.backlog().bytes < self.min_backlog_bytes;
        let base = if small { 0 } else { self.pi.probability() };
        let coupled = u64::from(base) * u64::from(self.coupling);
        let overload = coupled > u64::from(MAX_PROBABILITY);
        let reason = match lane {
            _ if small && native == 0 => return Ok(None),
            Lane::Classic if small => return Ok(None),
            Lane::Classic => {
                if !self.coin.toss_squared(lane, base, random) {
                    return Ok(None);
                }
                if overload {
                    return Err(Reason::Early);
                }
                Reason::Early
            }
            Lane::Low if overload => {
                if self.drop_on_overload && self.coin.toss_squared(lane, base, random) {
                    return Err(Reason::Early);
                }
                Reason::Coupled
            }
            Lane::Low => {
                if !self.coin.toss(lane, coupled.max(native), random) {
                    return Ok(None);
                }
                if native > coupled { Reason::Threshold } else { Reason::Coupled }
            }
        };
        if mark(packet) { Ok(Some(reason)) } else { Err(reason) }
    }
}

impl Queue for DualPi2 {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        if !self.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        let lane = self.lane_of(&packet);
        let mut reason = None;
        if self.decide == DecideAt::Enqueue {
            match self.apply(lane, &mut packet, 0, random) {
                Ok(mark) => reason = mark,
                Err(reason) => return Verdict::Dropped(reason),
            }
        }
        if lane == Lane::Low {
            self.native.on_arrival(self.queues.lane(lane).backlog().packets);
        }
        self.queues.push(lane, packet, now);
        Verdict::Queued { mark: reason }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued {
        let Some(mut taken) = self.queues.take(now) else { return Dequeued::Empty };
        let (lane, packet) = (taken.lane, &mut taken.packet);
        let behind = self.queues.lane(lane).backlog();
        let applies = lane == Lane::Low && self.native.on_departure();
        let ramp = if lane == Lane::Low { self.native.likelihood(packet, behind.packets, now) } else { 0 };
        let mut fate = match self.decide {
            DecideAt::Dequeue => self.apply(lane, packet, ramp, random),
            DecideAt::Enqueue if ramp > 0 && self.coin.toss(lane, ramp, random) => {
                if mark(packet) {
                    Ok(Some(Reason::Threshold))
                } else {
                    Err(Reason::Threshold)
                }
            }
            DecideAt::Enqueue => Ok(None),
        };
        // A packet that both laws mark counts for the native one.
        if applies && fate.is_ok() && self.native.is_above(packet, behind.packets, behind.bytes, now) {
            fate = if mark(packet) { Ok(Some(Reason::Threshold)) } else { Err(Reason::Threshold) };
        }
        match fate {
            Ok(mark) => {
                self.queues.sent(&taken, now);
                Dequeued::Packet { packet: taken.packet, mark }
            }
            Err(reason) => Dequeued::Dropped { packet: taken.packet, reason },
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.queues.class_backlog(class)
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.update_at
    }

    fn on_timer(&mut self, now: Time) {
        if now < self.update_at {
            return;
        }
        let age = |lane| self.queues.lane(lane).head().map_or(0, |arrived| wait_ns(arrived, now));
        self.pi.update(age(Lane::Low).max(age(Lane::Classic)));
        self.update_at = now.saturating_add(self.tupdate);
    }

    /// p', the base of both.
    fn probability(&self) -> Option<f64> {
        Some(f64::from(self.pi.probability()) / f64::from(MAX_PROBABILITY))
    }
}
