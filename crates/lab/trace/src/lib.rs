#![doc = include_str!("../README.md")]

mod atomic_file;
mod error;
mod kinds;
pub mod parquet_out;
pub mod pcapng;
mod schema;
mod table;

pub use atomic_file::AtomicFile;
pub use error::{WriteError, WriteFailure};
pub use kinds::{DeliveryKind, FlowEnd, FlowEvent, PacketEvent, PathState, QueueClass, SegmentEvent};
pub use schema::{
    BacklogBucketRow, BacklogWindowRow, ControllerRow, DelayBucketRow, DelayWindowRow, DeliveryRow, EventRow,
    FlowRow, PacketRow, PathModelRow, QueueBucketRow, QueueRow, SegmentRow, TABLES, schema_markdown,
};
pub use table::{
    Cell, Column, ColumnKind, ColumnSpec, GroupIndex, LinkIndex, Names, Row, Series, Table, TableSpec,
};
