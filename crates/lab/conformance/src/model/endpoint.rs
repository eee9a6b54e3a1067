//! The part of a connection that a model plays: one of its directions, or a whole end.

use super::End;
use super::setup::Setup;
use crate::Scope;
use crate::kernel::state_symbols;
use shoal_packet::{Ecn, FlowId, Packet};
use shoal_tcp::{Endpoint, Receiver, Sender};
use shoal_units::Time;

/// Names of the values of a sender that a check may use.
const STATE: [&str; 17] = [
    "tcpi_snd_cwnd",
    "tcpi_snd_ssthresh",
    "tcpi_ca_state",
    "tcpi_rtt",
    "tcpi_total_retrans",
    "tcpi_delivered",
    "tcpi_delivered_ce",
    "tcpi_delivered_e0_bytes",
    "tcpi_delivered_e1_bytes",
    "tcpi_delivered_ce_bytes",
    "dctcp_alpha",
    "dctcp_enabled",
    "tcpi_unacked",
    "tcpi_sacked",
    "tcpi_lost",
    "tcpi_retrans",
    "tcpi_reordering",
];

/// Whether a check may use a value of the sender with this name.
pub(super) fn knows(name: &str) -> bool {
    STATE.contains(&name)
}

pub(super) enum Model {
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
    Both(Box<Endpoint>),
}

impl Model {
    pub(super) fn new(setup: &Setup) -> Self {
        let (config, flow) = (&setup.config, FlowId(0));
        match setup.end {
            End::Sender => Self::Sender(Box::new(Sender::new(config, flow))),
            End::Receiver => Self::Receiver(Box::new(Receiver::new(config, flow))),
            End::Both => Self::Both(Box::new(Endpoint::new(config, flow))),
        }
    }

    pub(super) fn deadline(&self) -> Time {
        match self {
            Self::Sender(sender) => sender.deadline(),
            Self::Receiver(receiver) => receiver.deadline(),
            Self::Both(end) => end.deadline(),
        }
    }
    pub(super) fn on_timer(&mut self, setup: &Setup, now: Time, out: &mut Vec<Packet>) {
        match self {
            Self::Sender(sender) => sender.on_timer(&setup.config, now, out),
            Self::Receiver(receiver) => receiver.on_timer(&setup.config, now, out),
            Self::Both(end) => end.on_timer(&setup.config, now, out),
        }
    }
    pub(super) fn on_packet(&mut self, setup: &Setup, packet: &Packet, now: Time, out: &mut Vec<Packet>) {
        match self {
            Self::Sender(sender) => sender.on_packet(&setup.config, packet, now, out),
            Self::Receiver(receiver) => receiver.on_packet(&setup.config, packet, now, out),
            Self::Both(end) => end.on_packet(&setup.config, packet, now, out),
        }
    }

    pub(super) fn connect(&mut self, setup: &Setup, now: Time, out: &mut Vec<Packet>) {
        match self {
            Self::Sender(sender) => sender.connect(&setup.config, now, out),
            Self::Receiver(_) => {}
            Self::Both(end) => end.connect(&setup.config, now, out),
        }
    }
    pub(super) fn write(&mut self, setup: &Setup, bytes: u64, now: Time, out: &mut Vec<Packet>) {
        match self {
            Self::Sender(sender) => sender.write(&setup.config, bytes, now, out),
            Self::Receiver(_) => {}
            Self::Both(end) => end.write(&setup.config, bytes, now, out),
        }
    }
    pub(super) fn close(&mut self, setup: &Setup, now: Time, out: &mut Vec<Packet>) {
        match self {
            Self::Sender(sender) if sender.is_established() => sender.close(&setup.config, now, out),
            Self::Both(end) if end.is_open() => end.close(&setup.config, now, out),
            _ => {}
        }
    }

    /// The half that sends, if the model has it.
    fn sender(&self) -> Option<&Sender> {
        match self {
            Self::Sender(sender) => Some(sender),
            Self::Receiver(_) => None,
            Self::Both(end) => Some(end.sender()),
        }
    }
    /// Bytes that the application could have read; none if the model only sends.
    pub(super) fn delivered_bytes(&self) -> Option<u64> {
        match self {
            Self::Sender(_) => None,
            Self::Receiver(receiver) => Some(receiver.delivered_bytes()),
            Self::Both(end) => Some(end.receiver().delivered_bytes()),
        }
    }

    /// What a check can ask for.
    pub(super) fn state(&self) -> Scope {
        let mut scope = state_symbols();
        let Some(sender) = self.sender() else { return scope };
        let counters = sender.counters();
        let alpha = sender.alpha();
        let out = sender.outstanding().unwrap_or_default();
        let values = [
            i64::from(sender.window().cwnd),
            i64::from(sender.window().ssthresh),
            sender.state() as i64,
            (sender.srtt().as_picos() / 1_000_000) as i64,
            i64::from(counters.retransmissions),
            counters.delivered_packets as i64,
            counters.delivered_ce_packets as i64,
            i64::from(sender.reported_bytes(Ecn::Ect0)),
            i64::from(sender.reported_bytes(Ecn::Ect1)),
            i64::from(sender.reported_bytes(Ecn::Ce)),
            // Alpha in whole steps of 2^-10, as in the kernel.
            (alpha.unwrap_or(0.0) * 1024.0) as i64,
            i64::from(alpha.is_some() && sender.uses_ecn()),
            i64::from(out.unacked),
            i64::from(out.sacked),
            i64::from(out.lost),
            i64::from(out.retransmitted),
            i64::from(sender.reordering().unwrap_or_default()),
        ];
        for (name, value) in STATE.iter().zip(values) {
            scope.insert((*name).to_string(), value);
        }
        scope
    }
}
