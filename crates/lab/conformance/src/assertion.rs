//! Checks between `%{` and `}%`: assertions on the state of a connection, written in a small subset of
//! Python. They are evaluated here without a Python interpreter.

mod evaluate;
mod parse;

pub use evaluate::{Scope, Verdict, evaluate_integer};
pub use parse::Block;
