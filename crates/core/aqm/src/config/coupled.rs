//! Coupled marking and dropping (De Schepper 2015).

use super::{DecideAt, Extent};
use shoal_units::Span;

/// How the two probabilities follow the instantaneous queue Q: both roots rise linearly from the origin; marks take the
/// root itself, drops its square.
///
/// The dimension of the extents says what Q is: a queueing time or a size. An unlimited extent never acts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CoupledSlope {
    /// Mark with p = Q / `saturation`, at most 1; drop with (Q / `saturation` / `coupling`)^2.
    Linear {
        /// The queue at which every ECT packet is marked.
        saturation: Extent,
        /// k: root of the drop probability = mark probability / k.
        coupling: f64,
    },
    /// The slides' integers: mark if `(Q << mark_bits) > R1`, drop if `(Q << drop_bits) > R1` and `> R2`, with Q counted in
    /// whole `unit`s and R1, R2 uniform over 0..2^32. Shifts do not lose bits: what exceeds 32 of them is certain.
    Shift {
        /// S_r, 0..=31.
        drop_bits: u8,
        /// S_d, 0..=31. The coupling factor is 2^(S_d - S_r).
        mark_bits: u8,
        /// What Q counts.
        unit: Extent,
    },
}

/// One queue: ECT packets are marked, others dropped with the square.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CoupledConfig {
    /// The probabilities.
    pub slope: CoupledSlope,
    /// When Q is measured; it includes the packet it decides about.
    pub decide: DecideAt,
    /// Waiting packets that fit.
    pub limit: Extent,
}

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

/// Which queue is Q, the input of both probabilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CouplingInput {
    /// The classic queue.
    Classic,
    /// Both queues: their size in total, or the longer of their times.
    Total,
}

/// A low-latency queue for ECT packets and a classic one for the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualCoupledConfig {
    /// The probabilities.
    pub slope: CoupledSlope,
    /// Which queue drives them.
    pub input: CouplingInput,
    /// T: a packet that finds more than this in the low-latency queue, itself included, is marked.
    pub threshold: Extent,
    /// When decisions are taken. A time is then the wait so far: on arrival that of the classic queue's oldest packet, on
    /// departure the leaving packet's own.
    pub decide: DecideAt,
    /// The scheduler.
    pub scheduler: SchedulerConfig,
    /// The link's MTU in bytes, for the scheduler.
    pub mtu: u32,
    /// Waiting packets that fit into both queues together.
    pub limit: Extent,
}
