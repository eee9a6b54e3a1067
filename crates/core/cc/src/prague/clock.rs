//! Time in microseconds of 32 bits, as the kernel counts it, and virtual round trips.

use crate::{PragueConfig, RttIndependence};
use shoal_units::cast::low_u32;
use shoal_units::{Span, Time};

/// The low bits of the time in us. They wrap around after 71 minutes.
#[inline]
pub(super) fn micros(now: Time) -> u32 {
    low_u32(now.as_micros())
}

/// Least time between two events of the law, in us.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target(pub(super) u32);

impl Target {
    /// Whether it has passed at `now` since `then`, both in us.
    #[inline]
    pub(super) fn has_passed(self, then: u32, now: u32) -> bool {
        now.wrapping_sub(then) >= self.0
    }
}

/// The virtual round trip: max(RTT, target), or the RTT where rates depend on it.
#[inline]
pub(super) fn virtual_rtt(config: &PragueConfig, srtt: Span) -> Span {
    match config.rtt_independence {
        RttIndependence::Off => srtt,
        RttIndependence::Floor => srtt.max(Span::from_micros(u64::from(config.rtt_target_us))),
    }
}
