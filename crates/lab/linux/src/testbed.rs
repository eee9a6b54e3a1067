//! The testbed of an experiment: namespaces, wires, routes, queues. There are two kinds: a dumbbell, whose
//! delays are combined in one place so that each packet is delayed once, and any graph, built link by link.

use crate::attributes::{Attributes, hex};
use crate::buffers;
use crate::card::Attachment;
use crate::device::{DELAY, Port, ROOT, line};
use crate::disciplines::{self, QueueMapping, Site, handle};
use crate::endpoints::HostSettings;
use crate::kernel::Kernel;
use crate::refusal::Refusals;
use shoal_scenario::{Experiment, Link, Schedule};
use shoal_tcp::EcnSetting;
use shoal_units::{Rate, Span, Time};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

mod dumbbell;
mod graph;
mod impaired;

use impaired::{Impaired, pure_delay};

/// The testbed as it stands when the flows begin.
#[derive(Debug, Default)]
pub(crate) struct Testbed {
    /// Forwarding namespaces, each with its meaning in the scenario.
    pub routers: Vec<(String, String)>,
    pub wires: Vec<Wire>,
    pub ends: Vec<End>,
    pub routes: Vec<Route>,
    pub lines: Vec<Line>,
    pub delays: Vec<Delay>,
    /// Links with impairments, in scenario order.
    pub impaired: Vec<Impaired>,
    /// Place of each flow.
    pub places: Vec<Place>,
    /// `tcp_rmem` and `tcp_wmem` of all hosts in bytes.
    pub socket_buffer: u32,
}

/// A veth pair between two routers, with both ends in one network of four addresses.
#[derive(Debug)]
pub(crate) struct Wire {
    pub a: Port,
    pub b: Port,
    pub mtu: u32,
}

/// A host and its wire to a router.
#[derive(Debug)]
pub(crate) struct End {
    pub settings: HostSettings,
    pub port: Port,
    pub router: Port,
    /// Addresses in addition to that of the port.
    pub addresses: Vec<Ipv4Addr>,
    /// Whether the line of its card stands at its port.
    pub has_line: bool,
}

#[derive(Debug)]
pub(crate) struct Route {
    pub host: String,
    pub network: Ipv4Addr,
    pub length: u8,
    pub gateway: Ipv4Addr,
}

/// A transmitter and its queue.
#[derive(Debug)]
pub(crate) struct Line {
    pub host: String,
    pub device: String,
    pub rate: Rate,
    pub overhead: u16,
    /// Propagation delay behind the transmitter.
    pub delay: Span,
    /// Changes of the rate and of the delay.
    pub schedule: Schedule,
    /// Position among the monitored links.
    pub number: Option<u8>,
    pub queue: QueueMapping,
    /// Names of the transmitter and of its queue in the scenario.
    pub places: (String, String),
}

/// A pure delay for packets that a device sends.
#[derive(Debug)]
pub(crate) struct Delay {
    pub host: String,
    pub device: String,
    pub delay: Span,
}

/// Endpoints of a flow as positions in `ends`, and the addresses that lead to them.
#[derive(Debug)]
pub(crate) struct Place {
    pub sender: usize,
    pub receiver: usize,
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
}

/// The largest packet of an experiment in bytes; `None` if it has no flows.
pub(crate) fn largest_packet_bytes(experiment: &Experiment) -> Option<u32> {
    experiment.flows.iter().map(|flow| experiment.endpoints[flow.endpoint as usize].mtu_bytes.into()).max()
}

/// Properties that all queues of an experiment share; the rate differs.
fn site<'a>(experiment: &Experiment, kernel: &'a Kernel) -> Option<Site<'a>> {
    let endpoints = || experiment.flows.iter().map(|flow| &experiment.endpoints[flow.endpoint as usize]);
    Some(Site {
        // Each line has its own.
        rate: Rate::from_bps(0),
        device: "",
        mtu: largest_packet_bytes(experiment)?,
        flows: experiment.flows.len() as u32,
        any_ect: endpoints().any(|endpoint| endpoint.ecn == EcnSetting::On),
        kernel,
    })
}

/// Number of a line that is not recorded (`LINE_UNRECORDED`).
const UNRECORDED: u32 = 255;
/// Kernel parameters that a result shows of a host.
const SHOWN: &[&str] = &[
    "net/ipv4/tcp_ecn",
    "net/ipv4/tcp_sack",
    "net/ipv4/tcp_timestamps",
    "net/ipv4/tcp_no_metrics_save",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_min_tso_segs",
    "net/ipv4/tcp_tso_rtt_log",
    "net/ipv4/tcp_tso_win_divisor",
    "net/ipv4/tcp_limit_output_bytes",
    "net/ipv4/tcp_pacing_ss_ratio",
    "net/ipv4/tcp_pacing_ca_ratio",
];

impl Testbed {
    /// Lays out the testbed of an experiment, or refuses it.
    pub(crate) fn of(experiment: &Experiment, kernel: &Kernel, refusals: &mut Refusals) -> Option<Self> {
        let shares = |link: &&Link| link.pool.is_some() && link.rate.is_some();
        if let Some(link) = experiment.links.iter().find(shares) {
            refusals.add(
                format!("link `{}`", link.name),
                "ports that share memory: the kernel has no dynamic thresholds",
                "give each port a buffer of its own, or run this on the simulator",
            );
            return None;
        }
        if experiment.monitored().count() >= UNRECORDED as usize {
            refusals.add(
                "topology",
                format!("{} monitored links", experiment.monitored().count()),
                "the records of the kernel tell at most 254 apart",
            );
            return None;
        }
        let site = site(experiment, kernel)?;
        let testbed = match dumbbell::bottleneck(experiment) {
            Some(link) => dumbbell::testbed(experiment, link, &site, refusals),
            None => graph::testbed(experiment, &site, refusals),
        };
        Some(Self { socket_buffer: buffers::socket_buffer(experiment), ..testbed? })
    }

    /// Writes the instructions for the guest.
    pub(crate) fn write(&self, text: &mut String) {
        for (router, _) in &self.routers {
            line!(text, "host {router}");
            line!(text, "sysctl {router} net/ipv4/ip_forward 1");
        }
        for wire in &self.wires {
            line!(text, "veth {} {} {}", wire.a, wire.b, wire.mtu);
        }
        for end in &self.ends {
            end.write(text, self.socket_buffer);
        }
        for route in &self.routes {
            line!(text, "route {} {} {} {}", route.host, route.network, route.length, route.gateway);
        }
        for delay in &self.delays {
            let options = hex(&pure_delay(delay.delay));
            line!(text, "qdisc {} {} {ROOT} {} netem {options}", delay.host, delay.device, handle(DELAY));
        }
        for end in &self.ends {
            end.settings.card.write_queues(&self.attachment(end), text);
        }
        for path in &self.impaired {
            path.write(text);
        }
        let mut changes = 0;
        for transmitter in &self.lines {
            transmitter.write(&mut changes, text);
        }
    }

    /// How the card of a host is attached.
    pub(crate) fn attachment<'a>(&self, end: &'a End) -> Attachment<'a> {
        let End { settings, port, router, has_line, .. } = end;
        let before = |delay: &Delay| delay.host == router.host && delay.device == router.device;
        let is_delayed = settings.card.moderation.is_some() && self.delays.iter().any(before);
        Attachment { port, router, has_line: *has_line, is_delayed }
    }

    /// Whether any host moderates its interrupts.
    pub(crate) fn moderates(&self) -> bool {
        self.ends.iter().any(|end| end.settings.card.moderation.is_some())
    }

    /// Writes which cards the guest reports on, each with the host of the experiment at which packets of a flow end.
    pub(crate) fn write_counters(&self, experiment: &Experiment, text: &mut String) {
        let mut written = BTreeSet::new();
        for (flow, place) in experiment.flows.iter().zip(&self.places) {
            for (end, path) in [(place.receiver, flow.forward), (place.sender, flow.backward)] {
                if let Some(node) = experiment.end_of(path).filter(|_| written.insert(end)) {
                    let end = &self.ends[end];
                    end.settings.card.write_counters(&end.router, node, text);
                }
            }
        }
    }

    /// Writes that the guest shows what is set: of the first sender and of the first receiver with the same
    /// settings.
    pub(crate) fn write_shown(&self, text: &mut String) {
        let senders = self.senders();
        let mut shown = BTreeSet::new();
        for (number, end) in self.ends.iter().enumerate() {
            if shown.insert((senders.contains(&number), end.settings)) {
                line!(text, "show {} {} {}", end.port.host, end.port.device, SHOWN.join(" "));
            }
        }
    }

    fn senders(&self) -> BTreeSet<usize> {
        self.places.iter().map(|place| place.sender).collect()
    }

    /// Devices at which senders receive packets.
    pub(crate) fn sender_ports(&self) -> impl Iterator<Item = &Port> {
        let senders = self.senders();
        let ends = self.ends.iter().enumerate();
        ends.filter(move |(number, _)| senders.contains(number)).map(|(_, end)| &end.port)
    }

    /// Number of namespaces.
    pub(crate) fn hosts(&self) -> usize {
        self.routers.len() + self.ends.len()
    }
}

impl End {
    fn write(&self, text: &mut String, socket_buffer: u32) {
        let host = &self.port.host;
        line!(text, "host {host}");
        line!(text, "veth {} {} {}", self.port, self.router, self.settings.mtu);
        self.settings.card.write_device(&self.port, text);
        for address in &self.addresses {
            line!(text, "address {host} {} {address}", self.port.device);
        }
        line!(text, "route {host} 0.0.0.0 0 {}{}", self.router.address, self.settings.metrics());
        for (path, value) in self.settings.sysctls(socket_buffer) {
            line!(text, "sysctl {host} {path} {value}");
        }
    }
}

impl Line {
    fn new(
        (host, device): (&str, &str),
        link: &Link,
        number: Option<u8>,
        site: &Site<'_>,
        refusals: &mut Refusals,
    ) -> Option<Self> {
        let rate = link.rate?;
        let queue = disciplines::queue(&link.queue, &Site { rate, device, ..*site }, refusals)?;
        Some(Self {
            host: host.to_owned(),
            device: device.to_owned(),
            rate,
            overhead: link.overhead_bytes,
            delay: link.delay,
            schedule: link.schedule.clone(),
            number,
            queue,
            places: (link.name.clone(), link.name.clone()),
        })
    }

    /// Writes the line's changes and its queue disciplines; `changes` counts the changes of all lines so far.
    fn write(&self, changes: &mut u64, text: &mut String) {
        let rates = self.schedule.rate.iter().map(|change| (change.at, change.rate.as_bps()));
        let delays = self.schedule.delay.iter().map(|change| (change.at, change.delay.as_nanos()));
        let [rates, delays] = [rates.collect::<Vec<_>>(), delays.collect()].map(|values| {
            let range = *changes | (values.len() as u64) << 32;
            *changes += values.len() as u64;
            for (at, value) in &values {
                line!(text, "change {} {value}", at.since(Time::ZERO).as_nanos());
            }
            (!values.is_empty()).then_some(range)
        });
        let options = Attributes::default()
            .u64(1, self.rate.as_bps())
            .u32(2, self.overhead.into())
            .u32(3, self.number.map_or(UNRECORDED, u32::from));
        let options = self.queue.on_line(options);
        let options = if self.delay.is_zero() { options } else { options.u64(6, self.delay.as_nanos()) };
        let options = match rates {
            Some(range) => options.u64(7, range),
            None => options,
        };
        let options = match delays {
            Some(range) => options.u64(8, range),
            None => options,
        };
        let options = match self.write_opportunities(changes, text) {
            Some(range) => options.u64(9, range),
            None => options,
        };
        let options = options.into_bytes();
        let (host, device) = (&self.host, &self.device);
        line!(text, "qdisc {host} {device} {ROOT} {} line {}", handle(1), hex(&options));
        for discipline in &self.queue.disciplines {
            line!(
                text,
                "qdisc {host} {device} {} {} {} {}",
                discipline.parent,
                discipline.handle,
                discipline.kind,
                hex(&discipline.options)
            );
        }
    }

    /// Writes the opportunities of one lap as changes; returns which of all they are.
    fn write_opportunities(&self, changes: &mut u64, text: &mut String) -> Option<u64> {
        let own = self.schedule.opportunities.as_ref()?;
        let first = *changes;
        for (at, bytes) in own.opportunities.instants() {
            line!(text, "change {} {bytes}", at.as_nanos());
            *changes += 1;
        }
        Some(first | (*changes - first) << 32)
    }

    /// The equivalent `tc` commands, for the transmitter and for its queue.
    pub(crate) fn commands(&self) -> (String, Vec<String>) {
        let (host, device) = (&self.host, &self.device);
        let delay = if self.delay.is_zero() { String::new() } else { format!(" delay {}", self.delay) };
        let line = format!(
            "{host}: tc qdisc add dev {device} root handle 1: line rate {}bit overhead {}{delay}{}",
            self.rate.as_bps(),
            self.overhead,
            in_words(&self.schedule)
        );
        let queue = self.queue.disciplines.iter();
        (line, queue.map(|discipline| format!("{host}: {}", discipline.command(device))).collect())
    }
}

/// The changes of a line as a note behind its command: the first few of them.
fn in_words(schedule: &Schedule) -> String {
    const SHOWN: usize = 4;
    if schedule.is_empty() {
        return String::new();
    }
    let rates = schedule.rate.iter().map(|change| match change.rate.as_bps() {
        0 => (change.at, "down".to_owned()),
        bps => (change.at, format!("rate {bps}bit")),
    });
    let delays = schedule.delay.iter().map(|change| (change.at, format!("delay {}", change.delay)));
    let lap = schedule.opportunities.as_ref().map(|own| own.opportunities.period());
    let opportunities =
        lap.map(|lap| (Time::ZERO, format!("opportunities that repeat after {lap} instead of the rate")));
    let mut changes: Vec<(Time, String)> = opportunities.into_iter().chain(rates).chain(delays).collect();
    changes.sort_by_key(|(at, _)| *at);
    let shown = changes.iter().take(SHOWN);
    let mut words: Vec<String> =
        shown.map(|(at, value)| format!("from {} on {value}", at.since(Time::ZERO))).collect();
    if changes.len() > SHOWN {
        words.push(format!("and {} more changes", changes.len() - SHOWN));
    }
    format!(" ({})", words.join(", "))
}
