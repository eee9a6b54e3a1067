//! Sans-IO TCP endpoints: packets and timers in, packets out. No clock, no sockets, no randomness.
//!
//! A connection carries data one way, from a [`Sender`] (the client) to a [`Receiver`]. Both are plain state machines:
//! the caller passes the time, delivers packets, and calls `on_timer` when `deadline` has come. The shared
//! [`EndpointConfig`] is an argument of every call, so that ten thousand flows hold one copy of it.
#![warn(missing_docs)]

mod docs;
mod output;
mod profile;
mod receiver;
mod sender;

pub use docs::DOCS;
pub use output::Output;
pub use profile::{EchoChange, EcnSetting, EndpointConfig, LossDetection, Profile, Recovery};
pub use receiver::Receiver;
pub use sender::{CaState, Counters, Sender};
