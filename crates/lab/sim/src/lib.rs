//! The packet simulator: an event engine, links, hosts and applications around the pure laws of `core`.
//!
//! Deterministic: integer time, one total order of events by (time, order of insertion), one random stream a consumer.
//! Costs follow packets, not flows or links that are idle: a link has at most one pending event, timers are re-armed
//! lazily, nothing is allocated per packet once the rings have grown.
#![warn(missing_docs)]

mod app;
mod barrier;
mod cwnd;
mod datagrams;
mod docs;
mod engine;
mod events;
mod exchanges;
mod flow;
mod hosts;
mod network;
mod outcome;
mod pool;
mod pool_docs;
mod port;
mod recorder;

pub use docs::DOCS;
pub use engine::{Options, Progress, run};
pub use hosts::check;
pub use outcome::Outcome;
pub use pool_docs::MEMORY_DOCS;
pub use recorder::PacketSink;
