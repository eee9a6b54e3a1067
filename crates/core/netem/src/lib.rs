#![doc = include_str!("../README.md")]
#![no_std]
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
#[cfg(test)]
extern crate std;

mod chance;
mod distribution;
mod docs;
mod impairments;
mod loss;
mod netem;
mod random;
mod slot;

pub use chance::Chance;
pub use distribution::Distribution;
pub use docs::DOCS;
pub use impairments::{Impairments, Jitter, Reorder};
pub use loss::{Loss, LossState};
pub use netem::{Counts, Netem};
pub use random::{Correlated, Prandom};
pub use slot::Slot;
