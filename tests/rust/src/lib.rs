//! What integration tests and fuzz targets share. Nothing here is shipped.
//!
//! `tests/` has one file a subject. [`fuzz`] holds the bodies of the fuzz targets, so that `cargo test` replays their
//! committed corpora without a fuzzer.
#![warn(missing_docs)]

mod bytes;
mod cases;
pub mod fuzz;
mod packet_log;
mod random_scenario;
mod runs;

pub use bytes::Bytes;
pub use cases::cases;
pub use packet_log::{PacketLog, Seen};
pub use random_scenario::random_scenario;
pub use runs::{check_conservation, experiment, json, monitor_all_links, run, run_logged};
