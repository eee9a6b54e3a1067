//! Random Early Detection as the Linux kernel runs it, with the parameters of `tc`.
//!
//! The law of [`Red`](crate::Red) in integers: the weight of the average is 2^-Wlog, the idle line ages it by a table
//! of shifts, and hits are spread by a random threshold that a count of packets times the distance from min must reach.
//! Follows `net/sched/sch_red.c` (<https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_red.c>) and
//! `include/net/red.h` (<https://elixir.bootlin.com/linux/v6.12/source/include/net/red.h>); where it departs is listed
//! in [`LinuxRedConfig::DOC`].

mod config;
mod control;
mod doc;
mod tc;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use config::LinuxRedConfig;
pub(crate) use control::Control;
pub use tc::{TcError, TcRed};

use crate::Reason;
use crate::shell::{Decision, Law, Store, Transmitter, Waiting};
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// ARED adapts every HZ/2.
const ADAPT_EVERY: Span = Span::from_millis(500);

/// Adds to the control law what `red_enqueue` does: the idle times of the line, and the treatment of packets
/// that are hit.
#[derive(Clone, Debug)]
pub struct LinuxRed {
    line: Transmitter,
    control: Control,
    /// Time of the last arrival, from which idle time counts.
    updated: Time,
    ecn: bool,
    harddrop: bool,
    nodrop: bool,
    adapt_at: Time,
}

impl LinuxRed {
    fn new(config: &LinuxRedConfig, line_rate: Rate) -> Result<Self, TcError> {
        Ok(Self {
            line: Transmitter::new(line_rate),
            control: Control::new(config)?,
            updated: Time::ZERO,
            ecn: config.ecn,
            harddrop: config.harddrop,
            nodrop: config.nodrop,
            adapt_at: if config.adaptive { Time::ZERO + ADAPT_EVERY } else { Time::NEVER },
        })
    }

    /// Marks or drops a packet that is hit (`red_enqueue`).
    #[inline]
    fn act(&self, reason: Reason, packet: &Packet) -> Decision {
        if !self.ecn || (reason == Reason::Forced && self.harddrop) {
            Decision::Drop(reason)
        } else if packet.ecn.is_capable() {
            Decision::Mark(reason)
        } else if self.nodrop {
            Decision::Pass
        } else {
            Decision::Drop(reason)
        }
    }
}

impl Law for LinuxRed {
    const LIMIT_FIRST: bool = false;

    fn decides_on_arrival(&self) -> bool {
        self.adapt_at == Time::NEVER
    }

    #[inline]
    fn line(&mut self) -> Option<&mut Transmitter> {
        Some(&mut self.line)
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, now: Time, random: &mut Stream) -> Decision {
        let backlog = waiting.backlog();
        self.control.on_arrival(backlog.bytes, self.line.idle_since(self.updated, backlog, now));
        self.updated = now;
        self.control.decide(0, random).map_or(Decision::Pass, |reason| self.act(reason, packet))
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.adapt_at
    }

    fn on_timer(&mut self, waiting: &Store, now: Time) {
        if now >= self.adapt_at {
            self.control.adapt(self.line.idle_since(self.updated, waiting.backlog(), now));
            self.adapt_at = now.saturating_add(ADAPT_EVERY);
        }
    }

    fn average_bytes(&self) -> Option<f64> {
        Some(self.control.average_bytes())
    }
}
