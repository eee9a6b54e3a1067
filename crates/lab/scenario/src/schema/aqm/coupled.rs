//! Coupled marking and dropping.

use shoal_aqm::{CouplingInput, DecideAt};

use crate::field::{choices, section};
use crate::quantity::{Amount, Duration};

section! {
    /// One queue with coupled probabilities. Either saturation, or the slides' integers: reno_slope.
    Coupled {
        /// Queue at which every ECT packet is marked; the probability p rises linearly up to there. Its unit says what is
        /// measured: a time, or a size.
        saturation: Option<Amount>,
        /// k: packets that are not ECT are dropped with (p/k)^2. With saturation. Default: 1.63.
        coupling: Option<f64>,
        /// S_r, 0 to 31: such packets are dropped if the queue in slope_units, shifted left by this, is above two random numbers
        /// of 32 bits.
        reno_slope: Option<u16>,
        /// S_d, 0 to 31: ECT packets are marked if the queue, shifted left by this, is above one. With reno_slope. Default: one more
        /// than reno_slope (k = 2).
        dctcp_slope: Option<u16>,
        /// What the queue is counted in, with reno_slope. Default: 1 ns.
        slope_unit: Option<Amount>,
        /// When the queue is measured: on arrival, or on departure, when a time is the packet's own wait.
        decide: DecideAt = "enqueue",
    }
}

section! {
    /// Two queues with coupled probabilities. Either saturation, or the slides' integers: reno_slope.
    DualCoupled {
        /// Classic queue at which every ECT packet is marked; the probability p rises linearly up to there. Its unit says what is
        /// measured: a time, or a size.
        saturation: Option<Amount>,
        /// k: packets that are not ECT are dropped with (p/k)^2. With saturation. Default: 8.
        coupling: Option<f64>,
        /// S_r, 0 to 31: such packets are dropped if the classic queue in slope_units, shifted left by this, is above two random
        /// numbers of 32 bits.
        reno_slope: Option<u16>,
        /// S_d, 0 to 31: ECT packets are marked if the classic queue, shifted left by this, is above one. With reno_slope. Default:
        /// three more than reno_slope (k = 8).
        dctcp_slope: Option<u16>,
        /// What the queue is counted in, with reno_slope. Default: 1 ns.
        slope_unit: Option<Amount>,
        /// T: ECT packets that find more than this in their own queue, themselves included, are marked.
        threshold: Amount = "5 packets",
        /// Which queue drives the probabilities: the classic one, or both (sizes added, the longer of the times).
        input: CouplingInput = "classic",
        /// When decisions are taken; on departure a time is the packet's own wait.
        decide: DecideAt = "dequeue",
        /// Which queue sends when both have packets: ECT first (priority), by shares of the bytes (weighted), or the longer wait
        /// with a head start for ECT (time-shifted).
        scheduler: SchedulerName = "priority",
        /// Share of the classic queue in percent, with scheduler = "weighted". Default: 10.
        classic_percent: Option<u16>,
        /// Head start of ECT packets, with scheduler = "time-shifted". Default: 40 ms.
        shift: Option<Duration>,
    }
}

/// Schedulers of dual queues by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchedulerName {
    /// Strict priority of the low-latency queue.
    Priority,
    /// Weighted round robin.
    Weighted,
    /// Time-shifted FIFO.
    TimeShifted,
}

choices!(CouplingInput { "classic" => Self::Classic, "total" => Self::Total, });
choices!(SchedulerName {
    "priority" => Self::Priority,
    "weighted" => Self::Weighted,
    "time-shifted" => Self::TimeShifted,
});
