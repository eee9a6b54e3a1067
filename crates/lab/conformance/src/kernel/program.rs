//! The program that the guest plays: one line for each step, read by `linux/guest/script.c`.

use super::calls::{self, Output};
use super::memory::{Argument, Relocation};
use super::values::PORT;
use super::wire::{self, Patch};
use crate::ScriptError;
use crate::connections::{Connections, Place};
use crate::shell::{Command, Qdisc};
use crate::syntax::ast::{Action, Body, Call, Event, Options, Script, Timing};
use std::fmt::Write;

/// First port of the peers that connect to the side under test.
const FIRST_REMOTE_PORT: usize = 40_000;
const NS_PER_US: i64 = 1000;

/// A script in the form that the guest plays.
pub struct Program {
    /// The lines of the program.
    pub text: String,
    pub(super) connections: Connections,
    /// Expected outputs of calls, by event.
    pub(super) outputs: Vec<Vec<Output>>,
}

/// Translates a script.
///
/// # Errors
/// The script asks for something that the guest cannot do.
pub fn translate(script: &Script) -> Result<Program, ScriptError> {
    if script.options.ip_version == Some(6) {
        return Err(ScriptError::refused(1, "the script is for IPv6; the guest's kernel has IPv4 only"));
    }
    let connections = Connections::of(&script.events)?;
    let mut lines = Lines { text: String::new(), outputs: vec![Vec::new(); script.events.len()] };
    lines.put(&format!("- tun {} {}", script.options.mtu_bytes, script.options.mss.unwrap_or(0)));
    for (k, connection) in connections.list.iter().enumerate() {
        let (local, remote) = if connection.active {
            (0, usize::from(PORT))
        } else {
            (usize::from(PORT), FIRST_REMOTE_PORT + k)
        };
        lines.put(&format!("- connection {local} {remote}"));
    }
    for command in &script.setup {
        for words in set(command) {
            lines.put(&format!("- {words}"));
        }
    }
    let mut before_arrived = false;
    for (n, event) in script.events.iter().enumerate() {
        let place = connections.places[n];
        lines.event(n, event, place, &connections, before_arrived, &script.options)?;
        before_arrived = matches!(event.action, Action::Arrives(_));
    }
    Ok(Program { text: lines.text, connections, outputs: lines.outputs })
}

/// Whether the time of an event counts from the scheduled arrival of the preceding packet, as it does if two
/// packets arrive in a row.
pub(crate) const fn anchored(event: &Event, before_arrived: bool) -> bool {
    before_arrived && event.time.relative && matches!(event.action, Action::Arrives(_))
}

/// How long to wait for a packet, in nanoseconds after the origin of its times.
pub(crate) fn patience(time: Timing, options: &Options) -> i64 {
    /// How long to wait for a packet that may come at any time: longer than any TCP timer.
    const LONGEST: i64 = 130_000_000_000;
    /// Beyond the tolerance, so that a late packet is distinguished from a missing one.
    const GRACE: i64 = 1_000_000_000;
    let last = time.to.unwrap_or(time.from);
    if time.any { LONGEST } else { (last + options.tolerance_after(last)) * NS_PER_US + GRACE }
}

struct Lines {
    text: String,
    outputs: Vec<Vec<Output>>,
}

impl Lines {
    fn put(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn event(
        &mut self,
        n: usize,
        event: &Event,
        place: Place,
        connections: &Connections,
        before_arrived: bool,
        options: &Options,
    ) -> Result<(), ScriptError> {
        let time = event.time;
        let at = moment(time, time.from, anchored(event, before_arrived));
        match &event.action {
            Action::Arrives(packet) => {
                let connection = &connections.list[place.connection];
                let (bytes, patches) = wire::encode(packet, connection.local_isn, connection.remote_isn);
                let patches = join(patches.iter().map(patch));
                self.put(&format!("{n} inject {at} {} {} {patches}", place.connection, hex(&bytes)));
            }
            Action::Leaves(packet) => {
                let letter = if time.relative { 'r' } else { 'a' };
                let Body::Tcp(segment) = &packet.body else {
                    return Err(ScriptError::refused(
                        event.line,
                        "ICMP packets that leave are not supported",
                    ));
                };
                let label = segment.timestamps().map_or("-".to_string(), |(value, _)| value.to_string());
                let limit = patience(time, options);
                let payload = if options.strict_segments { 0 } else { segment.payload };
                self.put(&format!("{n} expect {letter}{limit} {} {payload} {label}", place.connection));
            }
            Action::Call(call) => self.call(n, call, event, &at)?,
            Action::Commands(commands) if commands.contains(&Command::ForgetMetrics) => {
                let what = "the kernel's memory of other hosts is emptied before a script only";
                return Err(
                    ScriptError::refused(event.line, what).hint("`ip tcp_metrics flush` in the first lines")
                );
            }
            Action::Commands(commands) => {
                let all: Vec<String> = commands.iter().flat_map(set).collect();
                if all.is_empty() {
                    self.put(&format!("{n} set {at} nothing"));
                }
                for words in all {
                    self.put(&format!("{n} set {at} {words}"));
                }
            }
            Action::Check(_) => {
                let Some(socket) = place.socket else {
                    return Err(ScriptError::refused(
                        event.line,
                        "there is no socket to check before `accept`",
                    ));
                };
                self.put(&format!("{n} state {at} {socket}"));
            }
        }
        Ok(())
    }

    fn call(&mut self, n: usize, call: &Call, event: &Event, at: &str) -> Result<(), ScriptError> {
        let found = calls::translate(call, event.line)?;
        let blocks = if event.time.blocks { "b" } else { "-" };
        let descriptor = found.descriptor.unwrap_or(-1);
        let relocations = join(found.memory.relocations.iter().map(relocation));
        let mut line = format!(
            "{n} call {at} {blocks} {} {descriptor} {} {relocations}",
            found.number,
            hex(&found.memory.bytes)
        );
        for argument in &found.arguments {
            let word = match argument {
                Argument::Int(value) => format!(" i{value}"),
                Argument::Descriptor(fd) => format!(" f{fd}"),
                Argument::Memory(place) => format!(" m{place}"),
                Argument::Zeros => " z0".to_string(),
            };
            line.push_str(&word);
        }
        self.put(&line);
        self.outputs[n] = found.outputs;
        Ok(())
    }
}

fn moment(time: Timing, us: i64, anchored: bool) -> String {
    let letter = match (time.relative, anchored) {
        (false, _) => 'a',
        (true, true) => 's',
        (true, false) => 'r',
    };
    format!("{letter}{}", us * NS_PER_US)
}

fn patch(patch: &Patch) -> String {
    match patch {
        Patch::LocalIsn(at) => format!("L{at}"),
        Patch::Echo(at, label) => format!("T{at}:{label}"),
        Patch::LocalPort(at) => format!("p{at}"),
        Patch::RemotePort(at) => format!("q{at}"),
    }
}

fn relocation(relocation: &Relocation) -> String {
    match relocation {
        Relocation::Pointer(at, to) => format!("P{at}:{to}"),
        Relocation::Zeros(at) => format!("Z{at}"),
    }
}

fn set(command: &Command) -> Vec<String> {
    match command {
        Command::Sysctl { path, value, optional } => {
            vec![format!("sysctl {path} {} {value}", u8::from(*optional))]
        }
        Command::Qdisc(Qdisc::Pfifo { limit }) => {
            vec![format!("qdisc pfifo {}", limit.map_or(-1, i64::from))]
        }
        Command::Qdisc(Qdisc::Fq) => vec!["qdisc fq -1".to_string()],
        Command::Offload { tso, gso } => [("tso", tso), ("gso", gso)]
            .iter()
            .filter_map(|(name, on)| on.map(|on| format!("offload {name} {}", u8::from(on))))
            .collect(),
        Command::Recount => vec!["recount".to_string()],
        Command::Counter { name, goes_on, .. } => vec![format!("counter {name} {}", u8::from(*goes_on))],
        // At the start of a script there are no metrics to forget; later the command is refused.
        Command::ForgetMetrics => Vec::new(),
        Command::Mtu(bytes) => vec![format!("mtu {bytes}")],
    }
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_string();
    }
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn join(words: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = words.collect();
    if all.is_empty() { "-".to_string() } else { all.join(",") }
}
