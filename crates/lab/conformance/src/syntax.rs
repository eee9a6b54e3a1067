//! Parses scripts into events: the syntax of packetdrill, as far as tests of TCP and ECN use it.

pub mod ast;
mod call;
mod cursor;
mod packet;

use crate::ScriptError;
use crate::assertion::Block;
use crate::kernel::{LOCAL, REMOTE, is_no_state};
use crate::shell::{self, Command};
use crate::vocabulary;
use ast::{Action, Call, Event, Options, Script, Timing, Value};
use cursor::Cursor;
use std::net::Ipv4Addr;

/// Largest value of an option: a thousand seconds in microseconds.
const MAX_OPTION: i64 = 1_000_000_000;

/// Reads a script. `include` returns the text of a file in the script's folder, such as `./defaults.sh`.
///
/// # Errors
/// The first construct that is not understood, with its line.
pub fn parse(text: &str, include: &dyn Fn(&str) -> Option<String>) -> Result<Script, ScriptError> {
    let mut cursor = Cursor::new(text, 1);
    let options = options(&mut cursor)?;
    let mut setup = Vec::new();
    if let Some(commands) = quoted(&mut cursor, include)? {
        setup = commands;
    }
    let mut events = Vec::new();
    loop {
        cursor.skip_blank()?;
        if cursor.is_at_end() {
            break;
        }
        // A command without a time at the end cleans up, which is not needed here.
        if cursor.peek() == Some('`') {
            quoted(&mut cursor, include)?;
            cursor.skip_blank()?;
            if !cursor.is_at_end() {
                return Err(cursor
                    .error("a command in the middle needs a time")
                    .hint("write `+0` before it"));
            }
            break;
        }
        events.push(event(&mut cursor, include)?);
    }
    if events.is_empty() {
        return Err(cursor.error("the script has no events"));
    }
    Ok(Script { options, setup, events })
}

fn options(cursor: &mut Cursor<'_>) -> Result<Options, ScriptError> {
    let mut found = Options::default();
    while cursor.eat("--")? {
        let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let mut value = "";
        if cursor.eat_here("=") {
            value = cursor.take_while(|c| !c.is_whitespace());
        }
        let number = value.parse::<i64>().ok().filter(|n| (0..=MAX_OPTION).contains(n));
        match (name, value, number) {
            ("tolerance_usecs", _, Some(us)) => found.tolerance_us = us,
            ("tcp_ts_tick_usecs", _, Some(us)) => found.timestamp_tick_us = (us > 0).then_some(us),
            ("ip_version", "ipv4", _) => found.ip_version = Some(4),
            ("ip_version", "ipv6", _) => found.ip_version = Some(6),
            ("mtu", _, Some(bytes @ 68..=65535)) => found.mtu_bytes = bytes as u16,
            ("mss", _, Some(bytes @ 1..=65535)) => found.mss = Some(bytes as u16),
            ("strict_segments", "", _) => found.strict_segments = true,
            ("tolerance_percent", _, _) if permille(value).is_some() => {
                found.tolerance_permille = permille(value).unwrap_or(0);
            }
            // The fixed addresses of both sides.
            ("local_ip", address, _) if address.parse() == Ok(Ipv4Addr::from(LOCAL)) => {}
            ("remote_ip", address, _) if address.parse() == Ok(Ipv4Addr::from(REMOTE)) => {}
            // Keeps the buffers of zero-copy sending apart, which is always the case here.
            ("send_omit_free", "", _) => {}
            (
                "tolerance_usecs" | "tolerance_percent" | "tcp_ts_tick_usecs" | "ip_version" | "mtu" | "mss",
                ..,
            ) => {
                return Err(cursor.error(format!("`--{name}` cannot be `{value}`")));
            }
            _ => {
                let exists = vocabulary::is_option(name);
                return Err(vocabulary::lacks(cursor.line(), "the option", &format!("--{name}"), exists)
                    .hint(
                        "tolerance_usecs, tolerance_percent, strict_segments, tcp_ts_tick_usecs, ip_version, mtu, mss \
                         and send_omit_free are",
                    ));
            }
        }
    }
    Ok(found)
}

/// Reads a percentage with at most one decimal place as thousandths.
fn permille(text: &str) -> Option<i64> {
    let (whole, place) = text.split_once('.').unwrap_or((text, "0"));
    let digit = |c: char| c.is_ascii_digit();
    if place.len() != 1 || !whole.chars().all(digit) || !place.chars().all(digit) {
        return None;
    }
    format!("{whole}{place}").parse().ok().filter(|permille| *permille <= 1000)
}

fn quoted(
    cursor: &mut Cursor<'_>,
    include: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Vec<Command>>, ScriptError> {
    if !cursor.eat("`")? {
        return Ok(None);
    }
    let line = cursor.line();
    let text = cursor.until("`", "the command")?;
    shell::commands(text, line, include).map(Some)
}

fn event(cursor: &mut Cursor<'_>, include: &dyn Fn(&str) -> Option<String>) -> Result<Event, ScriptError> {
    cursor.skip_blank()?;
    let line = cursor.line();
    let time = timing(cursor)?;
    let action = if cursor.eat("<")? {
        Action::Arrives(packet::packet(cursor, true)?)
    } else if cursor.eat(">")? {
        Action::Leaves(packet::packet(cursor, false)?)
    } else if cursor.eat("%{")? {
        let first = cursor.line();
        let block = Block::parse(cursor.until("}%", "the check")?, first)?;
        if let Some(name) = block.names().into_iter().find(|name| is_no_state(name)) {
            return Err(vocabulary::lacks(line, "the state", name, false));
        }
        Action::Check(block)
    } else if let Some(commands) = quoted(cursor, include)? {
        Action::Commands(commands)
    } else {
        let call = call::call(cursor)?;
        check_words(&call, line)?;
        Action::Call(call)
    };
    if let Action::Commands(commands) = &action
        && commands.len() > 1
        && commands.iter().any(|command| matches!(command, Command::Counter { .. }))
    {
        return Err(cursor
            .refused("a counter is read beside other commands")
            .hint("give it an event of its own"));
    }
    if time.blocks && !matches!(action, Action::Call(_)) {
        return Err(cursor
            .error("`...` between times is for calls that block")
            .hint("write `~` for a range"));
    }
    if time.to.is_some() && !time.blocks && !matches!(action, Action::Leaves(_)) {
        return Err(cursor.error("only packets that leave may have a range of times"));
    }
    Ok(Event { line, time, action })
}

/// Checks that the names of a call and of its symbols exist at all.
fn check_words(call: &Call, line: u32) -> Result<(), ScriptError> {
    if !vocabulary::is_call(&call.name) {
        return Err(vocabulary::lacks(line, "the call", &call.name, false));
    }
    let mut values: Vec<&Value> = call.arguments.iter().chain([&call.result]).collect();
    let mut names: Vec<&str> = call.errno.as_deref().into_iter().collect();
    while let Some(value) = values.pop() {
        match value {
            Value::Name(name) => names.push(name),
            Value::Or(all) | Value::List(all) => values.extend(all),
            Value::Struct(fields) => values.extend(fields.iter().map(|(_, value)| value)),
            Value::Of(_, inner) => values.push(inner),
            Value::Anything | Value::Int(_) | Value::Text(_) => {}
        }
    }
    match names.into_iter().find(|name| !vocabulary::is_symbol(name)) {
        Some(name) => Err(vocabulary::lacks(line, "the symbol", name, false)),
        None => Ok(()),
    }
}

fn timing(cursor: &mut Cursor<'_>) -> Result<Timing, ScriptError> {
    if cursor.eat("*")? {
        return Ok(Timing { relative: true, from: 0, to: None, blocks: false, any: true });
    }
    let relative = cursor.eat("+")?;
    let from = microseconds(cursor)?;
    let blocks = cursor.eat("...")?;
    let range = !blocks && cursor.eat("~")?;
    let to = if blocks || range {
        if cursor.eat("+")? && !relative {
            return Err(cursor.error("the second time is relative, the first is not"));
        }
        Some(microseconds(cursor)?)
    } else {
        None
    };
    if to.is_some_and(|to| to < from) {
        return Err(cursor.error("the second time is before the first"));
    }
    Ok(Timing { relative, from, to, blocks, any: false })
}

/// Reads seconds with at most six decimal places as microseconds.
fn microseconds(cursor: &mut Cursor<'_>) -> Result<i64, ScriptError> {
    cursor.skip_blank()?;
    let before = cursor.found();
    let is_digit = |c: char| c.is_ascii_digit();
    let whole = cursor.take_while(is_digit);
    let mut places = "";
    let fraction = cursor.rest().strip_prefix('.').is_some_and(|rest| rest.starts_with(is_digit));
    if fraction && cursor.eat_here(".") {
        places = cursor.take_while(is_digit);
    }
    let too_fine = places.len() > 6;
    let seconds = if whole.is_empty() { Some(0) } else { whole.parse::<i64>().ok() };
    let micros = format!("{places:0<6}").parse::<i64>().ok();
    match (seconds, micros) {
        (Some(seconds @ 0..=1_000_000), Some(micros))
            if !(whole.is_empty() && places.is_empty() || too_fine) =>
        {
            Ok(seconds * 1_000_000 + micros)
        }
        _ => Err(cursor
            .error(format!("expected a time, found {before}"))
            .hint("seconds with at most six places, such as `0.1`, `+.05`, `+0~+.1`, or `*`")),
    }
}
