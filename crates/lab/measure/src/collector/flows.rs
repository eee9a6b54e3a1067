//! Reports of senders and applications.

use super::Collector;
use crate::{FlowCounters, PathSample, SenderSample};
use shoal_packet::Packet;
use shoal_trace::{
    ControllerRow, DeliveryKind, DeliveryRow, EventRow, FlowEnd, FlowEvent, FlowRow, GroupIndex,
    PathModelRow, SegmentEvent, SegmentRow,
};
use shoal_units::cast::count_u32;
use shoal_units::{Span, Time};

impl Collector {
    /// Whether the flow's controller and events are traced, so that they add rows.
    #[inline]
    pub fn traces(&self, flow: u32) -> bool {
        self.traced.contains(flow)
    }

    /// Handles a report of a flow's sender after an event: adds a row if the controller's state changed.
    pub fn on_sender(&mut self, flow: u32, sample: SenderSample, now: Time) {
        let Some(position) = self.traced.position(flow) else { return };
        let last = &mut self.last[position];
        if let (Some(rows), Some(path)) = (&mut self.path_model, sample.path)
            && last.is_none_or(|last| last.path != sample.path)
        {
            rows.push(path_row(flow, &sample, path, now));
        }
        if last.replace(sample).is_some_and(|last| last.controls_as(&sample)) {
            return;
        }
        if let Some(rows) = &mut self.controller {
            rows.push(ControllerRow {
                time_s: now.as_secs_f64(),
                flow,
                cwnd_packets: sample.cwnd_packets(),
                ssthresh_packets: sample.ssthresh_packets(),
                alpha: sample.alpha,
                state: sample.state,
            });
        }
    }

    /// Adds a row about an event of a flow.
    #[inline]
    pub fn on_flow_event(&mut self, flow: u32, kind: FlowEvent, at: Time) {
        if self.traces(flow)
            && let Some(events) = &mut self.events
        {
            events.push(EventRow { time_s: at.as_secs_f64(), flow, kind });
        }
    }

    /// Ends a bin of a flow's series, unless it has ended already, with the counters since the start of the
    /// flow and the present values of its sender.
    pub fn close_flow_bin(&mut self, flow: u32, counters: &FlowCounters, sample: &SenderSample, now: Time) {
        let Some(series) = &mut self.flows else { return };
        let bin = &mut self.bins[flow as usize];
        if bin.start() == now {
            return;
        }
        let rates = bin.close(now, counters);
        series.push(FlowRow {
            time_s: now.as_secs_f64(),
            flow,
            group: group_of(&self.first_of_group, flow),
            goodput_bps: rates.goodput_bps,
            wire_bps: rates.wire_bps,
            cwnd_packets: sample.cwnd_packets(),
            ssthresh_packets: sample.ssthresh_packets(),
            alpha: sample.alpha,
            srtt_s: sample.srtt.map(Span::as_secs_f64),
            state: sample.state,
        });
    }

    /// Reports that an application has received what it waited for; `late` is the time since a deadline, if
    /// there was one.
    pub fn on_delivery(&mut self, flow: u32, kind: DeliveryKind, took: Span, late: Option<Span>, now: Time) {
        let group = group_of(&self.first_of_group, flow);
        let Some(rows) = &mut self.deliveries else { return };
        rows.push(DeliveryRow {
            time_s: now.as_secs_f64(),
            flow,
            group,
            kind,
            took_s: took.as_secs_f64(),
            late_s: late.map(Span::as_secs_f64),
        });
    }

    /// Whether [`Self::on_segment`] keeps the packets of this connection.
    #[inline]
    pub fn traces_segments(&self, connection: u32) -> bool {
        self.segment_connections.contains(connection)
    }

    /// Reports that a host sent or received a packet of a connection whose segments are traced.
    #[cold]
    #[inline(never)]
    pub fn on_segment(&mut self, packet: &Packet, end: FlowEnd, event: SegmentEvent, now: Time) {
        let Some(rows) = &mut self.segments else { return };
        rows.push(SegmentRow {
            time_ps: now.as_picos(),
            flow: packet.flow.0,
            end,
            event,
            seq: packet.seq.0,
            payload: packet.payload.into(),
            ack: packet.ack.0,
            flags: packet.flags.wire_bits().into(),
            ecn: packet.ecn,
            ts_val: packet.ts_val,
        });
    }
}

/// The group of a flow, given the numbers of the first flows of all groups; a group without flows begins where the next
/// The row of a change of a controller's model.
fn path_row(flow: u32, sample: &SenderSample, path: PathSample, now: Time) -> PathModelRow {
    PathModelRow {
        time_s: now.as_secs_f64(),
        flow,
        state: path.state,
        pacing_bps: 8.0 * path.pacing_bytes_per_s as f64,
        bandwidth_bps: 8.0 * path.bandwidth_bytes_per_s as f64,
        min_rtt_s: path.min_rtt.map(Span::as_secs_f64),
        inflight_longterm_packets: path.inflight_longterm.map(f64::from),
        inflight_shortterm_packets: path.inflight_shortterm.map(f64::from),
        full_bandwidth_reached: path.full_bandwidth_reached.into(),
        in_flight_packets: sample.in_flight,
    }
}

/// one does.
fn group_of(firsts: &[u32], flow: u32) -> GroupIndex {
    GroupIndex(count_u32(firsts.partition_point(|first| *first <= flow)) - 1)
}
