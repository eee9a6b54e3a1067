//! Builds `struct msghdr` for `sendmsg`.

use super::memory::{MAX_ZEROS, Memory, ZEROS, address};
use super::values::{field, number, socket_address};
use super::wire::REMOTE;
use crate::ScriptError;
use crate::syntax::ast::Value;

const HEADER: usize = 56;

/// Builds the header at offset 0.
pub(super) fn header(value: &Value, memory: &mut Memory, line: u32) -> Result<(), ScriptError> {
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
        if !(0..=MAX_ZEROS).contains(&size) {
            return Err(wrong("has a part that is too large"));
        }
        memory.point(vectors + 16 * n, ZEROS);
        memory.set(vectors + 16 * n + 8, &size.to_le_bytes());
    }
    memory.point(header + 16, address(vectors));
    memory.set(header + 24, &(parts.len() as u64).to_le_bytes());
    if let Some(name) = field(value, "msg_name") {
        if *name != Value::Anything {
            return Err(wrong("has an address; it is chosen here: write `msg_name(...)=...`"));
        }
        let peer = socket_address(REMOTE);
        let at = memory.put(&peer);
        memory.point(header, address(at));
        memory.set(header + 8, &(peer.len() as u32).to_le_bytes());
    }
    match field(value, "msg_control") {
        None => Ok(()),
        Some(Value::List(all)) if all.is_empty() => Ok(()),
        Some(_) => Err(ScriptError::refused(line, "control messages cannot be sent")),
    }
}
