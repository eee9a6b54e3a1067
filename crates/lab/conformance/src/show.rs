//! Writes packets in the syntax of scripts, for messages.

use crate::syntax::ast::{Body, Packet, Segment, TcpFlags, TcpOption, Timing, Tos};
use std::fmt::Write;

/// A packet that a script expects.
pub(crate) fn wanted(packet: &Packet) -> String {
    let tos = match packet.tos {
        Tos::Unsaid => String::new(),
        Tos::Ecn(bits) => format!("{} ", ecn(bits)),
        Tos::AnyEct => "[ect01] ".to_string(),
        Tos::Byte(byte) => format!("[tos 0x{byte:02x}] "),
    };
    match &packet.body {
        Body::Tcp(segment) => tos + &self::segment(segment),
        Body::Icmp(icmp) => format!("{tos}icmp type {} code {}", icmp.kind, icmp.code),
    }
}

/// A packet that was seen.
pub(crate) fn seen(tos: u8, segment: &Segment, whole: bool) -> String {
    let mut shown = segment.clone();
    if !whole {
        shown.window = None;
    }
    format!("{} {}", ecn(tos & 3), self::segment(&shown))
}

fn ecn(bits: u8) -> &'static str {
    ["[noecn]", "[ect1]", "[ect0]", "[ce]"][usize::from(bits & 3)]
}

fn segment(segment: &Segment) -> String {
    let mut text = flags(segment.flags);
    let end = segment.seq.wrapping_add(u32::from(segment.payload));
    // Writing to a string cannot fail.
    let _ = write!(text, " {}:{end}({})", segment.seq, segment.payload);
    if segment.flags.has(16) {
        let _ = write!(text, " ack {}", segment.ack);
    }
    if let Some(window) = segment.window {
        let _ = write!(text, " win {window}");
    }
    if segment.urgent != 0 {
        let _ = write!(text, " urg {}", segment.urgent);
    }
    match &segment.options {
        None => text.push_str(" <...>"),
        Some(all) if all.is_empty() => {}
        Some(all) => {
            let words: Vec<String> = all.iter().map(option).collect();
            let _ = write!(text, " <{}>", words.join(","));
        }
    }
    text
}

fn flags(flags: TcpFlags) -> String {
    let known = TcpFlags::LETTERS.iter().filter(|(_, bit)| flags.bits & bit != 0);
    match flags.ace {
        None => known.map(|(letter, _)| *letter).collect(),
        Some(digit) => {
            let others = known.filter(|(_, bit)| bit & 0x1c0 == 0);
            others.map(|(letter, _)| letter.to_string()).collect::<String>() + &digit.to_string()
        }
    }
}

fn option(option: &TcpOption) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match option {
        TcpOption::Nop => "nop".into(),
        TcpOption::End => "eol".into(),
        TcpOption::Mss(mss) => format!("mss {mss}"),
        TcpOption::WindowScale(shift) => format!("wscale {shift}"),
        TcpOption::SackPermitted => "sackOK".into(),
        TcpOption::Sack(blocks) => {
            let all: Vec<String> = blocks.iter().map(|(left, right)| format!("{left}:{right}")).collect();
            format!("sack {}", all.join(" "))
        }
        TcpOption::Timestamp(value, echo) => format!("TS val {value} ecr {echo}"),
        TcpOption::FastOpen(cookie) => format!("FO {}", hex(cookie)).trim_end().to_string(),
        TcpOption::FastOpenExperimental(cookie) => format!("FOEXP {}", hex(cookie)).trim_end().to_string(),
        TcpOption::Md5(digest) => format!("md5 {}", hex(digest)),
        TcpOption::AccurateEcn(counters) => {
            let name = |which| match which {
                0 => "e0b",
                1 => "e1b",
                _ => "ceb",
            };
            let all: Vec<String> =
                counters.iter().map(|(which, n)| format!(" {} {n}", name(*which))).collect();
            format!("ECN{}", all.concat())
        }
        TcpOption::Other(kind, value) => format!("option-{kind} {}", hex(value)),
    }
}

/// A time in seconds.
pub(crate) fn seconds(us: i64) -> String {
    format!("{}{}.{:06} s", if us < 0 { "-" } else { "" }, us.abs() / 1_000_000, us.abs() % 1_000_000)
}

/// The expected time, counted from the start of the script; relative times count from `base`.
pub(crate) fn time(timing: Timing, base: i64) -> String {
    let offset = if timing.relative { base } else { 0 };
    match timing.to {
        _ if timing.any => "at any time".to_string(),
        Some(to) => format!("from {} to {}", seconds(offset + timing.from), seconds(offset + to)),
        None => format!("at {}", seconds(offset + timing.from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ast::Action;
    use proptest::prelude::*;

    fn options() -> impl Strategy<Value = Vec<TcpOption>> {
        let one = prop_oneof![
            Just(TcpOption::Nop),
            any::<u16>().prop_map(TcpOption::Mss),
            any::<u8>().prop_map(TcpOption::WindowScale),
            Just(TcpOption::SackPermitted),
            prop::collection::vec(any::<(u32, u32)>(), 1..3).prop_map(TcpOption::Sack),
            any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamp(value, echo)),
            prop::collection::vec(any::<u8>(), 0..8).prop_map(TcpOption::FastOpen),
            [0_u32..1 << 24, 0_u32..1 << 24].prop_map(|[a, b]| TcpOption::AccurateEcn(vec![(1, a), (3, b)])),
        ];
        prop::collection::vec(one, 0..3).prop_map(|mut all| {
            while all.iter().map(|option| crate::kernel::encode_option(option).len()).sum::<usize>() % 4 != 0
            {
                all.push(TcpOption::Nop);
            }
            all
        })
    }

    proptest! {
        /// A written packet is read back as the same packet.
        #[test]
        fn shown_packets_are_read_again(
            bits in 0_u16..512,
            seq: u32,
            payload in 0_u16..9000,
            ack: u32,
            window: u16,
            urgent: u16,
            ecn in 0_u8..4,
            options in options(),
        ) {
            prop_assume!(options.iter().map(|option| crate::kernel::encode_option(option).len()).sum::<usize>() <= 40);
            let has_ack = bits & 16 != 0;
            let segment = Segment {
                flags: TcpFlags { bits: if bits == 0 { 16 } else { bits }, ace: None },
                seq: seq.min(u32::MAX - u32::from(payload)),
                payload,
                ack: if has_ack || bits == 0 { ack } else { 0 },
                window: Some(window),
                urgent,
                options: Some(options),
            };
            let text = format!("0 < {}", seen(ecn, &segment, true));
            let refusal = |error| TestCaseError::fail(format!("{text}: {error}"));
            let script = crate::parse(&text, &|_| None).map_err(refusal)?;
            let Action::Arrives(packet) = &script.events[0].action else { panic!("{text}") };
            prop_assert_eq!(&packet.body, &Body::Tcp(segment), "{}", text);
            prop_assert_eq!(packet.tos, Tos::Ecn(ecn));
        }
    }
}
