//! Laws without an average.

use shoal_aqm::DecideAt;

use crate::field::{choices, section};
use crate::quantity::{Amount, Duration};

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

section! {
    /// Marks and drops with given probabilities, whatever waits.
    OpenLoop {
        /// Probability that an ECT packet is marked on arrival, 0 to 1.
        mark: f64 = 0.0,
        /// Probability that a packet that is not ECT is dropped on arrival, 0 to 1.
        drop: f64 = 0.0,
        /// An independent coin for each packet, even gaps, or bursts: everything for a while, then nothing.
        spacing: SpacingName = "independent",
        /// How long everything is hit, with spacing = "bursts". The period is on / probability.
        on: Option<Duration>,
    }
}

/// How forced marks and drops are spread, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpacingName {
    /// A coin for each packet.
    Independent,
    /// Even gaps.
    Even,
    /// Everything for a while.
    Bursts,
}

choices!(SpacingName { "independent" => Self::Independent, "even" => Self::Even, "bursts" => Self::Bursts, });
choices!(DecideAt { "enqueue" => Self::Enqueue, "dequeue" => Self::Dequeue, });
