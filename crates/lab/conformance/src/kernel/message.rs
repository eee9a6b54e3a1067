//! `struct msghdr` and control messages of `sendmsg` and `recvmsg`.

use super::calls::{Output, field, number};
use super::memory::Memory;
use crate::ScriptError;
use crate::syntax::ast::Value;

/// A control message that must come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Control {
    pub(super) level: i64,
    pub(super) kind: i64,
    pub(super) data: Data,
}

/// Its data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Data {
    /// A 32-bit number.
    Number(i64),
    /// First of three `struct timespec`, nanoseconds after the start of the script.
    Time(i64),
    /// `struct sock_extended_err`: its first 16 bytes.
    Error(Vec<u8>),
}

const HEADER: usize = 56;
const CONTROL_BUFFER: usize = 512;

/// Builds the header at place 0; gives what a receiving call must fill in.
pub(super) fn header(
    value: &Value,
    receives: bool,
    memory: &mut Memory,
    line: u32,
) -> Result<Vec<Output>, ScriptError> {
    let wrong = |what: &str| ScriptError::syntax(line, format!("the message header {what}"));
    let Some(Value::List(parts)) = field(value, "msg_iov") else { return Err(wrong("has no msg_iov")) };
    let header = memory.put(&[0; HEADER]);
    let vectors = memory.put(&vec![0; 16 * parts.len()]);
    for (n, part) in parts.iter().enumerate() {
        let Value::Struct(fields) = part else { return Err(wrong("has a strange msg_iov")) };
        let [(None, Value::Anything), (None, size)] = fields.as_slice() else {
            return Err(wrong("has parts that are not `{..., size}`"));
        };
        let size = number(size, line)?;
        if !(0..=super::calls::ZEROS).contains(&size) {
            return Err(wrong("has a part that is too large"));
        }
        memory.point_to_zeros(vectors + 16 * n);
        memory.set(vectors + 16 * n + 8, &size.to_le_bytes());
    }
    memory.point(header + 16, vectors);
    memory.set(header + 24, &(parts.len() as u64).to_le_bytes());
    if !receives {
        if let Some(name) = field(value, "msg_name") {
            if *name != Value::Anything {
                return Err(wrong("has an address; it is chosen here: write `msg_name(...)=...`"));
            }
            let address = super::calls::socket_address(super::wire::REMOTE);
            let at = memory.put(&address);
            memory.point(header, at);
            memory.set(header + 8, &(address.len() as u32).to_le_bytes());
        }
        return match field(value, "msg_control") {
            None => Ok(Vec::new()),
            Some(Value::List(all)) if all.is_empty() => Ok(Vec::new()),
            Some(_) => Err(ScriptError::refused(line, "control messages cannot be sent")),
        };
    }
    let at = memory.put(&[0; CONTROL_BUFFER]);
    memory.point(header + 32, at);
    memory.set(header + 40, &(CONTROL_BUFFER as u64).to_le_bytes());
    let mut outputs = Vec::new();
    if let Some(flags) = field(value, "msg_flags") {
        let wanted = number(flags, line)?;
        outputs.push(Output::Number { what: "msg_flags", at: header + 48, size: 4, wanted });
    }
    let mut wanted = Vec::new();
    if let Some(Value::List(all)) = field(value, "msg_control") {
        for each in all {
            wanted.push(control(each, line)?);
        }
    }
    outputs.push(Output::Control { at, length_at: header + 40, wanted });
    Ok(outputs)
}

fn control(value: &Value, line: u32) -> Result<Control, ScriptError> {
    let get = |of: &Value, name: &str| match field(of, name) {
        Some(value) => number(value, line),
        None => Err(ScriptError::syntax(line, format!("the control message has no {name}"))),
    };
    let (level, kind) = (get(value, "cmsg_level")?, get(value, "cmsg_type")?);
    let Some(data) = field(value, "cmsg_data") else {
        return Err(ScriptError::syntax(line, "the control message has no cmsg_data"));
    };
    let data = if field(data, "scm_sec").is_some() {
        Data::Time(get(data, "scm_sec")?.saturating_mul(1_000_000_000).saturating_add(get(data, "scm_nsec")?))
    } else if field(data, "ee_errno").is_some() {
        let mut bytes = (get(data, "ee_errno")? as u32).to_le_bytes().to_vec();
        for name in ["ee_origin", "ee_type", "ee_code"] {
            bytes.push(get(data, name)? as u8);
        }
        bytes.push(0);
        bytes.extend_from_slice(&(get(data, "ee_info")? as u32).to_le_bytes());
        bytes.extend_from_slice(&(get(data, "ee_data")? as u32).to_le_bytes());
        Data::Error(bytes)
    } else {
        Data::Number(number(data, line)?)
    };
    Ok(Control { level, kind, data })
}

/// Compares control messages with those wanted; `start` is the start of the script on the wall clock, nanoseconds.
/// Gives what is different.
pub(super) fn compare(mut seen: &[u8], wanted: &[Control], start: i64, tolerance_us: i64) -> Option<String> {
    let long = |bytes: &[u8], at: usize, size: usize| {
        let part = bytes.get(at..at + size).unwrap_or_default();
        part.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte)) as i64
    };
    for (n, control) in wanted.iter().enumerate() {
        let size = long(seen, 0, 8) as usize;
        if seen.len() < 16 || size < 16 || size > seen.len() {
            return Some(format!("{n} control messages instead of {}", wanted.len()));
        }
        let (level, kind) = (long(seen, 8, 4), long(seen, 12, 4));
        if (level, kind) != (control.level, control.kind) {
            let (wanted_level, wanted_kind) = (control.level, control.kind);
            return Some(format!(
                "control message {n} has level {level} and type {kind} instead of {wanted_level} and {wanted_kind}"
            ));
        }
        let data = &seen[16..size];
        let differs = match &control.data {
            Data::Number(wanted) => {
                let found = long(data, 0, 4) as i32;
                (i64::from(found) != *wanted).then(|| format!("{found} instead of {wanted}"))
            }
            Data::Time(wanted) => {
                let wall = long(data, 0, 8).saturating_mul(1_000_000_000).saturating_add(long(data, 8, 8));
                let found = wall.saturating_sub(start);
                (found.saturating_sub(*wanted).saturating_abs() > tolerance_us * 1000)
                    .then(|| format!("{} us instead of {} us", found / 1000, wanted / 1000))
            }
            Data::Error(wanted) => {
                let found = data.get(..16).unwrap_or_default();
                (found != wanted.as_slice()).then(|| format!("{found:?} instead of {wanted:?}"))
            }
        };
        if let Some(differs) = differs {
            return Some(format!("control message {n}: {differs}"));
        }
        seen = &seen[size.next_multiple_of(8).min(seen.len())..];
    }
    (!seen.is_empty()).then(|| format!("more than {} control messages", wanted.len()))
}
