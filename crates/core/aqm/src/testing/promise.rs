//! What a configuration promises, computed without its queue.

use crate::{Extent, QueueConfig};
use shoal_packet::Ecn;

/// What the model holds a queue to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    /// Waiting packets that fit.
    pub limit: Extent,
    /// Waiting bytes that fit besides.
    pub memory_limit: u64,
    /// Which packets leave in the order in which they came.
    pub order: Order,
    /// ECT packets are dropped only if they do not fit.
    pub keeps_ect: bool,
}

impl Promise {
    pub(super) fn of(config: &QueueConfig) -> Self {
        let fifo = |limit| Self { limit, memory_limit: u64::MAX, order: Order::All, keeps_ect: true };
        match config {
            QueueConfig::Fifo(config) => fifo(config.limit),
            QueueConfig::Step(config) => fifo(config.limit),
            QueueConfig::Red(config) => Self { keeps_ect: config.ecn, ..fifo(config.limit) },
            QueueConfig::DualRed(config) => fifo(config.limit),
            QueueConfig::LinuxRed(config) => Self {
                keeps_ect: config.ecn && !config.harddrop,
                ..fifo(Extent::Bytes(config.limit_bytes.into()))
            },
            QueueConfig::Forced(config) => fifo(config.limit),
            QueueConfig::Coupled(config) => fifo(config.limit),
            QueueConfig::DualPi2(config) => Self {
                limit: config.limit,
                memory_limit: config.memory_limit_bytes,
                order: Order::ByMask(config.ecn_mask),
                // ECT packets are dropped if k p' exceeds 1.
                keeps_ect: !config.drop_on_overload,
            },
            QueueConfig::DualCoupled(config) => Self { order: Order::ByMask(0b11), ..fifo(config.limit) },
        }
    }
}

/// Which packets leave in the order in which they came.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// All of them.
    All,
    /// Those with one of these bits in their ECN field on arrival, and those with none.
    ByMask(u8),
}

impl Order {
    /// Packets with the same number leave in the order in which they came.
    pub(super) const fn group(self, ecn: Ecn) -> u8 {
        match self {
            Self::All => 0,
            Self::ByMask(mask) => (ecn.bits() & mask != 0) as u8,
        }
    }
}
