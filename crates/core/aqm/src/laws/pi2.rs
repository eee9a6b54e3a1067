//! PI2: one queue, one PI controller, classic traffic squared.
//!
//! The queueing time d drives p <- p + alpha (d - target) + beta (d - d before). On arrival scalable packets are marked
//! with p, others marked or dropped with (p/k)^2. Follows De Schepper, Bondarenko, Tsang and Briscoe, PI2, CoNEXT 2016
//! (<https://doi.org/10.1145/2999572.2999578>) and their module sch_pi2; where it departs is listed in
//! [`Pi2Config::DOC`].

mod config;
mod doc;
mod pi;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

pub use config::{DelayEstimate, Pi2Config};

use super::pie::{DepartureRate, ticks};
use crate::Reason;
use crate::shell::{Decision, Law, Store, Waiting};
use pi::Pi;
use shoal_packet::Packet;
use shoal_units::{Span, Stream, Time};

/// The controller and its estimate of the queueing time.
#[derive(Clone, Debug)]
pub struct Pi2 {
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

/// Bytes that a measurement of the departure rate covers, and bytes of the queue that it needs (`pi2_process_dequeue`).
const RATE_THRESHOLD_BYTES: u64 = 10_000;

impl Pi2 {
    fn new(config: &Pi2Config) -> Self {
        let tupdate = config.tupdate.max(Span::from_micros(1));
        Self {
            pi: Pi::new(config),
            rate: DepartureRate::new(RATE_THRESHOLD_BYTES),
            estimate: config.estimate,
            coupling: config.coupling.max(1),
            ecn: config.ecn,
            scalable_mask: config.scalable_mask,
            min_backlog_bytes: 2 * u64::from(config.mtu),
            tupdate,
            // The first one is half a second after the queue was created (`pi2_init`), which is older than the run.
            update_at: Time::ZERO + tupdate,
        }
    }
}

impl Law for Pi2 {
    /// `drop_early`.
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, _: Time, random: &mut Stream) -> Decision {
        if waiting.backlog().bytes < self.min_backlog_bytes {
            return Decision::Pass;
        }
        let probability = self.pi.probability();
        if self.ecn && packet.ecn.bits() & self.scalable_mask != 0 {
            let hit = random.uniform_u32() < probability;
            return if hit { Decision::Mark(Reason::Coupled) } else { Decision::Pass };
        }
        let root = probability / self.coupling;
        // "Think twice to drop."
        if !(random.uniform_u32() < root && random.uniform_u32() < root) {
            return Decision::Pass;
        }
        if self.ecn { Decision::signal(packet, Reason::Early) } else { Decision::Drop(Reason::Early) }
    }

    #[inline]
    fn on_departure(&mut self, packet: &Packet, waiting: &Waiting, now: Time, _: &mut Stream) -> Decision {
        if self.estimate == DelayEstimate::Rate {
            self.rate.on_departure(packet.size, waiting.backlog().bytes, ticks(now));
        }
        Decision::Pass
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.update_at
    }

    fn on_timer(&mut self, waiting: &Store, now: Time) {
        if now < self.update_at {
            return;
        }
        let bytes = waiting.backlog().bytes;
        let delay = match self.estimate {
            DelayEstimate::Rate => self.rate.ticks_for(bytes),
            DelayEstimate::Sojourn => waiting.head().map_or(0, |arrived| ticks(now) - ticks(arrived)),
        };
        self.pi.update(delay, bytes > 0);
        self.update_at = now.saturating_add(self.tupdate);
    }

    /// Probability of a scalable mark.
    fn probability(&self) -> Option<f64> {
        Some(f64::from(self.pi.probability()) / f64::from(u32::MAX))
    }

    fn retune(&mut self, newer: &Self) -> bool {
        let mut pi = newer.pi;
        pi.learn_from(&self.pi);
        *self = Self { pi, rate: self.rate, update_at: self.update_at, ..newer.clone() };
        true
    }
}
