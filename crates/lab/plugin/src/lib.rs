#![doc = include_str!("../README.md")]

mod body;
mod controller;
mod description;
mod instance;
mod kernel_only;
mod law;
mod program;
mod queue;

pub use body::{Body, Call, Source};
pub use kernel_only::kernel_only;
pub use law::{controller, queue};
