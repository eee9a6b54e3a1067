#![doc = include_str!("../README.md")]
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
