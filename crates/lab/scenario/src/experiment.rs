//! The resolved experiment: base units, explicit graph, one entry a flow. What the simulator runs.

use crate::Host;
use shoal_aqm::QueueConfig;
use shoal_tcp::EndpointConfig;
use shoal_units::{Rate, Span, Time, even_shares};

/// Index into [`Experiment::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);
/// Index into [`Experiment::links`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LinkId(pub u32);

/// A complete, validated experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// Title for reports.
    pub title: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// When the run ends.
    pub duration: Span,
    /// Measurements start here.
    pub warmup: Span,
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Unidirectional links, each with the queue at its head.
    pub links: Vec<Link>,
    /// Buffers that several ports share.
    pub pools: Vec<Pool>,
    /// Routes, shared between flows: links from source to destination.
    pub paths: Vec<Vec<LinkId>>,
    /// Endpoint configurations, shared between flows.
    pub endpoints: Vec<EndpointConfig>,
    /// Flow groups, in file order.
    pub groups: Vec<Group>,
    /// One entry a flow, in group order.
    pub flows: Vec<Flow>,
    /// What is recorded beside the summary.
    pub trace: TraceConfig,
    /// What the scenario does that its author may not expect; every result repeats it.
    pub notes: Vec<Note>,
}

/// Something that a reader of the results has to know about the scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Stable name of the kind of note.
    pub kind: &'static str,
    /// One sentence without a full stop.
    pub text: String,
    /// Names of the flow groups that it is about.
    pub groups: Vec<String>,
    /// Names of the links that it is about.
    pub links: Vec<String>,
}

impl Experiment {
    /// Numbers of the flows whose clients ask. Each takes a second connection, for the requests, which runs on the flow's paths
    /// the other way round; those are numbered after all flows, in this order.
    pub fn asking_flows(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.flows).filter(|(_, flow)| matches!(flow.app, App::Requests { .. })).map(|(n, _)| n)
    }

    /// Which flows are traced if that many may be. This is the meaning of `trace.controller_flows` and
    /// `trace.segment_flows` on every plane.
    pub fn traced(&self, count: u32) -> TracedFlows {
        let mut sizes = vec![0u64; self.groups.len()];
        if count > 0 {
            self.flows.iter().for_each(|flow| sizes[flow.group as usize] += 1);
        }
        let shares = even_shares(count.into(), &sizes);
        let mut numbers = Vec::new();
        let mut first = 0;
        for (size, share) in sizes.into_iter().zip(shares) {
            // At equal distances, beginning with the first flow of the group.
            numbers.extend((0..share).map(|n| (first + n * size / share) as u32));
            first += size;
        }
        TracedFlows::of(numbers)
    }

    /// The connections of traced flows: the flows themselves, and those on which their clients ask
    /// ([`Self::asking_flows`]), which have numbers behind all flows.
    pub fn connections_of(&self, traced: &TracedFlows) -> TracedFlows {
        let mut numbers = traced.numbers().to_vec();
        let asking = (self.flows.len() as u32..).zip(self.asking_flows());
        numbers.extend(asking.filter(|(_, flow)| traced.contains(*flow)).map(|(connection, _)| connection));
        TracedFlows::of(numbers)
    }

    /// Propagation there and back.
    pub fn base_rtt(&self, flow: &Flow) -> Span {
        self.propagation(flow.forward) + self.propagation(flow.backward)
    }

    /// Propagation along a path.
    pub fn propagation(&self, path: u32) -> Span {
        let delays = self.paths[path as usize].iter().map(|link| self.links[link.0 as usize].delay);
        delays.fold(Span::ZERO, |sum, delay| sum + delay)
    }

    /// Name of a random stream of flow `number`: the flow is numbered within its group, so that other groups do not matter.
    pub fn stream_name(&self, purpose: &str, number: u32) -> String {
        let group = self.flows[number as usize].group;
        let first = self.flows.partition_point(|other| other.group < group) as u32;
        format!("{purpose}/{}/{}", self.groups[group as usize].name, number - first)
    }

    /// The links of a path.
    pub fn links_of(&self, path: u32) -> impl Iterator<Item = &Link> {
        self.paths[path as usize].iter().map(|link| &self.links[link.0 as usize])
    }

    /// What one transfer of the flow would be if it had its path for itself; `None` if the flow has no transfers, or no link
    /// of the path has a rate.
    pub fn transfer_alone(&self, flow: &Flow) -> Option<TransferAlone> {
        let App::Transfers { bytes, barrier, .. } = flow.app else { return None };
        let config = &self.endpoints[flow.endpoint as usize];
        let slowest =
            self.links_of(flow.forward).filter(|link| link.rate.is_some()).min_by_key(|link| link.rate)?;
        let segments = bytes.div_ceil(u64::from(config.mss()));
        Some(TransferAlone {
            wire_bytes: bytes + segments * u64::from(config.header_bytes + slowest.overhead_bytes),
            rate: slowest.rate?,
            // At a barrier a transfer ends where it arrives.
            propagation: if barrier { self.propagation(flow.forward) } else { self.base_rtt(flow) },
        })
    }

    /// The links that the result reports as bottlenecks, in the order of the result.
    pub fn monitored(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        let links = (0u32..).map(LinkId).zip(&self.links);
        links.filter(|(_, link)| link.monitored && link.rate.is_some())
    }
}

/// A host or switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Name for reports.
    pub name: String,
}

/// A unidirectional link.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Name for reports; also the name of its random stream.
    pub name: String,
    /// Where it starts.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// Line rate; `None` is a pure delay without queue.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Span,
    /// Bytes a packet takes on the wire beyond its IP size (Ethernet framing: 38 with preamble and gap).
    pub overhead_bytes: u16,
    /// The queue; ignored for pure delays.
    pub queue: QueueConfig,
    /// Whether the result reports it as a bottleneck.
    pub monitored: bool,
    /// Index into [`Experiment::pools`] of the memory that its queue shares with others.
    pub pool: Option<u32>,
}

/// Memory that the ports of a switch share, divided by dynamic thresholds (Choudhury and Hahne 1998).
#[derive(Clone, PartialEq, Debug)]
pub struct Pool {
    /// Name of the switch.
    pub name: String,
    /// All of it, bytes.
    pub size_bytes: u64,
    /// A port may hold up to this multiple of what is free.
    pub alpha: f64,
    /// Bytes that each port has for itself; they are part of the size and not of what is shared.
    pub reserved_bytes: u64,
}

/// A flow group of the scenario file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Name for reports.
    pub name: String,
    /// Controller preset, as written.
    pub cc: String,
    /// How its hosts hand packets to their network card.
    pub host: Host,
}

/// One flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flow {
    /// Index into [`Experiment::groups`].
    pub group: u32,
    /// Index into [`Experiment::endpoints`].
    pub endpoint: u32,
    /// Index into [`Experiment::paths`]: data.
    pub forward: u32,
    /// Index into [`Experiment::paths`]: acknowledgements.
    pub backward: u32,
    /// When it connects.
    pub start: Time,
    /// When its application stops writing.
    pub stop: Option<Time>,
    /// What its application does.
    pub app: App,
}

/// What an application writes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum App {
    /// Always data to send.
    Bulk,
    /// `rounds` transfers of `bytes`, one every `interval` (the first at the start) on one connection.
    Transfers {
        /// Bytes of one transfer.
        bytes: u64,
        /// How many.
        rounds: u32,
        /// From one start to the next; a transfer that is late starts when the one before it has finished.
        interval: Span,
        /// The next transfer waits until all flows of the group have delivered this one.
        barrier: bool,
    },
    /// A client at the receiving end asks, the sending end answers, one exchange after the other.
    Requests {
        /// Bytes of a request.
        request_bytes: u64,
        /// Bytes of a response.
        response_bytes: u64,
        /// How many exchanges; `None`: until the flow stops.
        rounds: Option<u32>,
        /// From the last byte of a response to the next request.
        think: Think,
        /// The next request waits until all flows of the group have their response.
        barrier: bool,
    },
    /// Writes a frame of `bytes` every `interval`, which is of use if it arrives within `deadline`.
    Frames {
        /// Bytes of a frame.
        bytes: u64,
        /// Time between frames.
        interval: Span,
        /// From the write of a frame to the arrival of its last byte.
        deadline: Span,
    },
    /// Writes `chunk_bytes` every `interval`: an application-limited flow of constant bit rate.
    ConstantRate {
        /// Bytes of one write.
        chunk_bytes: u32,
        /// Time between writes.
        interval: Span,
    },
    /// Bulk while on, silent while off; starts on.
    OnOff {
        /// Length of an on period.
        on: Span,
        /// Length of an off period.
        off: Span,
    },
    /// Packets at given times without a connection: nothing answers, nothing is sent again.
    Unresponsive {
        /// Size of an IP packet.
        packet_bytes: u16,
        /// Time between packets, or its mean.
        interval: Span,
        /// Gaps are exponential (a Poisson process) instead of equal.
        at_random: bool,
        /// What the packets say about ECN.
        codepoint: Codepoint,
    },
}

impl App {
    /// Whether rounds of the group wait for its slowest flow.
    pub const fn has_barrier(&self) -> bool {
        matches!(self, Self::Transfers { barrier: true, .. } | Self::Requests { barrier: true, .. })
    }
}

/// Time between the end of an exchange and the next request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Think {
    /// Mean, or the value itself.
    pub mean: Span,
    /// Exponentially distributed instead of constant.
    pub at_random: bool,
}

/// ECN field of packets as they are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Codepoint {
    /// Not ECN-capable.
    None,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
}

/// The flows of an experiment that a trace covers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracedFlows {
    numbers: Vec<u32>,
    /// For each flow its position in `numbers`, or [`Self::UNTRACED`]; as long as the last traced flow needs.
    positions: Vec<u32>,
}

impl TracedFlows {
    const UNTRACED: u32 = u32::MAX;

    /// These flows, whose numbers increase.
    fn of(numbers: Vec<u32>) -> Self {
        let mut positions = vec![Self::UNTRACED; numbers.last().map_or(0, |last| *last as usize + 1)];
        for (position, flow) in (0..).zip(&numbers) {
            positions[*flow as usize] = position;
        }
        Self { numbers, positions }
    }
    /// Their numbers, in order.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }
    /// Whether `flow` is one of them.
    #[inline]
    pub fn contains(&self, flow: u32) -> bool {
        self.position(flow).is_some()
    }
    /// The position of `flow` among them.
    #[inline]
    pub fn position(&self, flow: u32) -> Option<usize> {
        let position = *self.positions.get(flow as usize)?;
        (position != Self::UNTRACED).then_some(position as usize)
    }
}

/// A table about traced flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TracedTable {
    /// Changes of controllers.
    Controller,
    /// Marks, drops and what senders do.
    Events,
    /// Packets at hosts.
    Segments,
}

impl TracedTable {
    /// One sentence about what the table holds and what it leaves out, in an experiment with `all` flows.
    pub fn coverage(self, traced: &TracedFlows, all: usize) -> String {
        let (what, key) = match self {
            Self::Controller => ("Changes of the controllers", "trace.controller_flows"),
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
            "{what} of {} of {all} flows only, number {}. What happened to the others is not in this table; {key} says how \
             many are traced.",
            numbers.len(),
            ranges(numbers)
        )
    }
}

/// Increasing numbers as `0-3, 7, 9`.
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

/// What is recorded beside the summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceConfig {
    /// Bin of the time series; `None` records none.
    pub series_interval: Option<Span>,
    /// Every change of a controller (cwnd, ssthresh, alpha, state) and what happens to the packets of so many flows, which
    /// [`Experiment::traced`] chooses.
    pub controller_flows: u32,
    /// Every packet that the hosts of so many flows send and receive; [`Experiment::traced`] chooses them.
    pub segment_flows: u32,
    /// Every arrival, mark, drop and departure at monitored links.
    pub packets: bool,
    /// All packets at monitored links as pcapng.
    pub pcap: bool,
    /// Distributions as tables, also without time series.
    pub distributions: bool,
    /// Length of the windows that get distributions of their own.
    pub window: Option<Span>,
    /// Time between samples of whether something waits at a monitored link.
    pub sample_interval: Span,
    /// Flows that the result lists one by one; the others only count.
    pub flows: u32,
}

impl TraceConfig {
    /// Whether the tables of distributions are wanted: whoever wants more than the summary gets them.
    pub const fn records_distributions(&self) -> bool {
        self.distributions || self.series_interval.is_some() || self.window.is_some()
    }
}

impl Default for TraceConfig {
    /// The summary only.
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
            flows: 10_000,
        }
    }
}

/// One transfer with its path for itself: its completion time is that of its bytes at this rate, and the propagation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransferAlone {
    /// Payload, headers, and what the slowest link adds.
    pub wire_bytes: u64,
    /// Rate of the slowest link.
    pub rate: Rate,
    /// Both ways, or the way there if the transfer ends where it arrives.
    pub propagation: Span,
}
