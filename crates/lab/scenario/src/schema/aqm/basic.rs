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
        /// K: an ECT packet is marked if more than this waits, itself included.
        #[source = "RFC 8257 section 3.1; Kuehlewind et al. 2014 section IV-B"]
        threshold: Amount,
        /// When the queue is compared with the threshold; at dequeue a time is the packet's own wait.
        #[source = "RFC 8257 section 3.1 (enqueue); RFC 9332 section 2.5.1 (sojourn time at dequeue)"]
        decide: DecideAt = "enqueue",
        /// A packet that is not ECT is dropped if more than this waits, itself included.
        #[source = "Linux net/sched/sch_red.c (packets that are not ECT are dropped where others are marked)"]
        drop_threshold: Amount = "unlimited",
    }
}

section! {
    /// Marks and drops with given probabilities, whatever waits.
    OpenLoop {
        /// Probability that an ECT packet is marked on arrival.
        #[source = "De Schepper et al. 2015, steady-state rates"]
        #[unit = "0 to 1"]
        mark: f64 = 0.0,
        /// Probability that a packet that is not ECT is dropped on arrival.
        #[source = "De Schepper et al. 2015, steady-state rates"]
        #[unit = "0 to 1"]
        drop: f64 = 0.0,
        /// A coin of its own for each packet; gaps that differ by at most one packet; or bursts: everything for a while, then nothing.
        #[source = "De Schepper et al. 2015 (random and on-off marking); Mathis et al. 1997 section 2 (even gaps)"]
        spacing: SpacingName = "independent",
        /// How long everything is hit, with spacing = "bursts". A period lasts on / probability.
        #[source = "Alizadeh et al. 2010 section 3.3: marks last for one round trip"]
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
