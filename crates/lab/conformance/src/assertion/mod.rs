//! Checks between `%{` and `}%`: assertions about the state of a connection, in a small part of Python. They are evaluated
//! here; no interpreter runs.

mod evaluate;
mod parse;

pub use evaluate::{Scope, Verdict, evaluate_integer};
pub use parse::Block;
