//! An experiment as a testbed: senders - r1 = bottleneck = r2 - receivers, all of them namespaces of one kernel.
//!
//! The queue waits in front of `line` (linux/testbed), which transmits at the line rate. The whole propagation of a flow lies
//! on the way of its ACKs, behind the receiver: what a sender sees is the same, and each packet is delayed once.

use crate::attributes::{Attributes, hex};
use crate::disciplines::{self, QueueMapping, Site, handle, limit_of};
use crate::hosts::{HEADERS_WITH_TIMESTAMPS, HEADERS_WITHOUT, HostPair, host_pairs};
use crate::kernel::Kernel;
use crate::refusal::{Refusal, Refusals};
use shoal_aqm::Extent;
use shoal_cc::CcConfig;
use shoal_scenario::{App, Experiment, Flow, Link};
use shoal_tcp::{EcnSetting, EndpointConfig, ReceiverConfig};
use shoal_units::{Span, Time};
use std::fmt::Write as _;

/// What runs on the guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The guest's configuration: one instruction a line.
    pub config: String,
    /// How the scenario was translated.
    pub rules: Vec<Rule>,
    /// Where the kernel stands in for something else; belongs into every report.
    pub notes: Vec<String>,
    /// Memory of the guest in MiB: an upper bound of what packets, queues and sockets can hold.
    pub memory_mib: u64,
}

/// One line of the explanation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Part of the scenario.
    pub place: String,
    /// What it became.
    pub text: String,
}

/// Hosts, links and queues of a dumbbell.
struct Dumbbell<'a> {
    bottleneck: &'a Link,
    pairs: Vec<HostPair>,
    pair_of: Vec<usize>,
    queue: QueueMapping,
    /// Largest packet.
    mtu: u16,
}

/// Numbers of host pairs fit the third byte of an address.
const MAX_PAIRS: usize = 250;
/// Ports 10000 ... name the flows.
const MAX_FLOWS: usize = 4096;
/// TCP_INFO is read this often, unless series ask for another pace.
const SAMPLE: Span = Span::from_millis(10);
/// Samples of all flows together: more would cost more than the packets.
const MAX_SAMPLES: u64 = 4_000_000;
/// A receiver that reads per packet costs three times as much; 256 KiB would limit fast paths (see docs/linux.md).
const READ_CHUNK: u32 = 64 << 10;
/// Buffers of sockets: never the limit.
const SOCKET_BUFFER: u32 = 64 << 20;
const ROOT: u32 = u32::MAX;

impl Plan {
    /// Translates an experiment.
    ///
    /// # Errors
    /// Everything in it that Linux cannot express.
    pub fn new(experiment: &Experiment, kernel: &Kernel) -> Result<Self, Vec<Refusal>> {
        let mut refusals = Refusals::default();
        let mut notes = Vec::new();
        for (index, group) in experiment.groups.iter().enumerate() {
            let Some(flow) = experiment.flows.iter().find(|flow| flow.group as usize == index) else {
                continue;
            };
            let endpoint = &experiment.endpoints[flow.endpoint as usize];
            check_endpoint(&group.name, &group.cc, endpoint, kernel, &mut refusals);
            check_application(&group.name, &flow.app, &mut refusals);
            if endpoint.stack.name != CURRENT_STACK {
                notes.push(format!(
                    "flow group `{}`: the stack is that of Linux {}, not `{}`",
                    group.name, kernel.release, endpoint.stack.name
                ));
            }
        }
        check_trace(experiment, &mut refusals);
        let dumbbell = dumbbell(experiment, kernel, &mut refusals);
        match dumbbell {
            Some(dumbbell) if refusals.0.is_empty() => Ok(Self {
                config: dumbbell.config(experiment),
                rules: dumbbell.rules(experiment, kernel),
                notes,
                memory_mib: dumbbell.memory_mib(experiment),
            }),
            _ => Err(refusals.0),
        }
    }
}

/// Presets that a kernel has, and their names there; those of our modules (linux/modules) come last.
const CONTROLLERS: [(&str, &str); 4] =
    [("reno", "reno"), ("cubic", "cubic"), ("dctcp", "dctcp"), ("dctcp-ikr", "dctcp_ikr")];

/// The kernel's name of a preset.
fn in_kernel(cc: &str) -> &str {
    CONTROLLERS.iter().find(|(name, _)| *name == cc).map_or(cc, |(_, in_kernel)| in_kernel)
}

/// Files of modules that must be loaded: those of ours that the plan uses.
fn module_of(name: &str) -> Option<&'static str> {
    match name {
        "dctcp_ikr" => Some("tcp_dctcp_ikr.ko"),
        "dualred" => Some("sch_dualred.ko"),
        "coupled" => Some("sch_coupled.ko"),
        "dualq_coupled" => Some("sch_dualq_coupled.ko"),
        _ => None,
    }
}

/// The profile that stands for whatever kernel runs.
const CURRENT_STACK: &str = "linux-6";

fn check_endpoint(
    group: &str,
    cc: &str,
    endpoint: &EndpointConfig,
    kernel: &Kernel,
    refusals: &mut Refusals,
) {
    let place = format!("flow group `{group}`");
    let is_preset = CcConfig::preset(cc) == Some(endpoint.cc);
    let known = CONTROLLERS.iter().find(|(name, _)| *name == cc).map(|(_, in_kernel)| *in_kernel);
    match known {
        None => refusals.add(
            &place,
            format!("no kernel has the congestion control `{cc}`"),
            "on Linux: reno, cubic, dctcp, dctcp-ikr",
        ),
        Some(name) if !kernel.controllers.iter().any(|other| other == name) => refusals.add(
            &place,
            format!("Linux {} has no congestion control `{name}`", kernel.release),
            "add it to linux/kernel/uml.config and run `shoal linux build`",
        ),
        Some(_) if !is_preset => refusals.add(
            &place,
            format!("cc_options change `{cc}`; the kernel's has no options"),
            "remove cc_options",
        ),
        Some(_) => {}
    }
    if matches!(endpoint.cc, CcConfig::Dctcp(_)) && endpoint.ecn == EcnSetting::Off {
        refusals.add(
            &place,
            "the kernel's dctcp asks for ECN whatever is set",
            "write ecn = \"on\", or cc = \"reno\"",
        );
    }
    if ![HEADERS_WITH_TIMESTAMPS, HEADERS_WITHOUT].contains(&endpoint.header_bytes) {
        refusals.add(
            &place,
            format!(
                "headers of {} B; IPv4 and TCP have 52 with timestamps and 40 without",
                endpoint.header_bytes
            ),
            "write header_bytes = 52 or 40",
        );
    }
    if !endpoint.delayed_ack {
        refusals.add(&place, "delayed ACKs cannot be switched off for a connection", "leave delayed_ack out");
    }
    if endpoint.initial_window.is_some_and(|packets| packets != 10) {
        refusals.add(&place, "the kernel's initial window is 10 packets", "leave initial_window out");
    }
    if endpoint.cwnd_clamp_packets != u32::MAX {
        refusals.add(
            &place,
            "the kernel has no bound of cwnd that a program could set",
            "leave cwnd_clamp out",
        );
    }
    if endpoint.receive_window_bytes < SOCKET_BUFFER {
        refusals.add(&place, "the kernel tunes the receive window itself", "leave receive_window out");
    }
    if !endpoint.stack.name.starts_with("linux") {
        refusals.add(
            &place,
            format!("`{}` is no stack of Linux", endpoint.stack.name),
            "leave `stack` out, or run this on the simulator",
        );
    }
    if endpoint.receiver != ReceiverConfig::default() {
        refusals.add(
            &place,
            "a receiver that differs from the sender is another kernel, or needs a module of its own",
            "leave `receiver` out, or run this on the simulator",
        );
    }
    if !(576..=9000).contains(&endpoint.mtu_bytes) {
        refusals.add(&place, format!("an mtu of {} B", endpoint.mtu_bytes), "write an mtu of 576 to 9000 B");
    }
}

fn check_application(group: &str, app: &App, refusals: &mut Refusals) {
    let missing = match app {
        App::Requests { .. } => "requests",
        App::Frames { .. } => "frames",
        App::Transfers { barrier: true, .. } => "rounds that wait for all flows",
        // Unresponsive traffic is refused with its controller.
        _ => return,
    };
    refusals.add(
        format!("flow group `{group}`"),
        format!("the guest has no application for {missing}"),
        "write another app, or run this on the simulator",
    );
}

fn check_trace(experiment: &Experiment, refusals: &mut Refusals) {
    for (wanted, key) in [(experiment.trace.packets, "packets"), (experiment.trace.pcap, "pcap")] {
        if wanted {
            refusals.add(
                format!("trace.{key}"),
                "the Linux plane does not write packet files yet",
                format!("set trace.{key} = false, or run this on the simulator"),
            );
        }
    }
}

/// One monitored link that begins every forward path, and pure delays.
fn dumbbell<'a>(
    experiment: &'a Experiment,
    kernel: &Kernel,
    refusals: &mut Refusals,
) -> Option<Dumbbell<'a>> {
    let shaped: Vec<usize> =
        (0..experiment.links.len()).filter(|&index| experiment.links[index].rate.is_some()).collect();
    let first = |flow: &Flow| experiment.paths[flow.forward as usize].first().map(|link| link.0 as usize);
    let is_dumbbell = matches!(shaped[..], [only] if experiment.links[only].monitored && experiment.links[only].pool.is_none()
        && experiment.flows.iter().all(|flow| first(flow) == Some(only)
            && !experiment.paths[flow.backward as usize].iter().any(|link| link.0 as usize == only)));
    if !is_dumbbell {
        refusals.add(
            "topology",
            "the Linux testbed is a dumbbell whose only queue is the bottleneck",
            "leave [topology] out, or run this on the simulator",
        );
        return None;
    }
    let (pairs, pair_of) = host_pairs(experiment);
    if pairs.len() > MAX_PAIRS || experiment.flows.len() > MAX_FLOWS {
        refusals.add(
            "flows",
            format!("{} flows with {} different settings", experiment.flows.len(), pairs.len()),
            format!("the testbed takes {MAX_FLOWS} flows and {MAX_PAIRS} different settings"),
        );
        return None;
    }
    let bottleneck = &experiment.links[shaped[0]];
    let mtu = pairs.iter().map(|pair| pair.mtu).max()?;
    let site = Site {
        rate: bottleneck.rate?,
        mtu: mtu.into(),
        flows: experiment.flows.len() as u32,
        any_ect: pairs.iter().any(|pair| pair.ecn),
        kernel,
    };
    let queue = disciplines::queue(&bottleneck.queue, &site, refusals)?;
    Some(Dumbbell { bottleneck, pairs, pair_of, queue, mtu })
}

impl Dumbbell<'_> {
    fn config(&self, experiment: &Experiment) -> String {
        let mut text = String::new();
        let kinds = self.queue.disciplines.iter().map(|discipline| discipline.kind);
        let controllers = experiment.groups.iter().map(|group| in_kernel(&group.cc));
        let mut modules: Vec<&str> = kinds.chain(controllers).filter_map(module_of).collect();
        modules.sort_unstable();
        modules.dedup();
        for module in modules {
            line(&mut text, format_args!("module /{module}"));
        }
        self.network(&mut text);
        for (number, flow) in experiment.flows.iter().enumerate() {
            let pair = self.pair_of[number];
            let cc = in_kernel(&experiment.groups[flow.group as usize].cc);
            let chunk = if matches!(flow.app, App::Bulk) { READ_CHUNK } else { 1 };
            let (start, stop) =
                (nanos(flow.start), flow.stop.map_or("never".to_owned(), |stop| nanos(stop).to_string()));
            line(
                &mut text,
                format_args!(
                    "flow s{pair} d{pair} {} {cc} 0 {chunk} 0 {start} {stop} {}",
                    receiver_address(pair),
                    application(&flow.app)
                ),
            );
        }
        line(
            &mut text,
            format_args!(
                "run {} {} {}",
                experiment.duration.as_nanos(),
                sample_interval(experiment).as_nanos(),
                experiment.warmup.as_nanos()
            ),
        );
        text
    }

    fn network(&self, text: &mut String) {
        line(text, format_args!("module /sch_line.ko"));
        // Memory for packets is bounded by the guest's own.
        line(text, format_args!("sysctl init net/ipv4/tcp_mem 1000000 1000000 1000000"));
        for router in ["r1", "r2"] {
            line(text, format_args!("host {router}"));
            line(text, format_args!("sysctl {router} net/ipv4/ip_forward 1"));
        }
        line(text, format_args!("veth r1 b0 10.3.0.1 r2 b0 10.3.0.2 {}", self.mtu));
        line(text, format_args!("route r1 10.2.0.0 16 10.3.0.2"));
        line(text, format_args!("route r2 10.1.0.0 16 10.3.0.1"));
        for (number, pair) in self.pairs.iter().enumerate() {
            for (side, router, net) in [("s", "r1", 1), ("d", "r2", 2)] {
                let host = format!("{side}{number}");
                line(text, format_args!("host {host}"));
                line(
                    text,
                    format_args!(
                        "veth {host} e0 10.{net}.{number}.2 {router} e{number} 10.{net}.{number}.1 {}",
                        pair.mtu
                    ),
                );
                line(text, format_args!("route {host} 0.0.0.0 0 10.{net}.{number}.1"));
                for (path, value) in host_settings(pair) {
                    line(text, format_args!("sysctl {host} {path} {value}"));
                }
            }
            line(
                text,
                format_args!("qdisc d{number} e0 {ROOT} {} netem {}", handle(20), hex(&netem(pair.rtt))),
            );
        }
        let options = Attributes::default()
            .u64(1, self.bottleneck.rate.map_or(0, shoal_units::Rate::as_bps))
            .u32(2, self.bottleneck.overhead_bytes.into())
            .u32(3, 0);
        let options = self.queue.on_line(options).into_bytes();
        line(text, format_args!("qdisc r1 b0 {ROOT} {} line {}", handle(1), hex(&options)));
        for discipline in &self.queue.disciplines {
            line(
                text,
                format_args!(
                    "qdisc r1 b0 {} {} {} {}",
                    discipline.parent,
                    discipline.handle,
                    discipline.kind,
                    hex(&discipline.options)
                ),
            );
        }
    }

    fn rules(&self, experiment: &Experiment, kernel: &Kernel) -> Vec<Rule> {
        let mut rules = Vec::new();
        let mut add = |place: &str, text: String| rules.push(Rule { place: place.to_owned(), text });
        add("kernel", format!("Linux {} in virtual time, {} mode", kernel.release, kernel.mode));
        let link = self.bottleneck;
        let rate = link.rate.map_or(0, shoal_units::Rate::as_bps);
        add(
            "bottleneck.rate",
            format!(
                "r1: tc qdisc add dev b0 root handle 1: line rate {rate}bit overhead {} (an IP packet takes its size plus the \
             overhead; the one in transmission does not wait)",
                link.overhead_bytes
            ),
        );
        for discipline in &self.queue.disciplines {
            add("bottleneck.aqm", format!("r1: {}", discipline.command("b0")));
        }
        for rule in &self.queue.rules {
            add("bottleneck.aqm", rule.clone());
        }
        for (number, pair) in self.pairs.iter().enumerate() {
            let place = format!("host pair {number}");
            let groups: Vec<&str> = (0..experiment.groups.len())
                .filter(|&group| {
                    let mut flows = experiment.flows.iter().zip(&self.pair_of);
                    flows.any(|(flow, of)| *of == number && flow.group as usize == group)
                })
                .map(|group| experiment.groups[group].name.as_str())
                .collect();
            add(&place, format!("s{number} sends, d{number} receives: {}", groups.join(", ")));
            add(
                &place,
                format!("d{number}: tc qdisc add dev e0 root netem delay {} limit 1000000", pair.rtt),
            );
            let settings: Vec<String> = host_settings(pair)
                .iter()
                .map(|(path, value)| format!("{}={value}", path.replace('/', ".")))
                .collect();
            add(&place, format!("both: sysctl {}", settings.join("; ")));
            add(
                &place,
                "all links: ethtool -K tso off gso off gro off; gso_max_segs 1; permanent neighbours"
                    .to_owned(),
            );
        }
        for (index, group) in experiment.groups.iter().enumerate() {
            if let Some(flow) = experiment.flows.iter().find(|flow| flow.group as usize == index) {
                add(
                    &format!("flow group `{}`", group.name),
                    format!(
                        "TCP_CONGESTION {} on both ends; {}",
                        in_kernel(&group.cc),
                        application(&flow.app)
                    ),
                );
            }
        }
        add(
            "measurement",
            format!(
                "TCP_INFO every {}; every packet at the bottleneck with its own times",
                sample_interval(experiment)
            ),
        );
        rules
    }

    /// Packets in the bottleneck's buffer and on the wires, with the kernel's own overhead, and what sockets hold.
    fn memory_mib(&self, experiment: &Experiment) -> u64 {
        let rate = self.bottleneck.rate.map_or(0, shoal_units::Rate::as_bps);
        let longest = self.pairs.iter().map(|pair| pair.rtt).max().unwrap_or(Span::ZERO);
        let bdp = rate as f64 / 8.0 * longest.as_secs_f64();
        let mtu = f64::from(self.mtu);
        let buffer = match limit_of(&self.bottleneck.queue) {
            Extent::Packets(packets) => f64::from(packets) * mtu,
            Extent::Bytes(bytes) => bytes as f64,
            Extent::Time(span) => rate as f64 / 8.0 * span.as_secs_f64(),
            // The receive windows end it.
            Extent::Unlimited => experiment.flows.len() as f64 * f64::from(SOCKET_BUFFER) / 2.0,
        };
        // A full packet takes 2304 B of memory (skb truesize), small ones 768 B, headers 256 B, and an ACK as much again.
        const BYTES_PER_BYTE: f64 = 4.0;
        const PER_FLOW: f64 = 1e6;
        const KERNEL: f64 = 96e6;
        let bytes = KERNEL + BYTES_PER_BYTE * (bdp + buffer) + PER_FLOW * experiment.flows.len() as f64;
        // Few sizes: the size is part of the guest's command line and so of its random numbers.
        ((bytes / f64::from(1 << 20)) as u64 + 1).next_power_of_two().max(256)
    }
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = text.write_fmt(arguments);
    text.push('\n');
}

fn receiver_address(pair: usize) -> String {
    format!("10.2.{pair}.2")
}

fn host_settings(pair: &HostPair) -> Vec<(&'static str, String)> {
    let switch = |on: bool| u8::from(on).to_string();
    vec![
        ("net/ipv4/tcp_ecn", switch(pair.ecn)),
        ("net/ipv4/tcp_sack", switch(pair.sack)),
        ("net/ipv4/tcp_timestamps", switch(pair.timestamps)),
        ("net/ipv4/tcp_no_metrics_save", switch(true)),
        ("net/ipv4/tcp_rmem", format!("4096 {SOCKET_BUFFER} {SOCKET_BUFFER}")),
        ("net/ipv4/tcp_wmem", format!("4096 {SOCKET_BUFFER} {SOCKET_BUFFER}")),
    ]
}

/// `struct tc_netem_qopt` (latency in ticks, limit, loss, gap, duplicate, jitter) and the delay in nanoseconds.
fn netem(delay: Span) -> Vec<u8> {
    const LATENCY64: u16 = 10;
    let mut options = Vec::new();
    for number in [0u32, 1_000_000, 0, 0, 0, 0] {
        options.extend(number.to_ne_bytes());
    }
    options.extend(Attributes::default().u64(LATENCY64, delay.as_nanos()).into_bytes());
    options
}

fn application(app: &App) -> String {
    match app {
        App::Bulk => "bulk".to_owned(),
        App::Transfers { bytes, rounds, interval, .. } => {
            format!("transfers {bytes} {rounds} {}", interval.as_nanos())
        }
        App::ConstantRate { chunk_bytes, interval } => format!("rate {chunk_bytes} {}", interval.as_nanos()),
        App::OnOff { on, off } => format!("on-off {} {}", on.as_nanos(), off.as_nanos()),
        // Its controller, "none", was refused.
        App::Requests { .. } | App::Frames { .. } | App::Unresponsive { .. } => {
            unreachable!("refused before")
        }
    }
}

/// A part of the bins of the series, so that bins end with a sample.
pub(crate) fn sample_interval(experiment: &Experiment) -> Span {
    let flows = experiment.flows.len() as u64;
    let least = experiment.duration.as_nanos() * flows / MAX_SAMPLES;
    let pace = Span::from_nanos(SAMPLE.as_nanos().max(least));
    match experiment.trace.series_interval {
        Some(bin) => {
            Span::from_nanos((bin.as_nanos() / bin.as_nanos().div_ceil(pace.as_nanos()).max(1)).max(1))
        }
        None => pace,
    }
}

fn nanos(time: Time) -> u64 {
    time.as_picos() / 1000
}
