#![doc = include_str!("../README.md")]
#![no_std]
#![warn(missing_docs)]
#![cfg_attr(
    not(any(test, feature = "testing")),
    deny(
        clippy::unwrap_used,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap
    )
)]
#[cfg(test)]
extern crate std;

mod any;
mod config;
mod controller;
pub mod cubic;
pub mod dctcp;
mod growth;
mod presets;
pub mod reno;
mod sample;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod window;

pub use any::AnyController;
pub use config::*;
pub use controller::{CongestionControl, EcnUse, Reduction};
pub use cubic::{LinuxCubic, Rfc9438Cubic};
pub use dctcp::Dctcp;
pub use growth::{AckCounting, GrowthRules, SlowStartTest};
pub use presets::{PRESETS, Preset};
pub use reno::Reno;
pub use sample::{AckSample, Signal};
pub use window::{INFINITE_SSTHRESH, Window};
