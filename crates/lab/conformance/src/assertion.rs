//! Checks between `%{` and `}%`: assertions on the state of a connection, written in a small subset of
//! Python. They are evaluated here without a Python interpreter.

mod evaluate;
mod parse;

pub(crate) use evaluate::evaluate_integer;
pub use evaluate::{Scope, Verdict};
pub use parse::Block;
