//! Sans-IO TCP endpoints: packets and timers in, packets out. No clock, no sockets, no randomness.
#![warn(missing_docs)]

mod profile;

pub use profile::{EchoChange, EcnSetting, EndpointConfig, Profile, Recovery};
