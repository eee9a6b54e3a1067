//! CoDel: controlled delay.
//!
//! On departure a packet is late if it has waited longer than `target` although more than a packet waits
//! behind it. Once packets have been late for an `interval`, one is marked or dropped, and the n-th gap to
//! the next is interval / sqrt(n) until a packet is in time. Follows RFC 8289
//! (<https://www.rfc-editor.org/rfc/rfc8289>) as `include/net/codel_impl.h`
//! (<https://elixir.bootlin.com/linux/v7.3/source/include/net/codel_impl.h>) and
//! [`net/sched/sch_codel.c`](https://elixir.bootlin.com/linux/v7.3/source/net/sched/sch_codel.c) have it;
//! where it departs is listed in [`CodelConfig::DOC`]. Draws no random numbers.

mod clock;
mod config;
mod control;
mod doc;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use config::{CeThresholdFor, CodelConfig, CodelParameters};
pub(crate) use control::{Control, Parameters};
pub(in crate::laws) use doc::{EMPTY_QUEUE, SECOND_GAP};

use crate::shell::{Decision, Law, Transmitter, Waiting};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// The control law, and when the kernel would have asked an empty queue.
#[derive(Clone, Debug)]
pub struct Codel {
    line: Transmitter,
    parameters: Parameters,
    control: Control,
}

impl Codel {
    fn new(config: &CodelConfig, line_rate: Rate) -> Self {
        Self {
            line: Transmitter::new(line_rate),
            parameters: Parameters::new(&config.law),
            control: Control::new(),
        }
    }
}

impl Law for Codel {
    const LIMIT_FIRST: bool = false;

    #[inline]
    fn on_arrival(&mut self, _: &Packet, waiting: &Waiting, now: Time, _: &mut Stream) -> Decision {
        // The kernel asked again when the line was free, and found nothing.
        if self.line.idle_since(Time::ZERO, waiting.backlog(), now).is_some() {
            self.control.on_empty();
        }
        Decision::Pass
    }

    #[inline]
    fn on_departure(&mut self, packet: &Packet, waiting: &Waiting, now: Time, _: &mut Stream) -> Decision {
        let decision = self.control.on_packet(&self.parameters, packet, waiting.backlog().bytes, now);
        if !matches!(decision, Decision::Drop(_)) {
            self.line.on_departure(packet.size, now);
        }
        decision
    }

    #[inline]
    fn on_empty(&mut self, now: Time) {
        self.control.on_empty();
        self.line.on_empty(now);
    }

    fn retune(&mut self, newer: &Self) -> bool {
        self.parameters = newer.parameters;
        true
    }
}
