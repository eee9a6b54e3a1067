//! The congestion window: the state that the endpoint's skeleton and the controller share.

/// Value of `ssthresh` before the first reduction (Linux `TCP_INFINITE_SSTHRESH`).
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Congestion window in units of `quantum`: packets where `quantum` is 1 (Linux), bytes where it is the MSS (BSD).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Congestion window (Linux `snd_cwnd`).
    pub cwnd: u32,
    /// Slow-start threshold (Linux `snd_ssthresh`).
    pub ssthresh: u32,
    /// Progress towards the next linear increase: in ACKs or packets (Linux `snd_cwnd_cnt`), in bytes (BSD
    /// `t_bytes_acked`).
    pub cwnd_cnt: u32,
    /// Upper bound of `cwnd`.
    pub clamp: u32,
    /// Window units in one packet.
    pub quantum: u32,
}

impl Window {
    /// A window of `initial` packets, counted in packets, without a slow-start threshold.
    pub const fn in_packets(initial: u32) -> Self {
        Self { cwnd: initial, ssthresh: INFINITE_SSTHRESH, cwnd_cnt: 0, clamp: u32::MAX, quantum: 1 }
    }
    /// A window of `initial` packets of `mss` bytes, counted in bytes, without a slow-start threshold.
    pub const fn in_bytes(initial: u32, mss: u32) -> Self {
        Self { cwnd: initial.saturating_mul(mss), quantum: mss, ..Self::in_packets(initial) }
    }
    /// The window in packets, for output.
    pub fn cwnd_packets(&self) -> f64 {
        f64::from(self.cwnd) / f64::from(self.quantum)
    }
}
