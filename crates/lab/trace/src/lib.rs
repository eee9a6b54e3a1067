//! What is recorded: counters and distributions of links and flows, time series, the result that `--json` prints,
//! and its forms on disk (Parquet, pcapng).
//!
//! No clock and no randomness: the caller says what time it is. The per-packet calls ([`QueueMeter`], [`Histogram`],
//! [`FlowMeter`]) allocate nothing in the steady state. Every formula of a published number has one owner, here:
//! [`metrics`] for what is computed between flows, the meters for what is measured.

mod atomic_file;
mod bins;
mod class_meter;
mod datagram_meter;
mod distributions;
mod error;
mod fields;
mod flow_meter;
mod frame_meter;
mod histogram;
mod kinds;
pub mod laws;
pub mod metrics;
pub mod parquet_out;
pub mod pcapng;
mod queue_meter;
mod result;
mod sampler;
mod schema;
mod table;
mod wait_meter;
mod windows;

pub use atomic_file::AtomicFile;
pub use bins::{FlowBin, FlowBinRates, QueueBin};
pub use datagram_meter::DatagramMeter;
pub use distributions::{DistributionTables, LinkDistributions};
pub use error::{WriteError, WriteFailure};
pub use fields::{ResultField, result_fields};
pub use flow_meter::{FeedbackCounters, FlowCounters, FlowMeter, FlowSpan};
pub use frame_meter::{FrameArrival, FrameMeter};
pub use histogram::{Bucket, Histogram};
pub use kinds::{DeliveryKind, FlowEnd, FlowEvent, PacketEvent, QueueClass, SegmentEvent};
pub use queue_meter::{MeterPace, QueueMeter};
pub use result::{
    AlphaSummary, Bottleneck, ClassCounts, ClassDelays, ClassQueues, DatagramSummary, Distribution,
    DroppedBy, FlowResult, FrameSummary, GroupResult, LinuxRun, MarkedBy, Metrics, Notice, RateSummary,
    RunResult, SCHEMA, SizeBin, SrttSummary, Summary, Totals, WaitSummary, Window,
};
pub use schema::{
    BacklogBucketRow, BacklogWindowRow, ControllerRow, DelayBucketRow, DelayWindowRow, DeliveryRow, EventRow,
    FlowRow, PacketRow, QueueBucketRow, QueueRow, SegmentRow, TABLES, schema_markdown,
};
pub use table::{
    Cell, Column, ColumnKind, ColumnSpec, GroupIndex, LinkIndex, Names, Row, Series, Table, TableSpec,
};
pub use wait_meter::WaitMeter;
pub use windows::WindowPart;
