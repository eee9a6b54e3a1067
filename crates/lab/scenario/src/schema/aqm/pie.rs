//! PIE.

use crate::field::section;
use crate::quantity::{Amount, Duration};

section! {
    /// PIE with the parameters of `tc qdisc add ... pie`.
    Pie {
        /// Queueing delay to hold.
        target: Duration = "15 ms",
        /// Time between updates of the probability.
        tupdate: Duration = "15 ms",
        /// Gain on the distance from the target, in sixteenths, 0 to 32.
        alpha: u32 = 2,
        /// Gain on the growth of the delay, in sixteenths, 0 to 32.
        beta: u32 = 20,
        /// Mark ECT packets instead of dropping them while the probability is at most 10 %.
        ecn: bool = false,
        /// Scale the probability with the size of the packet.
        bytemode: bool = false,
        /// Measure the delay as backlog over departure rate instead of by the last packet's wait.
        dq_rate_estimator: bool = false,
        /// Waiting packets that fit. Default: the link's buffer.
        limit: Option<Amount>,
    }
}
