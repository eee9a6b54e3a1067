//! The one description of an experiment. A scenario runs no code and reads no file.
#![warn(missing_docs)]

mod experiment;

pub use experiment::*;
