#![doc = include_str!("../README.md")]

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
mod vocabulary;

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
/// options other than SACK and that of accurate ECN.
pub fn judge_model(script: &ast::Script, transcript: &Transcript) -> Option<Failure> {
    judge::judge(script, transcript, Sight { whole: false })
}
