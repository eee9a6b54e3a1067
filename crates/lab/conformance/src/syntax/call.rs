//! Parses system calls of the application.

use super::ast::{Call, Value};
use super::cursor::Cursor;
use crate::ScriptError;

/// Deepest nesting of structures and lists in arguments.
const MAX_DEPTH: u32 = 16;

pub(super) fn call(cursor: &mut Cursor<'_>) -> Result<Call, ScriptError> {
    let name = cursor.name()?.to_string();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(cursor
            .error(format!("expected an event, found {}", cursor.found()))
            .hint("`< packet`, `> packet`, `call(...) = result`, a `command` or a %{ check }%"));
    }
    cursor.expect("(", &format!("after `{name}`"))?;
    let arguments = values(cursor, ")", 0)?;
    cursor.expect("=", &format!("and the result after `{name}(...)`"))?;
    let result = value(cursor, 0)?;
    let mut errno = None;
    if result == Value::Int(-1) {
        let before = cursor.clone();
        let name = cursor.name()?;
        if name.starts_with('E') {
            errno = Some(name.to_string());
        } else {
            *cursor = before;
        }
    }
    if cursor.eat("(")? {
        cursor.until(")", "the note")?;
    }
    Ok(Call { name, arguments, result, errno })
}

fn values(cursor: &mut Cursor<'_>, end: &str, depth: u32) -> Result<Vec<Value>, ScriptError> {
    let mut found = Vec::new();
    if cursor.eat(end)? {
        return Ok(found);
    }
    loop {
        found.push(value(cursor, depth)?);
        if cursor.eat(end)? {
            return Ok(found);
        }
        cursor.expect(",", "between arguments")?;
    }
}

fn value(cursor: &mut Cursor<'_>, depth: u32) -> Result<Value, ScriptError> {
    let first = single(cursor, depth)?;
    if !cursor.eat("|")? {
        return Ok(first);
    }
    let mut all = vec![first, single(cursor, depth)?];
    while cursor.eat("|")? {
        all.push(single(cursor, depth)?);
    }
    Ok(Value::Or(all))
}

fn single(cursor: &mut Cursor<'_>, depth: u32) -> Result<Value, ScriptError> {
    if depth > MAX_DEPTH {
        return Err(cursor.error("the argument is nested too deeply"));
    }
    if cursor.eat("...")? {
        return Ok(Value::Anything);
    }
    if cursor.eat("[")? {
        return Ok(Value::List(values(cursor, "]", depth + 1)?));
    }
    if cursor.eat("{")? {
        return Ok(Value::Struct(fields(cursor, depth + 1)?));
    }
    if cursor.eat("\"")? {
        return text(cursor);
    }
    match cursor.peek() {
        Some(c) if c.is_ascii_digit() || c == '-' => Ok(Value::Int(cursor.number("a number")?)),
        Some(c) if c.is_ascii_alphabetic() || c == '_' => {
            let name = cursor.name()?.to_string();
            if !cursor.eat_here("(") {
                return Ok(Value::Name(name));
            }
            let inner = value(cursor, depth + 1)?;
            cursor.expect(")", "after the argument")?;
            Ok(Value::Of(name, Box::new(inner)))
        }
        _ => Err(cursor.error(format!("expected an argument, found {}", cursor.found()))),
    }
}

/// Parses fields: `name = value`, `name(count) = value`, or plain values.
fn fields(cursor: &mut Cursor<'_>, depth: u32) -> Result<Vec<(Option<String>, Value)>, ScriptError> {
    let mut found = Vec::new();
    if cursor.eat("}")? {
        return Ok(found);
    }
    loop {
        let first = value(cursor, depth)?;
        let field = if cursor.eat("=")? {
            let (Value::Name(name) | Value::Of(name, _)) = first else {
                return Err(cursor.error("a field needs a name before `=`"));
            };
            (Some(name), value(cursor, depth)?)
        } else {
            (None, first)
        };
        found.push(field);
        if cursor.eat("}")? {
            return Ok(found);
        }
        cursor.expect(",", "between fields")?;
    }
}

/// Parses a string up to its closing quote; adjacent strings are joined.
fn text(cursor: &mut Cursor<'_>) -> Result<Value, ScriptError> {
    let mut bytes = Vec::new();
    loop {
        let inside = cursor.until("\"", "the text")?;
        let mut rest = inside;
        while let Some(c) = rest.chars().next() {
            if let Some(hex) = rest.strip_prefix("\\x") {
                let byte = hex.get(..2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
                let Some(byte) = byte else {
                    return Err(cursor.error("`\\x` needs two hexadecimal digits"));
                };
                bytes.push(byte);
                rest = &hex[2..];
            } else {
                bytes.extend_from_slice(&rest.as_bytes()[..c.len_utf8()]);
                rest = &rest[c.len_utf8()..];
            }
        }
        if !cursor.eat("\"")? {
            return Ok(Value::Text(bytes));
        }
    }
}
