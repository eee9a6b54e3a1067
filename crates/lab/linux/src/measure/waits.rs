//! Waiting times of applications: exchanges, rounds, frames, datagrams. The meters are those of the
//! simulator.

use super::time;
use crate::records::{FlowKind, FlowRecord};
use shoal_measure::{AppMeter, Collector, DatagramMeter, FlowResults, FrameMeter, WaitMeter};
use shoal_scenario::{App, Experiment, Flow};
use shoal_trace::DeliveryKind;
use shoal_units::Time;

/// Bytes of the IPv4 and UDP headers.
const DATAGRAM_HEADERS: u16 = 28;

/// Meter of one flow's application.
enum Meter {
    None,
    Exchanges(Box<WaitMeter>),
    Frames(Box<FrameMeter>, u64),
    Datagrams(Box<DatagramMeter>),
}

/// Meters of all flows and groups.
pub(super) struct Waits {
    meters: Vec<Meter>,
    rounds: Vec<Option<WaitMeter>>,
}

impl Waits {
    pub(super) fn new(experiment: &Experiment) -> Self {
        let window_start = Time::ZERO + experiment.warmup;
        let meter = |flow: Flow| match flow.app {
            App::Requests { .. } => Meter::Exchanges(Box::new(WaitMeter::new(window_start))),
            App::Frames { size, interval, deadline } => {
                let is_adaptive = size.is_adaptive();
                Meter::Frames(Box::new(FrameMeter::new(is_adaptive, interval, deadline, window_start)), 0)
            }
            App::Unresponsive { .. } => Meter::Datagrams(Box::new(DatagramMeter::new(window_start))),
            _ => Meter::None,
        };
        let rounds = (0u32..).zip(&experiment.groups).map(|(group, _)| {
            let own = || experiment.flows.iter().filter(|flow| flow.group == group);
            let waits = own().next().is_some_and(|flow| flow.app.has_barrier());
            let first_at = own().map(|flow| flow.start).min();
            first_at.filter(|_| waits).map(|first_at| {
                let mut meter = WaitMeter::new(window_start);
                meter.on_begin(first_at);
                meter
            })
        });
        Self { meters: experiment.flows.iter().map(meter).collect(), rounds: rounds.collect() }
    }

    pub(super) fn on_record(
        &mut self,
        record: &FlowRecord,
        flow: &Flow,
        now: Time,
        collector: &mut Collector,
    ) {
        let number = record.flow;
        match (&mut self.meters[number as usize], record.kind) {
            (Meter::Exchanges(meter), FlowKind::Asked) => meter.on_begin(now),
            (Meter::Exchanges(meter), FlowKind::Answered) => {
                let took = meter.on_end(now);
                collector.on_delivery(number, DeliveryKind::Exchange, took, None, now);
            }
            (Meter::Frames(meter, written), FlowKind::Written) => {
                let App::Frames { interval, .. } = flow.app else { return };
                // Exact times, where the guest has whole nanoseconds.
                let due = flow.start.saturating_add(interval.saturating_mul(*written));
                meter.on_written(record.received, due);
                *written += 1;
            }
            (Meter::Frames(meter, _), FlowKind::Delivered) => {
                while let Some(arrival) = meter.on_delivered(record.received, now) {
                    collector.on_delivery(number, DeliveryKind::Frame, arrival.took, Some(arrival.late), now);
                }
            }
            (Meter::Datagrams(meter), FlowKind::Sent) => {
                meter.on_sent(now);
            }
            (Meter::Datagrams(meter), FlowKind::Received) => {
                let App::Unresponsive { packet_bytes, .. } = flow.app else { return };
                let payload = u64::from(packet_bytes - DATAGRAM_HEADERS);
                let sent = time(record.transfers_begun as i64);
                meter.on_received(record.received, sent, now, payload, record.marked);
            }
            (_, FlowKind::Round) => self.on_round(record, flow, now, collector),
            _ => {}
        }
    }

    fn on_round(&mut self, record: &FlowRecord, flow: &Flow, now: Time, collector: &mut Collector) {
        let Some(meter) = &mut self.rounds[flow.group as usize] else { return };
        let took = meter.on_end(now);
        if record.received != u64::MAX {
            meter.on_begin(time(record.received as i64));
        }
        collector.on_delivery(record.flow, DeliveryKind::Round, took, None, now);
    }

    /// Meter of a flow without a connection: bytes that have arrived, and their marks.
    pub(super) fn datagrams(&self, flow: usize) -> Option<&DatagramMeter> {
        match &self.meters[flow] {
            Meter::Datagrams(meter) => Some(meter),
            _ => None,
        }
    }

    /// Meter of a flow's application.
    pub(super) fn meter(&self, flow: usize) -> AppMeter<'_> {
        match &self.meters[flow] {
            Meter::None => AppMeter::None,
            Meter::Exchanges(meter) => AppMeter::Exchanges(meter),
            Meter::Frames(meter, _) => AppMeter::Frames(meter),
            Meter::Datagrams(meter) => AppMeter::Datagrams(meter),
        }
    }

    /// Adds the rounds of all groups that have any.
    pub(super) fn rounds(&self, results: &mut FlowResults<'_>) {
        for (group, meter) in self.rounds.iter().enumerate() {
            if let Some(meter) = meter {
                results.rounds(group, meter);
            }
        }
    }
}
