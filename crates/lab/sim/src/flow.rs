//! The two ends of a flow as the engine holds them.

use crate::network::Network;
use shoal_cc::INFINITE_SSTHRESH;
use shoal_measure::{AppMeter, FeedbackCounters, FlowMeter, SenderSample};
use shoal_packet::{FlowId, Packet};
use shoal_scenario::Flow;
use shoal_tcp::{EndpointConfig, Output, Receiver, Sender};
use shoal_units::Time;

/// A sender with its place in the network. Begins on a cache line: an ACK touches nearly all of it.
#[repr(align(64))]
pub(crate) struct SenderSlot {
    pub(crate) sender: Sender,
    /// Time of its entry on the agenda; [`Time::NEVER`] if it has none.
    pub(crate) armed: Time,
    /// Its position in the route table.
    pub(crate) route: u32,
    /// Its endpoint configuration.
    pub(crate) endpoint: u32,
    pub(crate) meter: FlowMeter,
    /// Stream position whose acknowledgement interests the application; a copy, so that an ACK need not look it up.
    pub(crate) milestone: u64,
}

impl SenderSlot {
    /// A sender that nothing has been asked of; its meter's window begins at `window_start`.
    pub(crate) fn new(config: &EndpointConfig, number: FlowId, at: Place, window_start: Time) -> Self {
        Self {
            sender: Sender::new(config, number),
            armed: Time::NEVER,
            route: at.route,
            endpoint: at.endpoint,
            meter: FlowMeter::new(window_start),
            milestone: u64::MAX,
        }
    }

    /// What the sender says about itself.
    pub(crate) fn sample(&self) -> SenderSample {
        let (window, srtt) = (self.sender.window(), self.sender.srtt());
        SenderSample {
            cwnd: window.cwnd,
            ssthresh: (window.ssthresh < INFINITE_SSTHRESH).then_some(window.ssthresh),
            quantum: window.quantum,
            alpha: self.sender.alpha(),
            srtt: (!srtt.is_zero()).then_some(srtt),
            state: self.sender.state(),
        }
    }
}

/// A receiver with its place in the network.
pub(crate) struct ReceiverSlot {
    pub(crate) receiver: Receiver,
    pub(crate) armed: Time,
    pub(crate) route: u32,
    pub(crate) endpoint: u32,
    /// Bytes delivered in order that interest the application; [`u64::MAX`] if none do.
    pub(crate) milestone: u64,
}

impl ReceiverSlot {
    /// A receiver that nothing has been sent to.
    pub(crate) fn new(config: &EndpointConfig, number: FlowId, at: Place) -> Self {
        Self {
            receiver: Receiver::new(config, number),
            armed: Time::NEVER,
            route: at.route,
            endpoint: at.endpoint,
            milestone: u64::MAX,
        }
    }
}

/// Where an endpoint is: the start of its route in the route table, and its configuration.
pub(crate) struct Place {
    pub(crate) route: u32,
    pub(crate) endpoint: u32,
}

/// Puts an endpoint's packets on their route.
pub(crate) struct Egress<'a> {
    pub(crate) network: &'a mut Network,
    pub(crate) route: u32,
    pub(crate) now: Time,
}

impl Output for Egress<'_> {
    #[inline]
    fn transmit(&mut self, mut packet: Packet) {
        packet.route = self.route;
        self.network.send(packet, self.now);
    }
}

/// What a flow does, beside its endpoints: touched rarely, so kept apart from them.
pub(crate) struct FlowState {
    pub(crate) plan: Flow,
    pub(crate) app: crate::app::AppState,
    /// Instead of an application over a connection.
    pub(crate) datagrams: Option<Box<crate::datagrams::Datagrams>>,
    /// Of an application that asks.
    pub(crate) exchanges: Option<Box<crate::exchanges::Exchanges>>,
    /// Of an application that writes frames.
    pub(crate) frames: Option<Box<shoal_measure::FrameMeter>>,
    /// Its last byte was acknowledged then.
    pub(crate) finished: Option<Time>,
    /// What its receiver had counted when the measurement window opened.
    pub(crate) feedback_at_start: FeedbackCounters,
}

impl FlowState {
    /// What its application is measured by.
    pub(crate) fn meter(&self) -> AppMeter<'_> {
        if let Some(datagrams) = &self.datagrams {
            AppMeter::Datagrams(&datagrams.meter)
        } else if let Some(exchanges) = &self.exchanges {
            AppMeter::Exchanges(&exchanges.meter)
        } else {
            self.frames.as_deref().map_or(AppMeter::None, AppMeter::Frames)
        }
    }
}
