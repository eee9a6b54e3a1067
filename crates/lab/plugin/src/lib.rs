#![doc = include_str!("../README.md")]

mod absent;
mod body;
mod controller;
mod description;
#[cfg(feature = "interpreter")]
mod instance;
mod law;
mod program;
mod queue;

pub use absent::absent;
pub use body::{Body, Call, Source};
#[cfg(feature = "interpreter")]
pub use law::{controller, queue};
pub use law::{controller_from, queue_from};
pub use program::on_failure;
