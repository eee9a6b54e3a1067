//! CPU time of the calling thread.

use rustix::time::{ClockId, clock_gettime};

/// Seconds the calling thread has spent on a processor (`CLOCK_THREAD_CPUTIME_ID`), to the nanosecond.
pub fn thread_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}
