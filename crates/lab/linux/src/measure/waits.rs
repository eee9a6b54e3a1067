//! What applications waited for: exchanges, rounds, frames, datagrams. The meters are those of the simulator.

use super::time;
use crate::records::{FlowKind, FlowRecord};
use shoal_measure::{
    DatagramMeter, FlowResult, FrameMeter, FrameSummary, GroupResult, WaitMeter, WaitSummary,
};
use shoal_scenario::{App, Experiment, Flow};
use shoal_trace::{DeliveryKind, DeliveryRow, GroupIndex, Names, Series};
use shoal_units::{Span, Time};

/// IPv4 and UDP.
const DATAGRAM_HEADERS: u16 = 28;

/// Of one flow.
enum Meter {
    None,
    Exchanges(Box<WaitMeter>),
    Frames(Box<FrameMeter>, u64),
    Datagrams(Box<DatagramMeter>),
}

/// Meters of all flows and groups, and the table of what was delivered.
pub(super) struct Waits {
    meters: Vec<Meter>,
    rounds: Vec<Option<WaitMeter>>,
    deliveries: Option<Series<DeliveryRow>>,
}

impl Waits {
    pub(super) fn new(experiment: &Experiment, names: &Names) -> Self {
        let window_start = Time::ZERO + experiment.warmup;
        let meter = |flow: &Flow| match flow.app {
            App::Requests { .. } => Meter::Exchanges(Box::new(WaitMeter::new(window_start))),
            App::Frames { bytes, interval, deadline } => {
                Meter::Frames(Box::new(FrameMeter::new(bytes, interval, deadline, window_start)), 0)
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
        let is_waited_for = |flow: &Flow| {
            flow.app.has_barrier() || matches!(flow.app, App::Requests { .. } | App::Frames { .. })
        };
        let delivers = experiment.trace.records_distributions() && experiment.flows.iter().any(is_waited_for);
        Self {
            meters: experiment.flows.iter().map(meter).collect(),
            rounds: rounds.collect(),
            deliveries: delivers.then(|| Series::new(names)),
        }
    }

    pub(super) fn on_record(&mut self, record: &FlowRecord, flow: &Flow, now: Time) {
        let number = record.flow;
        match (&mut self.meters[number as usize], record.kind) {
            (Meter::Exchanges(meter), FlowKind::Asked) => meter.on_begin(now),
            (Meter::Exchanges(meter), FlowKind::Answered) => {
                let took = meter.on_end(now);
                self.note(number, flow, DeliveryKind::Exchange, took, None, now);
            }
            (Meter::Frames(meter, written), FlowKind::Written) => {
                let App::Frames { interval, .. } = flow.app else { return };
                // Exact, where the guest counts whole nanoseconds.
                meter.on_written(flow.start.saturating_add(interval.saturating_mul(*written)));
                *written += 1;
            }
            (Meter::Frames(..), FlowKind::Delivered) => self.on_frames(record, flow, now),
            (Meter::Datagrams(meter), FlowKind::Sent) => {
                meter.on_sent(now);
            }
            (Meter::Datagrams(meter), FlowKind::Received) => {
                let App::Unresponsive { packet_bytes, .. } = flow.app else { return };
                let payload = u64::from(packet_bytes - DATAGRAM_HEADERS);
                let sent = time(record.transfers_begun as i64);
                meter.on_received(record.received, sent, now, payload, record.marked);
            }
            (_, FlowKind::Round) => self.on_round(record, flow, now),
            _ => {}
        }
    }

    fn on_frames(&mut self, record: &FlowRecord, flow: &Flow, now: Time) {
        while let Meter::Frames(meter, _) = &mut self.meters[record.flow as usize]
            && let Some(arrival) = meter.on_delivered(record.received, now)
        {
            self.note(record.flow, flow, DeliveryKind::Frame, arrival.took, Some(arrival.late), now);
        }
    }

    fn on_round(&mut self, record: &FlowRecord, flow: &Flow, now: Time) {
        let Some(meter) = &mut self.rounds[flow.group as usize] else { return };
        let took = meter.on_end(now);
        if record.received != u64::MAX {
            meter.on_begin(time(record.received as i64));
        }
        self.note(record.flow, flow, DeliveryKind::Round, took, None, now);
    }

    fn note(
        &mut self,
        number: u32,
        flow: &Flow,
        kind: DeliveryKind,
        took: Span,
        late: Option<Span>,
        now: Time,
    ) {
        let Some(deliveries) = &mut self.deliveries else { return };
        deliveries.push(DeliveryRow {
            time_s: now.as_secs_f64(),
            flow: number,
            group: GroupIndex(flow.group),
            kind,
            took_s: took.as_secs_f64(),
            late_s: late.map(Span::as_secs_f64),
        });
    }

    /// Of a flow without connection: bytes that have arrived, and marks on them.
    pub(super) fn datagrams(&self, flow: usize) -> Option<&DatagramMeter> {
        match &self.meters[flow] {
            Meter::Datagrams(meter) => Some(meter),
            _ => None,
        }
    }

    pub(super) fn fill_flow(&self, flow: usize, result: &mut FlowResult, end: Time) {
        match &self.meters[flow] {
            Meter::None => {}
            Meter::Exchanges(meter) => result.exchanges = Some(Box::new(meter.summary())),
            Meter::Frames(meter, _) => result.frames = Some(Box::new(meter.summary(end))),
            Meter::Datagrams(meter) => result.datagrams = Some(Box::new(meter.summary())),
        }
    }

    pub(super) fn fill_group(&self, group: usize, flows: &[Flow], result: &mut GroupResult, end: Time) {
        let own = || flows.iter().zip(&self.meters).filter(|(flow, _)| flow.group as usize == group);
        let exchanges: Vec<&WaitMeter> = own()
            .filter_map(|(_, meter)| match meter {
                Meter::Exchanges(meter) => Some(&**meter),
                _ => None,
            })
            .collect();
        let frames: Vec<&FrameMeter> = own()
            .filter_map(|(_, meter)| match meter {
                Meter::Frames(meter, _) => Some(&**meter),
                _ => None,
            })
            .collect();
        result.exchanges = (!exchanges.is_empty()).then(|| WaitSummary::of(exchanges));
        result.frames = (!frames.is_empty()).then(|| FrameSummary::of(frames, end));
        result.rounds = self.rounds[group].as_ref().map(WaitMeter::summary);
    }

    pub(super) fn into_table(self) -> Option<shoal_trace::Table> {
        self.deliveries.map(Series::into_table)
    }
}
