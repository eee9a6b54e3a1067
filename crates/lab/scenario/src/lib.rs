//! The one description of an experiment. A scenario runs no code and reads no file.
//!
//! TOML text (or JSON) becomes a [`Document`]: every key typed, every default filled in, every problem reported with its
//! place. A document resolves to an [`Experiment`]: base units, an explicit graph, one entry a flow.
#![warn(missing_docs)]

mod diagnostic;
mod document;
mod experiment;
mod field;
mod fill;
mod json_schema;
mod overrides;
pub mod quantity;
mod report;
mod resolve;
pub mod schema;
mod tree;

pub use diagnostic::{Diagnostic, Errors, Mark, Severity, Source};
pub use document::Document;
pub use experiment::*;
pub use json_schema::json_schema;
