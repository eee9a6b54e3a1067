//! Writes the blocks of a pcapng file (draft-ietf-opsawg-pcapng section 4) that captures here need,
//! little-endian.

use super::{CapturedFrame, LinkType, PacketNote, headers::Headers};
use shoal_units::{Rate, Time};

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Most bytes of a comment in one option, which can hold 65,535.
const COMMENT_BYTES: usize = 65_000;

const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
const OPTION_USER_APPLICATION: u16 = 4;
const OPTION_INTERFACE_NAME: u16 = 2;
const OPTION_INTERFACE_SPEED: u16 = 8;
const OPTION_TIME_RESOLUTION: u16 = 9;

/// Writes the section header, with which the file begins. A comment that no option can hold is written in pieces.
pub(super) fn section_header(out: &mut Vec<u8>, mut comment: &str) {
    block(out, SECTION_HEADER, |out| {
        out.extend(0x1A2B_3C4Du32.to_le_bytes());
        out.extend(1u16.to_le_bytes());
        out.extend(0u16.to_le_bytes());
        // The length of the section is not known.
        out.extend(u64::MAX.to_le_bytes());
        option(out, OPTION_USER_APPLICATION, concat!("shoal ", env!("CARGO_PKG_VERSION")).as_bytes());
        while !comment.is_empty() {
            let (piece, rest) = comment.split_at(comment.floor_char_boundary(COMMENT_BYTES));
            option(out, OPTION_COMMENT, piece.as_bytes());
            comment = rest;
        }
        option(out, OPTION_END, &[]);
    });
}

/// Writes the description of an interface.
pub(super) fn interface(
    out: &mut Vec<u8>,
    link_type: LinkType,
    name: &str,
    rate: Option<Rate>,
    snap_length: u32,
) {
    block(out, INTERFACE_DESCRIPTION, |out| {
        out.extend((link_type as u16).to_le_bytes());
        out.extend(0u16.to_le_bytes());
        out.extend(snap_length.to_le_bytes());
        // An option holds at most 65,535 bytes, so a very long name is cut.
        option(out, OPTION_INTERFACE_NAME, &name.as_bytes()[..name.floor_char_boundary(255)]);
        if let Some(rate) = rate {
            option(out, OPTION_INTERFACE_SPEED, &rate.as_bps().to_le_bytes());
        }
        // Time stamps count units of 10^-9 s.
        option(out, OPTION_TIME_RESOLUTION, &[9]);
        option(out, OPTION_END, &[]);
    });
}

/// Writes a packet with `kept_payload` bytes of its payload.
pub(super) fn packet(
    out: &mut Vec<u8>,
    now: Time,
    interface: u32,
    headers: &Headers,
    kept_payload: u16,
    note: Option<(PacketNote, Option<Time>)>,
) {
    let header_bytes = headers.ip.header_len() + headers.transport.header_len();
    let lengths = [kept_payload, headers.payload].map(|payload| header_bytes as u32 + u32::from(payload));
    enhanced_packet(out, now, interface, lengths, noted(note), |out| {
        out.extend_from_slice(&headers.ip.to_bytes());
        headers.transport.write(out).expect("memory takes all");
        out.resize(out.len() + usize::from(kept_payload), 0);
    });
}

/// Writes the first bytes of a packet that a real host sent, with the packet's original length.
pub(super) fn captured(
    out: &mut Vec<u8>,
    now: Time,
    interface: u32,
    kept: &[u8],
    length: usize,
    note: Option<(PacketNote, Option<Time>)>,
) {
    let lengths = [kept.len(), length].map(|bytes| bytes as u32);
    enhanced_packet(out, now, interface, lengths, noted(note), |out| out.extend_from_slice(kept));
}

/// Writes a frame that came at a real interface.
///
/// # Panics
/// If its comment is longer than an option.
pub(super) fn frame(out: &mut Vec<u8>, frame: &CapturedFrame) {
    assert!(frame.comment.len() <= COMMENT_BYTES, "a comment of {} bytes", frame.comment.len());
    let comment = |out: &mut Vec<u8>| option(out, OPTION_COMMENT, frame.comment.as_bytes());
    let lengths = [frame.kept.len() as u32, frame.bytes];
    let kept = |out: &mut Vec<u8>| out.extend_from_slice(&frame.kept);
    enhanced_packet(out, frame.at, frame.interface, lengths, Some(comment), kept);
}

/// What writes the comment of a packet that is noted.
fn noted(note: Option<(PacketNote, Option<Time>)>) -> Option<impl FnOnce(&mut Vec<u8>)> {
    note.map(|note| move |out: &mut Vec<u8>| comment(out, note))
}

/// Writes a packet of which the first bytes are kept; `lengths` are those of the kept bytes and of the whole packet.
fn enhanced_packet(
    out: &mut Vec<u8>,
    now: Time,
    interface: u32,
    lengths: [u32; 2],
    comment: Option<impl FnOnce(&mut Vec<u8>)>,
    kept: impl FnOnce(&mut Vec<u8>),
) {
    block(out, ENHANCED_PACKET, |out| {
        let [kept_bytes, bytes] = lengths;
        let [upper, lower] = time_fields(now);
        for field in [interface, upper, lower, kept_bytes, bytes] {
            out.extend(field.to_le_bytes());
        }
        kept(out);
        pad(out);
        if let Some(comment) = comment {
            comment(out);
            option(out, OPTION_END, &[]);
        }
    });
}

/// Gives the block of a packet another time.
pub(super) fn stamp(made: &mut [u8], now: Time) {
    let [upper, lower] = time_fields(now);
    made[12..16].copy_from_slice(&upper.to_le_bytes());
    made[16..20].copy_from_slice(&lower.to_le_bytes());
}

/// A time stamp: nanoseconds, the upper half first.
const fn time_fields(now: Time) -> [u32; 2] {
    let nanoseconds = now.as_picos() / 1000;
    [(nanoseconds >> 32) as u32, nanoseconds as u32]
}

fn comment(out: &mut Vec<u8>, (note, at): (PacketNote, Option<Time>)) {
    let (verb, reason) = match note {
        PacketNote::Marked(reason) => ("marked: ", reason.as_str()),
        PacketNote::Dropped(reason) => ("dropped: ", reason.as_str()),
    };
    let when = at.map(|at| {
        let nanoseconds = at.as_picos() / 1000;
        format!(" at {}.{:09} s", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
    });
    let when = when.unwrap_or_default();
    out.extend(OPTION_COMMENT.to_le_bytes());
    out.extend(((verb.len() + reason.len() + when.len()) as u16).to_le_bytes());
    for part in [verb, reason, &when] {
        out.extend_from_slice(part.as_bytes());
    }
    pad(out);
}

/// Writes a block: its type, its length, a body, and its length again. The length of a body is a multiple of
/// four bytes.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out.extend(length);
    out[start + 4..start + 8].copy_from_slice(&length);
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend_from_slice(value);
    pad(out);
}

/// Aligns to four bytes. Every block starts aligned in `out`.
fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}
