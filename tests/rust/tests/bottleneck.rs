//! A link alone: golden traces that every language must repeat, and what the simulator says of the same packets.

use shoal_aqm::Verdict;
use shoal_bottleneck::{Bottleneck, Next};
use shoal_packet::{Ecn, Packet, Reason};
use shoal_scenario::Document;
use shoal_sim::{Options, PacketSink};
use shoal_trace::{PacketEvent, PacketRow};
use shoal_units::{Rate, Span, Time};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{env, fs};

const ECN: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

/// A link, and what is heard of it.
struct Driver {
    bottleneck: Bottleneck,
    wanted: Option<Time>,
    output: String,
}

impl Driver {
    /// Hears what happens before `now`.
    fn until(&mut self, now: Time) {
        while let Some(at) = self.wanted.filter(|at| *at < now) {
            self.ask(at);
        }
    }

    fn ask(&mut self, now: Time) {
        self.wanted = loop {
            match self.bottleneck.next(now) {
                Next::Packet(packet) => {
                    let (at, ecn) = (packet.at.as_picos(), packet.ecn.bits());
                    let marked = u8::from(packet.is_marked);
                    self.say(format_args!(
                        "p {at} {} {} {} {ecn} {marked}",
                        packet.handle, packet.flow, packet.bytes
                    ));
                }
                Next::Lost(lost) => {
                    self.say(format_args!("l {} {} {}", lost.at.as_picos(), lost.handle, code(lost.reason)));
                }
                Next::At(at) => break Some(at),
                Next::Nothing => break None,
            }
        };
    }

    fn enqueue(&mut self, now: Time, bytes: u16, ecn: Ecn, flow: u32, handle: u64) {
        let (verdict, reason) = match self.bottleneck.enqueue(now, bytes, ecn, flow, handle) {
            Verdict::Queued { mark: None } => return,
            Verdict::Queued { mark } => (1, mark),
            Verdict::Displaced => (2, None),
            Verdict::Dropped(reason) => (3, Some(reason)),
        };
        self.say(format_args!("e {handle} {verdict} {}", code(reason)));
    }

    fn say(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.output, "{line}").expect("memory");
    }
}

fn code(reason: Option<Reason>) -> u8 {
    reason.map_or(u8::MAX, |reason| reason as u8)
}

/// What a trace must say: the text between these two words.
fn between<'t>(trace: &'t str, from: &str, to: &str) -> &'t str {
    let start = trace.find(&format!("\n{from}\n")).expect("a section") + from.len() + 2;
    let rest = &trace[start..];
    rest.find(&format!("{to}\n")).map_or(rest, |end| &rest[..end])
}

fn drive(trace: &str) -> String {
    let experiment =
        Document::parse(between(trace, "scenario", "input"), "trace").unwrap().resolve(Some(1)).unwrap();
    let bottleneck = Bottleneck::new(&experiment.link_config(None).unwrap(), 1).unwrap();
    let mut driver = Driver { bottleneck, wanted: None, output: String::new() };
    let mut handle = 0;
    for line in between(trace, "input", "output").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |n: usize| words[n].parse::<u64>().expect("a number");
        let at = |n: usize| Time::from_picos(number(n));
        match words[0] {
            "packets" => {
                let ecn: Vec<Ecn> = words[5].bytes().map(|digit| ECN[usize::from(digit - b'0')]).collect();
                for n in 0..number(3) {
                    let now = at(1) + Span::from_picos(number(2) * n);
                    driver.until(now);
                    let codepoint = ecn[n as usize % ecn.len()];
                    driver.enqueue(now, number(4) as u16, codepoint, (n % number(6)) as u32, handle);
                    driver.ask(now);
                    handle += 1;
                }
            }
            "rate" | "delay" => {
                driver.until(at(1));
                let done = match words[0] {
                    "rate" => driver.bottleneck.set_rate(at(1), Rate::from_bps(number(2))),
                    _ => driver.bottleneck.set_delay(at(1), Span::from_picos(number(2))),
                };
                if done.is_err() {
                    driver.say(format_args!("f"));
                }
                driver.ask(at(1));
            }
            "end" => driver.until(Time::NEVER),
            word => panic!("{word}"),
        }
    }
    let (counts, waiting) = (driver.bottleneck.counters(), driver.bottleneck.backlog());
    driver.say(format_args!(
        "c {} {} {} {} {} {} {} {}",
        counts.arrived,
        counts.marked,
        counts.dropped,
        counts.lost,
        counts.delivered,
        counts.delivered_bytes,
        waiting.packets,
        waiting.bytes
    ));
    driver.output
}

fn traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bottleneck/traces");
    let mut traces: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    traces.sort();
    assert_eq!(traces.len(), 12);
    traces
}

#[test]
fn golden_traces() {
    for path in traces() {
        let trace = fs::read_to_string(&path).unwrap();
        let output = drive(&trace);
        let (before, expected) = trace.split_once("\noutput\n").expect("a section");
        if env::var_os("UPDATE_TRACES").is_some() {
            fs::write(&path, format!("{before}\noutput\n{output}")).unwrap();
        } else {
            assert_eq!(output, expected, "{}", path.display());
        }
    }
}

/// Every event of the bottleneck of a run: time, packet, and what happened.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(PacketEvent, Time, Packet)>>>);

impl PacketSink for Log {
    fn on_event(&mut self, row: PacketRow, packet: &Packet, _: Option<Reason>) {
        self.0.lock().unwrap().push((row.event, Time::from_picos(row.time_ps), *packet));
    }
}

/// TCP flows over each link of the traces in the simulator; the packets that come to the queue there go through the
/// same link alone, and have the same fates at the same times.
#[test]
fn a_link_alone_does_what_it_does_in_the_simulator() {
    for path in traces() {
        let trace = fs::read_to_string(&path).unwrap();
        let text = between(&trace, "scenario", "input").replace(
            r#"flows = [{ cc = "reno", rtt = "20 ms" }]"#,
            r#"flows = [{ cc = "cubic", rtt = "60 ms", count = 2 }, { cc = "dctcp", rtt = "60 ms", count = 2 }]"#,
        );
        let document = Document::parse(&format!("trace.packets = true\n{text}"), "trace").unwrap();
        let experiment = document.resolve(Some(9)).unwrap();
        let log = Log::default();
        let options = Options { packets: Some(Box::new(log.clone())), ..Options::default() };
        shoal_sim::run(&experiment, options).expect("nobody ends it early");
        let events = log.0.lock().unwrap().clone();
        let of = |wanted: &[PacketEvent]| -> Vec<(Time, u64)> {
            let fates = events.iter().filter(|(event, ..)| wanted.contains(event));
            let mut fates: Vec<_> = fates.map(|(_, at, packet)| (*at, identity(packet))).collect();
            fates.sort_unstable();
            fates
        };
        // The simulator tells when a transmission begins: without impairments packets arrive some time later.
        let mut link = experiment.link_config(None).unwrap();
        link.impairments = None;
        let mut alone = Bottleneck::new(&link, experiment.seed).unwrap();
        let (mut dropped, mut arrived) = (Vec::new(), Vec::new());
        let mut refused = Vec::new();
        for (event, now, packet) in &events {
            if *event == PacketEvent::Arrive {
                hear(&mut alone, *now, &mut arrived, &mut dropped);
                let handle = identity(packet);
                let verdict = alone.enqueue(*now, packet.size, packet.ecn, packet.flow.0, handle);
                if let Verdict::Dropped(_) = verdict {
                    refused.push((*now, handle));
                }
            }
        }
        let end = Time::ZERO + Span::from_secs(10);
        hear(&mut alone, end, &mut arrived, &mut dropped);
        assert_eq!(alone.counters().marked as usize, of(&[PacketEvent::Mark]).len(), "{}", path.display());
        dropped.extend(refused);
        dropped.sort_unstable();
        assert_eq!(dropped, of(&[PacketEvent::Drop]), "{}", path.display());
        // What was on the wire at the end of the run arrives alone.
        hear(&mut alone, end + Span::from_secs(1), &mut arrived, &mut Vec::new());
        let departed = departed_in_order(&events);
        assert!(departed.len() > 1000, "{}: {} departures", path.display(), departed.len());
        assert_eq!(arrived[..departed.len()], departed, "{}", path.display());
    }
}

fn hear(alone: &mut Bottleneck, now: Time, arrived: &mut Vec<u64>, dropped: &mut Vec<(Time, u64)>) {
    loop {
        match alone.next(now) {
            Next::Packet(packet) => arrived.push(packet.handle),
            Next::Lost(lost) => dropped.push((lost.at, lost.handle)),
            Next::At(_) | Next::Nothing => return,
        }
    }
}

/// Packets in the order in which their transmissions began.
fn departed_in_order(events: &[(PacketEvent, Time, Packet)]) -> Vec<u64> {
    let departures = events.iter().filter(|(event, ..)| *event == PacketEvent::Depart);
    departures.map(|(_, _, packet)| identity(packet)).collect()
}

/// Flow and first byte: a retransmission has that of the packet that it replaces.
fn identity(packet: &Packet) -> u64 {
    u64::from(packet.flow.0) << 32 | u64::from(packet.seq.0)
}
