//! The rate mode: where the window is a few packets, or less than one, the state is a rate.
//!
//! The law is the same: each virtual round trip adds one packet (or 1500 B) per virtual round trip to the rate, less
//! what was marked, and a cut takes alpha / 2 of it. `cwnd` is as large as the rate needs.

use super::clock::virtual_rtt;
use super::level::{Level, ONE, RATE_BITS, lowest_rate};
use super::steps::{Growth, REFERENCE_BYTES, step_down};
use crate::{IncreaseUnit, PragueConfig, Window};
use shoal_units::Span;
use shoal_units::cast::fit_u16;

/// Largest rate: 2^62 / 2^10 B/s.
const MOST: u128 = 1 << 62;
/// What the halves of a virtual round trip differ from the rate by: 4/128.
const SWING: (i64, i64) = (4, 128);
const PICOS: u128 = 1_000_000_000_000;

impl Level {
    /// Size of the packets in use with their headers, in bytes, of which `mtu` is the largest.
    #[inline]
    pub(super) fn packet_or(&self, mtu: u32) -> u32 {
        if self.packet == 0 { mtu } else { u32::from(self.packet).min(mtu) }
    }

    /// Adds what `growth` is worth to the rate.
    pub(super) fn increase_rate(&mut self, config: &PragueConfig, growth: &Growth) {
        let packet = self.packet_or(growth.mtu);
        let unit = match config.increase_unit {
            IncreaseUnit::Packet => packet,
            IncreaseUnit::Bytes1500 => REFERENCE_BYTES,
        };
        let round = u128::from(growth.round.as_picos()).max(1);
        // (unit / round) (packet / round) / rate, each in B/s, for a packet.
        let per_round = u128::from(unit) * PICOS / round;
        let packets = (u128::from(packet) * PICOS / round * u128::from(growth.packets)) >> 20;
        let rate = u128::from(self.value.unsigned_abs()).max(1);
        let added = ((per_round * packets) << (2 * RATE_BITS)) / rate;
        let sum = (u128::from(self.value.unsigned_abs()) + added).min(MOST);
        self.value = i64::try_from(sum).unwrap_or(i64::MAX);
    }

    /// Goes over to the rate mode, or back, as the window demands, and in it lets `cwnd` follow the rate by at most one
    /// packet.
    pub(super) fn choose_mode(
        &mut self,
        config: &PragueConfig,
        window: &mut Window,
        (srtt, mtu): (Span, u32),
    ) {
        let limit = u64::from(config.rate_mode_packets) * u64::from(REFERENCE_BYTES);
        if self.is_rate {
            let bytes = self.bytes_in(srtt);
            if bytes > limit {
                let packets = i64::try_from((bytes << 20) / u64::from(mtu.max(1))).unwrap_or(i64::MAX);
                let cwnd = i64::from(window.cwnd / window.quantum) * ONE;
                (self.is_rate, self.packet, self.value) = (false, 0, packets - cwnd);
                return;
            }
            self.step_to_rate(config, window, (srtt, mtu));
        } else if u64::from(window.cwnd / window.quantum) * u64::from(mtu) <= limit && !srtt.is_zero() {
            let window = u128::from(self.window(config, window).unsigned_abs());
            let rate = ((window * u128::from(mtu) * PICOS) >> (20 - RATE_BITS)) / u128::from(srtt.as_picos());
            let rate = i64::try_from(rate.min(MOST)).unwrap_or(i64::MAX);
            (self.is_rate, self.value) = (true, rate.max(lowest_rate(config)));
        }
    }

    /// `cwnd` of what the faster half of a round needs, at least the smallest window.
    fn step_to_rate(&self, config: &PragueConfig, window: &mut Window, (srtt, mtu): (Span, u32)) {
        let bytes = self.bytes_in(srtt);
        let faster = bytes + bytes * SWING.0.unsigned_abs() / SWING.1.unsigned_abs();
        let packets = faster.div_ceil(u64::from(self.packet_or(mtu).max(1)));
        let packets = packets.max(u64::from(config.lowest_window));
        let cwnd = u64::from(window.cwnd / window.quantum);
        if cwnd < packets {
            if let Some(cwnd) = window.cwnd.checked_add(window.quantum).filter(|cwnd| *cwnd <= window.clamp) {
                window.cwnd = cwnd;
            }
        } else if cwnd > packets {
            step_down(config, window);
        }
    }

    /// Bytes of the rate in `span`.
    fn bytes_in(&self, span: Span) -> u64 {
        let bytes =
            (u128::from(self.value.unsigned_abs()) * u128::from(span.as_picos()) / PICOS) >> RATE_BITS;
        u64::try_from(bytes).unwrap_or(u64::MAX >> 20).min(u64::MAX >> 20)
    }

    /// Chooses the packet size such that two packets fit into a virtual round trip.
    pub(super) fn size_packets(&mut self, config: &PragueConfig, srtt: Span, mtu: u32) {
        if !(config.sizes_packets && self.is_rate) {
            self.packet = 0;
            return;
        }
        let most = u64::from(mtu.min(u32::from(u16::MAX)));
        let least = u64::from(config.smallest_packet).min(most);
        let half = self.bytes_in(virtual_rtt(config, srtt)) / 2;
        self.packet = fit_u16(half.clamp(least, most));
    }

    /// The rate with the swing of this half of the round, in B/s.
    pub(super) fn paced_rate(&self) -> u64 {
        let swing = self.value / SWING.1 * SWING.0;
        let rate = if self.is_first_half { self.value.saturating_add(swing) } else { self.value - swing };
        rate.unsigned_abs() >> RATE_BITS
    }

    /// The rate in B/s, if the state is one.
    #[cfg(test)]
    pub(super) fn rate(&self) -> Option<u64> {
        self.is_rate.then_some(self.value.unsigned_abs() >> RATE_BITS)
    }
}
