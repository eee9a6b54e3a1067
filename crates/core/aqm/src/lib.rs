#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(test, feature = "testing")), no_std)]
#![warn(missing_docs)]

extern crate alloc;

mod any;
mod codel;
mod config;
mod coupled;
mod docs;
mod dual;
mod dual_red;
mod dualpi2;
mod fifo;
mod fq_codel;
mod gred;
mod open_loop;
mod pi2;
mod pie;
mod queue;
mod red;
mod sched;
mod step;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod threshold;

pub use any::AnyQueue;
pub use codel::Codel;
pub use config::*;
pub use coupled::{Coupled, DualCoupled};
pub use docs::DOCS;
pub use dual_red::DualRed;
pub use dualpi2::DualPi2;
pub use fifo::Fifo;
pub use fq_codel::FqCodel;
pub use gred::Gred;
pub use open_loop::OpenLoop;
pub use pi2::Pi2;
pub use pie::Pie;
pub use queue::{Backlog, Dequeued, Queue, Verdict};
pub use red::{LinuxRed, Red, TcError, TcRed};
pub use shoal_packet::{Class, Reason};
pub use step::Step;
