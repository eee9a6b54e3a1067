//! What a configuration promises, computed without its queue.

use crate::{Backlog, Extent, GRED_QUEUES, GredConfig, GredMode, QueueConfig};
use shoal_packet::{Ecn, Packet};
use shoal_units::Rate;

/// What the model holds a queue to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    /// Waiting packets that fit.
    pub limit: Limit,
    /// Which packets leave in the order in which they came.
    pub order: Order,
    /// ECT packets are dropped only if they do not fit.
    pub keeps_ect: bool,
    /// The average is one of backlogs in bytes.
    pub averages_bytes: bool,
}

/// What fits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// So much, and so many bytes.
    Whole(Extent, u64),
    /// So many bytes of the packets with the same number, or of all packets; the number of a codepoint is in `queue_of`.
    Parts { queue_of: [u8; 4], bytes: [u64; GRED_QUEUES], default: u64, of_all: bool },
}

impl Promise {
    pub(super) fn of(config: &QueueConfig) -> Self {
        let fifo = |limit| Self {
            limit: Limit::Whole(limit, u64::MAX),
            order: Order::All,
            keeps_ect: true,
            averages_bytes: true,
        };
        match config {
            QueueConfig::Fifo(config) => fifo(config.limit),
            QueueConfig::Step(config) => fifo(config.limit),
            QueueConfig::Red(config) => Self { keeps_ect: config.ecn, ..fifo(config.limit) },
            QueueConfig::DualRed(config) => fifo(config.limit),
            QueueConfig::LinuxRed(config) => Self {
                keeps_ect: config.ecn && !config.harddrop,
                ..fifo(Extent::Bytes(config.limit_bytes.into()))
            },
            QueueConfig::OpenLoop(config) => fifo(config.limit),
            QueueConfig::Coupled(config) => fifo(config.limit),
            // Below p = 1 ECT packets that are not scalable are marked, too.
            QueueConfig::Pi2(config) => Self { keeps_ect: config.ecn, ..fifo(config.limit) },
            QueueConfig::DualPi2(config) => Self {
                limit: Limit::Whole(config.limit, config.memory_limit_bytes),
                order: Order::ByMask(config.ecn_mask),
                // ECT packets are dropped if k p' exceeds 1.
                keeps_ect: !config.drop_on_overload,
                averages_bytes: true,
            },
            QueueConfig::DualCoupled(config) => Self { order: Order::ByMask(0b11), ..fifo(config.limit) },
            QueueConfig::Codel(config) => Self { keeps_ect: config.law.ecn, ..fifo(config.limit) },
            QueueConfig::FqCodel(config) => Self {
                limit: Limit::Whole(config.limit, config.memory_limit_bytes),
                order: Order::ByFlow,
                keeps_ect: config.law.ecn,
                averages_bytes: true,
            },
            // Above 10 % ECT packets are dropped, too.
            QueueConfig::Pie(config) => Self { keeps_ect: false, ..fifo(config.limit) },
            QueueConfig::Gred(config) => Self::of_gred(config),
        }
    }

    fn of_gred(config: &GredConfig) -> Self {
        let mut bytes = [0; GRED_QUEUES];
        for (limit, queue) in bytes.iter_mut().zip(&config.queues) {
            *limit = queue.map_or(0, |queue| queue.red.limit_bytes.min(config.limit_bytes).into());
        }
        let queues = || config.queues.iter().flatten().map(|queue| queue.red);
        let wlogs = || queues().map(|red| red.solve().map(|tc| tc.wlog));
        Self {
            limit: Limit::Parts {
                queue_of: config.queue_of,
                // A virtual queue that is not there has no limit of its own.
                bytes: core::array::from_fn(|n| if config.queues[n].is_some() { bytes[n] } else { u64::MAX }),
                default: config.limit_bytes.into(),
                of_all: config.mode() == GredMode::Wred,
            },
            order: Order::All,
            keeps_ect: queues().all(|red| red.ecn && !red.harddrop),
            // WRED keeps one integer that every virtual queue reads with its own weight.
            averages_bytes: wlogs().all(|wlog| Some(wlog) == wlogs().next()),
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
    /// Those of the same flow.
    ByFlow,
}

impl Order {
    /// Packets with the same number leave in the order in which they came.
    pub(super) const fn group(self, packet: &Packet) -> u32 {
        match self {
            Self::All => 0,
            Self::ByMask(mask) => (packet.ecn.bits() & mask != 0) as u32,
            Self::ByFlow => packet.flow.0,
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
