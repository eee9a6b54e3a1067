#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod bins;
mod class_meter;
mod datagram_meter;
mod distributions;
mod fields;
mod flow_meter;
mod frame_meter;
mod histogram;
pub mod laws;
pub mod metrics;
mod queue_meter;
mod result;
mod sampler;
mod wait_meter;
mod windows;

pub use bins::{FlowBin, FlowBinRates, QueueBin};
pub use datagram_meter::DatagramMeter;
pub use distributions::{DistributionTables, LinkDistributions};
pub use fields::{ResultField, result_fields};
pub use flow_meter::{FeedbackCounters, FlowCounters, FlowMeter, FlowSpan};
pub use frame_meter::{FrameArrival, FrameMeter};
pub use histogram::{Bucket, Histogram};
pub use queue_meter::{MeterPace, QueueMeter};
pub use result::{
    AlphaSummary, Bottleneck, ClassCounts, ClassDelays, ClassQueues, DatagramSummary, Distribution,
    DroppedBy, FlowResult, FrameSummary, GroupResult, LinuxRun, MarkedBy, Metrics, Notice, RateSummary,
    RunResult, SCHEMA, SizeBin, SrttSummary, Summary, Totals, WaitSummary, Window,
};
pub use wait_meter::WaitMeter;
pub use windows::WindowPart;
