#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap
    )
)]

extern crate alloc;

mod card;
mod coalesce;
mod config;
mod fq;
mod gro;
mod held;
mod lro;

pub use card::{Card, CardCounters};
pub use config::{Coalescing, CpuCost, Receive};
pub use fq::{Fq, Quanta, Waiting};
