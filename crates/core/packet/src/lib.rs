//! What travels: segments as endpoints and queues see them. Pure values; depends on `units` only.
//!
//! A packet is a plain value of 64 bytes (one cache line), copied, never shared.
#![no_std]
#![warn(missing_docs)]
#[cfg(test)]
extern crate std;

mod ecn;
mod packet;
mod seq;
mod vocabulary;

pub use ecn::Ecn;
pub use packet::{Flags, FlowId, Packet, Sack, SackBlocks};
pub use seq::Seq;
pub use vocabulary::{CaState, Class, Reason};
