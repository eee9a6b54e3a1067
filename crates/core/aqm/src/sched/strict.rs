//! Strict priority.

use super::Lane;

/// The low-latency queue first, whatever waits in the other one (De Schepper 2015, "Strict priority scheduler").
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrictPriority;

impl StrictPriority {
    /// Which of two backlogged queues sends.
    #[inline]
    #[allow(clippy::unused_self, reason = "the form of all schedulers")]
    pub(crate) const fn pick(self) -> Lane {
        Lane::Low
    }
}
