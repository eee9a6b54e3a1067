//! Values of a script as numbers and structures of the kernel.

use super::symbols::constant;
use crate::ScriptError;
use crate::syntax::ast::Value;
use crate::vocabulary;

/// Port that scripts bind to and connect to without naming it: packetdrill's default.
pub(super) const PORT: u16 = 8080;

/// The number that a value stands for.
pub(super) fn number(value: &Value, line: u32) -> Result<i64, ScriptError> {
    match value {
        Value::Int(value) => Ok(*value),
        Value::Name(name) => constant(name)
            .ok_or_else(|| vocabulary::lacks(line, "the symbol", name, vocabulary::is_symbol(name))),
        Value::Or(all) => all.iter().try_fold(0, |bits, each| Ok(bits | number(each, line)?)),
        Value::List(all) if all.len() == 1 => number(&all[0], line),
        other => Err(ScriptError::syntax(line, format!("expected a number, found {other:?}"))),
    }
}

/// The field `name` of a structure.
pub(super) fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let Value::Struct(fields) = value else { return None };
    fields.iter().find(|(key, _)| key.as_deref() == Some(name)).map(|(_, value)| value)
}

/// The bytes of a `struct sockaddr_in`.
pub(super) fn socket_address(address: [u8; 4]) -> Vec<u8> {
    let mut bytes = vec![2, 0];
    bytes.extend_from_slice(&PORT.to_be_bytes());
    bytes.extend_from_slice(&address);
    bytes.extend_from_slice(&[0; 8]);
    bytes
}
