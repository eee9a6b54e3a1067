//! The window in packets: its increase, and the steps by which `cwnd` follows it.

use super::level::{Level, ONE};
use crate::{IncreaseUnit, PragueConfig, Window, WindowSteps};
use shoal_units::Span;

/// The packet size for which the increase of [`IncreaseUnit::Bytes1500`] is one packet.
pub(super) const REFERENCE_BYTES: u32 = 1500;

/// What determines the increase beside the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Packets acknowledged without CE, in units of 2^-20 packets.
    pub(super) packets: u64,
    /// Smoothed RTT.
    pub(super) srtt: Span,
    /// The virtual round trip, or the RTT as long as the law depends on it.
    pub(super) round: Span,
    /// Size of a full packet with its headers, in bytes.
    pub(super) mtu: u32,
}

impl Level {
    /// Adds `(srtt / round)^2 / cwnd` for each packet, times 1500 B / MTU where the increase is in bytes.
    #[inline]
    pub(super) fn increase(&mut self, config: &PragueConfig, window: &Window, growth: &Growth) {
        // Units of 2^-40 packets an acknowledged packet; a ratio has 24 bits.
        let mut scale = 1u128 << 40;
        if growth.srtt < growth.round {
            let ratio = (u128::from(growth.srtt.as_picos()) << 24) / u128::from(growth.round.as_picos());
            scale = (ratio * ratio) >> 8;
        }
        if config.increase_unit == IncreaseUnit::Bytes1500 && growth.mtu != REFERENCE_BYTES {
            scale = scale * u128::from(REFERENCE_BYTES) / u128::from(growth.mtu.max(1));
        }
        let cwnd = u128::from((window.cwnd / window.quantum).max(1));
        let added = (u128::from(growth.packets) * scale / cwnd + (1 << 39)) >> 40;
        self.value = self.value.saturating_add(i64::try_from(added).unwrap_or(i64::MAX));
    }

    /// Lets `cwnd` follow by at most one packet. A step down ends slow start.
    #[inline]
    pub(super) fn step(&mut self, config: &PragueConfig, window: &mut Window) {
        let up = match config.window_steps {
            WindowSteps::Carry => self.value >= ONE,
            WindowSteps::Ceil => self.value > 0,
        };
        if up {
            match window.cwnd.checked_add(window.quantum) {
                Some(cwnd) if cwnd <= window.clamp => {
                    window.cwnd = cwnd;
                    self.value -= ONE;
                }
                // No further than the largest window.
                _ => self.value = self.value.min(ONE),
            }
        } else if self.value <= -ONE {
            if step_down(config, window) {
                self.value += ONE;
            } else {
                self.value = 0;
            }
        }
    }
}

/// Takes one packet off `cwnd` if that is larger than the smallest one, and ends slow start; returns whether it did.
#[inline]
pub(super) fn step_down(config: &PragueConfig, window: &mut Window) -> bool {
    let lowest = u32::from(config.lowest_window).saturating_mul(window.quantum);
    if window.cwnd < lowest.saturating_add(window.quantum) {
        return false;
    }
    window.cwnd -= window.quantum;
    window.ssthresh = window.cwnd.max(2 * window.quantum);
    true
}
