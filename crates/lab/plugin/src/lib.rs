#![doc = include_str!("../README.md")]

mod controller;
mod description;
mod instance;
mod kernel_only;
mod law;
#[cfg(test)]
mod tests;

pub use kernel_only::kernel_only;
pub use law::controller;
