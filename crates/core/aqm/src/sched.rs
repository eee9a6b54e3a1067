//! Schedulers: which of several queues sends next. Parts of queues, not queues themselves.

mod credit;
mod drr;
mod dwrr;
mod memory;
mod time_shift;
mod token_bucket;

use shoal_units::{Span, Time};

pub(crate) use credit::CreditRoundRobin;
pub(crate) use drr::Drr;
pub(crate) use dwrr::Dwrr;
pub use memory::MemoryShare;
pub(crate) use time_shift::TimeShiftedFifo;
pub use token_bucket::ShaperConfig;
pub(crate) use token_bucket::TokenBucket;

/// Which queue sends when both are backlogged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchedulerConfig {
    /// Always the low-latency one.
    StrictPriority,
    /// Shares of the bytes, by credit.
    Weighted {
        /// Share of the classic queue in percent, 0..=100.
        classic_percent: u8,
    },
    /// The longer wait, after this is added to that of the low-latency queue.
    TimeShifted {
        /// Head start of the low-latency queue.
        shift: Span,
    },
}

/// One of the two queues of a dual queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lane {
    /// L: low latency.
    Low,
    /// C: classic.
    Classic,
}

/// When the heads of both queues arrived; `None` if nothing waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads {
    pub low: Option<Time>,
    pub classic: Option<Time>,
}

/// The scheduler of a dual queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scheduler {
    /// The low-latency queue first, whatever waits in the other one (De Schepper 2015, "Strict priority scheduler").
    Strict,
    Credit(CreditRoundRobin),
    TimeShift(TimeShiftedFifo),
}

impl Scheduler {
    /// `mtu` is the link's, in bytes.
    pub(crate) fn new(config: SchedulerConfig, mtu: u32) -> Self {
        match config {
            SchedulerConfig::StrictPriority => Self::Strict,
            SchedulerConfig::Weighted { classic_percent } => {
                Self::Credit(CreditRoundRobin::new(classic_percent, mtu))
            }
            SchedulerConfig::TimeShifted { shift } => Self::TimeShift(TimeShiftedFifo::new(shift)),
        }
    }

    /// The queue to take from; `None` if nothing waits.
    #[inline]
    pub(crate) fn pick(&self, heads: Heads) -> Option<Lane> {
        match (heads.low, heads.classic) {
            (None, None) => None,
            (Some(_), None) => Some(Lane::Low),
            (None, Some(_)) => Some(Lane::Classic),
            (Some(low), Some(classic)) => Some(match self {
                Self::Strict => Lane::Low,
                Self::Credit(scheduler) => scheduler.pick(),
                Self::TimeShift(scheduler) => scheduler.pick(low, classic),
            }),
        }
    }

    /// A packet of `bytes` from `lane` is sent; `contended`: both queues were backlogged when it was picked.
    #[inline]
    pub(crate) fn on_sent(&mut self, lane: Lane, bytes: u16, contended: bool) {
        if let Self::Credit(scheduler) = self
            && contended
        {
            scheduler.charge(lane, bytes);
        }
    }

    /// The line asked and nothing waited.
    #[inline]
    pub(crate) fn on_idle(&mut self) {
        if let Self::Credit(scheduler) = self {
            scheduler.reset();
        }
    }
}
