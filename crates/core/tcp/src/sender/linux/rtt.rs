//! Round-trip time estimation and the retransmission timeout as Linux has them (`tcp_rtt_estimator`,
//! `tcp_set_rto`): [RFC 6298](https://www.rfc-editor.org/rfc/rfc6298) with the variance bounded below by the
//! stack's floor instead of the timeout itself, and a variance that falls only once a window.

use crate::Profile;
use shoal_units::{JIFFY, Span, whole_jiffies};

/// Smoothed RTT, its variance and the timeout. Spans in picoseconds; zero `srtt` means "no sample yet".
#[derive(Clone, Copy, Debug)]
pub(super) struct RttEstimator {
    srtt_ps: u64,
    /// Mean deviation times four, as Linux keeps it.
    mdev_ps: u64,
    mdev_max_ps: u64,
    rttvar_ps: u64,
    /// `snd_nxt` when the variance last fell.
    window_end: u64,
    min_ps: u64,
    /// Times that the timeout has doubled (Linux `icsk_backoff`).
    backoff: u8,
}

impl RttEstimator {
    pub(super) const fn new() -> Self {
        Self {
            srtt_ps: 0,
            mdev_ps: 0,
            mdev_max_ps: 0,
            rttvar_ps: 0,
            window_end: 0,
            min_ps: u64::MAX,
            backoff: 0,
        }
    }
    pub(super) const fn srtt(&self) -> Span {
        Span::from_picos(self.srtt_ps)
    }
    /// Smallest RTT of the packets that were delivered last; the smoothed RTT while there is none.
    pub(super) const fn min(&self) -> Span {
        Span::from_picos(if self.min_ps == u64::MAX { self.srtt_ps } else { self.min_ps })
    }

    /// Takes a sample, which ends the backoff.
    #[inline]
    pub(super) fn sample(&mut self, rtt: Span, snd_una: u64, snd_nxt: u64, profile: &Profile) {
        let sample = rtt.as_picos().max(1);
        let floor = profile.rto_min.as_picos();
        self.backoff = 0;
        if self.srtt_ps == 0 {
            self.srtt_ps = sample;
            // Makes the first timeout 3 RTT (RFC 6298 2.2: variance R/2, times four).
            self.mdev_ps = 2 * sample;
            self.rttvar_ps = self.mdev_ps.max(floor);
            self.mdev_max_ps = self.rttvar_ps;
            self.window_end = snd_nxt;
            return;
        }
        let error = sample.cast_signed() - self.srtt_ps.cast_signed();
        self.srtt_ps = (self.srtt_ps.cast_signed() + error / 8).max(1).cast_unsigned();
        // Linux: a falling RTT raises the deviation with an eighth of the usual gain, or the timeout would grow when
        // the RTT shrinks.
        let mut change = error.abs() - (self.mdev_ps / 4).cast_signed();
        if error < 0 && change > 0 {
            change /= 8;
        }
        self.mdev_ps = (self.mdev_ps.cast_signed() + change).max(0).cast_unsigned();
        if self.mdev_ps > self.mdev_max_ps {
            self.mdev_max_ps = self.mdev_ps;
            self.rttvar_ps = self.rttvar_ps.max(self.mdev_max_ps);
        }
        if snd_una > self.window_end {
            if self.mdev_max_ps < self.rttvar_ps {
                self.rttvar_ps -= (self.rttvar_ps - self.mdev_max_ps) / 4;
            }
            self.window_end = snd_nxt;
            self.mdev_max_ps = floor;
        }
    }

    /// Takes the RTT of the packet that was delivered last.
    #[inline]
    pub(super) fn note_newest(&mut self, rtt: Span) {
        self.min_ps = self.min_ps.min(rtt.as_picos().max(1));
    }

    /// The timeout without backoff.
    pub(super) fn timeout(&self, profile: &Profile) -> Span {
        if self.srtt_ps == 0 {
            return profile.rto_initial;
        }
        Span::from_picos(self.srtt_ps + self.rttvar_ps).min(profile.rto_max)
    }

    /// The present timeout, doubled by each timeout since the last sample (RFC 6298 section 5.5).
    #[inline]
    pub(super) fn backed_off_timeout(&self, profile: &Profile) -> Span {
        self.timeout(profile).saturating_mul(1 << self.backoff).min(profile.rto_max)
    }
    /// The present timeout as the kernel keeps it (`icsk_rto`), where more than a wait from now on is computed from it.
    pub(super) fn timeout_in_jiffies(&self, profile: &Profile) -> Span {
        JIFFY * whole_jiffies(self.backed_off_timeout(profile))
    }
    /// Backs off after a timeout. `limit` bounds the doublings.
    pub(super) fn back_off(&mut self, limit: u8) {
        self.backoff = (self.backoff + 1).min(limit);
    }
    pub(super) fn backoff(&self) -> u8 {
        self.backoff
    }
    /// Ends the backoff of the handshake, whose timeouts do not count for data.
    pub(super) fn end_backoff(&mut self) {
        self.backoff = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_rtt_gives_rtt_plus_floor() {
        // linux-3.2: floor 200 ms. With a constant 25 ms the deviation decays to 0, so RTO = 25 + 200 ms.
        let mut e = RttEstimator::new();
        let p = Profile::LINUX_3_2;
        assert_eq!(e.timeout(&p), Span::from_secs(1));
        for n in 0..200u64 {
            e.sample(Span::from_millis(25), n * 1000, n * 1000 + 500, &p);
        }
        assert_eq!(e.srtt(), Span::from_millis(25));
        assert_eq!(e.timeout(&p), Span::from_millis(225));
    }

    #[test]
    fn first_sample_makes_three_rtts() {
        // R = 400 ms: SRTT = 400, 4 * RTTVAR = 4 * 200 = 800 > floor: RTO = 1.2 s (RFC 6298 2.2).
        let mut e = RttEstimator::new();
        e.sample(Span::from_millis(400), 0, 1000, &Profile::LINUX_6);
        assert_eq!(e.timeout(&Profile::LINUX_6), Span::from_millis(1200));
    }

    #[test]
    fn timeouts_double_until_a_sample_comes() {
        // 1 s x 2^n, at most 120 s: 2, 4, ... 64, then the bound.
        let mut e = RttEstimator::new();
        let p = Profile::LINUX_6;
        let mut waits = Vec::new();
        for _ in 0..9 {
            e.back_off(8);
            waits.push(e.backed_off_timeout(&p).as_micros() / 1_000_000);
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 120, 120, 120]);
        assert_eq!(e.backoff(), 8);
        e.sample(Span::from_millis(25), 0, 0, &p);
        assert_eq!((e.backoff(), e.backed_off_timeout(&p)), (0, e.timeout(&p)));
    }
}
