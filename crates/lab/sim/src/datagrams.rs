//! Unresponsive traffic: packets at given times, independent of congestion.

use shoal_measure::DatagramMeter;
use shoal_packet::{Ecn, FlowId, Packet, Seq};
use shoal_scenario::{App, Codepoint, Experiment, Flow};
use shoal_units::cast::low_u32;
use shoal_units::{Span, Stream, Time};

/// Bytes of the IPv4 and UDP headers.
const HEADER_BYTES: u16 = 28;

/// Source and sink of one flow.
pub(crate) struct Datagrams {
    random: Stream,
    packet_bytes: u16,
    interval: Span,
    at_random: bool,
    ecn: Ecn,
    stopped: bool,
    pub(crate) meter: DatagramMeter,
}

impl Datagrams {
    /// Source and sink of flow `number`, if its traffic is unresponsive.
    pub(crate) fn of(experiment: &Experiment, number: u32, flow: &Flow) -> Option<Box<Self>> {
        let App::Unresponsive { packet_bytes, interval, at_random, codepoint } = flow.app else {
            return None;
        };
        let name = experiment.stream_name("datagrams", number);
        let ecn = match codepoint {
            Codepoint::None => Ecn::NotEct,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
        };
        Some(Box::new(Self {
            random: Stream::new(experiment.seed, &name),
            packet_bytes,
            interval,
            at_random,
            ecn,
            stopped: false,
            meter: DatagramMeter::new(Time::ZERO + experiment.warmup),
        }))
    }

    /// Time of the first packet, if it is not sent at once.
    pub(crate) fn first(&mut self, now: Time) -> Option<Time> {
        self.at_random.then(|| self.next(now))
    }

    /// The packet that is due, and the time of the next one; `None` once the flow has stopped.
    pub(crate) fn send(&mut self, flow: u32, now: Time) -> Option<(Packet, Time)> {
        if self.stopped {
            return None;
        }
        let number = self.meter.on_sent(now);
        let picos = now.as_picos();
        let packet = Packet {
            seq: Seq(low_u32(number)),
            // No TCP endpoint reads this field of the packet; it holds the time of sending in picoseconds.
            ts_val: low_u32(picos),
            ts_ecr: low_u32(picos >> 32),
            payload: self.packet_bytes - HEADER_BYTES,
            ecn: self.ecn,
            ..Packet::empty(FlowId(flow), self.packet_bytes)
        };
        Some((packet, self.next(now)))
    }

    /// Counts a packet that arrives.
    pub(crate) fn receive(&mut self, packet: &Packet, now: Time) {
        let sent = Time::from_picos(u64::from(packet.ts_ecr) << 32 | u64::from(packet.ts_val));
        self.meter.on_received(
            u64::from(packet.seq.0),
            sent,
            now,
            u64::from(packet.payload),
            packet.ecn == Ecn::Ce,
        );
    }

    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    fn next(&mut self, now: Time) -> Time {
        if !self.at_random {
            return now.saturating_add(self.interval);
        }
        now.saturating_add(self.random.exponential(self.interval))
    }
}
