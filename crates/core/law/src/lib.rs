#![doc = include_str!("../README.md")]
#![no_std]

mod calls;
mod guest;
mod word;
mod words;

pub use calls::{CALL_DOCS, Calls};
pub use guest::{Block, Held};
pub use shoal_cc as cc;
pub use word::Carried;
pub use words::{BYTES, MOST_PARAMETERS, NONE, PARAMETERS, WORD_DOCS, WORDS, Word, Words};

/// Version of the interface.
pub const ABI: u32 = 1;
