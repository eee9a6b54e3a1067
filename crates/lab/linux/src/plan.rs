//! Plans: an experiment as instructions for the guest, with an explanation in words.
//!
//! Queues stand in front of `line` (linux/testbed), which transmits at the rate of the link.

use crate::applications;
use crate::buffers;
use crate::card;
use crate::controllers::{Control, Module, control, modules_of};
use crate::device::line;
use crate::endpoints;
use crate::kernel::Kernel;
use crate::refusal::Refusals;
use crate::testbed::{Place, Testbed};
use crate::user_modules;
use shoal_scenario::{App, Experiment, Flow, Link, Refusal};
use shoal_units::{Rate, Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// A plan for the guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Configuration of the guest: one instruction a line.
    pub config: String,
    /// Explanation of how the scenario was translated.
    pub rules: Vec<Rule>,
    /// Where the kernel differs from what the scenario asks for; every report repeats them.
    pub notes: Vec<String>,
    /// Addresses of the senders that captures are made at: their acknowledgements pass no monitored link.
    pub(crate) captured: BTreeSet<Ipv4Addr>,
    /// Memory of the guest in MiB: an upper bound on what packets, queues and sockets can hold.
    pub memory_mib: u64,
}

/// One entry of the explanation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Part of the scenario.
    pub place: String,
    /// What the part became on the kernel.
    pub text: String,
}

/// Shows the call trace of a panic (linux/testbed/backtrace.c).
const BACKTRACE: &str = "backtrace.ko";
/// Level up to which the console shows what the kernel says (its own word is `KERN_INFO`, 6; the console shows what is
/// below its level: `printk` in
/// [sysctl/kernel.rst](https://elixir.bootlin.com/linux/v6.12/source/Documentation/admin-guide/sysctl/kernel.rst)).
const INFORMATION: u8 = 7;
/// Most flows: the port numbers from 10000 upwards identify them.
const MAX_FLOWS: usize = 50_000;
/// Longest interval of TCP_INFO samples, unless all flows together would have more than [`MAX_SAMPLES`].
const LONGEST_SAMPLE: Span = Span::from_millis(10);
/// Fewest samples of a run, which decide in runs of less than a second: their means need samples as well.
const FEWEST_SAMPLES: u64 = 100;
/// Most samples of all flows together; more would cost more time than the packets.
const MAX_SAMPLES: u64 = 4_000_000;
/// Bytes that the receiver of a long and fast flow reads at a time, but for the first 256 KiB. A receiver that reads
/// every packet costs four times as much, and chunks of 256 KiB would limit fast paths (see docs/linux.md).
const READ_CHUNK: u32 = 64 << 10;
/// Rate of the slowest link of a path from which on its receivers read in chunks.
const RATE_OF_CHUNKS: Rate = Rate::from_bps(100_000_000);
/// Bytes of unsent data in the sockets of iperf3.
const UNSENT_OF_GENERATOR: u64 = 128 << 10;

impl Plan {
    /// Translates an experiment; if `captures`, packets are captured for [`crate::write_capture`].
    ///
    /// # Errors
    /// Everything in the experiment that Linux cannot do.
    pub fn new(experiment: &Experiment, kernel: &Kernel, captures: bool) -> Result<Self, Vec<Refusal>> {
        let mut refusals = Refusals::default();
        if experiment.flows.len() > MAX_FLOWS {
            refusals.add(
                "flows",
                format!("{} flows", experiment.flows.len()),
                format!("the testbed takes {MAX_FLOWS}: each has a port of its own"),
            );
        }
        let controls = controls(experiment, kernel, &mut refusals);
        check_trace(experiment, &mut refusals);
        applications::check(experiment, &mut refusals);
        let modules = modules_of(&controls, &mut refusals);
        let testbed = Testbed::of(experiment, kernel, &mut refusals);
        let user_parameters = user_modules::parameters(experiment, kernel, &mut refusals);
        match testbed {
            Some(testbed) if refusals.0.is_empty() => {
                let planned = Planned {
                    experiment,
                    kernel,
                    controls: &controls,
                    testbed: &testbed,
                    user_parameters,
                    captures,
                };
                Ok(Self {
                    config: planned.config(modules),
                    rules: planned.rules(),
                    notes: planned.notes(),
                    captured: captured(experiment, &testbed),
                    memory_mib: planned.memory_mib(),
                })
            }
            _ => Err(refusals.0),
        }
    }
}

fn captured(experiment: &Experiment, testbed: &Testbed) -> BTreeSet<Ipv4Addr> {
    let flows = experiment.flows.iter().zip(&testbed.places);
    flows.filter(|(flow, _)| !experiment.is_monitored(flow.backward)).map(|(_, place)| place.source).collect()
}

/// Controllers of the groups; `None` for a group without flows.
fn controls<'a>(
    experiment: &'a Experiment,
    kernel: &Kernel,
    refusals: &mut Refusals,
) -> Vec<Option<Control<'a>>> {
    let of_group = |(index, group): (usize, &'a shoal_scenario::Group)| {
        let flow = &experiment.flows.iter().find(|flow| flow.group as usize == index)?;
        let endpoint = &experiment.endpoints[flow.endpoint as usize];
        let place = format!("flow group `{}`", group.name);
        endpoints::check(&place, flow, endpoint, refusals);
        card::check(&place, experiment.host_of(flow), kernel, refusals);
        if group.dscp != 0 && kernel.generator.is_some() {
            let reason = format!("packets with code point {}: those of iperf3 have 0 here", group.dscp);
            refusals.add(&place, reason, "leave --generator out");
        }
        if let Some(tunnel) = &group.tunnel {
            let reason = format!("packets in the tunnel `{tunnel}`: the guest's have no outer header");
            refusals.add(&place, reason, "leave tunnel out, or run this on the simulator");
        }
        if matches!(flow.app, App::Unresponsive { .. }) {
            if kernel.generator.is_some() {
                applications::check_iperf3(flow, None, &place, refusals);
            }
            return None;
        }
        let control = control(group, endpoint, &place, kernel, refusals);
        if kernel.generator.is_some() {
            applications::check_iperf3(flow, control.as_ref(), &place, refusals);
        }
        control
    };
    experiment.groups.iter().enumerate().map(of_group).collect()
}

fn check_trace(experiment: &Experiment, refusals: &mut Refusals) {
    let none = [
        (experiment.trace.packets, "packets", "false"),
        (experiment.trace.segment_flows > 0, "segment_flows", "0"),
    ];
    for (_, key, off) in none.into_iter().filter(|(wanted, ..)| *wanted) {
        refusals.add(
            format!("trace.{key}"),
            "the Linux plane does not write tables of packets",
            format!(
                "set trace.{key} = {off} (trace.pcap = true captures packets), or run this on the simulator"
            ),
        );
    }
}

/// A plan under construction, of which no part was refused.
struct Planned<'a> {
    experiment: &'a Experiment,
    kernel: &'a Kernel,
    controls: &'a [Option<Control<'a>>],
    testbed: &'a Testbed,
    /// Parameters by the names of the user's modules.
    user_parameters: BTreeMap<String, BTreeMap<String, String>>,
    captures: bool,
}

impl Planned<'_> {
    fn config(&self, modules: Vec<Module>) -> String {
        let mut text = String::new();
        // iperf3 polls the time until it has passed; the guest's own program never does.
        let asking = if self.kernel.generator.is_some() { "" } else { " asking_ns=0" };
        line!(text, "module /{CLOCK}{asking}");
        self.load_user_modules(&mut text);
        for Module { file, parameters } in self.modules(modules) {
            let parameters = parameters.map_or(String::new(), |words| format!(" {words}"));
            line!(text, "{}", format!("module /{file}{parameters}").trim_end());
        }
        // The guest's own memory bounds the memory for packets.
        line!(text, "sysctl init net/ipv4/tcp_mem 1000000 1000000 1000000");
        self.testbed.write(&mut text);
        if self.kernel.generator.is_some() {
            self.prepare_generator(&mut text);
        }
        if self.captures {
            let interface = self.experiment.monitored().count();
            for port in self.testbed.sender_ports() {
                line!(text, "capture {} {} {interface}", port.host, port.device);
            }
        }
        self.testbed.write_counters(self.experiment, &mut text);
        self.testbed.write_shown(&mut text);
        for (flow, place) in self.experiment.flows.iter().zip(&self.testbed.places) {
            line!(text, "{}", self.flow(&flow, place));
        }
        for (number, flow) in self.experiment.flows.iter().enumerate() {
            let dscp = self.experiment.groups[flow.group as usize].dscp;
            if dscp != 0 {
                line!(text, "dscp {number} {dscp}");
            }
        }
        for (number, flow) in self.experiment.flows.iter().enumerate() {
            self.replacement(number, &flow, &mut text);
        }
        applications::gaps(self.experiment, &mut text);
        let (run, sample) = (self.experiment.duration, sample_interval(self.experiment));
        let warmup = self.experiment.warmup.as_nanos();
        line!(text, "run {} {} {warmup}", run.as_nanos(), sample.as_nanos());
        text
    }

    /// Loads the modules of the user before everything else; panics then show who called, and the console what the
    /// kernel says.
    fn load_user_modules(&self, text: &mut String) {
        if self.kernel.user_modules.is_empty() {
            return;
        }
        line!(text, "module /{BACKTRACE}");
        line!(text, "write init kernel/printk {INFORMATION}");
        for module in &self.kernel.user_modules {
            let given = self.user_parameters.get(&module.run.name).into_iter().flatten();
            let words: String = given.map(|(name, value)| format!(" {name}={value}")).collect();
            line!(text, "load {}{words}", module.run.name);
        }
    }

    /// The modules of the controllers and those of the queues, each once.
    fn modules(&self, of_controllers: Vec<Module>) -> Vec<Module> {
        let disciplines = self.testbed.lines.iter().flat_map(|line| &line.queue.disciplines);
        let files = disciplines.filter_map(|discipline| module_of(&discipline.kind));
        let moderation = self.testbed.moderates().then_some("sch_coalesce.ko");
        let of_queues = files.chain(moderation).map(|file| Module { file, parameters: None });
        let mut modules: Vec<Module> = of_controllers.into_iter().chain(of_queues).collect();
        modules.sort_unstable();
        modules.dedup();
        let parameters = self.captures.then(|| "capture=1".to_owned());
        modules.push(Module { file: "sch_line.ko", parameters });
        modules
    }

    /// What iperf3 needs of the kernel.
    fn prepare_generator(&self, text: &mut String) {
        // A namespace may only choose controllers that all users are allowed to choose
        // (`tcp_set_default_congestion_control`).
        let used = self.controls.iter().flatten().flat_map(|control| [control.sender, control.listener]);
        let names: BTreeSet<&str> = used.chain(["cubic", "reno"]).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(" ");
        line!(text, "sysctl init net/ipv4/tcp_allowed_congestion_control {names}");
        // Otherwise iperf3 fills its socket's 64 MiB, whatever the window.
        for end in &self.testbed.ends {
            line!(text, "sysctl {} net/ipv4/tcp_notsent_lowat {UNSENT_OF_GENERATOR}", end.port.host);
        }
    }

    /// The instruction of a flow.
    fn flow(&self, flow: &Flow, place: &Place) -> String {
        let control = self.controls[flow.group as usize].as_ref();
        let controllers = control.map_or(["-"; 3], |control| names(control, &flow.app)).join(" ");
        // The last packet of a segment has PSH, and is acknowledged as soon as it is read.
        let offload = self.experiment.host_of(flow).offload;
        let slowest = self.experiment.links_of(flow.forward).filter_map(Link::highest_rate).min();
        let is_fast = slowest.is_none_or(|rate| rate >= RATE_OF_CHUNKS);
        let chunk =
            if is_fast && matches!(flow.app, App::Bulk) && offload.is_none() { READ_CHUNK } else { 1 };
        let unsent = match offload {
            Some(offload) => offload.unsent_limit_bytes(),
            None => self.experiment.endpoints[flow.endpoint as usize].unsent_bytes.into(),
        };
        // Packet by packet, no write may end with a PSH but the last of what there is.
        let in_pieces = u8::from(offload.is_none());
        let stop = flow.stop.map_or("never".to_owned(), |stop| nanos(stop).to_string());
        let app = match self.kernel.generator {
            Some(_) => applications::iperf3(self.experiment),
            None => applications::words(self.experiment, flow),
        };
        let host = |end: usize| self.testbed.ends[end].port.host.as_str();
        let (sender, receiver) = (host(place.sender), host(place.receiver));
        let Place { source, destination, .. } = place;
        let start = nanos(flow.start);
        let place = format!("{sender} {receiver} {source} {destination}");
        format!("flow {place} {controllers} {chunk} {unsent} {in_pieces} {start} {stop} {app}")
    }

    /// The instruction that gives a flow another controller.
    fn replacement(&self, number: usize, flow: &Flow, text: &mut String) {
        let group = flow.group as usize;
        let successor = self.controls[group].as_ref().and_then(|control| control.successor);
        if let (Some(name), Some(replacement)) = (successor, &self.experiment.groups[group].replacement)
            && flow.start < Time::NEVER
        {
            line!(text, "replace {number} {} {name}", nanos(flow.start.saturating_add(replacement.after)));
        }
    }

    fn notes(&self) -> Vec<String> {
        let groups = self.experiment.groups.iter().zip(self.controls);
        let notes = groups.flat_map(|(group, control)| {
            let notes = control.iter().flat_map(|control| &control.notes);
            notes.map(|note| format!("flow group `{}`: {note}", group.name))
        });
        notes.collect()
    }

    fn rules(&self) -> Vec<Rule> {
        let mut rules = Vec::new();
        let mut add = |place: &str, text: String| rules.push(Rule { place: place.to_owned(), text });
        add("kernel", format!("Linux {} in virtual time, {} mode", self.kernel.release, self.kernel.mode));
        add(
            "clock",
            match self.kernel.generator {
                Some(_) => {
                    "virtual time in nanoseconds; it passes only while all wait, and 256 ns when iperf3 asks \
                            for it"
                }
                None => "virtual time in nanoseconds; it passes only while all wait",
            }
            .to_owned(),
        );
        for module in &self.kernel.user_modules {
            add(&format!("module `{}`", module.run.name), module.in_words());
        }
        for (router, name) in &self.testbed.routers {
            add(router, format!("forwards: {name}"));
        }
        for transmitter in &self.testbed.lines {
            let ((line, queue), (rate, aqm)) = (transmitter.commands(), &transmitter.places);
            add(rate, line);
            for text in queue.into_iter().chain(transmitter.queue.rules.iter().cloned()) {
                add(aqm, text);
            }
        }
        add(
            "line",
            "an IP packet takes its size plus the overhead; the one in transmission does not wait".to_owned(),
        );
        for delay in &self.testbed.delays {
            let (host, device, span) = (&delay.host, &delay.device, delay.delay);
            add(host, format!("{host}: tc qdisc add dev {device} root netem delay {span} limit 1000000"));
        }
        for path in &self.testbed.impaired {
            add(&format!("link `{}`: impairments", path.link), path.command());
        }
        for (number, end) in self.testbed.ends.iter().enumerate() {
            self.end_rules(number, &end.port.host, &mut add);
        }
        add(
            "all links",
            "ethtool -K tso off gso off gro off, but for gro of the hosts above; permanent neighbours"
                .to_owned(),
        );
        add("sockets", buffers::rule(self.testbed.socket_buffer));
        for (index, group) in self.experiment.groups.iter().enumerate() {
            if let Some(text) = self.group_rule(index) {
                add(&format!("flow group `{}`", group.name), text);
            }
        }
        add(
            "measurement",
            format!(
                "TCP_INFO every {}; every packet at the monitored links with its own times",
                sample_interval(self.experiment)
            ),
        );
        add("memory", format!("{} MiB at most", self.memory_mib()));
        rules
    }

    /// The translation of a group; `None` if it has no flows.
    fn group_rule(&self, index: usize) -> Option<String> {
        let flow = &self.experiment.flows.iter().find(|flow| flow.group as usize == index)?;
        let app = applications::rule(self.experiment, flow);
        let Some(Control { sender, listener, connects_as, .. }) = &self.controls[index] else {
            return Some(format!("UDP, IP_TOS at the sender; {app}"));
        };
        let connects =
            if connects_as == sender { String::new() } else { format!(" (connects as {connects_as})") };
        let app = self.kernel.generator.clone().unwrap_or(app);
        let dscp = self.experiment.groups[index].dscp;
        let marked =
            if dscp == 0 { String::new() } else { format!("IP_TOS {:#04x} at both ends; ", dscp << 2) };
        Some(format!(
            "TCP_CONGESTION {sender}{connects} at the sender, {listener} at the listener; {marked}{app}"
        ))
    }

    fn end_rules(&self, number: usize, host: &str, add: &mut impl FnMut(&str, String)) {
        let places = &self.testbed.places;
        let role = |is: fn(&Place) -> usize| {
            let groups = (0..self.experiment.groups.len()).filter(|&group| {
                let mut flows = self.experiment.flows.iter().zip(places);
                flows.any(|(flow, place)| is(place) == number && flow.group as usize == group)
            });
            let names: Vec<&str> = groups.map(|group| self.experiment.groups[group].name.as_str()).collect();
            names.join(", ")
        };
        let (sends, receives) = (role(|place| place.sender), role(|place| place.receiver));
        let roles = [("sends", sends), ("receives", receives)];
        let roles: Vec<String> = roles
            .into_iter()
            .filter(|(_, groups)| !groups.is_empty())
            .map(|(verb, groups)| format!("{verb} {groups}"))
            .collect();
        let end = &self.testbed.ends[number];
        add(host, format!("{host} at {}: {}", end.router.host, roles.join("; ")));
        let settings: Vec<String> = end
            .settings
            .sysctls(self.testbed.socket_buffer)
            .iter()
            .map(|(path, value)| format!("{}={value}", path.replace('/', ".")))
            .collect();
        add(host, format!("sysctl {}", settings.join("; ")));
        for command in end.settings.card.commands(&self.testbed.attachment(end)) {
            add(host, command);
        }
        let metrics = end.settings.metrics();
        if !metrics.is_empty() {
            add(host, format!("ip route add default via {}{metrics}", end.router.address));
        }
    }

    /// Memory in MiB that queues, links and sockets can hold, with the kernel's overhead.
    fn memory_mib(&self) -> u64 {
        // A full packet takes 2304 B of memory (skb truesize), a small one 768 B, headers 256 B, and an ACK
        // the same again.
        const BYTES_PER_BYTE: f64 = 4.0;
        const PER_FLOW: f64 = 1e6;
        const PER_HOST: f64 = 0.5e6;
        // Buffers of linux/testbed/capture.c.
        const CAPTURE: f64 = 34e6;
        const KERNEL: f64 = 92e6;
        let experiment = self.experiment;
        // Whatever the buffers, windows and applications bound the data in flight.
        let in_network = buffers::in_links(experiment)
            .min(experiment.flows.iter().map(|flow| self.most_in_flight(&flow)).sum());
        let alive = experiment.flows.len() as f64;
        let bytes = KERNEL
            + BYTES_PER_BYTE * in_network
            + PER_FLOW * alive.min(MOST_ALIVE)
            + PER_HOST * self.testbed.hosts() as f64
            + if self.captures { CAPTURE } else { 0.0 };
        // Only few different sizes, since the size is part of the guest's command line and thereby of its
        // random numbers.
        ((bytes / f64::from(1 << 20)) as u64 + 1).next_power_of_two().max(256)
    }

    fn most_in_flight(&self, flow: &Flow) -> f64 {
        let endpoint = &self.experiment.endpoints[flow.endpoint as usize];
        let window =
            f64::from(endpoint.receive_window_bytes).min(buffers::window_in(self.testbed.socket_buffer));
        let headers = 1.0 + f64::from(endpoint.header_bytes) / f64::from(endpoint.mss());
        match flow.app {
            App::Transfers { bytes, .. } => (bytes as f64).min(window) * headers,
            _ => window * headers,
        }
    }
}

/// Module that gives the guest the clock of a stock host; it is loaded before anything that reads the clock.
const CLOCK: &str = "fine_clock.ko";

/// Flows whose sockets are counted: flows of random arrivals end before most of the others begin.
const MOST_ALIVE: f64 = 2000.0;

/// Module that must be loaded for a discipline, if any.
fn module_of(kind: &str) -> Option<&'static str> {
    match kind {
        "dualred" => Some("sch_dualred.ko"),
        "coupled" => Some("sch_coupled.ko"),
        "dualq_coupled" => Some("sch_dualq_coupled.ko"),
        _ => None,
    }
}

/// Controllers of the sender, of the connecting socket during the handshake, and of the receiver, which
/// connects if it sends requests.
fn names<'a>(control: &Control<'a>, app: &App) -> [&'a str; 3] {
    let connects_as = match app {
        App::Requests { .. } if control.listener != control.sender => "reno",
        App::Requests { .. } => control.listener,
        _ => control.connects_as,
    };
    [control.sender, connects_as, control.listener]
}

/// Interval of samples: a hundredth of the duration, and 10 ms at most. It divides the bin of the time series,
/// so that bins end with a sample.
pub(crate) fn sample_interval(experiment: &Experiment) -> Span {
    let flows = experiment.flows.len() as u64;
    let duration = experiment.duration.as_nanos();
    let least = (duration * flows / MAX_SAMPLES).max(1);
    let pace = Span::from_nanos((duration / FEWEST_SAMPLES).min(LONGEST_SAMPLE.as_nanos()).max(least));
    match experiment.trace.series_interval {
        Some(bin) => {
            Span::from_nanos((bin.as_nanos() / bin.as_nanos().div_ceil(pace.as_nanos()).max(1)).max(1))
        }
        None => pace,
    }
}

pub(crate) fn nanos(time: Time) -> u64 {
    time.as_picos() / 1000
}
