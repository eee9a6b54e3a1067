//! Measures the queues for traffic classes of one monitored link, each as the link itself is measured.

use crate::fields::described;
use crate::queue_meter::is_zero;
use crate::{Bottleneck, ClassCounts, ClassDelays, Distribution, DroppedBy, MarkedBy, MeterPace, QueueMeter};
use serde::{Deserialize, Serialize};
use shoal_scenario::{Link, TrafficClasses};
use shoal_units::{RateChange, Span, Time};
use std::sync::Arc;

described! {

/// One of the queues for traffic classes at a link. Everything covers the measurement window only.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrafficClass {
    /// Name of the queue.
    pub name: String,
    /// Fraction of the time the link transmitted packets of this queue.
    pub utilisation: Option<f64>,
    /// Waiting bytes, weighted by time.
    pub queue_bytes: Distribution,
    /// Waiting packets, weighted by time.
    pub queue_packets: Distribution,
    /// Fraction of the time nothing waited in this queue.
    pub queue_empty: Option<f64>,
    /// Time in the queue in seconds, one value a packet, at its departure.
    pub delay_s: ClassDelays,
    /// Packets that arrived at the queue.
    pub arrived: u64,
    /// Packets the queue marked.
    pub marked: u64,
    /// Packets that queue protection sent from its low-latency queue to its classic one, dropped there or not; only if
    /// there are any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redirected: u64,
    /// Packets the queue dropped.
    pub dropped: u64,
    /// Packets whose transmission began.
    pub departed: u64,
    /// Bytes on the wire of those, framing included.
    pub departed_bytes: u64,
    /// `dropped` by cause.
    pub dropped_by: DroppedBy,
    /// `marked` by cause.
    pub marked_by: MarkedBy,
    /// The part of the ECN-capable packets.
    pub ect: ClassCounts,
    /// The part of the others.
    pub not_ect: ClassCounts,
}
}

/// A meter for each queue of a link, and how packets find theirs.
#[derive(Clone, Debug)]
pub(crate) struct TrafficClassMeters {
    classes: TrafficClasses,
    meters: Vec<QueueMeter>,
}

impl TrafficClassMeters {
    /// Meters of the queues of `link`, if its queue consists of some. The window opens at `window_start`.
    pub(crate) fn of(link: &Link, window_start: Time, pace: MeterPace) -> Option<Self> {
        let (classes, rate) = (link.traffic_classes()?, link.rate?);
        // Windows have distributions of the whole link only.
        let pace = MeterPace { windows: Span::ZERO, ..pace };
        let meter = QueueMeter::new(window_start, rate, pace).with_rate_changes(link.schedule.rate.clone());
        Some(Self { meters: vec![meter; classes.names().count()], classes })
    }

    /// The meter of the queue of a flow's packets.
    pub(crate) fn of_flow(&mut self, flow: u32) -> &mut QueueMeter {
        &mut self.meters[self.classes.of_flow(flow)]
    }

    pub(crate) fn replan(&mut self, changes: &Arc<[RateChange]>) {
        self.meters.iter_mut().for_each(|meter| meter.replan(Arc::clone(changes)));
    }

    /// The results, in the order of the queues.
    pub(crate) fn finish(self, end: Time) -> Vec<TrafficClass> {
        let named = self.classes.names().zip(self.meters);
        named.map(|(name, meter)| TrafficClass::of(meter.finish(name, end).0)).collect()
    }
}

impl TrafficClass {
    fn of(measured: Bottleneck) -> Self {
        Self {
            name: measured.name,
            utilisation: measured.utilisation,
            queue_bytes: measured.queue_bytes,
            queue_packets: measured.queue_packets,
            queue_empty: measured.queue_empty,
            delay_s: measured.delay_s,
            arrived: measured.arrived,
            marked: measured.marked,
            redirected: measured.redirected,
            dropped: measured.dropped,
            departed: measured.departed,
            departed_bytes: measured.departed_bytes,
            dropped_by: measured.dropped_by,
            marked_by: measured.marked_by,
            ect: measured.ect,
            not_ect: measured.not_ect,
        }
    }
}
