#![doc = include_str!("../README.md")]

mod controller;
mod description;
mod instance;
mod law;
#[cfg(test)]
mod tests;

pub use law::controller;
