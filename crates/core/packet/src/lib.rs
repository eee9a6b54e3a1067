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

mod accurate;
mod backlog;
mod ecn;
mod packet;
mod ring;
mod seq;
mod vocabulary;

pub use accurate::{ByteCounters, CounterOrder};
pub use backlog::Backlog;
pub use ecn::Ecn;
pub use packet::{Flags, FlowId, Packet, Sack, SackBlocks};
pub use ring::Ring;
pub use seq::Seq;
pub use vocabulary::{CaState, Class, Reason};
