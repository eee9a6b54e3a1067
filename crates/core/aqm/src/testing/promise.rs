//! What a configuration promises, computed without its queue.

use crate::{Extent, QueueConfig};
use shoal_packet::Ecn;

/// What the model holds a queue to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    /// Waiting packets that fit.
    pub limit: Extent,
    /// Packets with the same number, which depends on the codepoint on arrival, leave in the order in which they came.
    pub order: fn(Ecn) -> u8,
    /// ECT packets are dropped only if they do not fit.
    pub keeps_ect: bool,
}

impl Promise {
    pub(super) fn of(config: &QueueConfig) -> Self {
        let fifo = |limit| Self { limit, order: |_| 0, keeps_ect: true };
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
            QueueConfig::DualCoupled(config) => Self { order: by_capability, ..fifo(config.limit) },
        }
    }
}

fn by_capability(ecn: Ecn) -> u8 {
    u8::from(ecn.is_capable())
}
