//! Queues and their markers: pure control laws. No clock and no randomness of their own: both are arguments.
//!
//! A queue holds the packets that wait; the packet being transmitted has left it. Marks and drops carry their reason.
#![warn(missing_docs)]

mod config;
mod queue;

pub use config::*;
pub use queue::{Backlog, Class, Dequeued, Queue, Reason, Verdict};
