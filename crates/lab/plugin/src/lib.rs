#![doc = include_str!("../README.md")]

mod body;
mod controller;
mod description;
#[cfg(feature = "interpreter")]
mod instance;
mod kernel_only;
mod law;
mod program;
mod queue;

pub use body::{Body, Call, Source};
pub use kernel_only::kernel_only;
#[cfg(feature = "interpreter")]
pub use law::{controller, queue};
pub use law::{controller_from, queue_from};
pub use program::on_failure;
