//! Parses the lines `< ...` and `> ...` that describe packets.

use super::ast::{Body, Icmp, Packet, Segment, TcpFlags, TcpOption, Tos};
use super::cursor::Cursor;
use crate::ScriptError;
use crate::vocabulary;

/// Cookies that packetdrill's callers define for IPv4 and the key of the kernel's `defaults.sh` (`ksft_runner.sh`).
const COOKIES: [(&str, &str); 2] =
    [("TFO_COOKIE_ZERO", "b7c12350a90dc8f5"), ("TFO_COOKIE", "3021b9d889017eeb")];

/// ICMPv4 type 3 by the name of its code ([RFC 792](https://www.rfc-editor.org/rfc/rfc792),
/// [RFC 1122, section 3.2.2.1](https://www.rfc-editor.org/rfc/rfc1122#section-3.2.2.1)).
const UNREACHABLE: [(&str, u8); 8] = [
    ("net_unreachable", 0),
    ("host_unreachable", 1),
    ("protocol_unreachable", 2),
    ("port_unreachable", 3),
    ("frag_needed", 4),
    ("source_route_failed", 5),
    ("net_prohibited", 9),
    ("host_prohibited", 10),
];

pub(super) fn packet(cursor: &mut Cursor<'_>, arrives: bool) -> Result<Packet, ScriptError> {
    let tos = tos(cursor)?;
    if cursor.eat_name("icmp")? {
        return Ok(Packet { tos, body: Body::Icmp(icmp(cursor)?) });
    }
    for unsupported in ["udp", "ipv4", "ipv6", "gre", "mpls"] {
        if cursor.eat_name(unsupported)? {
            return Err(cursor
                .refused(format!("packets with `{unsupported}` are not supported"))
                .hint("TCP segments and ICMP errors are"));
        }
    }
    let segment = segment(cursor)?;
    if arrives && segment.window.is_none() && !segment.flags.has(4) {
        return Err(cursor.error("a packet that arrives needs its window").hint("add `win N`"));
    }
    Ok(Packet { tos, body: Body::Tcp(segment) })
}

fn tos(cursor: &mut Cursor<'_>) -> Result<Tos, ScriptError> {
    if !cursor.eat("[")? {
        return Ok(Tos::Unsaid);
    }
    let name = cursor.name()?;
    let found = match name {
        "noecn" => Tos::Ecn(0),
        "ect1" => Tos::Ecn(1),
        "ect0" => Tos::Ecn(2),
        "ce" => Tos::Ecn(3),
        "ect01" => Tos::AnyEct,
        "tos" => Tos::Byte(cursor.number("a byte")?),
        other => {
            let exists = vocabulary::is_ip_field(other);
            return Err(vocabulary::lacks(cursor.line(), "the ECN field", other, exists)
                .hint("noecn, ect0, ect1, ect01, ce or tos 0xNN"));
        }
    };
    cursor.expect("]", "after the ECN bits")?;
    Ok(found)
}

fn segment(cursor: &mut Cursor<'_>) -> Result<Segment, ScriptError> {
    let flags = flags(cursor)?;
    let (seq, payload) = range(cursor)?;
    let mut segment =
        Segment { flags, seq, payload, ack: 0, window: None, urgent: 0, options: Some(Vec::new()) };
    if cursor.eat_name("ack")? {
        segment.ack = cursor.number("an acknowledgement number")?;
    }
    if cursor.eat_name("win")? {
        segment.window = Some(cursor.number("a window of 16 bits")?);
    }
    if cursor.eat_name("urg")? {
        segment.urgent = cursor.number("an urgent pointer of 16 bits")?;
    }
    if cursor.eat("<")? {
        segment.options = options(cursor)?;
    }
    let options: usize =
        segment.options.iter().flatten().map(|option| crate::kernel::encode_option(option).len()).sum();
    if 40 + options + usize::from(payload) > 65_535 {
        return Err(cursor.error(format!("{payload} bytes do not fit an IP packet with their headers")));
    }
    Ok(segment)
}

fn flags(cursor: &mut Cursor<'_>) -> Result<TcpFlags, ScriptError> {
    cursor.skip_blank()?;
    let before = cursor.found();
    let word = cursor.take_while(|c| !c.is_whitespace());
    let mut flags = TcpFlags::default();
    // A segment without flags is written as a single `-`.
    for letter in word.chars().filter(|_| word != "-") {
        if let Some((_, bit)) = TcpFlags::LETTERS.iter().find(|(known, _)| *known == letter) {
            flags.bits |= bit;
        } else if let (Some(digit @ 0..=7), None) = (letter.to_digit(8), flags.ace) {
            flags.ace = Some(digit as u8);
        } else {
            return Err(cursor
                .error(format!("{before} is not a set of TCP flags"))
                .hint("letters of `FSRP.EWAU`, where `.` is ACK; a digit 0 to 7 for the ACE field"));
        }
    }
    if flags.ace.is_some() && flags.bits & 0x1c0 != 0 {
        return Err(cursor
            .error("the ACE field is given twice")
            .hint("either a digit or the letters E, W, A"));
    }
    if let Some(ace) = flags.ace {
        flags.bits |= u16::from(ace) << 6;
    }
    Ok(flags)
}

/// Parses `seq:end(len)`.
fn range(cursor: &mut Cursor<'_>) -> Result<(u32, u16), ScriptError> {
    let seq: u32 = cursor.number("a sequence number")?;
    cursor.expect(":", "after the sequence number")?;
    let end: u32 = cursor.number("the sequence number after the last")?;
    cursor.expect("(", "before the length")?;
    let payload: u16 = cursor.number("a length of at most 65535 bytes")?;
    cursor.expect(")", "after the length")?;
    if seq.wrapping_add(u32::from(payload)) != end {
        return Err(cursor.error(format!("{seq}:{end} are not {payload} bytes")));
    }
    Ok((seq, payload))
}

fn options(cursor: &mut Cursor<'_>) -> Result<Option<Vec<TcpOption>>, ScriptError> {
    if cursor.eat("...")? {
        cursor.expect(">", "after `...`")?;
        return Ok(None);
    }
    let mut found = Vec::new();
    loop {
        found.push(option(cursor)?);
        if cursor.eat(">")? {
            break;
        }
        cursor.expect(",", "between TCP options")?;
    }
    let bytes: usize = found.iter().map(|option| crate::kernel::encode_option(option).len()).sum();
    if !bytes.is_multiple_of(4) || bytes > 40 {
        return Err(cursor
            .error(format!("the TCP options take {bytes} bytes"))
            .hint("they must fill 32-bit words, 10 at most: pad with `nop`"));
    }
    Ok(Some(found))
}

fn option(cursor: &mut Cursor<'_>) -> Result<TcpOption, ScriptError> {
    let name = cursor.name()?;
    Ok(match name {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::End,
        "mss" => TcpOption::Mss(cursor.number("a segment size")?),
        "wscale" => TcpOption::WindowScale(cursor.number("a shift")?),
        "sackOK" => TcpOption::SackPermitted,
        "sack" => TcpOption::Sack(blocks(cursor)?),
        "TS" => timestamp(cursor)?,
        "FO" => TcpOption::FastOpen(bytes(cursor)?),
        "FOEXP" => TcpOption::FastOpenExperimental(bytes(cursor)?),
        "md5" => TcpOption::Md5(bytes(cursor)?),
        "ECN" => TcpOption::AccurateEcn(counters(cursor)?),
        other => {
            return Err(vocabulary::lacks(cursor.line(), "the TCP option", other, false)
                .hint("mss, sackOK, sack, TS val N ecr N, wscale, nop, eol, FO, FOEXP, md5 and ECN are"));
        }
    })
}

fn timestamp(cursor: &mut Cursor<'_>) -> Result<TcpOption, ScriptError> {
    if !cursor.eat_name("val")? {
        return Err(cursor.error("expected `val` after `TS`"));
    }
    let value = cursor.number("a timestamp")?;
    if !cursor.eat_name("ecr")? {
        return Err(cursor.error("expected `ecr` after the timestamp"));
    }
    Ok(TcpOption::Timestamp(value, cursor.number("the timestamp that is echoed")?))
}

fn blocks(cursor: &mut Cursor<'_>) -> Result<Vec<(u32, u32)>, ScriptError> {
    let mut found = Vec::new();
    loop {
        let left = cursor.number("the left edge of a SACK block")?;
        cursor.expect(":", "inside a SACK block")?;
        found.push((left, cursor.number("the right edge of a SACK block")?));
        cursor.skip_blank()?;
        if !cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Ok(found);
        }
    }
}

/// Options have 40 bytes ([RFC 9293, section 3.1](https://www.rfc-editor.org/rfc/rfc9293#section-3.1)), two
/// of them for kind and length.
const MAX_OPTION_VALUE: usize = 38;

/// Parses bytes in hexadecimal, or a cookie by its name; empty if the option ends here.
fn bytes(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, ScriptError> {
    let word = cursor.name()?;
    let hex = COOKIES.iter().find(|(name, _)| *name == word).map_or(word, |(_, cookie)| *cookie);
    let pairs = hex.as_bytes().chunks(2);
    let found: Option<Vec<u8>> = pairs
        .map(|pair| std::str::from_utf8(pair).ok().filter(|p| p.len() == 2))
        .map(|pair| u8::from_str_radix(pair?, 16).ok())
        .collect();
    found.filter(|bytes| bytes.len() <= MAX_OPTION_VALUE).ok_or_else(|| {
        cursor
            .error(format!("`{word}` is not a value of a TCP option"))
            .hint("an even number of hexadecimal digits")
    })
}

/// Parses `e1b N ceb N e0b N` in any order; trailing counters may be missing.
fn counters(cursor: &mut Cursor<'_>) -> Result<Vec<(u8, u32)>, ScriptError> {
    let mut found: Vec<(u8, u32)> = Vec::new();
    loop {
        let which = match cursor.clone().name()? {
            "e0b" => 0,
            "e1b" => 1,
            "ceb" => 3,
            _ => break,
        };
        cursor.name()?;
        let value: u32 = cursor.number("a counter")?;
        if value >> 24 != 0 {
            return Err(cursor.error(format!("the counter {value} does not fit 24 bits")));
        }
        found.push((which, value));
    }
    let order: Vec<u8> = found.iter().map(|(which, _)| *which).collect();
    if [[0, 3, 1], [1, 3, 0]].iter().any(|known| known.starts_with(&order)) {
        return Ok(found);
    }
    Err(cursor
        .error("these counters of the ECN option have no option")
        .hint("`e0b ceb e1b` or `e1b ceb e0b`"))
}

fn icmp(cursor: &mut Cursor<'_>) -> Result<Icmp, ScriptError> {
    let kind = cursor.name()?;
    if kind != "unreachable" {
        let exists = vocabulary::is_icmp(kind);
        let error = if exists {
            cursor.refused(format!("`icmp {kind}` is not supported"))
        } else {
            cursor.error(format!("`icmp {kind}` is not known"))
        };
        return Err(error.hint("`icmp unreachable` is"));
    }
    let before = cursor.clone();
    let name = cursor.name()?;
    let code = match UNREACHABLE.iter().find(|(known, _)| *known == name) {
        Some((_, code)) => *code,
        None => {
            *cursor = before;
            0
        }
    };
    let mtu = if cursor.eat_name("mtu")? { cursor.number("an MTU")? } else { 0 };
    // As in packetdrill, an error that names no segment concerns the first byte of the connection.
    let mut about = (0, 0);
    if cursor.eat("[")? {
        about = range(cursor)?;
        cursor.expect("]", "after the segment that the ICMP error is about")?;
    }
    Ok(Icmp { kind: 3, code, mtu, about })
}
