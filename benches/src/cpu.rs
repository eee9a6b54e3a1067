//! CPU time of the calling thread.

/// Seconds the calling thread has spent on a processor (Linux `/proc/thread-self/schedstat`, first field, in ns).
pub fn thread_seconds() -> Result<f64, String> {
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let nanoseconds: u64 = text
        .split_whitespace()
        .next()
        .and_then(|field| field.parse().ok())
        .ok_or(format!("{path}: no number"))?;
    Ok(nanoseconds as f64 / 1e9)
}
