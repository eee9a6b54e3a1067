#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(test, feature = "testing")), no_std)]
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

mod accurate;
mod config;
mod docs;
mod endpoint;
mod offload;
mod output;
mod profile;
mod receiver;
mod sender;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod timestamps;

pub use accurate::EcnOption;
pub use config::{EcnSetting, EndpointConfig, ReceiverConfig};
pub use docs::{DOCS, SEGMENTS};
pub use endpoint::Endpoint;
pub use offload::{Offload, Pacing};
pub use output::Output;
pub use profile::{
    BurstLimit, CwrAck, EchoChange, EcnFeedback, FreeBsd, GrowthTurn, Kernel, Linux, LossDetection, Profile,
    Recovery, TailProbe, Tso, Undo, WindowUse,
};
pub use receiver::{Misbehaviour, Receiver};
pub use sender::{CaState, Counters, Outstanding, Report, Sender};

// Ten thousand flows have to fit the cache hierarchy (design: at most 2 KiB a flow in all).
const _: () = assert!(size_of::<Sender>() + size_of::<Receiver>() < 900);
