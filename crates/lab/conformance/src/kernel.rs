//! Scripts on the real kernel: translation for the guest, and reading of the records that the guest wrote.

mod calls;
mod info;
mod memory;
mod message;
mod program;
mod records;
mod symbols;
mod values;
mod wire;

pub(crate) use info::{is_no_state, symbols as state_symbols};
pub use program::{Program, translate};
pub(crate) use program::{anchored, patience};
pub use records::read;
pub(crate) use symbols::error_name;
#[cfg(test)]
pub(crate) use symbols::{CONSTANTS, ERRORS, SYSTEM_CALLS};
pub(crate) use wire::{LOCAL, REMOTE, encode_option};
