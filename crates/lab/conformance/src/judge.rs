//! Compares what happened with what the script expects, as packetdrill does: the first difference ends the
//! comparison.

use crate::assertion;
use crate::kernel::{anchored, error_name};
use crate::shell::Command;
use crate::show;
use crate::syntax::ast::{
    Action, Body, Call, Event, Options, Packet, Script, Segment, TcpOption, Timing, Tos, Value,
};
use crate::transcript::{Record, Seen, Sight, Transcript};

/// The first difference between the script and what happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Line of the script.
    pub line: u32,
    /// What is different, in a few words.
    pub what: String,
    /// What the script expects.
    pub wanted: String,
    /// What was seen.
    pub seen: String,
}

/// Judges a transcript; `None` if everything happened as the script expects.
pub(crate) fn judge(script: &Script, transcript: &Transcript, sight: Sight) -> Option<Failure> {
    let mut clock = Clock { options: &script.options, before: 0, arrival: None };
    let mut records = transcript.records.iter().peekable();
    for (n, event) in script.events.iter().enumerate() {
        let Some(record) = records.next_if(|record| record.event == n) else {
            return Some(failure(event, "the script ended before", String::new(), String::new()));
        };
        if let Some(failure) = clock.check(event, record).or_else(|| compare(event, record, script, sight)) {
            return Some(failure);
        }
        while records.next_if(|record| record.event == n).is_some() {}
    }
    None
}

fn failure(event: &Event, what: impl Into<String>, wanted: String, seen: String) -> Failure {
    Failure { line: event.line, what: what.into(), wanted, seen }
}

/// Checks times, in microseconds after the start.
struct Clock<'a> {
    options: &'a Options,
    /// Scheduled time of the preceding event.
    before: i64,
    /// Scheduled arrival of the preceding packet, if the preceding event was an arrival.
    arrival: Option<i64>,
}

impl Clock<'_> {
    fn check(&mut self, event: &Event, record: &Record) -> Option<Failure> {
        let Timing { relative, from, to, blocks, any } = event.time;
        let anchor = anchored(event, self.arrival.is_some()).then_some(self.arrival).flatten();
        let base = anchor.unwrap_or(record.base / 1000);
        let offset = if relative { base } else { 0 };
        self.arrival = matches!(event.action, Action::Arrives(_)).then_some(offset + from);
        let at = record.at / 1000;
        let last = if blocks { from } else { to.unwrap_or(from) };
        let before = std::mem::replace(&mut self.before, offset + from);
        let on_time = |at: i64, from: i64, to: i64| {
            let tolerance = self.options.tolerance_after(offset + from - before);
            (offset + from - tolerance..=offset + to + tolerance).contains(&at)
        };
        if any || matches!(record.seen, Seen::Silence) {
            return None;
        }
        if !on_time(at, from, last) {
            let timing = Timing { to: to.filter(|_| !blocks), ..event.time };
            return Some(failure(
                event,
                "wrong time",
                show::time(timing, base),
                format!("at {}", show::seconds(at)),
            ));
        }
        if let (Some(to), true, Seen::Called { ended, .. }) = (to, blocks, &record.seen)
            && !on_time(ended / 1000, to, to)
        {
            let wanted = format!("return at {}", show::seconds(offset + to));
            return Some(failure(event, "wrong time", wanted, format!("at {}", show::seconds(ended / 1000))));
        }
        None
    }
}

fn compare(event: &Event, record: &Record, script: &Script, sight: Sight) -> Option<Failure> {
    match (&event.action, &record.seen) {
        (Action::Leaves(wanted), Seen::Packet { tos, segment, torn }) => {
            let what = match torn {
                true => "several packets that do not follow each other".to_string(),
                false => packet(wanted, *tos, segment, script, sight)?,
            };
            Some(failure(event, what, show::wanted(wanted), show::seen(*tos, segment, sight.whole)))
        }
        (Action::Leaves(wanted), Seen::Silence) => {
            let seen = format!("nothing until {}", show::seconds(record.at / 1000));
            Some(failure(event, "no packet", show::wanted(wanted), seen))
        }
        (Action::Call(call), Seen::Called { result, error, differs, .. }) => {
            returned(event, call, *result, *error, differs.as_deref())
        }
        (Action::Call(call), Seen::Blocked) => {
            Some(failure(event, format!("`{}` did not return", call.name), String::new(), String::new()))
        }
        (Action::Check(block), Seen::State(Ok(scope))) => match block.evaluate(scope) {
            assertion::Verdict::Holds => None,
            assertion::Verdict::Fails { line, wanted, seen } => {
                Some(Failure { line, what: "an assertion does not hold".into(), wanted, seen })
            }
            assertion::Verdict::Unknown { line, name } => {
                let what = format!("`{name}` is not known");
                Some(Failure { line, what, wanted: String::new(), seen: String::new() })
            }
        },
        (Action::Check(_), Seen::State(Err(why))) => {
            Some(failure(event, "nothing to check", String::new(), why.clone()))
        }
        (Action::Commands(commands), Seen::Counted(value)) => {
            commands.iter().find_map(|command| match command {
                Command::Counter { name, wanted, .. }
                    if wanted.map_or(*value == 0, |wanted| *value != wanted) =>
                {
                    let wanted = wanted.map_or("more than 0".to_string(), |wanted| wanted.to_string());
                    Some(failure(event, format!("{name} counted something else"), wanted, value.to_string()))
                }
                _ => None,
            })
        }
        (Action::Arrives(_) | Action::Commands(_), Seen::Done) => None,
        (_, seen) => {
            Some(failure(event, "the transcript does not fit the script", String::new(), format!("{seen:?}")))
        }
    }
}

fn returned(event: &Event, call: &Call, result: i64, error: i64, differs: Option<&str>) -> Option<Failure> {
    let wanted = match &call.result {
        Value::Anything => None,
        Value::Int(value) => Some(*value),
        _ => None,
    };
    // Descriptors carry the script's numbers, not the kernel's.
    let right = match wanted {
        None => true,
        Some(value) if value >= 0 && call.gives_descriptor() => result >= 0,
        Some(value) => result == value,
    };
    let right_error = call.errno.as_ref().is_none_or(|name| *name == error_name(error));
    let show =
        |result: i64, error: &str| if result < 0 { format!("{result} {error}") } else { result.to_string() };
    if !right || !right_error {
        let what = format!("`{}` returned something else", call.name);
        let wanted = show(wanted.unwrap_or(0), call.errno.as_deref().unwrap_or(""));
        return Some(failure(event, what, wanted.trim().to_string(), show(result, &error_name(error))));
    }
    differs.map(|differs| {
        failure(event, format!("`{}` wrote something else", call.name), String::new(), differs.to_string())
    })
}

/// The difference between an expected packet and the one that was seen.
fn packet(wanted: &Packet, tos: u8, seen: &Segment, script: &Script, sight: Sight) -> Option<String> {
    let Body::Tcp(segment) = &wanted.body else { return Some("no ICMP packet".to_string()) };
    let ecn_differs = match wanted.tos {
        Tos::Unsaid => false,
        Tos::Ecn(bits) => tos & 3 != bits,
        Tos::AnyEct => !matches!(tos & 3, 1 | 2),
        Tos::Byte(byte) => tos != byte,
    };
    let mut different = Vec::new();
    let mut say = |differs: bool, what: &'static str| {
        if differs {
            different.push(what);
        }
    };
    let unseen = if sight.whole { 0 } else { 8 };
    say(ecn_differs, "ECN bits");
    say((segment.flags.bits ^ seen.flags.bits) & !unseen != 0, "flags");
    say(segment.seq != seen.seq, "sequence number");
    say(segment.payload != seen.payload, "length");
    say(segment.flags.has(16) && segment.ack != seen.ack, "acknowledgement number");
    if sight.whole {
        say(segment.window.is_some() && segment.window != seen.window, "window");
        say(segment.urgent != seen.urgent, "urgent pointer");
    }
    if let (Some(wanted), Some(found)) = (&segment.options, &seen.options) {
        say(options_differ(wanted, found, script, sight), "TCP options");
    }
    (!different.is_empty()).then(|| different.join(", "))
}

fn options_differ(wanted: &[TcpOption], seen: &[TcpOption], script: &Script, sight: Sight) -> bool {
    if !sight.whole {
        let known = |option: &&TcpOption| matches!(option, TcpOption::Sack(_) | TcpOption::AccurateEcn(_));
        return !wanted.iter().filter(known).eq(seen.iter().filter(known));
    }
    let same = |pair: (&TcpOption, &TcpOption)| match pair {
        // The progress of timestamps is checked only if the script states their tick.
        (TcpOption::Timestamp(wanted, _), TcpOption::Timestamp(seen, _)) => {
            script.options.timestamp_tick_us.is_none_or(|tick| {
                let ahead = i64::from(seen.wrapping_sub(*wanted) as i32);
                ahead.saturating_abs().saturating_mul(tick) <= script.options.tolerance_us
            })
        }
        (wanted, seen) => wanted == seen,
    };
    wanted.len() != seen.len() || !wanted.iter().zip(seen).all(same)
}
