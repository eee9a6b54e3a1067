//! Properties that a configuration guarantees, computed without its queue.

use crate::{Backlog, Extent, GRED_QUEUES};
use shoal_packet::{Ecn, FlowId, Packet};
use shoal_units::Rate;
use std::fmt;
use std::sync::Arc;

/// Properties against which the model checks a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise {
    /// Capacity for waiting packets.
    pub limit: Limit,
    /// Packets that leave in the order of their arrival.
    pub order: Order,
    /// Whether ECT packets are dropped only if they do not fit.
    pub keeps_ect: bool,
    /// Whether the average is one of backlogs in bytes.
    pub averages_bytes: bool,
}

/// The promises of the queues of which a law consists: one, or one for each traffic class.
#[derive(Clone)]
pub(crate) struct Promises {
    of_queue: Vec<Promise>,
    queue_of: Arc<dyn Fn(FlowId) -> u8>,
}

impl Promises {
    /// A law with one queue for all flows.
    pub(crate) fn of_one(promise: Promise) -> Self {
        Self::of_classes(vec![promise], Arc::new(|_| 0))
    }

    /// Queues of which `queue_of` names that of each flow.
    pub(crate) fn of_classes(of_queue: Vec<Promise>, queue_of: Arc<dyn Fn(FlowId) -> u8>) -> Self {
        Self { of_queue, queue_of }
    }

    /// The queue of a packet.
    pub(super) fn queue_of(&self, packet: &Packet) -> u8 {
        (self.queue_of)(packet.flow)
    }

    /// What holds for a packet.
    pub(super) fn of(&self, packet: &Packet) -> Promise {
        self.of_queue[usize::from(self.queue_of(packet))]
    }

    /// Whether the average that the law tells is one of backlogs in bytes.
    pub(super) fn averages_bytes(&self) -> bool {
        self.of_queue.iter().all(|promise| promise.averages_bytes)
    }
}

impl fmt::Debug for Promises {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Promises").field(&self.of_queue).finish()
    }
}

/// The capacity of a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// An extent and a number of bytes, both of which are upper bounds.
    Whole(Extent, u64),
    /// A number of bytes for the packets of each virtual queue, or for all packets; `queue_of` maps
    /// codepoints to virtual queues.
    Parts { queue_of: [u8; 4], bytes: [u64; GRED_QUEUES], default: u64, of_all: bool },
}

impl Promise {
    /// The promise of one FIFO that drops ECT packets only if more than `limit` would wait.
    pub(crate) fn of_fifo(limit: Extent) -> Self {
        Self {
            limit: Limit::Whole(limit, u64::MAX),
            order: Order::All,
            keeps_ect: true,
            averages_bytes: true,
        }
    }
}

/// Which packets leave in the order of their arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// All of them.
    All,
    /// The packets with one of these bits in their ECN field on arrival, and the packets with none.
    ByMask(u8),
    /// The packets of the same flow.
    ByFlow,
    /// None: each packet may be sent to one of several queues.
    None,
}

impl Order {
    /// A number that packets share if they leave in the order of their arrival.
    pub(super) const fn group(self, packet: &Packet) -> u32 {
        match self {
            Self::All => 0,
            Self::ByMask(mask) => (packet.ecn.bits() & mask != 0) as u32,
            Self::ByFlow => packet.flow.0,
            Self::None => packet.seq.0,
        }
    }
}

impl Limit {
    /// Whether a packet fits into a backlog of which `of` gives the part whose packets had certain codepoints.
    pub(super) fn admits(
        &self,
        size: u16,
        ecn: Ecn,
        line_rate: Rate,
        of: impl Fn(&dyn Fn(Ecn) -> bool) -> Backlog,
    ) -> bool {
        match *self {
            Self::Whole(extent, most) => {
                let Backlog { packets, bytes } = of(&|_| true);
                let bytes = bytes + u64::from(size);
                bytes <= most
                    && match extent {
                        Extent::Unlimited => true,
                        Extent::Packets(limit) => packets < limit,
                        Extent::Bytes(limit) => bytes <= limit,
                        Extent::Time(limit) => {
                            u128::from(bytes) * 8_000_000_000_000
                                <= u128::from(limit.as_picos()) * u128::from(line_rate.as_bps())
                        }
                    }
            }
            Self::Parts { queue_of, bytes, default, of_all } => {
                let number = |ecn: Ecn| queue_of[usize::from(ecn.bits())];
                let own = number(ecn);
                let limit = bytes.get(usize::from(own)).copied().filter(|&limit| limit < u64::MAX);
                let counts = |other: Ecn| of_all || limit.is_none() || number(other) == own;
                of(&counts).bytes + u64::from(size) <= limit.unwrap_or(default)
            }
        }
    }
}
