#![doc = include_str!("../README.md")]

mod aqm;
mod diagnostic;
mod document;
mod dscp;
mod experiment;
mod facts;
mod field;
mod fill;
mod flow_list;
mod host;
mod json_schema;
mod line_rate;
mod models;
mod moving;
mod overrides;
pub mod quantity;
mod refusal;
mod remarks;
mod report;
mod resolve;
pub mod schema;
mod size_distribution;
mod tree;

pub use diagnostic::{Diagnostic, Errors, Mark, Severity, Source};
pub use document::Document;
pub use dscp::{CODE_POINTS, Dscp};
pub use experiment::*;
pub use facts::{Facts, GroupFacts, LinkFacts, Threshold, Traced};
pub use field::KeyDoc;
pub use flow_list::{FlowList, FlowLists, ListedHosts};
pub use host::{HOST_DOCS, HostConfig, HostPreset};
pub use json_schema::{json_schema, shared_json_schema};
pub use models::keys_of;
pub use moving::Piece;
pub use refusal::Refusal;
pub use size_distribution::{DATA_MINING, SizeDistribution, WEB_SEARCH};
