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

pub mod cast;
mod model;
mod opportunities;
mod own_law;
mod probability;
mod random;
mod rate;
mod shares;
mod time;
mod timer_wheel;
mod transmission;

pub use model::{Difference, ModelDoc, ModelKind};
pub use opportunities::{Opportunities, OpportunityLine};
pub use own_law::{LawFailure, Parameter, Unmodelled};
pub use probability::Probability;
pub use random::Stream;
pub use rate::{Rate, Serialiser};
pub use shares::even_shares;
pub use time::{Span, Time};
pub use timer_wheel::{JIFFY, jiffies_between, wheel_expiry, wheel_slot, whole_jiffies};
pub use transmission::{RateChange, Transmission};
