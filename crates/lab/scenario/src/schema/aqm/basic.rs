//! Laws without an average.

use shoal_aqm::DecideAt;

use crate::field::{choices, section};
use crate::quantity::Amount;

section! {
    /// First in, first out, tail drop: no parameters, the link's buffer is the limit.
    Fifo {}
}

section! {
    /// Step marking.
    Step {
        /// K: ECT packets that find more than this, themselves included, are marked.
        threshold: Amount,
        /// When the queue is compared with the threshold.
        decide: DecideAt = "enqueue",
        /// Packets that are not ECT are dropped above this.
        drop_threshold: Amount = "unlimited",
    }
}

choices!(DecideAt { "enqueue" => Self::Enqueue, "dequeue" => Self::Dequeue, });
