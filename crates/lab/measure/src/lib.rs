#![doc = include_str!("../README.md")]

mod bins;
mod card;
mod class_meter;
mod collector;
mod datagram_meter;
mod delay_variation;
mod distributions;
mod fields;
mod finished;
mod flow_meter;
mod flow_results;
mod frame_meter;
mod group_sums;
mod histogram;
pub mod laws;
mod link_history;
mod link_steps;
mod measured;
pub mod metrics;
mod path;
mod queue_meter;
mod recent;
mod result;
mod sampler;
mod sender_sample;
mod traffic_classes;
mod wait_meter;
mod windows;

pub use bins::{FlowBin, FlowBinRates, QueueBin};
pub use card::CardResult;
pub use class_meter::ClassCounts;
pub use collector::{Collector, Departure, NO_FLOW, link_numbers, names};
pub use datagram_meter::{DatagramMeter, DatagramSummary};
pub use distributions::{DistributionTables, LinkDistributions};
pub use fields::{ResultField, result_fields};
pub use finished::{Finished, Notices};
pub use flow_meter::{
    AlphaSummary, FeedbackCounters, FlowCounters, FlowMeter, FlowResult, FlowSpan, SrttSummary, Summary,
};
pub use flow_results::{AppMeter, EndedTransfer, FinishedFlow, FlowResults, TransferRates};
pub use frame_meter::{FrameArrival, FrameMeter, FrameSummary};
pub use histogram::{Bucket, Distribution, Histogram};
pub use link_history::{AboveTarget, DelayFrom, LinkHistory, RateFrom};
pub use link_steps::{BinAtRate, LinkBin, LinkStep, Measures, at_rates};
pub use measured::{Measured, Plane};
pub use path::PathResult;
pub use queue_meter::{Bottleneck, ClassDelays, ClassQueues, DroppedBy, MarkedBy, MeterPace, QueueMeter};
pub use result::{
    GroupResult, LinuxRun, Metrics, ModuleRun, Notice, RateSummary, RunResult, SCHEMA, SizeBin, Totals,
    Window,
};
pub use sender_sample::{PathSample, SenderSample, metered_window};
pub use traffic_classes::TrafficClass;
pub use wait_meter::{WaitMeter, WaitSummary};
pub use windows::WindowPart;
