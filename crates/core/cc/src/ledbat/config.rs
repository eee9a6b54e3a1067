//! The numbers of LEDBAT, and what RFC 6817 (<https://www.rfc-editor.org/rfc/rfc6817>) makes of them.

use super::Ledbat;
use crate::{GrowthRules, Law};

/// Most minutes of the history of base delays.
pub(super) const LONGEST_HISTORY: usize = 10;
/// Most samples of which the current delay is the lowest.
pub(super) const LONGEST_FILTER: usize = 8;

/// Configuration of LEDBAT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LedbatConfig {
    /// Queueing delay that the flow aims at, in us (TARGET): at most 100,000 by RFC 6817 section 2.5.
    pub target_us: u32,
    /// Packets that the window grows in a round trip with no queueing delay, in percent of a packet (GAIN): at most 100
    /// by RFC 6817 section 2.5.
    pub gain_percent: u16,
    /// Packets by which the window may exceed what is in flight (ALLOWED_INCREASE).
    pub allowed_increase: u8,
    /// Smallest window, in packets (MIN_CWND): at least 2, below which a halved window does not fall.
    pub min_cwnd: u8,
    /// Length of the history of base delays, in minutes (BASE_HISTORY): 1 to 10.
    pub base_history_minutes: u8,
    /// Samples of which the lowest is the current delay (CURRENT_FILTER): 1 to 8.
    pub current_filter: u8,
    /// Tick of both hosts' timestamp clocks, in us. Linux has 1,000 (`TCP_TS_HZ` of
    /// [`include/net/tcp.h`](https://elixir.bootlin.com/linux/v6.12/source/include/net/tcp.h)).
    pub clock_us: u32,
}

/// `ledbat`: the values of RFC 6817 section 2.5.
pub(crate) const LEDBAT: LedbatConfig = LedbatConfig {
    target_us: 100_000,
    gain_percent: 100,
    allowed_increase: 1,
    min_cwnd: 2,
    base_history_minutes: 10,
    current_filter: 4,
    clock_us: 1000,
};

/// INIT_CWND in packets (RFC 6817 section 2.5).
const INITIAL_WINDOW_PACKETS: u32 = 2;

impl Law for LedbatConfig {
    type Controller = Ledbat;

    fn start(self, rules: GrowthRules) -> Ledbat {
        Ledbat::new(self, rules)
    }
    fn initial_window_packets(&self) -> Option<u32> {
        Some(INITIAL_WINDOW_PACKETS)
    }
}
