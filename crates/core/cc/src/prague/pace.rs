//! The pacing rate in the window mode, and bursts.

use super::level::{Level, ONE};
use crate::{Burst, Pace, PacedWindow, PragueConfig, Window};
use shoal_units::Span;

/// Picoseconds in a second.
const PICOS: u64 = 1_000_000_000_000;

impl Level {
    /// The pace of a connection with `in_flight` packets out; none before the first RTT sample.
    pub(super) fn pace(
        &self,
        config: &PragueConfig,
        window: &Window,
        (srtt, in_flight, mtu): (Span, u32, u32),
    ) -> Option<Pace> {
        if srtt.is_zero() {
            return None;
        }
        let burst = Burst::Within(Span::from_picos(PICOS >> config.burst_shift.min(63)));
        if self.is_rate {
            return Some(Pace { bytes_per_s: self.paced_rate(), burst });
        }
        let cwnd = i64::from(window.cwnd / window.quantum) * ONE;
        let in_flight = i64::from(in_flight) * ONE;
        let mut packets = match config.paced_window {
            PacedWindow::Cwnd => cwnd.max(in_flight),
            PacedWindow::Fractional => self.window(config, window),
            PacedWindow::Whole => (self.window(config, window) & -ONE).max(in_flight),
        };
        if config.doubles_pace_in_slow_start && window.cwnd < window.ssthresh / 2 {
            packets *= 2;
        }
        let bytes = u128::from(packets.unsigned_abs()) * u128::from(mtu);
        let rate = ((bytes * u128::from(PICOS)) >> 20) / u128::from(srtt.as_picos());
        Some(Pace { bytes_per_s: u64::try_from(rate).unwrap_or(u64::MAX), burst })
    }
}
