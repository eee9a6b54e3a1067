//! Measurements of one class of packets at a link.

use crate::Histogram;
use crate::fields::described;
use crate::metrics::finite;
use serde::{Deserialize, Serialize};

described! {

/// Packet counts of one class.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassCounts {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets the queue marked.
    pub marked: u64,
    /// Packets the queue dropped.
    pub dropped: u64,
    /// Packets whose transmission began.
    pub departed: u64,
    /// Bytes on the wire of those.
    pub departed_bytes: u64,
    /// `marked / arrived`.
    pub mark_fraction: Option<f64>,
    /// `dropped / arrived`.
    pub drop_fraction: Option<f64>,
}
}

/// Counts, delays and queue of one class at a link.
#[derive(Clone, Debug)]
pub(crate) struct ClassMeter {
    /// Waiting packets of the class, weighted by picoseconds.
    pub(crate) queue_packets: Histogram,
    /// Queueing delay in picoseconds, one value for each packet.
    pub(crate) delay: Histogram,
    pub(crate) arrived: u64,
    pub(crate) marked: u64,
    pub(crate) dropped: u64,
    pub(crate) departed: u64,
    pub(crate) departed_bytes: u64,
}

impl ClassMeter {
    pub(crate) const fn new() -> Self {
        Self {
            queue_packets: Histogram::new(),
            delay: Histogram::new(),
            arrived: 0,
            marked: 0,
            dropped: 0,
            departed: 0,
            departed_bytes: 0,
        }
    }

    pub(crate) fn counts(&self) -> ClassCounts {
        ClassCounts {
            arrived: self.arrived,
            marked: self.marked,
            dropped: self.dropped,
            departed: self.departed,
            departed_bytes: self.departed_bytes,
            mark_fraction: finite(self.marked as f64 / self.arrived as f64),
            drop_fraction: finite(self.dropped as f64 / self.arrived as f64),
        }
    }
}
