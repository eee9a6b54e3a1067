#![doc = include_str!("../README.md")]

mod applications;
mod attributes;
mod buffers;
mod capture;
mod card;
mod controllers;
mod device;
mod disciplines;
mod endpoints;
mod kernel;
mod laws;
mod measure;
mod plan;
mod records;
mod refusal;
mod testbed;
mod user_modules;

pub use capture::{CaptureError, write_capture};
pub use kernel::Kernel;
pub use laws::{Unlawful, check};
pub use measure::{measure, ran_on};
pub use plan::{Plan, Rule};
pub use records::{FlowRecord, LineEvent, LineRecord, RecordError};
pub use shoal_scenario::Refusal;
