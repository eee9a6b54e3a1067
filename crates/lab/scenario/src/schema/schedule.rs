//! `[bottleneck.schedule]` and `topology.links.schedule`

use crate::field::section;
use crate::quantity::{DataRate, Duration};

section! {
    /// How a link changes during the run.
    LinkSchedule {
        /// Changes in the order of their times.
        changes: Vec<LinkChange>,
        /// Time after which all changes happen again, counted from the start of the run, as often as the run is long.
        #[otherwise = "they happen once"]
        repeat: Option<Duration>,
    }
}

section! {
    /// One change of a link. A packet in transmission keeps the rate with which it began; no packet overtakes another when
    /// the delay falls.
    LinkChange {
        /// When it happens.
        at: Duration,
        /// New rate of the link.
        #[otherwise = "as before"]
        rate: Option<DataRate>,
        /// New propagation delay of the link.
        #[otherwise = "as before"]
        delay: Option<Duration>,
        /// Time for which no transmission begins; packets wait in the queue.
        #[otherwise = "none"]
        outage: Option<Duration>,
        /// Time over which the rate and the delay approach their new values, linearly in steps.
        over: Duration = "0 s",
        /// Length of such a step.
        step: Duration = "10 ms",
    }
}
