//! Two RED instances on one queue, chosen by ECN capability: the one for ECT packets marks, the other one drops.
//!
//! Each class has its own average, slope and count of packets since the last hit, as [`Red`](crate::Red) has; the queue
//! that they average is the same. With weight 1 and min = max the instance for ECT packets is a step. Follows
//! Kuehlewind et al. 2014 section III-C; where it departs is listed in [`DualRedConfig::DOC`].

mod config;
mod doc;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

pub use config::{AverageScope, DualRedConfig};

use super::red::Instance;
use crate::Class;
use crate::shell::{Decision, Law, Transmitter, Waiting};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// Two RED instances.
#[derive(Clone, Debug)]
pub struct DualRed {
    line: Transmitter,
    not_ect: Instance,
    ect: Instance,
    average: AverageScope,
}

impl DualRed {
    fn new(config: &DualRedConfig, line_rate: Rate) -> Self {
        let instance = |parameters| Instance::new(parameters, config.rate, config.mean_packet_bytes);
        Self {
            line: Transmitter::new(line_rate),
            not_ect: instance(config.not_ect),
            ect: instance(config.ect),
            average: config.average,
        }
    }

    /// The averaged queue in bytes as one class's instance sees it.
    pub fn class_average_bytes(&self, class: Class) -> f64 {
        match class {
            Class::Ect => self.ect.average_bytes(),
            Class::NotEct => self.not_ect.average_bytes(),
        }
    }
}

impl Law for DualRed {
    const LIMIT_FIRST: bool = false;

    fn decides_on_arrival(&self) -> bool {
        true
    }

    #[inline]
    fn line(&mut self) -> Option<&mut Transmitter> {
        Some(&mut self.line)
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, now: Time, random: &mut Stream) -> Decision {
        let backlog = waiting.backlog();
        let (own, other) = match Class::of(packet) {
            Class::Ect => (&mut self.ect, &mut self.not_ect),
            Class::NotEct => (&mut self.not_ect, &mut self.ect),
        };
        own.on_arrival(backlog, &self.line, now);
        if self.average == AverageScope::Shared {
            other.on_arrival(backlog, &self.line, now);
        }
        match own.decide(waiting.backlog_with(packet), random) {
            None => Decision::Pass,
            Some(reason) => Decision::signal(packet, reason),
        }
    }

    /// The average of the instance for packets that are not ECT; the other one is usually the instantaneous queue.
    fn average_bytes(&self) -> Option<f64> {
        Some(self.not_ect.average_bytes())
    }
}
