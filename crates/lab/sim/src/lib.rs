#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap
    )
)]

mod app;
mod barrier;
mod card_queue;
mod cards;
mod datagrams;
mod docs;
mod engine;
mod events;
mod exchanges;
mod files;
mod flow;
mod host_queues;
mod hosts;
mod impaired;
mod network;
mod outcome;
mod pages;
mod parts;
mod planned;
mod pool;
mod pool_docs;
mod port;
mod queued_routes;
mod recorder;
mod slots;
mod unmodelled;

pub use docs::DOCS;
pub use engine::{Live, Options, OtherPlan, Progress, run};
pub use files::{FileSink, Files};
pub use hosts::check;
pub use outcome::{Conservation, Outcome};
pub use parts::Division;
pub use pool_docs::MEMORY_DOCS;
pub use recorder::PacketSink;
