//! Conformance scripts: packets and system calls in the syntax of packetdrill, played against the kernel in virtual time or
//! against our models of TCP.
//!
//! A script says what an application does, which packets arrive, and which must leave when. [`parse`] reads one. For the
//! kernel, [`kernel::translate`] gives a program that the guest plays and [`kernel::read`] reads what it saw; for the models
//! [`model::play`] does both. [`judge_kernel`] and [`judge_model`] compare with what the script wants.
#![warn(missing_docs)]

mod assertion;
mod connections;
mod error;
mod judge;
pub mod kernel;
pub mod model;
pub mod report;
mod shell;
mod show;
pub mod syntax;
mod transcript;

pub use assertion::{Block, Scope, Verdict};
pub use error::{Fault, ScriptError};
pub use judge::Failure;
pub use shell::{Command, Qdisc};
pub use syntax::{ast, parse};
pub use transcript::Transcript;

use transcript::Sight;

/// Compares what the kernel did with the script; none: everything was as the script wants it.
pub fn judge_kernel(script: &ast::Script, transcript: &Transcript) -> Option<Failure> {
    judge::judge(script, transcript, Sight { whole: true })
}

/// Compares what a model did with the script, as far as models say anything: not about PSH, windows, urgent data and
/// options other than SACK.
pub fn judge_model(script: &ast::Script, transcript: &Transcript) -> Option<Failure> {
    judge::judge(script, transcript, Sight { whole: false })
}
