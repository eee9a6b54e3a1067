//! PI2: one queue, one PI controller, classic traffic squared (De Schepper et al., CoNEXT 2016; the sch_pi2 module).

mod pi;
mod rate;

use crate::store::{Store, mark};
use crate::{Backlog, Class, DelayEstimate, Dequeued, Pi2Config, Queue, Reason, Verdict};
use pi::Pi;
use rate::DepartureRate;
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// PI2: scalable packets are marked with p, others marked or dropped with (p/k)^2, on arrival.
#[derive(Clone, Debug)]
pub struct Pi2 {
    store: Store,
    pi: Pi,
    rate: DepartureRate,
    estimate: DelayEstimate,
    coupling: u32,
    ecn: bool,
    scalable_mask: u8,
    min_backlog_bytes: u64,
    tupdate: Span,
    update_at: Time,
}

/// The first update comes half a second after the queue (`pi2_init`).
const FIRST_UPDATE: Span = Span::from_millis(500);

impl Pi2 {
    /// An empty queue at a line of `line_rate`.
    pub fn new(config: &Pi2Config, line_rate: Rate) -> Self {
        Self {
            store: Store::new(config.limit, line_rate),
            pi: Pi::new(config),
            rate: DepartureRate::default(),
            estimate: config.estimate,
            coupling: config.coupling.max(1),
            ecn: config.ecn,
            scalable_mask: config.scalable_mask,
            min_backlog_bytes: 2 * u64::from(config.mtu),
            tupdate: config.tupdate.max(Span::from_micros(1)),
            update_at: Time::ZERO + FIRST_UPDATE,
        }
    }

    /// `drop_early`: what becomes of an arriving packet.
    #[inline]
    fn decide(&self, packet: &mut Packet, random: &mut Stream) -> Result<Option<Reason>, Reason> {
        if self.store.backlog().bytes < self.min_backlog_bytes {
            return Ok(None);
        }
        let probability = self.pi.probability();
        if self.ecn && packet.ecn.bits() & self.scalable_mask != 0 {
            let marked = random.uniform_u32() < probability && mark(packet);
            return Ok(marked.then_some(Reason::Coupled));
        }
        let root = probability / self.coupling;
        // "Think twice to drop."
        if !(random.uniform_u32() < root && random.uniform_u32() < root) {
            return Ok(None);
        }
        if self.ecn && mark(packet) { Ok(Some(Reason::Early)) } else { Err(Reason::Early) }
    }
}

/// Ticks of 64 ns on the kernel's clock.
#[inline]
const fn ticks(time: Time) -> u64 {
    (time.as_picos() / 1000) >> 6
}

impl Queue for Pi2 {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        if !self.store.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        match self.decide(&mut packet, random) {
            Ok(mark) => {
                self.store.push(packet, now);
                Verdict::Queued { mark }
            }
            Err(reason) => Verdict::Dropped(reason),
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut Stream) -> Dequeued {
        let Some(packet) = self.store.pop() else { return Dequeued::Empty };
        if self.estimate == DelayEstimate::Rate {
            self.rate.on_departure(packet.size, self.store.backlog().bytes, ticks(now));
        }
        Dequeued::Packet { packet, mark: None }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.store.class_backlog(class)
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.update_at
    }

    fn on_timer(&mut self, now: Time) {
        if now < self.update_at {
            return;
        }
        let bytes = self.store.backlog().bytes;
        let delay = match self.estimate {
            DelayEstimate::Rate => self.rate.ticks_for(bytes),
            DelayEstimate::Sojourn => self.store.head().map_or(0, |arrived| ticks(now) - ticks(arrived)),
        };
        self.pi.update(delay, bytes > 0);
        self.update_at = now.saturating_add(self.tupdate);
    }

    /// Of a scalable mark.
    fn probability(&self) -> Option<f64> {
        Some(f64::from(self.pi.probability()) / f64::from(u32::MAX))
    }
}
