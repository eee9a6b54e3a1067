//! What a run has used: CPU time of the calling thread, memory of the process.

use rustix::time::{ClockId, clock_gettime};

/// Seconds the calling thread has spent on a processor (`CLOCK_THREAD_CPUTIME_ID`), to the nanosecond.
pub(crate) fn thread_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// Largest resident memory of the process so far, in KiB; `None` where there is no `/proc`.
pub(crate) fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    value.trim().strip_suffix("kB")?.trim().parse().ok()
}
