//! How large a segment may be.

use super::transmission;
use crate::{Offload, Tso};
use shoal_cc::Pace;
use shoal_units::cast::fit_u32;
use shoal_units::{Span, Time};

/// A connection is not paced before it has sent this many packets (Linux `tcp_update_skb_after_send`).
const UNPACED_PACKETS: u64 = 10;

/// What the pacing rate depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowUse {
    pub cwnd: u32,
    pub ssthresh: u32,
    pub packets_out: u32,
    pub srtt: Span,
}

/// Payload bytes per second that the window amounts to (Linux `sk_pacing_rate`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PacingRate(u64);

impl PacingRate {
    /// Before the first RTT sample.
    pub(super) const UNLIMITED: Self = Self(u64::MAX);

    #[cfg(test)]
    pub(super) const fn for_test(bytes_per_s: u64) -> Self {
        Self(bytes_per_s)
    }

    /// The pace of a controller that has its own. Linux counts payload at a rate that such controllers compute from
    /// whole packets.
    pub(super) const fn of(pace: Pace) -> Self {
        Self(pace.bytes_per_s)
    }
    /// Packets that the rate allows in a burst of this length, at least one.
    pub(super) fn packets_in(self, burst: Span, mss: u32) -> u32 {
        let bytes = u128::from(self.0) * u128::from(burst.as_picos()) / 1_000_000_000_000;
        u32::try_from(bytes / u128::from(mss)).unwrap_or(u32::MAX).max(1)
    }

    /// Updates the rate (Linux `tcp_update_pacing_rate`).
    pub(super) fn update(&mut self, offload: &Offload, rule: Tso, mss: u32, window: &WindowUse) {
        // The kernel's SRTT counts eighths of microseconds.
        let srtt_us8 = window.srtt.as_picos() / 125_000;
        if srtt_us8 == 0 {
            return;
        }
        let percent = match rule {
            Tso::Linux32 | Tso::Linux318 => offload.pacing_ss_percent,
            Tso::Linux6 if window.cwnd < window.ssthresh / 2 => offload.pacing_ss_percent,
            Tso::Linux6 => offload.pacing_ca_percent,
        };
        let packets = u64::from(window.cwnd.max(window.packets_out));
        let rate =
            u128::from(mss) * 80_000 * u128::from(percent) * u128::from(packets) / u128::from(srtt_us8);
        self.0 = u64::try_from(rate).unwrap_or(u64::MAX);
    }

    /// Most packets of a segment (Linux `tcp_tso_segs`, in 3.2 and 3.18 `tcp_xmit_size_goal`).
    pub(super) fn packets(self, offload: &Offload, rule: Tso, mss: u32, min_rtt: Span) -> u32 {
        let largest = u64::from(offload.largest_bytes());
        let bytes = match rule {
            Tso::Linux32 => largest,
            // Half of the rate of two windows per RTT, in a millisecond.
            Tso::Linux318 => self.0 / 2000,
            Tso::Linux6 => (self.0 >> 10).saturating_add(extra(offload, largest, min_rtt)),
        };
        let least = if rule == Tso::Linux32 { 1 } else { offload.min_tso_segs };
        fit_u32(bytes.min(largest) / u64::from(mss)).max(least).min(offload.gso_max_segs).max(1)
    }

    /// Most bytes of the connection that wait in its host, by the rate: those of 1/1024 s.
    pub(super) fn queued_bytes(self) -> u64 {
        self.0 >> 10
    }

    /// When the segment after one of `bytes` may leave that was due at `departure` and leaves now (Linux
    /// `tcp_update_skb_after_send`): a late segment may catch up by half of its time.
    pub(super) fn next_departure(self, bytes: u64, departure: Time, now: Time, sent_packets: u64) -> Time {
        if self == Self::UNLIMITED || sent_packets < UNPACED_PACKETS {
            return departure.max(now);
        }
        let span = transmission(bytes, self.0);
        let late = now.since(departure.min(now));
        departure.max(now) + span.saturating_sub(late.min(span / 2))
    }
}

/// Bytes that a short RTT allows beyond the rate (Linux since 5.18 `tcp_tso_autosize`).
fn extra(offload: &Offload, largest: u64, min_rtt: Span) -> u64 {
    match min_rtt.as_micros() >> offload.tso_rtt_log {
        halvings @ 0..32 => largest >> halvings,
        _ => 0,
    }
}

/// Bytes up to which a segment is filled in the write queue (Linux `tcp_xmit_size_goal`).
pub(super) fn goal(offload: &Offload, rule: Tso, most: u32, max_window: u32, mss: u64) -> u64 {
    let half_window = u64::from(max_window / 2).max(mss);
    let device = u64::from(offload.largest_bytes()).min(u64::from(offload.gso_max_segs) * mss);
    let bytes = match rule {
        Tso::Linux318 => u64::from(most) * mss,
        Tso::Linux32 | Tso::Linux6 => device,
    };
    (bytes.min(half_window) / mss).max(1) * mss
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rate of a window that sends `mbit_per_s` of payload in congestion avoidance.
    fn rate(mbit_per_s: u64, percent: u64) -> PacingRate {
        PacingRate(mbit_per_s * 125_000 * percent / 100)
    }

    fn packets(mbit_per_s: u64, rtt_us: u64) -> u32 {
        let rtt = Span::from_micros(rtt_us);
        rate(mbit_per_s, 120).packets(&Offload::LINUX, Tso::Linux6, 1448, rtt)
    }

    #[test]
    fn a_segment_is_a_millisecond_and_more_with_a_short_rtt() {
        // 100 Mbit/s are 15,000,000 B/s at 120 %; >> 10 is 14,648 B: 10 packets of 1448 B without the RTT's part.
        // An RTT of 600 us (one halving of 65215 B: 32,607) adds 22: 47,255 / 1448 = 32.6.
        for (rtt_us, expected) in [(100, 45), (511, 45), (600, 32), (1100, 21), (2100, 12), (20_000, 10)] {
            assert_eq!(packets(100, rtt_us), expected, "{rtt_us} us");
        }
        // 10 Mbit/s: 1464 B, one packet, but never less than two. 1 Gbit/s: 146,484 B, which the device bounds.
        assert_eq!((packets(10, 20_000), packets(1000, 20_000)), (2, 45));
        let old = Offload { tso_rtt_log: 0, ..Offload::LINUX };
        let rtt = Span::from_micros(100);
        assert_eq!(rate(100, 120).packets(&old, Tso::Linux6, 1448, rtt), 10, "as before 5.18");
    }

    #[test]
    fn older_kernels_know_no_rtt() {
        let rtt = Span::from_micros(100);
        // 200 % of 100 Mbit/s are 25 MB/s; a 2000th is 12,500 B: 8 packets.
        assert_eq!(rate(100, 200).packets(&Offload::LINUX, Tso::Linux318, 1448, rtt), 8);
        assert_eq!(rate(1, 200).packets(&Offload::LINUX, Tso::Linux32, 1448, rtt), 45);
    }

    #[test]
    fn the_rate_is_the_window_per_rtt() {
        let mut rate = PacingRate::UNLIMITED;
        let window = WindowUse { cwnd: 100, ssthresh: 100, packets_out: 90, srtt: Span::from_millis(10) };
        rate.update(&Offload::LINUX, Tso::Linux6, 1448, &window);
        // 100 x 1448 B in 10 ms are 14.48 MB/s; x 1.2.
        assert_eq!(rate, PacingRate(17_376_000));
        // Slow start lasts while cwnd is below half of ssthresh.
        rate.update(&Offload::LINUX, Tso::Linux6, 1448, &WindowUse { ssthresh: 202, ..window });
        assert_eq!(rate, PacingRate(28_960_000));
    }

    #[test]
    fn a_late_segment_catches_up_by_half_of_its_time() {
        // 1448 B at 1.448 MB/s take 1 ms.
        let (rate, at) = (PacingRate(1_448_000), |us| Time::ZERO + Span::from_micros(us));
        assert_eq!(rate.next_departure(1448, at(5000), at(5000), 11), at(6000));
        assert_eq!(rate.next_departure(1448, at(5000), at(5300), 11), at(6000));
        assert_eq!(rate.next_departure(1448, at(5000), at(9000), 11), at(9500));
        assert_eq!(rate.next_departure(1448, at(5000), at(5000), 9), at(5000), "the first ten packets");
    }
}
