//! The lines of the guest's configuration that play a script, one for each step. `linux/guest/script.c` reads them;
//! those that make a setting are lines of any experiment, which `linux/guest/main.c` reads.

use super::calls::{self, Argument, Output};
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
    /// Line of the script for each of them; 0 for those that are of the whole script.
    pub lines: Vec<u32>,
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
    let mut lines = Lines {
        text: String::new(),
        lines: Vec::new(),
        line: 0,
        outputs: vec![Vec::new(); script.events.len()],
    };
    lines.put(&format!("script {} {}", script.options.mtu_bytes, script.options.mss.unwrap_or(0)));
    for (k, connection) in connections.list.iter().enumerate() {
        let (local, remote) = if connection.active {
            (0, usize::from(PORT))
        } else {
            (usize::from(PORT), FIRST_REMOTE_PORT + k)
        };
        lines.put(&format!("connection {local} {remote}"));
    }
    for command in &script.setup {
        if let Command::Sysctl { line, .. } = command {
            lines.line = *line;
        }
        for line in set(command) {
            lines.put(&line);
        }
    }
    lines.line = 0;
    lines.put("begin");
    let mut before_arrived = false;
    for (n, event) in script.events.iter().enumerate() {
        let place = connections.places[n];
        lines.line = event.line;
        lines.event(n, event, place, &connections, before_arrived, &script.options)?;
        before_arrived = matches!(event.action, Action::Arrives(_));
    }
    lines.put("end");
    Ok(Program { text: lines.text, lines: lines.lines, connections, outputs: lines.outputs })
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
    lines: Vec<u32>,
    /// Line of the script that the next ones are for.
    line: u32,
    outputs: Vec<Vec<Output>>,
}

impl Lines {
    fn put(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines.push(self.line);
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
                self.put(&format!("inject {n} {at} {} {} {patches}", place.connection, hex(&bytes)));
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
                self.put(&format!("expect {n} {letter}{limit} {} {payload} {label}", place.connection));
            }
            Action::Call(call) => self.call(n, call, event, &at)?,
            Action::Commands(commands) if commands.contains(&Command::ForgetMetrics) => {
                let what = "the kernel's memory of other hosts is emptied before a script only";
                return Err(
                    ScriptError::refused(event.line, what).hint("`ip tcp_metrics flush` in the first lines")
                );
            }
            Action::Commands(commands) => self.commands(n, commands, &at),
            Action::Check(_) => {
                let Some(socket) = place.socket else {
                    return Err(ScriptError::refused(
                        event.line,
                        "there is no socket to check before `accept`",
                    ));
                };
                self.put(&format!("state {n} {at} {socket}"));
            }
        }
        Ok(())
    }

    fn commands(&mut self, n: usize, commands: &[Command], at: &str) {
        let mut steps = Vec::new();
        for command in commands {
            if matches!(command, Command::Recount | Command::Counter { .. }) {
                steps.push(format!("count {n} {at}"));
            }
            steps.extend(set(command).iter().map(|line| format!("at {n} {at} {line}")));
        }
        if steps.is_empty() {
            steps.push(format!("at {n} {at}"));
        }
        for step in steps {
            self.put(&step);
        }
    }

    fn call(&mut self, n: usize, call: &Call, event: &Event, at: &str) -> Result<(), ScriptError> {
        let found = calls::translate(call, event.line)?;
        let blocks = if event.time.blocks { "b" } else { "-" };
        let descriptor = found.descriptor.unwrap_or(-1);
        let memory = hex(&found.memory.bytes);
        let mut line = format!("call {n} {at} {blocks} {} {descriptor} {memory}", found.number);
        for argument in &found.arguments {
            let word = match argument {
                Argument::Int(value) => format!(" {value}"),
                Argument::Descriptor(fd) => format!(" f{fd}"),
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

/// Lines that make a setting, at any time.
fn set(command: &Command) -> Vec<String> {
    /// The root of a device's queue disciplines, without a handle.
    const ROOT: &str = "4294967295 0";
    match command {
        Command::Sysctl { path, value, optional, .. } => {
            vec![format!("{} init {path} {value}", if *optional { "try" } else { "write" })]
        }
        Command::Qdisc(Qdisc::Pfifo { limit }) => {
            let options = limit.map_or_else(Vec::new, |limit| limit.to_le_bytes().to_vec());
            vec![format!("qdisc init tun0 {ROOT} pfifo {}", hex(&options))]
        }
        Command::Qdisc(Qdisc::Fq) => vec![format!("qdisc init tun0 {ROOT} fq -")],
        Command::Offload { tso, gso } => [("tso", tso), ("gso", gso)]
            .iter()
            .filter_map(|(name, on)| on.map(|on| format!("nic init tun0 {name} {}", u8::from(on))))
            .collect(),
        Command::Mtu(bytes) => vec![format!("nic init tun0 mtu {bytes}")],
        // Counters are read instead. Before a script nothing has been counted, and there are no metrics to forget.
        Command::Recount | Command::Counter { .. } | Command::ForgetMetrics => Vec::new(),
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
