//! Reads the records that the guest wrote: fixed size, little endian (`struct script_record` of
//! `linux/guest/script.h`).

use super::calls::Output;
use super::program::Program;
use super::{info, wire};
use crate::connections::Connection;
use crate::shell::Command;
use crate::syntax::ast::{Action, Script, TcpOption};
use crate::transcript::{Record, Seen, Transcript};

const HEADER: usize = 48;

/// First timestamp of a connection: in the script, and from the kernel.
type FirstTimestamp = Option<(u32, u32)>;

/// Reads the records that the guest wrote.
///
/// # Errors
/// The bytes are not records of a guest.
pub fn read(script: &Script, program: &Program, mut bytes: &[u8]) -> Result<Transcript, String> {
    let mut found = Transcript::default();
    let mut first = vec![FirstTimestamp::None; program.connections.list.len()];
    let (mut options, mut counted) = (Vec::new(), "");
    while !bytes.is_empty() {
        let long = |at: usize| bytes.get(at..at + 8).map_or(0, little);
        let word = |at: usize| bytes.get(at..at + 4).map_or(0, little);
        let size = word(44) as usize;
        let Some(data) = bytes.get(HEADER..HEADER + size) else {
            return Err("the guest's records end in the middle".to_string());
        };
        let (event, kind) = (word(0) as usize, word(4));
        let (base, at, ended) = (long(8), long(16), long(24));
        let (result, error) = (long(32), word(40));
        bytes = &bytes[HEADER + size..];
        if event >= script.events.len() {
            return Err(format!("the guest has a record of event {event}, which the script has not"));
        }
        let seen = match kind {
            2 => {
                let place = program.connections.places[event];
                packet(
                    script,
                    event,
                    data,
                    &program.connections.list[place.connection],
                    result as u32,
                    &mut first[place.connection],
                )
                .ok_or("the guest has a record of a packet that is not a segment")?
            }
            3 => Seen::Silence,
            4 => {
                let outputs = &program.outputs[event];
                let differs = outputs.iter().filter(|_| result >= 0).find_map(|output| differs(output, data));
                Seen::Called { ended, result, error, differs }
            }
            5 => Seen::Blocked,
            6 => {
                options.push((data, error));
                let Some(state) = state(&mut options) else { continue };
                Seen::State(state)
            }
            7 => Seen::Done,
            8 => count(&script.events[event].action, &mut counted, data),
            other => return Err(format!("the guest has a record of kind {other}")),
        };
        let record = Record { event, base, at, seen };
        match found.records.last_mut() {
            Some(before) if before.event == event && record.is_packet() => before.append(record),
            _ => found.records.push(record),
        }
    }
    // Calls that block are recorded when they return, and several commands of an event one by one.
    found.records.sort_by_key(|record| record.event);
    Ok(found)
}

fn little(bytes: &[u8]) -> i64 {
    bytes.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte)) as i64
}

/// What the kernel says of a socket, when the values of all options (or the errors in their place) are there.
fn state(options: &mut Vec<(&[u8], i64)>) -> Option<Result<crate::Scope, String>> {
    let [(info, error), (controller, _), (meminfo, _)] = options[..] else { return None };
    options.clear();
    if error != 0 {
        return Some(Err(format!("the socket has no TCP_INFO: {}", super::symbols::error_name(error))));
    }
    Some(Ok(info::scope(info, controller, meminfo)))
}

/// What a counter has counted since it was last reset, or its reset; `since` is what the kernel said then.
fn count<'a>(action: &Action, since: &mut &'a str, now: &'a [u8]) -> Seen {
    let now = std::str::from_utf8(now).unwrap_or_default();
    let Action::Commands(commands) = action else { return Seen::Done };
    let [Command::Counter { name, goes_on, .. }] = commands.as_slice() else {
        *since = now;
        return Seen::Done;
    };
    let before = counter(since, name).unwrap_or(0);
    if !goes_on {
        *since = now;
    }
    Seen::Counted(counter(now, name).map_or(-1, |now| now.wrapping_sub(before)))
}

/// A counter by the name that nstat gives to it, in the text of `/proc/net/snmp` and `/proc/net/netstat`: a line of
/// names, `TcpExt: A B`, and a line of values, `TcpExt: 1 2`.
fn counter(text: &str, name: &str) -> Option<i64> {
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let Some((group, names)) = names.split_once(": ") else { continue };
        let mut pairs = names.split(' ').zip(values.split(' ').skip(1));
        if let Some((_, value)) = pairs.find(|(each, _)| name.strip_prefix(group) == Some(each)) {
            return value.parse().ok();
        }
    }
    None
}

fn differs(output: &Output, memory: &[u8]) -> Option<String> {
    let Output { at, size, wanted } = output;
    let found = little(memory.get(*at..at + size)?);
    let mask = if *size == 8 { -1 } else { (1_i64 << (8 * size)) - 1 };
    (found & mask != wanted & mask)
        .then(|| format!("value {found} (0x{found:x}) instead of {wanted} (0x{wanted:x})"))
}

/// Translates a segment into the sequence numbers of the script.
fn packet(
    script: &Script,
    event: usize,
    data: &[u8],
    connection: &Connection,
    local_isn: u32,
    first: &mut FirstTimestamp,
) -> Option<Seen> {
    let (tos, mut segment) = wire::decode(data)?;
    let is_syn = segment.flags.has(2);
    // As in packetdrill, sequence numbers are absolute in SYNs and relative to the initial sequence number
    // elsewhere.
    let local = if is_syn { local_isn.wrapping_sub(connection.local_isn) } else { local_isn };
    let remote = if is_syn { 0 } else { connection.remote_isn };
    segment.seq = segment.seq.wrapping_sub(local);
    if segment.flags.has(16) {
        segment.ack = segment.ack.wrapping_sub(remote);
    }
    for option in segment.options.iter_mut().flatten() {
        if let TcpOption::Sack(blocks) = option {
            for (left, right) in blocks {
                (*left, *right) = (left.wrapping_sub(remote), right.wrapping_sub(remote));
            }
        }
    }
    let wanted = match &script.events[event].action {
        Action::Leaves(packet) => match &packet.body {
            crate::syntax::ast::Body::Tcp(wanted) => wanted.timestamps(),
            crate::syntax::ast::Body::Icmp(_) => None,
        },
        _ => None,
    };
    if let (Some((wanted, _)), Some((live, _))) = (wanted, segment.timestamps()) {
        let (script, kernel) = *first.get_or_insert((wanted, live));
        for option in segment.options.iter_mut().flatten() {
            if let TcpOption::Timestamp(value, _) = option {
                *value = script.wrapping_add(value.wrapping_sub(kernel));
            }
        }
    }
    Some(Seen::Packet { tos, segment, torn: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_by_the_names_of_nstat() {
        let text =
            "Ip: InHdr OutRequests\nIp: 3 4\nTcpExt: A BeyondWindow B\nTcpExt: 1 -2 7\nIpExt: A\nIpExt: 9\n";
        assert_eq!(counter(text, "IpOutRequests"), Some(4));
        assert_eq!(counter(text, "TcpExtBeyondWindow"), Some(-2));
        assert_eq!(counter(text, "IpExtA"), Some(9));
        assert_eq!(counter(text, "TcpExtWindow"), None);
        assert_eq!(counter("Tcp: A\n", "TcpA"), None);
    }
}
