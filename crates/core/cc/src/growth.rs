//! How a host stack counts ACKs, and the window growth of Reno, on which all controllers here are based.

use crate::{AckSample, Window};

/// What one ACK counts in congestion avoidance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckCounting {
    /// Every ACK counts once, however much it acknowledges; the step comes on ACK `cwnd + 1` (Linux before 4.0).
    PerAck,
    /// Every acknowledged packet counts once (Linux since 4.0).
    PerPacket,
    /// Every acknowledged byte counts, with windows in bytes
    /// ([RFC 3465](https://www.rfc-editor.org/rfc/rfc3465); FreeBSD `cc_ack_received`,
    /// `newreno_ack_received`). The endpoint limits what one ACK may count and stores it in
    /// [`AckSample::acked_bytes`].
    Bytes,
}

/// The test by which the window is in slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlowStartTest {
    /// `cwnd <= ssthresh` (Linux before 4.3).
    BelowOrAt,
    /// `cwnd < ssthresh` (Linux since 4.3, [RFC 5681](https://www.rfc-editor.org/rfc/rfc5681)).
    Below,
}

/// Growth rules of a host stack, set by its profile and used by every controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrowthRules {
    /// What one ACK counts in congestion avoidance.
    pub counting: AckCounting,
    /// The test by which the window is in slow start.
    pub slow_start_test: SlowStartTest,
    /// What one ACK counts in slow start: one packet, or all that it acknowledges (Linux since 3.13).
    pub slow_start_counting: AckCounting,
    /// Whether the host spreads what the window allows (Linux `sk_pacing_status`).
    pub is_paced: bool,
}

impl GrowthRules {
    /// Whether `window` is in slow start under these rules.
    #[inline]
    pub const fn in_slow_start(&self, window: &Window) -> bool {
        match self.slow_start_test {
            SlowStartTest::BelowOrAt => window.cwnd <= window.ssthresh,
            SlowStartTest::Below => window.cwnd < window.ssthresh,
        }
    }

    /// Reno's growth for one ACK: slow start, or else linear growth (Linux `tcp_reno_cong_avoid`).
    pub fn reno(&self, window: &mut Window, ack: &AckSample) {
        if ack.app_limited {
            return;
        }
        let mut acked = self.acked(ack);
        if self.in_slow_start(window) {
            acked = self.slow_start(window, acked);
            if acked == 0 {
                return;
            }
        }
        self.linear(window, window.cwnd, acked);
    }

    /// What `ack` acknowledges, in the unit of these rules: bytes or packets.
    #[inline]
    pub fn acked(&self, ack: &AckSample) -> u32 {
        match self.counting {
            AckCounting::Bytes => u32::try_from(ack.acked_bytes).unwrap_or(u32::MAX),
            AckCounting::PerAck | AckCounting::PerPacket => ack.acked_packets,
        }
    }

    /// Slow start for one ACK of `acked` packets or bytes; returns what is left over for congestion
    /// avoidance.
    ///
    /// - per ACK (Linux 3.2 `tcp_slow_start`, no ABC): `cwnd_cnt += cwnd`, then one step for each full `cwnd` in it,
    ///   so `cwnd + 1` an ACK with the remainder in `cwnd_cnt` kept.
    /// - per packet: `cwnd += acked`, not past the threshold. Kernels with the `<=` test (3.13 to 4.2) stop at
    ///   `ssthresh + 1` and drop the rest; later ones stop at `ssthresh` and hand the rest on.
    /// - bytes (FreeBSD): `cwnd += acked`, past the threshold if it comes to that; the counter of the linear phase is
    ///   cleared.
    pub fn slow_start(&self, window: &mut Window, acked: u32) -> u32 {
        match (self.slow_start_counting, self.slow_start_test) {
            (AckCounting::PerAck, _) => {
                window.cwnd_cnt = window.cwnd_cnt.saturating_add(window.cwnd);
                while window.cwnd_cnt >= window.cwnd {
                    window.cwnd_cnt -= window.cwnd;
                    if window.cwnd < window.clamp {
                        window.cwnd += 1;
                    }
                }
                0
            }
            (AckCounting::PerPacket, SlowStartTest::BelowOrAt) => {
                let grown = window.cwnd.saturating_add(acked);
                let stop = window.ssthresh.saturating_add(1);
                window.cwnd = grown.min(stop).min(window.clamp);
                0
            }
            (AckCounting::PerPacket, SlowStartTest::Below) => {
                let grown = window.cwnd.saturating_add(acked).min(window.ssthresh);
                let left = acked - (grown - window.cwnd);
                window.cwnd = grown.min(window.clamp);
                left
            }
            (AckCounting::Bytes, _) => {
                window.cwnd = window.cwnd.saturating_add(acked).min(window.clamp);
                window.cwnd_cnt = 0;
                0
            }
        }
    }

    /// Linear growth: one packet for every `every` ACKs, packets (Linux `tcp_cong_avoid_ai`) or bytes
    /// (FreeBSD: at most one packet per ACK).
    pub fn linear(&self, window: &mut Window, every: u32, acked: u32) {
        let every = every.max(1);
        match self.counting {
            AckCounting::PerAck => {
                if window.cwnd_cnt >= every {
                    if window.cwnd < window.clamp {
                        window.cwnd += 1;
                    }
                    window.cwnd_cnt = 0;
                } else {
                    window.cwnd_cnt += 1;
                }
            }
            AckCounting::PerPacket => {
                if window.cwnd_cnt >= every {
                    window.cwnd_cnt = 0;
                    window.cwnd = window.cwnd.saturating_add(1);
                }
                window.cwnd_cnt += acked;
                if window.cwnd_cnt >= every {
                    let steps = window.cwnd_cnt / every;
                    window.cwnd_cnt -= steps * every;
                    window.cwnd = window.cwnd.saturating_add(steps);
                }
                window.cwnd = window.cwnd.min(window.clamp);
            }
            AckCounting::Bytes => {
                window.cwnd_cnt = window.cwnd_cnt.saturating_add(acked);
                if window.cwnd_cnt >= every {
                    window.cwnd_cnt -= every;
                    window.cwnd = window.cwnd.saturating_add(window.quantum).min(window.clamp);
                }
            }
        }
    }
}
