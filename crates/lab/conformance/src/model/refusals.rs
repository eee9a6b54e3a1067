//! Finds what a script uses that the models do not support.

use super::End;
use super::endpoint::knows;
use super::segments::fits;
use super::setup::{Setup, option_setting, writes};
use crate::ScriptError;
use crate::connections::Connections;
use crate::kernel::state_symbols;
use crate::syntax::ast::{Action, Body, Call, Event, Packet, Script, Segment, Value};
use shoal_tcp::EcnOption;

/// Largest write of one call in bytes, as on the kernel.
const MAX_WRITE: i64 = 4 << 20;

/// The first event that the models cannot play, with the reason.
pub(super) fn first(script: &Script, setup: &Setup) -> Result<Option<(usize, ScriptError)>, ScriptError> {
    let connections = Connections::of(&script.events)?;
    let mut syns = 0;
    for (n, event) in script.events.iter().enumerate() {
        let second = connections.places[n].connection > 0;
        let refusal =
            if second { refused(event, "more than one connection") } else { check(event, setup, &mut syns) };
        if let Err(reason) = refusal {
            return Ok(Some((n, reason)));
        }
    }
    Ok(None)
}

/// Whether the events before the given one exercise the transfer of data.
pub(super) fn worth_playing(events: &[Event], setup: &Setup) -> bool {
    let mut data_came = false;
    events.iter().any(|event| match &event.action {
        Action::Arrives(Packet { body: Body::Tcp(segment), .. }) => {
            data_came |= segment.payload > 0;
            false
        }
        Action::Leaves(Packet { body: Body::Tcp(segment), .. }) => match setup.end {
            End::Sender => segment.payload > 0,
            End::Receiver => data_came,
            End::Both => data_came || segment.payload > 0,
        },
        _ => false,
    })
}

fn check(event: &Event, setup: &Setup, syns: &mut u32) -> Result<(), ScriptError> {
    match &event.action {
        Action::Arrives(Packet { body: Body::Tcp(segment), .. }) => {
            *syns += u32::from(segment.flags.has(2));
            if *syns > 1 && segment.flags.has(2) && setup.end != End::Both {
                return refused(event, "another SYN of the peer");
            }
            arrival(event, segment, setup)
        }
        Action::Leaves(Packet { body: Body::Tcp(segment), .. }) => {
            if segment.flags.has(4) {
                return refused(event, "resets");
            }
            if segment.flags.has(32) {
                return refused(event, "urgent data");
            }
            if segment.flags.has(1) && setup.end == End::Receiver {
                return refused(event, "a receiver that closes");
            }
            Ok(())
        }
        Action::Arrives(_) | Action::Leaves(_) => refused(event, "ICMP"),
        Action::Call(call) => self::call(event, call, setup),
        Action::Commands(commands) => {
            let is_known =
                |command| matches!(option_setting(command), Some(EcnOption::Off | EcnOption::Full));
            if commands.iter().all(is_known) {
                return Ok(());
            }
            refused(event, "changes of kernel parameters during a script")
        }
        Action::Check(block) => {
            let symbols = state_symbols();
            let unknown = block
                .names()
                .into_iter()
                .find(|name| !symbols.contains_key(*name) && (setup.end == End::Receiver || !knows(name)));
            match unknown {
                Some(name) => refused(event, &format!("`{name}`")),
                None => Ok(()),
            }
        }
    }
}

fn refused(event: &Event, what: &str) -> Result<(), ScriptError> {
    Err(ScriptError::refused(event.line, format!("the models do not have {what}")))
}

fn arrival(event: &Event, segment: &Segment, setup: &Setup) -> Result<(), ScriptError> {
    let flags = segment.flags;
    if flags.has(4) {
        return if setup.end == End::Both { Ok(()) } else { refused(event, "resets") };
    }
    if flags.has(32) {
        return refused(event, "urgent data");
    }
    if !fits(segment) {
        return refused(event, "places for that many SACK blocks and counters of accurate ECN");
    }
    if flags.has(1) && setup.end == End::Sender {
        return refused(event, "closing by the peer of a sender");
    }
    if segment.payload > 0 && setup.end == End::Sender {
        return refused(event, "data in both directions");
    }
    if flags.has(2) && segment.payload > 0 {
        return refused(event, "data in a SYN");
    }
    if !flags.has(2) && !flags.has(16) {
        return refused(event, "segments without ACK");
    }
    if flags.has(2) && segment.seq != 0 {
        return refused(event, "initial sequence numbers other than 0");
    }
    Ok(())
}

fn call(event: &Event, call: &Call, setup: &Setup) -> Result<(), ScriptError> {
    let name_of = |n: usize| match call.arguments.get(n) {
        Some(Value::Name(name)) => name.as_str(),
        _ => "",
    };
    if matches!(call.name.as_str(), "write" | "send")
        && !matches!(call.arguments.get(2), Some(Value::Int(0..=MAX_WRITE)))
    {
        return refused(event, "this form of `write`");
    }
    let failed_anyhow = matches!(call.result, Value::Int(value) if value < 0);
    match call.name.as_str() {
        "accept" if event.time.blocks => refused(event, "an `accept` that waits"),
        "socket" | "bind" | "listen" | "accept" | "connect" | "fcntl" => Ok(()),
        name if writes(call) && setup.end == End::Receiver => {
            refused(event, &format!("data in both directions (`{name}`)"))
        }
        "read" | "recv" if setup.end != End::Sender && !event.time.blocks => Ok(()),
        "write" if !failed_anyhow && !event.time.blocks => Ok(()),
        // Zero-copy sending looks the same on the wire.
        "send"
            if !failed_anyhow
                && !event.time.blocks
                && (call.arguments.get(3) == Some(&Value::Int(0)) || name_of(3) == "MSG_ZEROCOPY") =>
        {
            Ok(())
        }
        // A receiver of the models reads for ever.
        "shutdown" if setup.end != End::Sender && matches!(name_of(1), "SHUT_RD" | "SHUT_RDWR") => {
            refused(event, &format!("reading that ends ({})", name_of(1)))
        }
        "close" | "shutdown" => Ok(()),
        "getsockopt" if name_of(2) == "SO_ERROR" => Ok(()),
        // The models' applications have unlimited buffers, so the kernel's sizes must not matter.
        "setsockopt"
            if matches!(
                name_of(2),
                "SO_REUSEADDR"
                    | "SO_SNDBUF"
                    | "SO_RCVLOWAT"
                    | "SO_ZEROCOPY"
                    | "SO_TIMESTAMPING"
                    | "TCP_INQ"
                    | "IP_MTU_DISCOVER"
            ) =>
        {
            match call.arguments.get(3) {
                Some(Value::List(all))
                    if name_of(2) == "SO_SNDBUF" && !matches!(all.as_slice(), [Value::Int(100_000..)]) =>
                {
                    refused(event, "small send buffers")
                }
                _ => Ok(()),
            }
        }
        "setsockopt" => refused(event, &format!("the socket option {}", name_of(2))),
        name if writes(call) || failed_anyhow => refused(event, &format!("this form of `{name}`")),
        name => refused(event, &format!("`{name}`")),
    }
}
