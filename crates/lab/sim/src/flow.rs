//! The two ends of a flow as the engine stores them.

use crate::app::{Application, Writer};
use crate::network::Network;
use shoal_cc::{INFINITE_SSTHRESH, PathModel};
use shoal_measure::{FeedbackCounters, FlowMeter, PathSample, SenderSample};
use shoal_packet::{FlowId, Packet};
use shoal_scenario::{App, Flow};
use shoal_tcp::{EndpointConfig, Output, Receiver, Sender};
use shoal_trace::PathState;
use shoal_units::Time;

/// A sender with its place in the network. It is aligned to a cache line, because an ACK touches nearly all
/// of it.
#[repr(align(64))]
pub(crate) struct SenderSlot {
    pub(crate) sender: Sender,
    /// Time of the sender's entry in the event queue; [`Time::NEVER`] if there is none.
    pub(crate) armed: Time,
    /// Start of the sender's route in the route table.
    pub(crate) route: u32,
    /// Index of the sender's endpoint configuration.
    pub(crate) endpoint: u32,
    pub(crate) meter: FlowMeter,
    /// Stream position whose acknowledgement is to be reported to the application; a copy, so that an ACK
    /// need not look it up.
    pub(crate) milestone: u64,
    /// Packets that the sender has sent less those that it has received; see [`ReceiverSlot::packets`].
    pub(crate) packets: u32,
    /// Slot of the connection in the other direction, with which this one is one for the application, or
    /// [`NO_PARTNER`].
    pub(crate) partner: u32,
}

// Twelve cache lines: with 40,000 flows, none of them is in a near cache when its turn comes.
const _: () = assert!(size_of::<SenderSlot>() <= 768);

impl SenderSlot {
    /// A new sender with its meter.
    pub(crate) fn new(config: &EndpointConfig, number: FlowId, at: Place, meter: FlowMeter) -> Self {
        Self {
            sender: Sender::new(config, number),
            armed: Time::NEVER,
            route: at.route,
            endpoint: at.endpoint,
            meter,
            milestone: u64::MAX,
            packets: 0,
            partner: NO_PARTNER,
        }
    }

    /// Values of the sender that a sample records.
    pub(crate) fn sample(&self) -> SenderSample {
        let (window, srtt) = (self.sender.window(), self.sender.srtt());
        SenderSample {
            cwnd: window.cwnd,
            ssthresh: (window.ssthresh < INFINITE_SSTHRESH).then_some(window.ssthresh),
            quantum: window.quantum,
            alpha: self.sender.alpha(),
            path: self.sender.path_model().map(path_sample),
            in_flight: self.sender.in_flight(),
            srtt: (!srtt.is_zero()).then_some(srtt),
            state: self.sender.state(),
        }
    }
}

/// A controller's model of its path as tables have it.
fn path_sample(model: PathModel) -> PathSample {
    PathSample {
        state: match model.state {
            shoal_cc::PathState::Startup => PathState::Startup,
            shoal_cc::PathState::Drain => PathState::Drain,
            shoal_cc::PathState::ProbeBandwidth => PathState::ProbeBw,
            shoal_cc::PathState::Down => PathState::ProbeBwDown,
            shoal_cc::PathState::Cruise => PathState::ProbeBwCruise,
            shoal_cc::PathState::Refill => PathState::ProbeBwRefill,
            shoal_cc::PathState::Up => PathState::ProbeBwUp,
            shoal_cc::PathState::ProbeRtt => PathState::ProbeRtt,
        },
        pacing_bytes_per_s: model.pacing_bytes_per_s,
        bandwidth_bytes_per_s: model.bandwidth_bytes_per_s,
        min_rtt: model.min_rtt,
        inflight_longterm: model.inflight_longterm,
        inflight_shortterm: model.inflight_shortterm,
        full_bandwidth_reached: model.full_bandwidth_reached,
    }
}

/// A receiver with its place in the network.
pub(crate) struct ReceiverSlot {
    pub(crate) receiver: Receiver,
    pub(crate) armed: Time,
    pub(crate) route: u32,
    pub(crate) endpoint: u32,
    /// Bytes delivered in order that are to be reported to the application; [`u64::MAX`] if none are.
    pub(crate) milestone: u64,
    /// Packets that the receiver has sent less those that it has received. With those of the sender and without what
    /// queues have dropped, it is the number of packets of the connection on their way.
    pub(crate) packets: u32,
    /// As [`SenderSlot::partner`].
    pub(crate) partner: u32,
}

impl ReceiverSlot {
    /// A new receiver.
    pub(crate) fn new(config: &EndpointConfig, number: FlowId, at: Place) -> Self {
        Self {
            receiver: Receiver::new(config, number),
            armed: Time::NEVER,
            route: at.route,
            endpoint: at.endpoint,
            milestone: u64::MAX,
            packets: 0,
            partner: NO_PARTNER,
        }
    }
}

/// Place of an endpoint: the start of its route in the route table, and its configuration.
pub(crate) struct Place {
    pub(crate) route: u32,
    pub(crate) endpoint: u32,
}

/// The slot of no connection.
pub(crate) const NO_PARTNER: u32 = u32::MAX;

/// Sends an endpoint's packets on their route.
pub(crate) struct Egress<'a> {
    pub(crate) network: &'a mut Network,
    pub(crate) route: u32,
    pub(crate) now: Time,
    /// The endpoint's count of packets, see [`ReceiverSlot::packets`].
    pub(crate) packets: &'a mut u32,
    /// What receives at the same end on the same connection: data acknowledge what it has received.
    pub(crate) partner: Option<(&'a mut Receiver, &'a EndpointConfig)>,
}

impl Egress<'_> {
    /// Sends a packet of a connection on which this end also receives. Apart from [`Output::transmit`], so that other
    /// packets need not lie in memory.
    #[cold]
    #[inline(never)]
    fn transmit_with_ack(&mut self, mut packet: Packet) {
        if let Some((receiver, config)) = &mut self.partner
            && packet.payload > 0
        {
            receiver.acknowledge_with(config, &mut packet, self.now);
        }
        self.network.send(packet, self.now);
    }
}

impl Output for Egress<'_> {
    #[inline]
    fn transmit(&mut self, mut packet: Packet) {
        packet.route = self.route;
        *self.packets = self.packets.wrapping_add(1);
        if self.partner.is_some() {
            self.transmit_with_ack(packet);
        } else {
            self.network.send(packet, self.now);
        }
    }
    fn card_free(&self) -> Time {
        self.network.card_free(self.route)
    }
    fn takes(&mut self, bytes: u64) -> bool {
        self.network.takes(self.route, bytes, self.now)
    }
    fn begin_segment(&mut self, departure: Time) {
        self.network.begin_segment(self.route, departure);
    }
    fn end_segment(&mut self) -> u32 {
        self.network.end_segment(self.route, self.now)
    }
}

/// State of a flow other than its endpoints. It is used rarely, and therefore kept apart from them.
pub(crate) struct FlowState {
    /// Number of the flow, or of the connection that carries requests.
    pub(crate) number: u32,
    pub(crate) group: u32,
    /// Whether the slot is not free.
    pub(crate) is_in_use: bool,
    /// What the application does.
    pub(crate) app: App,
    pub(crate) application: Application,
    /// Unused by datagrams, which have no connection.
    pub(crate) writer: Writer,
    /// Time at which its last byte was acknowledged.
    pub(crate) finished: Option<Time>,
    /// Counters of the receiver at the start of the measurement window.
    pub(crate) feedback_at_start: FeedbackCounters,
}

impl FlowState {
    /// The state of a connection that has not begun.
    pub(crate) fn new(number: u32, plan: &Flow, application: Application) -> Self {
        Self {
            number,
            group: plan.group,
            is_in_use: true,
            app: plan.app,
            application,
            writer: Writer::default(),
            finished: None,
            feedback_at_start: FeedbackCounters::default(),
        }
    }
}
