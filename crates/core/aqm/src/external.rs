//! Laws of queues from outside of this crate: what a file or a program brings along.
//!
//! As for controllers (`shoal_cc`), a law from outside is known by reference alone and kept for the life of the
//! process, so that configurations stay plain values.

use crate::{Decision, Extent, Store, Waiting};
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::{self, Debug, Formatter};
use shoal_packet::Packet;
use shoal_units::{Parameter, Rate, Stream, Time};

/// A law of queues from outside, with values for its parameters.
pub trait ExternalQueueLaw: Debug + Send + Sync {
    /// One sentence for users.
    fn summary(&self) -> &str;
    /// Its parameters with their values, in the order in which it declares them.
    fn parameters(&self) -> &[(Parameter, f64)];
    /// This law with other values for some parameters.
    ///
    /// # Errors
    /// Why the law has no such parameter, or refuses the value: a sentence without a full stop.
    fn with(&self, values: &[(&str, f64)]) -> Result<ExternalQueueConfig, String>;
    /// The law of a new queue of capacity `limit` at a line of `line_rate`.
    fn start(&self, limit: Extent, line_rate: Rate) -> Box<dyn ExternalQueue>;
}

/// The law of one queue from outside; the functions are those of [`Law`](crate::Law).
#[allow(missing_docs, reason = "the functions of another trait")]
pub trait ExternalQueue: Debug + Send {
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, now: Time, random: &mut Stream) -> Decision;
    fn on_overflow(&mut self, now: Time);
    fn on_departure(
        &mut self,
        packet: &Packet,
        waiting: &Waiting,
        now: Time,
        random: &mut Stream,
    ) -> Decision;
    fn on_empty(&mut self, now: Time);
    fn on_timer(&mut self, waiting: &Store, now: Time);
    fn next_timer(&self) -> Time;
    fn probability(&self) -> Option<f64>;
    fn average_bytes(&self) -> Option<f64>;
    /// Whether the law has failed in this queue.
    fn has_failed(&self) -> bool;
}

/// A law of queues from outside as a configuration.
#[derive(Clone, Copy)]
pub struct ExternalQueueConfig(&'static dyn ExternalQueueLaw);

impl ExternalQueueConfig {
    /// The configuration that stands for `law`.
    pub fn new(law: &'static dyn ExternalQueueLaw) -> Self {
        Self(law)
    }

    /// The law.
    pub const fn law(&self) -> &'static dyn ExternalQueueLaw {
        self.0
    }
}

/// Equal laws with equal values are one law, so that the place decides.
impl PartialEq for ExternalQueueConfig {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::addr_eq(self.0, other.0)
    }
}

impl Eq for ExternalQueueConfig {}

impl Debug for ExternalQueueConfig {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
