//! The numbers of LEDBAT, and what [RFC 7928](https://www.rfc-editor.org/rfc/rfc7928) asks of them.

use serde_json::{Value as Json, json};
use shoal_cc::LedbatConfig;

use crate::field::{Field, Section};
use crate::report::Report;
use crate::tree::Node;

/// Numbers of LEDBAT (RFC 6817, <https://www.rfc-editor.org/rfc/rfc6817>). INIT_CWND is `initial_window`.
#[derive(Clone, PartialEq, Debug, Section)]
pub(super) struct LedbatOptions {
    /// Queueing delay that the flow aims at (TARGET), which RFC 6817 limits to 100 ms; 100,000 by default. RFC 7928
    /// asks for 5,000.
    #[key(unit = "us", source = "RFC 6817 section 2.5; RFC 7928 section 5.4")]
    pub target_us: Option<Target>,
    /// Part of a packet by which the window grows in a round trip without queueing delay (GAIN): RFC 6817 limits it to
    /// 100, the default, and RFC 7928 asks for 1000.
    #[key(unit = "percent", source = "RFC 6817 section 2.5; RFC 7928 section 5.4")]
    pub gain_percent: Option<GainPercent>,
    /// Packets by which the window may exceed what is in flight (ALLOWED_INCREASE).
    #[key(unit = "packets", source = "RFC 6817 section 2.5: 1")]
    pub allowed_increase: Option<AllowedIncrease>,
    /// Smallest window (MIN_CWND).
    #[key(unit = "packets", source = "RFC 6817 section 2.5: 2")]
    pub min_cwnd: Option<MinCwnd>,
    /// Minutes of which the lowest delay is that of the empty path (BASE_HISTORY).
    #[key(unit = "minutes", source = "RFC 6817 section 2.5: 10")]
    pub base_history_minutes: Option<BaseHistory>,
    /// Samples of which the lowest is the present delay (CURRENT_FILTER); 1 takes each as it is.
    #[key(
        unit = "samples",
        source = "RFC 6817 section 2.4.2: the filter is open; ns-3 TcpLedbat NoiseFilterLen: 4"
    )]
    pub current_filter: Option<CurrentFilter>,
    /// Tick of the timestamp clocks of both hosts.
    #[key(unit = "us", source = "RFC 7323 section 5.4; Linux TCP_TS_HZ: 1,000")]
    pub clock_us: Option<Clock>,
}
overrides!(LedbatOptions of LedbatConfig {
    target_us, gain_percent, allowed_increase, min_cwnd, base_history_minutes, current_filter, clock_us,
});

bounded!(
    /// A target.
    Target(u32), 1..=100_000, "the target goes from 1 us to 100,000 us (RFC 6817 section 2.5)"
);
bounded!(
    /// A gain.
    GainPercent(u16), 1..=10_000, "the gain goes from 1 % to 10,000 %"
);
bounded!(
    /// A number of packets above what is in flight.
    AllowedIncrease(u8), 1..=255, "1 to 255 packets: with 0 the window would never grow"
);
bounded!(
    /// A window in which acknowledgements keep coming.
    MinCwnd(u8), 2..=255, "the window needs two packets, at most 255 here"
);
bounded!(
    /// Minutes of a history.
    BaseHistory(u8), 1..=10, "1 to 10 minutes are remembered"
);
bounded!(
    /// Samples of a filter.
    CurrentFilter(u8), 1..=8, "1 to 8 samples are remembered"
);
bounded!(
    /// A tick.
    Clock(u32), 1..=1_000_000, "a tick goes from 1 us to 1 s (RFC 7323 section 5.4)"
);
