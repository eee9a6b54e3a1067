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

mod bottleneck;
mod config;
mod error;
mod impaired;
mod moving_delay;
mod observer;
mod path;
mod port;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod wire;

pub use bottleneck::{Arrival, Bottleneck, Counters, Lost, Next};
pub use config::{LinkConfig, impairment_seed};
pub use error::LinkError;
pub use moving_delay::DelayChange;
pub use observer::Observer;
pub use path::{Datagram, End, Host, Path};
pub use port::{Port, UNMONITORED};
