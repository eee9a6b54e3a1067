//! The one description of an experiment. A scenario runs no code and reads no file.
//!
//! TOML text (or JSON) becomes a [`Document`]: every key typed, every default filled in, every problem reported with its
//! place. A document resolves to an [`Experiment`]: base units, an explicit graph, one entry a flow.
//!
//! ```
//! let text = r#"
//!     duration = "10 s"
//!     bottleneck = { rate = "10 Mbit/s", buffer = "2 BDP" }
//!     flows = [{ cc = "reno", rtt = "25 ms", count = 3 }]
//! "#;
//! let document = shoal_scenario::Document::parse(text, "demo.toml")?;
//! assert_eq!(document.resolve(Some(7))?.flows.len(), 3);
//! # Ok::<(), shoal_scenario::Errors>(())
//! ```
#![warn(missing_docs)]

mod diagnostic;
mod document;
mod experiment;
mod facts;
mod field;
mod fill;
mod host;
mod json_schema;
mod models;
mod overrides;
pub mod quantity;
mod refusal;
mod report;
mod resolve;
pub mod schema;
mod size_distribution;
mod tree;

pub use diagnostic::{Diagnostic, Errors, Mark, Severity, Source};
pub use document::Document;
pub use experiment::*;
pub use facts::{Facts, GroupFacts, LinkFacts, Threshold, Traced};
pub use field::KeyDoc;
pub use host::{HOST_DOCS, Host};
pub use json_schema::json_schema;
pub use models::keys_of;
pub use refusal::Refusal;
pub use size_distribution::{DATA_MINING, SizeDistribution, WEB_SEARCH};
