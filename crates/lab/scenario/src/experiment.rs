//! The resolved experiment that both planes run: base units, an explicit graph, one entry for each flow.

mod flows;
mod link_config;

use crate::HostConfig;
use crate::facts::bytes_in;
use crate::size_distribution::SizeDistribution;
pub use flows::{All, Flows};
use shoal_aqm::{ClassesConfig, Ecn, Extent, MemoryShare, QueueConfig, Tunnels};
use shoal_bottleneck::DelayChange;
use shoal_cc::CcConfig;
use shoal_netem::Impairments;
use shoal_tcp::{EndpointConfig, Pacing};
use shoal_units::{Opportunities, Rate, RateChange, Span, Stream, Time, even_shares};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Index into [`Experiment::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);
/// Index into [`Experiment::links`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LinkId(pub u32);

/// A complete, validated experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// Title in reports.
    pub title: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// When the run ends.
    pub duration: Span,
    /// Time at which measurement begins.
    pub warmup: Span,
    /// Hosts and switches of the network.
    pub nodes: Vec<Node>,
    /// Unidirectional links, each with the queue at its head.
    pub links: Vec<Link>,
    /// Buffers that several ports share.
    pub pools: Vec<Pool>,
    /// Routes from source to destination as lists of links, shared between flows.
    pub paths: Vec<Vec<LinkId>>,
    /// Endpoint configurations, shared between flows.
    pub endpoints: Vec<EndpointConfig>,
    /// Flow groups, in file order.
    pub groups: Vec<Group>,
    /// Flows, in the order of their groups.
    pub flows: Flows,
    /// What is recorded beyond the summary.
    pub trace: TraceConfig,
    /// Effects of the scenario that its author may not expect; every result repeats them.
    pub notes: Vec<Note>,
}

/// Something that a reader of the results has to know about the scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Stable name of the kind of note.
    pub kind: &'static str,
    /// One sentence without a full stop.
    pub text: String,
    /// Names of the flow groups that the note concerns.
    pub groups: Vec<String>,
    /// Names of the links that the note concerns.
    pub links: Vec<String>,
}

impl Experiment {
    /// Numbers of the flows whose clients send requests. Each such flow has a second connection for the
    /// requests, which runs on the flow's paths in the opposite direction; these connections are numbered
    /// after all flows, in this order.
    pub fn asking_flows(&self) -> impl Iterator<Item = u32> + '_ {
        let asks = |flow: &Flow| matches!(flow.app, App::Requests { .. } | App::Page { .. });
        // Most experiments have none, which is seen at once.
        let all = self.flows.patterns().any(asks).then(|| (0u32..).zip(&self.flows));
        all.into_iter().flatten().filter(move |(_, flow)| asks(flow)).map(|(number, _)| number)
    }

    /// The codepoint of ECN that packets of a flow are sent with.
    pub fn codepoint_of(&self, flow: &Flow) -> Codepoint {
        if let App::Unresponsive { codepoint, .. } = flow.app {
            return codepoint;
        }
        match self.endpoints[flow.endpoint as usize].codepoint() {
            Ecn::Ect0 => Codepoint::Ect0,
            Ecn::Ect1 => Codepoint::Ect1,
            _ => Codepoint::None,
        }
    }

    /// The code point of each connection: of the flows, and of those that carry requests, which are numbered after them
    /// ([`Self::asking_flows`]).
    pub fn codepoints(&self) -> Arc<[u8]> {
        let of_flow = |flow: Flow| self.groups[flow.group as usize].dscp;
        let asking = self.asking_flows().map(|number| self.flows.of(number));
        self.flows.iter().chain(asking).map(of_flow).collect()
    }

    /// Which connections queues cannot tell apart; `None` without tunnels. Those of a tunnel are seen as its first
    /// flow, also those that carry requests, which are numbered after all flows ([`Self::asking_flows`]).
    pub fn tunnels(&self) -> Option<Tunnels> {
        if self.groups.iter().all(|group| group.tunnel.is_none()) {
            return None;
        }
        let mut first_of = BTreeMap::new();
        let asking = self.asking_flows().map(|number| self.flows.of(number));
        let seen_as = (0u32..).zip(self.flows.iter().chain(asking)).map(|(number, flow)| {
            let tunnel = self.groups[flow.group as usize].tunnel.as_deref();
            tunnel.map_or(number, |name| *first_of.entry(name).or_insert(number))
        });
        Some(Tunnels::new(seen_as.collect()))
    }

    /// Flows that are traced if at most `count` may be. It defines `trace.controller_flows` and
    /// `trace.segment_flows` on every plane.
    pub fn traced(&self, count: u32) -> TracedFlows {
        let sizes = if count > 0 { self.group_sizes() } else { vec![0; self.groups.len()] };
        let shares = even_shares(count.into(), &sizes);
        let mut numbers = Vec::new();
        let mut first = 0;
        for (size, share) in sizes.into_iter().zip(shares) {
            // The traced flows are evenly spaced in the group and begin with its first.
            numbers.extend((0..share).map(|n| (first + n * size / share) as u32));
            first += size;
        }
        TracedFlows::of(numbers)
    }

    /// The connections of traced flows: the flows themselves and the connections that carry their clients'
    /// requests ([`Self::asking_flows`]), which are numbered after all flows.
    pub fn connections_of(&self, traced: &TracedFlows) -> TracedFlows {
        let mut numbers = traced.numbers().to_vec();
        let asking = (self.flows.len() as u32..).zip(self.asking_flows());
        numbers.extend(asking.filter(|(_, flow)| traced.contains(*flow)).map(|(connection, _)| connection));
        TracedFlows::of(numbers)
    }

    /// Number of flows of each group.
    pub fn group_sizes(&self) -> Vec<u64> {
        let groups = 0..self.groups.len() as u32;
        groups.map(|group| self.flows.of_group(group).len() as u64).collect()
    }

    /// The hosts of a flow.
    pub fn host_of(&self, flow: &Flow) -> &HostConfig {
        &self.groups[flow.group as usize].host
    }

    /// Whether a link that is the first of a path is the card of its host; not if the host is no node of its own.
    pub fn is_card(&self, link: &Link) -> bool {
        link.rate.is_some() && !self.nodes[link.from.0 as usize].is_switch
    }

    /// Node at which a path ends.
    pub fn end_of(&self, path: u32) -> Option<NodeId> {
        self.paths[path as usize].last().map(|link| self.links[link.0 as usize].to)
    }

    /// Whether the state of a flow may go when it has ended: nothing looks at all flows, and the packets of a flow that
    /// are on their way can be counted. Paths with impairments lose and copy packets, and hosts that collect what they
    /// receive merge them.
    pub fn may_forget(&self) -> bool {
        self.trace.series_interval.is_none()
            && self.groups.iter().all(|group| group.host.receive.is_immediate())
            && self.links.iter().all(|link| link.impairments.is_none())
    }

    /// Whether the flows of a group with this application end by themselves, and their hosts forget them then. A host
    /// with a queue discipline never does.
    pub fn ends(&self, group: usize, app: &App) -> bool {
        let is_queued = self.groups[group].host.offload.is_some_and(|offload| offload.pacing == Pacing::Fq);
        matches!(app, App::Transfers { barrier: false, .. }) && !is_queued
    }

    /// Round-trip propagation delay of the flow.
    pub fn base_rtt(&self, flow: &Flow) -> Span {
        self.propagation(flow.forward) + self.propagation(flow.backward)
    }

    /// One-way propagation delay along a path.
    pub fn propagation(&self, path: u32) -> Span {
        let delays = self.paths[path as usize].iter().map(|link| self.links[link.0 as usize].delay);
        delays.fold(Span::ZERO, |sum, delay| sum + delay)
    }

    /// Whether the flow has data to send during the whole measurement.
    pub fn always_sends(&self, flow: &Flow) -> bool {
        flow.app == App::Bulk
            && flow.start.as_picos() <= self.warmup.as_picos()
            && flow.stop.is_none_or(|stop| stop.as_picos() >= self.duration.as_picos())
    }

    /// Name of a random stream of flow `number`. The flow is numbered within its group, so that other groups
    /// do not matter.
    pub fn stream_name(&self, purpose: &str, number: u32) -> String {
        let group = self.flows.of(number).group;
        let first = self.flows.of_group(group).start;
        format!("{purpose}/{}/{}", self.groups[group as usize].name, number - first)
    }

    /// The links of a path.
    pub fn links_of(&self, path: u32) -> impl Iterator<Item = &Link> {
        self.paths[path as usize].iter().map(|link| &self.links[link.0 as usize])
    }

    /// Completion of one transfer of the flow if nothing else used its path; `None` if the flow has no
    /// transfers, or if no link of the path has a rate.
    pub fn transfer_alone(&self, flow: &Flow) -> Option<TransferAlone> {
        let App::Transfers { bytes, barrier, .. } = flow.app else { return None };
        let config = &self.endpoints[flow.endpoint as usize];
        let slowest =
            self.links_of(flow.forward).filter(|link| link.rate.is_some()).min_by_key(|link| link.rate)?;
        let segments = bytes.div_ceil(u64::from(config.mss()));
        Some(TransferAlone {
            wire_bytes: bytes + segments * u64::from(config.header_bytes + slowest.overhead_bytes),
            rate: slowest.rate?,
            // Behind a barrier a transfer ends when its last byte arrives, not when it is acknowledged.
            propagation: if barrier { self.propagation(flow.forward) } else { self.base_rtt(flow) },
        })
    }

    /// The links that the result reports as bottlenecks, in the order of the result.
    pub fn monitored(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        let links = (0u32..).map(LinkId).zip(&self.links);
        links.filter(|(_, link)| link.monitored && link.rate.is_some())
    }
    /// Whether the packets of a path, an index into [`Self::paths`], pass a monitored link.
    pub fn is_monitored(&self, path: u32) -> bool {
        self.links_of(path).any(|link| link.monitored && link.rate.is_some())
    }
}

/// A host or switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Name in reports.
    pub name: String,
    /// Whether the node is a switch, even if paths begin or end there; otherwise the link with which a path begins is
    /// the card of its host.
    pub is_switch: bool,
}

impl Link {
    /// The highest rate that the link ever has; `None` for a pure delay.
    pub fn highest_rate(&self) -> Option<Rate> {
        let later = self.schedule.rate.iter().map(|change| change.rate);
        let highest = later.fold(self.rate?, Rate::max);
        let Some(own) = &self.schedule.opportunities else { return Some(highest) };
        // They repeat: no later interval has much more than the highest of the first lap.
        let lap = Time::ZERO + own.opportunities.period();
        Some(self.rates(Time::ZERO, lap).map(|piece| piece.value).fold(highest, Rate::max))
    }
    /// Whether the link drops packets with given probabilities, whatever waits.
    pub fn drops_by_plan(&self) -> bool {
        matches!(self.queue, QueueConfig::OpenLoop(_))
    }
    /// The backlog in bytes from which on the queue may mark packets with `codepoint`, zero if the law asks for no
    /// backlog; `None` if it marks none of them. Packets have `packet_bytes` each.
    pub fn marks_from_bytes(&self, codepoint: Ecn, packet_bytes: f64) -> Option<f64> {
        Some(self.bytes_of(self.queue.marks_from(codepoint)?, packet_bytes))
    }
    /// Whether the queue may mark packets with any codepoint.
    pub fn marks_any(&self) -> bool {
        [Ecn::Ect0, Ecn::Ect1].into_iter().any(|codepoint| self.queue.marks_from(codepoint).is_some())
    }
    /// Whether packets with ECT(0), and those with ECT(1), join the low-latency one of the two queues of the link;
    /// `None` if it has no such pair.
    pub fn joins_low_latency(&self) -> Option<[bool; 2]> {
        match &self.queue {
            QueueConfig::DualPi2(dual) => Some([dual.ecn_mask & 0b10 != 0, dual.ecn_mask & 0b01 != 0]),
            _ => None,
        }
    }
    /// What the queue holds in bytes, infinite if it is unlimited. Packets have `packet_bytes` each.
    pub fn limit_bytes(&self, packet_bytes: f64) -> f64 {
        self.bytes_of(self.queue.limit(), packet_bytes)
    }
    /// An extent of the queue in bytes, infinite if it is unlimited. Packets have `packet_bytes` each.
    pub(crate) fn bytes_of(&self, extent: Extent, packet_bytes: f64) -> f64 {
        match extent {
            Extent::Unlimited => f64::INFINITY,
            Extent::Packets(packets) => f64::from(packets) * packet_bytes,
            Extent::Bytes(bytes) => bytes as f64,
            Extent::Time(span) => self.rate.map_or(f64::INFINITY, |rate| bytes_in(rate, span)),
        }
    }
    /// The queues for traffic classes of which the link's queue consists, if it does.
    pub fn traffic_classes(&self) -> Option<TrafficClasses> {
        match &self.queue {
            QueueConfig::Classes(classes) => Some(TrafficClasses(classes.clone())),
            _ => None,
        }
    }
    /// The longest propagation delay that the link ever has, with what its impairments may add: the tables of jitter
    /// end at four times its width.
    pub fn longest_delay(&self) -> Span {
        let delay = self.schedule.delay.iter().map(|change| change.delay).fold(self.delay, Span::max);
        self.impairments.as_ref().map_or(delay, |impairments| {
            let slot = impairments.slot.map_or(Span::ZERO, |slot| slot.max);
            delay + Span::from_nanos(4 * u64::from(impairments.jitter.ns)) + slot
        })
    }
    /// Seed of the generator behind the link's impairments, and the stream from which all else that is random about
    /// them is drawn, in an experiment with this seed.
    pub fn impairment_seed(&self, experiment_seed: u64) -> (u64, Stream) {
        shoal_bottleneck::impairment_seed(&self.name, experiment_seed)
    }
}

/// The queues for traffic classes of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct TrafficClasses(ClassesConfig);

impl TrafficClasses {
    /// Names of the queues, in the order of the scenario.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.queues.iter().map(|queue| queue.name.as_str())
    }
    /// Position of the queue that the packets of a connection join.
    #[inline]
    pub fn of_flow(&self, connection: u32) -> usize {
        self.0.queue_of(connection).into()
    }
}

/// How a link changes during the run; by default it does not.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Schedule {
    /// Changes of the rate, in the order of their times; a rate of zero is an outage.
    pub rate: Arc<[RateChange]>,
    /// Changes of the propagation delay, in the order of their times. Packets are delivered in the order in which they
    /// were sent: one that would overtake another arrives together with it.
    pub delay: Arc<[DelayChange]>,
    /// Opportunities to send, which then take the place of the rate; `rate` is empty.
    pub opportunities: Option<OpportunitySchedule>,
}

impl Schedule {
    /// Whether the link never changes.
    pub fn is_empty(&self) -> bool {
        self.rate.is_empty() && self.delay.is_empty() && self.opportunities.is_none()
    }
}

/// Opportunities to send of a link, and how they count as a rate.
#[derive(Clone, PartialEq, Debug)]
pub struct OpportunitySchedule {
    /// The opportunities.
    pub opportunities: Arc<Opportunities>,
    /// Length of the intervals over which they have a mean rate.
    pub mean_over: Span,
}

/// A unidirectional link.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Name in reports, and of the link's random stream.
    pub name: String,
    /// Node at which the link starts.
    pub from: NodeId,
    /// Node at which the link ends.
    pub to: NodeId,
    /// Rate of the link; `None` for a pure delay without a queue.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Span,
    /// Changes of the rate and the delay during the run.
    pub schedule: Schedule,
    /// What happens to packets behind the transmitter, beyond the delay; `None` if nothing does.
    pub impairments: Option<Box<Impairments>>,
    /// Bytes that a packet takes on the wire beyond its IP size (Ethernet framing: 38 with preamble and gap).
    pub overhead_bytes: u16,
    /// Queue of the link; ignored if the link is a pure delay.
    pub queue: QueueConfig,
    /// Whether the result reports the link as a bottleneck.
    pub monitored: bool,
    /// Index into [`Experiment::pools`] of the memory that its queue shares with other ports, if any.
    pub pool: Option<u32>,
}

/// Memory that the ports of a switch share, divided by dynamic thresholds (Choudhury and Hahne 1998).
#[derive(Clone, PartialEq, Debug)]
pub struct Pool {
    /// Name of the switch.
    pub name: String,
    /// Size of the whole memory in bytes.
    pub size_bytes: u64,
    /// Multiple of the free memory that a port may occupy at most, or a queue of a port that has several.
    pub alpha: f64,
    /// Bytes reserved for each port or queue. They count towards the size, and are not shared.
    pub reserved_bytes: u64,
}

/// A port that takes from a shared memory, or one of the queues of a port.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PoolMember {
    /// Number of the queue, if the port has several for traffic classes and they share no memory of their own.
    pub queue: Option<u8>,
    /// What it may hold.
    pub share: MemoryShare,
}

impl Pool {
    /// What takes from the memory at a port with a queue: the port, or each of its queues for traffic classes.
    pub fn members(&self, port: &Link) -> Vec<PoolMember> {
        let usual = MemoryShare { alpha: self.alpha, reserved_bytes: self.reserved_bytes };
        match &port.queue {
            QueueConfig::Classes(classes) if classes.memory_bytes.is_none() => (0u8..)
                .zip(classes.queues.iter())
                .map(|(queue, class)| PoolMember { queue: Some(queue), share: class.memory(usual) })
                .collect(),
            _ => vec![PoolMember { queue: None, share: usual }],
        }
    }
}

/// A controller that takes the place of another one.
#[derive(Clone, PartialEq, Debug)]
pub struct Replacement {
    /// Controller preset as written in the scenario.
    pub cc: String,
    /// Its configuration.
    pub config: CcConfig,
    /// Time since the start of a flow.
    pub after: Span,
}

/// A flow group of the scenario file.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Name in reports.
    pub name: String,
    /// Controller preset as written in the scenario.
    pub cc: String,
    /// The controller that takes its place while a flow runs.
    pub replacement: Option<Replacement>,
    /// The group's hosts.
    pub host: HostConfig,
    /// DiffServ code point of all packets of the group's flows, below 64.
    pub dscp: u8,
    /// Name of the tunnel through which their packets go.
    pub tunnel: Option<String>,
    /// Distribution of the objects of its pages, if their sizes are drawn.
    pub object_sizes: Option<SizeDistribution>,
}

/// One flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flow {
    /// Index into [`Experiment::groups`].
    pub group: u32,
    /// Index into [`Experiment::endpoints`].
    pub endpoint: u32,
    /// Index into [`Experiment::paths`] of the path of data.
    pub forward: u32,
    /// Index into [`Experiment::paths`] of the path of acknowledgements.
    pub backward: u32,
    /// Time at which the flow connects; [`Time::NEVER`] if it does not.
    pub start: Time,
    /// Time at which the application stops writing; `None` if it never does.
    pub stop: Option<Time>,
    /// Behaviour of the application.
    pub app: App,
}

/// Behaviour of an application.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum App {
    /// There is always data to send.
    Bulk,
    /// `rounds` transfers of `bytes`, one every `interval` (the first at the start) on one connection.
    Transfers {
        /// Size of one transfer in bytes.
        bytes: u64,
        /// Number of transfers.
        rounds: u32,
        /// Time from one start to the next; a transfer whose predecessor is still running starts when that
        /// one ends.
        interval: Span,
        /// The next transfer waits until all flows of the group have delivered this one.
        barrier: bool,
    },
    /// A client at the receiving end sends requests that the sending end answers, one exchange after the
    /// other.
    Requests {
        /// Size of a request in bytes.
        request_bytes: u64,
        /// Size of a response in bytes.
        response_bytes: u64,
        /// Number of exchanges; `None` if they go on until the flow stops.
        rounds: Option<u32>,
        /// Time from the last byte of a response to the next request.
        think: Think,
        /// The next request waits until all flows of the group have received their responses.
        barrier: bool,
    },
    /// A browser at the receiving end loads pages over several flows of the group, each of which asks for the next
    /// object when its last one has come.
    Page {
        /// Objects of a page.
        objects: u32,
        /// Size of a request in bytes.
        request_bytes: u64,
        /// Size of an object in bytes; 0 if it is drawn from [`Group::object_sizes`].
        object_bytes: u64,
        /// Number of flows that a browser uses: the first of the group, those behind them, and so on.
        connections: u32,
        /// Number of pages; `None` if they go on until the flows stop.
        rounds: Option<u32>,
        /// Time from the last byte of a page to the next page.
        think: Think,
    },
    /// Writes a frame every `interval`; a frame is useful only if it arrives within `deadline`.
    Frames {
        /// How large a frame is.
        size: FrameSize,
        /// Time between frames.
        interval: Span,
        /// Longest useful time from the write of a frame to the arrival of its last byte.
        deadline: Span,
    },
    /// Writes `chunk_bytes` every `interval`: an application-limited flow of constant bit rate.
    ConstantRate {
        /// Size of one write in bytes.
        chunk_bytes: u32,
        /// Time between writes.
        interval: Span,
    },
    /// Bulk transfer during on periods and silence during off periods; it starts with an on period.
    OnOff {
        /// Length of an on period.
        on: Span,
        /// Length of an off period.
        off: Span,
    },
    /// Packets at given times without a connection (UDP): nothing acknowledges them and nothing is
    /// retransmitted.
    Unresponsive {
        /// Size of an IP packet in bytes.
        packet_bytes: u16,
        /// Time between packets; its mean if `at_random`.
        interval: Span,
        /// Whether gaps are exponentially distributed (a Poisson process) instead of equal.
        at_random: bool,
        /// ECN field of the packets.
        codepoint: Codepoint,
    },
}

/// How large the frames of an encoder are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameSize {
    /// Bytes of the smallest frame.
    pub least_bytes: u64,
    /// Bytes of the largest frame; frames of one size have the same here as in `least_bytes`.
    pub most_bytes: u64,
    /// Time in which the rate of the sender is to carry a frame.
    pub budget: Span,
}

impl FrameSize {
    /// Frames of one size.
    pub const fn constant(bytes: u64) -> Self {
        Self { least_bytes: bytes, most_bytes: bytes, budget: Span::ZERO }
    }

    /// Whether frames follow the rate of the sender.
    pub const fn is_adaptive(&self) -> bool {
        self.least_bytes < self.most_bytes
    }

    /// Bytes of a frame that is written while the rate of the sender is `bytes_per_s` and `unsent` bytes of earlier
    /// frames wait.
    pub fn bytes(&self, bytes_per_s: u64, unsent: u64) -> u64 {
        let carried = u128::from(bytes_per_s) * u128::from(self.budget.as_picos()) / 1_000_000_000_000;
        let carried = u64::try_from(carried).unwrap_or(u64::MAX);
        carried.saturating_sub(unsent).clamp(self.least_bytes, self.most_bytes)
    }
}

impl App {
    /// Whether the group's rounds wait for its slowest flow.
    pub const fn has_barrier(&self) -> bool {
        matches!(self, Self::Transfers { barrier: true, .. } | Self::Requests { barrier: true, .. })
    }
}

/// Think time between the end of an exchange and the next request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Think {
    /// Mean think time, or the think time itself if it is constant.
    pub mean: Span,
    /// Whether it is exponentially distributed instead of constant.
    pub at_random: bool,
}

/// ECN field of packets as the host sends them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Codepoint {
    /// Not ECN-capable (not ECT).
    None,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
}

/// Flows of an experiment that a trace covers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracedFlows {
    numbers: Vec<u32>,
    /// Position of each flow in `numbers`, or [`Self::UNTRACED`]; ends with the last traced flow.
    positions: Vec<u32>,
}

impl TracedFlows {
    const UNTRACED: u32 = u32::MAX;

    /// The set of these flows; the numbers must increase.
    fn of(numbers: Vec<u32>) -> Self {
        let mut positions = vec![Self::UNTRACED; numbers.last().map_or(0, |last| *last as usize + 1)];
        for (position, flow) in (0..).zip(&numbers) {
            positions[*flow as usize] = position;
        }
        Self { numbers, positions }
    }
    /// Numbers of the traced flows, in order.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }
    /// Whether `flow` is traced.
    #[inline]
    pub fn contains(&self, flow: u32) -> bool {
        self.position(flow).is_some()
    }
    /// Position of `flow` among the traced flows.
    #[inline]
    pub fn position(&self, flow: u32) -> Option<usize> {
        let position = *self.positions.get(flow as usize)?;
        (position != Self::UNTRACED).then_some(position as usize)
    }
}

/// A table of the trace that covers traced flows only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TracedTable {
    /// Changes of congestion controllers' state.
    Controller,
    /// Changes of controllers' models of their paths.
    PathModel,
    /// Marks, drops and the senders' reactions.
    Events,
    /// Packets that hosts send and receive.
    Segments,
}

impl TracedTable {
    /// One sentence on what the table holds and what it leaves out, in an experiment with `all` flows.
    pub fn coverage(self, traced: &TracedFlows, all: usize) -> String {
        let (what, key) = match self {
            Self::Controller => ("Changes of the controllers", "trace.controller_flows"),
            Self::PathModel => {
                ("Changes of the controllers' models of their paths", "trace.controller_flows")
            }
            Self::Events => {
                ("Marks, drops, retransmissions, timeouts and reductions", "trace.controller_flows")
            }
            Self::Segments => ("Packets at both hosts", "trace.segment_flows"),
        };
        let numbers = traced.numbers();
        if numbers.len() == all {
            return format!("{what} of all {all} flows.");
        }
        format!(
            "{what} of {} of {all} flows only, number {}. What happened to the others is not in this table; {key} \
             says how many are traced.",
            numbers.len(),
            ranges(numbers)
        )
    }
}

/// Writes increasing numbers as ranges: `0-3, 7, 9`.
fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let texts = ranges
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") });
    texts.collect::<Vec<_>>().join(", ")
}

/// What is recorded beyond the summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceConfig {
    /// Bin of the time series; `None` if none is recorded.
    pub series_interval: Option<Span>,
    /// Number of flows of which every change of the controller (cwnd, ssthresh, alpha, state) and every mark
    /// and drop is recorded; [`Experiment::traced`] chooses them.
    pub controller_flows: u32,
    /// Number of flows of which every packet that their hosts send and receive is recorded;
    /// [`Experiment::traced`] chooses them.
    pub segment_flows: u32,
    /// Whether every arrival, mark, drop and departure at monitored links is recorded.
    pub packets: bool,
    /// Whether all packets at monitored links are captured as pcapng.
    pub pcap: bool,
    /// Whether distributions are written as tables even without time series.
    pub distributions: bool,
    /// Length of the windows that have distributions of their own.
    pub window: Option<Span>,
    /// Interval at which monitored links are sampled for whether a packet waits.
    pub sample_interval: Span,
    /// Queueing delay above which packets are counted; see [`Self::delay_target_of`].
    pub delay_target: Option<Span>,
    /// Number of flows that the result lists one by one; further flows only enter the sums.
    pub flows: u32,
}

impl TraceConfig {
    /// Queueing delay above which packets are counted at links that change, unless the scenario says another.
    const MOVING_DELAY_TARGET: Span = Span::from_millis(30);

    /// Queueing delay above which packets at this link are counted; `None` if none are.
    pub fn delay_target_of(&self, link: &Link) -> Option<Span> {
        self.delay_target.or_else(|| (!link.schedule.is_empty()).then_some(Self::MOVING_DELAY_TARGET))
    }

    /// Whether tables of distributions are written: with any recording beyond the summary they are.
    pub const fn records_distributions(&self) -> bool {
        self.distributions || self.series_interval.is_some() || self.window.is_some()
    }
}

impl Default for TraceConfig {
    /// Records the summary only.
    fn default() -> Self {
        Self {
            series_interval: None,
            controller_flows: 0,
            segment_flows: 0,
            packets: false,
            pcap: false,
            distributions: false,
            window: None,
            sample_interval: Span::from_millis(10),
            delay_target: None,
            flows: 10_000,
        }
    }
}

/// One transfer alone on its path: it completes after the time of its bytes at this rate plus the propagation
/// delay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransferAlone {
    /// Bytes on the wire: payload, headers, and the overhead of the slowest link.
    pub wire_bytes: u64,
    /// Rate of the slowest link of the path.
    pub rate: Rate,
    /// Round-trip propagation delay, or the one-way delay of data if the transfer ends when it arrives.
    pub propagation: Span,
}
