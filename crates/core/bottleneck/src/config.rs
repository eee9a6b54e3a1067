//! The configuration of a link.

use crate::DelayChange;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_netem::Impairments;
use shoal_units::{Opportunities, Rate, RateChange, Span, Stream};

/// A unidirectional link: a queue, a transmitter, and the way to the other end.
///
/// [`LinkConfig::new`] gives one that never changes; what else there is, is set in its fields.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkConfig {
    /// Name of the link, after which its random streams are named.
    pub name: String,
    /// Rate of the link; `None` for a pure delay without a queue.
    pub rate: Option<Rate>,
    /// Changes of the rate, in the order of their times; a rate of zero is an outage.
    pub rate_changes: Arc<[RateChange]>,
    /// Opportunities to send, which then take the place of the rate and its changes. The queue's law is told the rate.
    pub opportunities: Option<Arc<Opportunities>>,
    /// Propagation delay.
    pub delay: Span,
    /// Changes of the propagation delay, in the order of their times. Packets are delivered in the order in which they
    /// were sent: one that would overtake another arrives together with it.
    pub delay_changes: Arc<[DelayChange]>,
    /// What happens to packets behind the transmitter, beyond the delay; `None` if nothing does.
    pub impairments: Option<Box<Impairments>>,
    /// Bytes that a packet takes on the wire beyond its IP size (Ethernet framing: 38 with preamble and gap).
    pub overhead_bytes: u16,
    /// Queue of the link; ignored if the link is a pure delay.
    pub queue: QueueConfig,
}

impl LinkConfig {
    /// A link of constant rate and delay, named `bottleneck`, without overhead or impairments.
    pub fn new(rate: Rate, delay: Span, queue: QueueConfig) -> Self {
        Self { rate: Some(rate), queue, ..Self::pure_delay(delay) }
    }

    /// A link on which packets need this time, and no queue; named `bottleneck`.
    pub fn pure_delay(delay: Span) -> Self {
        Self {
            name: String::from("bottleneck"),
            rate: None,
            rate_changes: Arc::default(),
            opportunities: None,
            delay,
            delay_changes: Arc::default(),
            impairments: None,
            overhead_bytes: 0,
            queue: QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited }),
        }
    }

    /// The stream from which the law of the queue draws, in an experiment with this seed.
    pub fn stream(&self, seed: u64) -> Stream {
        Stream::new(seed, &format!("link/{}", self.name))
    }

    /// See [`impairment_seed`].
    pub(crate) fn impairment_seed(&self, seed: u64) -> (u64, Stream) {
        impairment_seed(&self.name, seed)
    }
}

/// Seed of the generator behind the impairments of the link of this name, and the stream from which all else that is
/// random about them is drawn, in an experiment with this seed.
pub fn impairment_seed(name: &str, seed: u64) -> (u64, Stream) {
    let mut stream = Stream::new(seed, &format!("impairments/{name}"));
    (stream.uniform_u64(), stream)
}
