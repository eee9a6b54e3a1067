//! Quantities with their units in the type, and seeded random streams.
//!
//! Pure values: no clock, no I/O, no ambient randomness. Time is an integer number of picoseconds so that
//! event order is exact and equal on every machine (40 Gbit/s serialises one byte in 200 ps).
#![no_std]
#![warn(missing_docs)]
#[cfg(test)]
extern crate std;

mod model;
mod probability;
mod random;
mod rate;
mod shares;
mod time;

pub use model::{Difference, ModelDoc, ModelKind};
pub use probability::Probability;
pub use random::Stream;
pub use rate::{Rate, Serialiser};
pub use shares::even_shares;
pub use time::{Span, Time};
