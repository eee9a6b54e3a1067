//! What the law controls: a window with a fraction, or at low rates a rate.
//!
//! The window is `cwnd` and what this state holds beside it. `cwnd` follows by at most one packet an ACK
//! (`steps.rs`), so that after a cut the state is negative. In the rate mode it is the rate, from which `cwnd`
//! follows (`rate.rs`).

use crate::{PragueConfig, Window};

/// One packet, or one, with 20 fractional bits.
pub(super) const ONE: i64 = 1 << 20;
/// Fractional bits of a rate in B/s.
pub(super) const RATE_BITS: u32 = 10;

/// The exact window or rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Window mode: the window less `cwnd` in units of 2^-20 packets. Rate mode: the rate in units of 2^-10 B/s.
    pub(super) value: i64,
    /// When the last cut was made, in us.
    pub(super) last_cut: u32,
    /// Size of a packet with its headers, in bytes; zero: as large as the path allows.
    pub(super) packet: u16,
    /// Whether the state is a rate.
    pub(super) is_rate: bool,
    /// Rate mode: whether the first half of the virtual round trip goes on, in which more is sent than the rate.
    pub(super) is_first_half: bool,
}

impl Level {
    pub(super) const NEW: Self =
        Self { value: 0, last_cut: 0, packet: 0, is_rate: false, is_first_half: false };

    /// The window in units of 2^-20 packets, not below the smallest one.
    #[inline]
    pub(super) fn window(&self, config: &PragueConfig, window: &Window) -> i64 {
        let cwnd = i64::from(window.cwnd / window.quantum) * ONE;
        let ahead = if self.is_rate { 0 } else { self.value };
        (cwnd + ahead).max(i64::from(config.lowest_window) * ONE)
    }

    /// Takes the part `fraction` / 2^`bits` of the window, or of the rate.
    pub(super) fn cut(&mut self, config: &PragueConfig, window: &Window, fraction: u32, bits: u8) {
        if self.is_rate {
            let cut = part(self.value, fraction, bits);
            self.value = (self.value - cut).max(lowest_rate(config));
        } else {
            let whole = self.window(config, window);
            let left = (whole - part(whole, fraction, bits)).max(i64::from(config.lowest_window) * ONE);
            self.value = left - i64::from(window.cwnd / window.quantum) * ONE;
        }
    }
}

/// The lowest rate in units of 2^-10 B/s.
#[inline]
pub(super) fn lowest_rate(config: &PragueConfig) -> i64 {
    (i64::from(config.lowest_rate_kbps) * 125) << RATE_BITS
}

/// The part `fraction` / 2^`bits` of `whole`, rounded down. Neither `whole` nor `fraction` is negative, and the
/// fraction is at most one.
fn part(whole: i64, fraction: u32, bits: u8) -> i64 {
    let part = (i128::from(whole) * i128::from(fraction)) >> bits;
    i64::try_from(part).unwrap_or(whole)
}
