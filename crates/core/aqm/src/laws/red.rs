//! Random Early Detection as published, in floating point.
//!
//! An average follows the queue that each arrival finds, avg <- (1 - w) avg + w q, and ages while the line is idle.
//! Between min and max a packet is hit with p = max_p (avg - min) / (max - min), above max always; hits are spread by
//! counting or by independent coins. Follows Floyd and Jacobson, Random Early Detection Gateways for Congestion
//! Avoidance, 1993 (<https://doi.org/10.1109/90.251892>); where it departs is listed in [`RedConfig::DOC`].

mod average;
mod config;
mod doc;
mod instance;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use config::{MarkSpacing, RedConfig, RedParameters};
pub(crate) use instance::Instance;

use crate::shell::{Decision, Law, Transmitter, Waiting};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// One RED instance for all packets.
#[derive(Clone, Debug)]
pub struct Red {
    line: Transmitter,
    instance: Instance,
    ecn: bool,
}

impl Red {
    fn new(config: &RedConfig, line_rate: Rate) -> Self {
        Self {
            line: Transmitter::new(line_rate),
            instance: Instance::new(config.parameters, config.rate, config.mean_packet_bytes),
            ecn: config.ecn,
        }
    }
}

impl Law for Red {
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
        self.instance.on_arrival(waiting.backlog(), &self.line, now);
        match self.instance.decide(waiting.backlog_with(packet), random) {
            None => Decision::Pass,
            Some(reason) if self.ecn => Decision::signal(packet, reason),
            Some(reason) => Decision::Drop(reason),
        }
    }

    fn average_bytes(&self) -> Option<f64> {
        Some(self.instance.average_bytes())
    }
}
