#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(
    not(any(test, feature = "testing")),
    deny(
        clippy::unwrap_used,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap
    )
)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod any;
pub mod bbr;
pub mod bbr3;
mod controller;
pub mod cubic;
pub mod dctcp;
mod external;
mod growth;
mod law;
pub mod ledbat;
pub mod prague;
mod presets;
mod rate_based;
pub mod reno;
mod sample;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod window;

pub use bbr::{BBR, Bbr, BbrConfig};
pub use bbr3::{BBR3, Bbr3, Bbr3Config};
pub use controller::{Burst, CongestionControl, EcnUse, Pace, Reduction};
pub use cubic::{CubicArithmetic, CubicConfig, LinuxCubic, Rfc9438Cubic};
pub use dctcp::Dctcp;
pub use dctcp::config::*;
pub use external::{External, ExternalConfig, ExternalController, ExternalLaw};
pub use growth::{AckCounting, GrowthRules, SlowStartTest};
pub use law::{Law, UndoWindow};
pub use ledbat::{Ledbat, LedbatConfig};
pub use prague::Prague;
pub use prague::config::*;
pub use presets::Preset;
pub use rate_based::{Connection, LostPacket, PathModel, PathState, RateBased, RateSample, RecoveryState};
pub use reno::{Reno, RenoConfig};
pub use sample::{AckSample, Signal};
pub use window::{INFINITE_SSTHRESH, Window};

any::controllers! {
    /// Reno ([RFC 5681](https://www.rfc-editor.org/rfc/rfc5681) as Linux implements it).
    Reno(RenoConfig),
    /// CUBIC with its parameters.
    Cubic(CubicConfig),
    /// DCTCP with named policies.
    Dctcp(DctcpConfig),
    /// TCP Prague with named policies.
    Prague(PragueConfig),
    /// BBR version 1.
    Bbr(BbrConfig),
    /// BBR version 3.
    Bbr3(Bbr3Config),
    /// LEDBAT ([RFC 6817](https://www.rfc-editor.org/rfc/rfc6817)).
    Ledbat(LedbatConfig),
}

/// Every controller's presets, in the order in which they are listed.
#[rustfmt::skip]
const LISTS: &[&[Preset]] = &[
    reno::PRESETS,
    cubic::presets::PRESETS,
    dctcp::presets::PRESETS,
    reno::ECN_PRESETS,
    prague::presets::PRESETS,
    bbr::presets::PRESETS,
    bbr3::presets::PRESETS,
    ledbat::presets::PRESETS,
];

/// All presets: what a scenario's `cc = "..."` may say.
pub const PRESETS: &[Preset] = &presets::concatenate::<{ presets::count(LISTS) }>(LISTS);

// There is one controller for each flow, and the state of 40,000 flows has to fit into the caches: at most 2
// KiB a flow in all.
const _: () = assert!(size_of::<AnyController>() <= 112);
