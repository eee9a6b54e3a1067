//! Reads the records that the guest wrote: fixed size, little endian (`struct script_record` of
//! `linux/guest/script.h`).

use super::calls::Output;
use super::program::Program;
use super::{info, wire};
use crate::connections::Connection;
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
            6 => Seen::State(state(data, error)),
            7 => Seen::Done,
            8 => {
                found.notes.push(format!("line {}: the kernel lacks a parameter", script.events[event].line));
                Seen::Done
            }
            9 => Seen::Counted(result),
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

fn state(data: &[u8], error: i64) -> Result<crate::Scope, String> {
    if error != 0 {
        return Err(format!("the socket has no TCP_INFO: {}", super::symbols::error_name(error)));
    }
    let size = |n: usize| data.get(2 * n..2 * n + 2).map_or(0, little) as usize;
    let (a, b, c) = (size(0), size(1), size(2));
    let part = |from: usize, size: usize| data.get(6 + from..6 + from + size).unwrap_or_default();
    Ok(info::scope(part(0, a), part(a, b), part(a + b, c)))
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
