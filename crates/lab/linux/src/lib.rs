//! The real-kernel plane: what a scenario means to a Linux testbed, and what the testbed's records mean as results.
//!
//! [`Plan`] turns an experiment into the configuration that the guest (`linux/guest`) obeys, or says precisely what Linux
//! cannot express; [`Kernel`] is what the guest runs on. [`measure`] turns the guest's records into the same result and the
//! same tables as the simulator's. Nothing here runs anything: processes belong to `python/shoal/linux`.
#![warn(missing_docs)]

mod applications;
mod attributes;
mod buffers;
mod capture;
mod controllers;
mod disciplines;
mod endpoints;
mod kernel;
mod laws;
mod measure;
mod plan;
mod records;
mod refusal;
mod testbed;

pub use capture::{CaptureError, write_capture};
pub use kernel::Kernel;
pub use laws::{Unlawful, check};
pub use measure::{Measured, measure};
pub use plan::{Plan, Rule};
pub use records::{FlowRecord, LineEvent, LineRecord, RecordError};
pub use shoal_scenario::Refusal;
