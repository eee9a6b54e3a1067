//! Commands in back-quotes: those few that set up a network device or a sysctl are interpreted here. No shell
//! is started.

use crate::ScriptError;
use crate::assertion::{Scope, evaluate_integer};
use crate::vocabulary;
use std::path::Path;

/// The effect of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Sets a kernel parameter, given by its path below `/proc/sys` with `/`.
    Sysctl {
        /// Path of the parameter.
        path: String,
        /// New value.
        value: String,
        /// Whether the parameter may be missing in the kernel.
        optional: bool,
        /// Line of the script that sets it, counted from 1: that of the file's name, if it is in another file.
        line: u32,
    },
    /// Sets the queue discipline of the device.
    Qdisc(Qdisc),
    /// Switches the segmentation offloads TSO and GSO of the device.
    Offload {
        /// Segmentation of TCP by the device.
        tso: Option<bool>,
        /// Segmentation by the kernel just above the device.
        gso: Option<bool>,
    },
    /// Sets the MTU of the device in bytes.
    Mtu(u16),
    /// Resets the network counters (`nstat -n`).
    Recount,
    /// Reads a counter, which counts from the last reset as with `nstat`.
    Counter {
        /// Name of the counter, such as `TcpExtBeyondWindow`.
        name: String,
        /// Expected value; any value but 0 if not given.
        wanted: Option<i64>,
        /// Whether counting continues (`-s`) or is reset.
        goes_on: bool,
    },
    /// Clears what the kernel remembers of other hosts: cookies and thresholds.
    ForgetMetrics,
}

/// The queue disciplines that scripts use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Qdisc {
    /// First in, first out, for at most `limit` packets.
    Pfifo {
        /// Limit in packets; the device's queue length if not given.
        limit: Option<u32>,
    },
    /// Fair queueing with pacing.
    Fq,
}

const MAX_INCLUDES: u32 = 4;

/// Reads commands; `line` is the line of the first command.
pub(crate) fn commands(
    text: &str,
    line: u32,
    include: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<Command>, ScriptError> {
    let mut found = Vec::new();
    read(text, line, include, 0, &mut found)?;
    Ok(found)
}

fn read(
    text: &str,
    first: u32,
    include: &dyn Fn(&str) -> Option<String>,
    depth: u32,
    found: &mut Vec<Command>,
) -> Result<(), ScriptError> {
    let mut whole = String::new();
    for (line, part) in (first..).zip(text.split('\n')) {
        if let Some(begun) = part.trim_end().strip_suffix('\\') {
            whole.push_str(begun);
            whole.push(' ');
            continue;
        }
        whole.push_str(part);
        for statement in statements(&whole, line)? {
            obey(&statement, line, include, depth, found)?;
        }
        whole.clear();
    }
    if whole.trim().is_empty() { Ok(()) } else { Err(ScriptError::syntax(first, "the command has no end")) }
}

/// Splits the statements of a line into words: handles quotes, `$((...))`, comments, `;` and `&&`, and leaves
/// out redirections.
fn statements(text: &str, line: u32) -> Result<Vec<Vec<String>>, ScriptError> {
    let mut found = vec![Vec::new()];
    let mut word = String::new();
    let (mut quoted, mut begun) = (None, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '$' && rest.starts_with("((") && quoted != Some('\'') {
            let Some(end) = rest.find("))") else {
                return Err(ScriptError::syntax(line, "`$((` has no `))`"));
            };
            word.push_str(&evaluate_integer(&rest[2..end], line, &Scope::new())?.to_string());
            rest = &rest[end + 2..];
            begun = true;
        } else if quoted == Some(c) {
            quoted = None;
        } else if quoted.is_some() {
            word.push(c);
        } else if c == '"' || c == '\'' {
            (quoted, begun) = (Some(c), true);
        } else if c == '#' && !begun {
            break;
        } else if c == '|' {
            flush(&mut found, &mut word, &mut begun);
            (word, begun) = ("|".to_string(), true);
            flush(&mut found, &mut word, &mut begun);
        } else if c.is_whitespace() || c == ';' || (c == '&' && rest.starts_with('&')) {
            flush(&mut found, &mut word, &mut begun);
            if !c.is_whitespace() {
                rest = rest.strip_prefix('&').unwrap_or(rest);
                found.push(Vec::new());
            }
        } else {
            word.push(c);
            begun = true;
        }
    }
    if quoted.is_some() {
        return Err(ScriptError::syntax(line, "a quote of the command is not closed"));
    }
    flush(&mut found, &mut word, &mut begun);
    for statement in &mut found {
        let mut redirected = false;
        statement.retain(|word| {
            let redirects = word.contains('>');
            let keep = !redirects && !redirected;
            // `> file` is two words; `2>&1` and `>/dev/null` are one.
            redirected = redirects && word.ends_with('>');
            keep
        });
    }
    Ok(found)
}

fn flush(found: &mut [Vec<String>], word: &mut String, begun: &mut bool) {
    if let (true, Some(last)) = (*begun, found.last_mut()) {
        last.push(std::mem::take(word));
    }
    *begun = false;
}

fn obey(
    words: &[String],
    line: u32,
    include: &dyn Fn(&str) -> Option<String>,
    depth: u32,
    found: &mut Vec<Command>,
) -> Result<(), ScriptError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        // These commands clean up after a script. Nothing outlives a script here, since each has its own
        // machine.
        [] => {}
        ["ip", "tcp_metrics", "flush", ..] => found.push(Command::ForgetMetrics),
        [word] if word.starts_with("/tmp/sysctl_restore_") => {}
        [file]
            if is_beside(file)
                && Path::new(file).extension().is_some_and(|end| end == "sh")
                && depth < MAX_INCLUDES =>
        {
            let text = include(file).ok_or_else(|| {
                ScriptError::syntax(line, format!("there is no file `{file}`, seen from the script"))
            })?;
            let before = found.len();
            read(&text, 1, include, depth + 1, found).map_err(|mut error| {
                error.message = format!("`{file}`, line {}: {}", error.line, error.message);
                error.line = line;
                error
            })?;
            // A shell continues after a command that failed; some kernels lack some parameters.
            for command in &mut found[before..] {
                if let Command::Sysctl { optional, line: set_at, .. } = command {
                    (*optional, *set_at) = (true, line);
                }
            }
        }
        ["sysctl", arguments @ ..] if !arguments.contains(&"|") => {
            let mut optional = false;
            for argument in arguments {
                match *argument {
                    "-q" | "-w" => {}
                    "-e" | "-qe" | "-eq" => optional = true,
                    setting => found.push(sysctl(setting, line, optional)?),
                }
            }
        }
        [file, settings @ ..] if is_beside(file) && file.ends_with("/set_sysctls.py") => {
            for setting in settings {
                found.push(sysctl(setting, line, false)?);
            }
        }
        ["tc", "qdisc", "del" | "delete", "dev", "tun0", "root"] => {
            found.push(Command::Qdisc(Qdisc::Pfifo { limit: None }));
        }
        ["tc", "qdisc", "add" | "replace", "dev", "tun0", "root", kind @ ..] => {
            found.push(Command::Qdisc(qdisc(kind, line)?));
        }
        ["ip", "link", "set", "dev", "tun0", "mtu", bytes] => {
            let bytes = bytes.parse().ok().filter(|bytes| *bytes >= 68);
            found.push(Command::Mtu(
                bytes.ok_or_else(|| ScriptError::syntax(line, "an MTU has 68 to 65535 bytes"))?,
            ));
        }
        ["ethtool", "-K", "tun0", features @ ..] => found.push(offload(features, line)?),
        ["nstat", "-n"] | ["nstat"] => found.push(Command::Recount),
        ["nstat", options @ .., "|", "grep", name] => found.push(counter(options, name, None, line)?),
        ["nstat", options @ .., "|", "grep", name, "|", "grep", "-q", wanted] => {
            found.push(counter(options, name, Some(wanted), line)?);
        }
        other => {
            let command = other.join(" ");
            if let Some(meant) = vocabulary::meant_command(other) {
                let what = format!("the command `{command}` is not known; is `{meant}` meant?");
                return Err(ScriptError::syntax(line, what));
            }
            return Err(ScriptError::refused(line, format!("the command `{command}` is not supported"))
                .hint("sysctl, tc qdisc, ip link set mtu and ethtool -K on tun0, and scripts of these are"));
        }
    }
    Ok(())
}

/// Whether a command names a file in the script's folder.
fn is_beside(file: &str) -> bool {
    file.starts_with("./") || file.starts_with("../")
}

fn counter(options: &[&str], name: &str, wanted: Option<&str>, line: u32) -> Result<Command, ScriptError> {
    let goes_on = match options {
        [] => false,
        ["-s"] => true,
        other => {
            let what = format!("`nstat {}` is not supported", other.join(" "));
            return Err(ScriptError::refused(line, what).hint("nstat, nstat -n and nstat -s are"));
        }
    };
    let number = wanted.map(|text| text.trim().parse::<i64>());
    match number.transpose() {
        Ok(wanted) if name.chars().all(|c| c.is_ascii_alphanumeric()) => {
            Ok(Command::Counter { name: name.to_string(), wanted, goes_on })
        }
        _ => Err(ScriptError::syntax(line, "this is not a counter and its value")
            .hint("`nstat | grep Name | grep -q \" 1 \"`")),
    }
}

fn sysctl(setting: &str, line: u32, optional: bool) -> Result<Command, ScriptError> {
    let Some((key, value)) = setting.split_once('=') else {
        return Err(ScriptError::syntax(line, format!("`{setting}` sets nothing")).hint("write `name=value`"));
    };
    let key = key.trim_start_matches("/proc/sys/");
    let path = if key.contains('/') { key.to_string() } else { key.replace('.', "/") };
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
    if !path.starts_with("net/") || !path.chars().all(plain) || path.contains("..") {
        let group = path.split('/').next().unwrap_or("");
        let what = format!("`{key}` is not a parameter of the network");
        return Err(if vocabulary::is_group_of_parameters(group) {
            ScriptError::refused(line, what)
        } else {
            ScriptError::syntax(line, what).hint("names begin with `net.`")
        });
    }
    Ok(Command::Sysctl { path, value: value.to_string(), optional, line })
}

fn qdisc(words: &[&str], line: u32) -> Result<Qdisc, ScriptError> {
    match words {
        ["pfifo"] => Ok(Qdisc::Pfifo { limit: None }),
        ["pfifo", "limit", limit] if limit.parse::<u32>().is_ok() => {
            Ok(Qdisc::Pfifo { limit: limit.parse().ok() })
        }
        ["fq"] => Ok(Qdisc::Fq),
        other => {
            let exists = other.first().is_some_and(|kind| vocabulary::is_qdisc(kind));
            Err(vocabulary::lacks(line, "the queue discipline", &other.join(" "), exists)
                .hint("pfifo, pfifo limit N and fq are"))
        }
    }
}

fn offload(words: &[&str], line: u32) -> Result<Command, ScriptError> {
    let (mut tso, mut gso) = (None, None);
    for pair in words.chunks(2) {
        let on = match pair {
            [_, "on"] => true,
            [_, "off"] => false,
            _ => return Err(ScriptError::syntax(line, "an offload is `on` or `off`")),
        };
        match pair[0] {
            "tso" => tso = Some(on),
            "gso" => gso = Some(on),
            // Packets reach the device one by one and are never merged.
            "gro" | "lro" if !on => {}
            other => {
                return Err(vocabulary::lacks(line, "the offload", other, vocabulary::is_offload(other)));
            }
        }
    }
    Ok(Command::Offload { tso, gso })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Command>, ScriptError> {
        commands(text, 1, &|name| {
            (name == "./defaults.sh").then(|| "sysctl -q net.ipv4.tcp_ecn=0".to_string())
        })
    }

    #[test]
    fn values_are_computed() {
        let found = of("sysctl -q net.ipv4.tcp_rmem=\"4096 540000 $((15*1024*1024))\"").expect("a sysctl");
        let value = "4096 540000 15728640".to_string();
        assert_eq!(
            found,
            [Command::Sysctl { path: "net/ipv4/tcp_rmem".into(), value, optional: false, line: 1 }]
        );
    }

    #[test]
    fn what_is_included_is_optional() {
        let found = of("./defaults.sh\nsysctl -q net.ipv4.tcp_ecn=1  # on\n").expect("two sysctls");
        let optional: Vec<_> =
            found.iter().map(|command| matches!(command, Command::Sysctl { optional: true, .. })).collect();
        assert_eq!(optional, [true, false]);
    }

    #[test]
    fn redirections_and_sequences() {
        let found =
            of("tc qdisc delete dev tun0 root 2>/dev/null ; tc qdisc add dev tun0 root pfifo limit 0");
        assert_eq!(
            found,
            Ok(vec![
                Command::Qdisc(Qdisc::Pfifo { limit: None }),
                Command::Qdisc(Qdisc::Pfifo { limit: Some(0) })
            ])
        );
    }

    #[test]
    fn counters_of_nstat() {
        let counter = |name: &str, wanted, goes_on| Command::Counter { name: name.into(), wanted, goes_on };
        assert_eq!(of("nstat -n"), Ok(vec![Command::Recount]));
        assert_eq!(of("nstat > /dev/null"), Ok(vec![Command::Recount]));
        let found = of("nstat -s | grep TcpExtTCPZeroWindowDrop| grep -q \" 2 \"");
        assert_eq!(found, Ok(vec![counter("TcpExtTCPZeroWindowDrop", Some(2), true)]));
        let found = of("nstat | grep TcpExtOutOfWindowIcmps > /dev/null");
        assert_eq!(found, Ok(vec![counter("TcpExtOutOfWindowIcmps", None, false)]));
        assert!(of("nstat -a | grep TcpExtX").is_err());
        assert!(of("nstat | grep TcpExtX | grep -q many").is_err());
    }

    #[test]
    fn other_commands_are_refused() {
        let error = of("true\n./defaults.sh && wget example").expect_err("no shell");
        assert_eq!((error.line, error.message.as_str()), (1, "the command `true` is not supported"));
        assert!(of("sysctl -q kernel.panic=1").is_err());
        assert!(of("sysctl -q net.ipv4.tcp_ecn=\"1").is_err());
    }
}
