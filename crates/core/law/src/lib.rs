#![doc = include_str!("../README.md")]
#![no_std]

mod calls;
mod controller_words;
mod guest;
mod queue_words;
mod word;
mod words;

pub use calls::{CALL_DOCS, Calls, QUEUE_CALL_DOCS, QueueCalls};
pub use controller_words::{ANSWERS, DOUBLES, WORD_DOCS, Word};
pub use guest::{Block, Held, Start};
pub use queue_words::{DRAWS, QUEUE_ANSWERS, QUEUE_DOUBLES, QUEUE_WORD_DOCS, QueueWord};
pub use shoal_cc as cc;
pub use word::Carried;
pub use words::{BYTES, MOST_PARAMETERS, NONE, PARAMETERS, WORDS, Words};

/// Version of the interface.
pub const ABI: u32 = 1;
