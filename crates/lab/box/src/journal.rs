//! What came at the box, and what was decided about it, in words that a replay finds again.

use crate::{Decision, Frame};
use shoal_packet::Reason;
use shoal_trace::pcapng::CapturedFrame;
use shoal_units::Time;
use std::collections::VecDeque;

/// What becomes of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It leaves.
    Left {
        /// When it is due.
        at: Time,
        /// Whether the queue has marked it.
        is_marked: bool,
    },
    /// The queue drops it.
    Dropped {
        /// When.
        at: Time,
        /// Why.
        reason: Reason,
    },
    /// The impairments of the line lose it.
    LostOnLine {
        /// When it has left the transmitter.
        at: Time,
    },
}

/// Position in a record's list of interfaces of what is none: notes are frames without a byte that came there.
pub(crate) const NOTES: u32 = 2;
/// The last note of a record that is whole.
pub(crate) const THE_END: &str = "the record ends";
/// How the comment of a frame begins.
pub(crate) const CAME: &str = "came at ";
const CHANGED: &str = "changed at ";

/// The words of a change at this time in a note, if it is one.
pub(crate) fn change_in(note: &str, at: Time) -> Option<&str> {
    note.strip_prefix(CHANGED)?.strip_prefix(&seconds(at))?.strip_prefix(": ")
}

/// Frames in the order in which they came, until it is decided what becomes of them.
#[derive(Debug, Default)]
pub struct Journal {
    entries: VecDeque<Entry>,
    /// The number of the first entry.
    first: u64,
}

#[derive(Debug)]
struct Entry {
    frame: CapturedFrame,
    is_decided: bool,
}

impl Journal {
    /// A frame comes at a side, in which this was read; its number, from 0.
    pub fn came(&mut self, side: u32, at: Time, frame: &[u8], read: &Frame) -> u64 {
        let codepoint = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"][usize::from(read.ecn.bits())];
        let frame = CapturedFrame {
            at,
            interface: side,
            kept: frame[..read.read_bytes].to_vec(),
            bytes: u32::try_from(frame.len()).unwrap_or(u32::MAX),
            comment: format!("{CAME}{}, {} bytes, {codepoint}", seconds(at), read.bytes),
        };
        self.entries.push_back(Entry { frame, is_decided: false });
        self.first + self.entries.len() as u64 - 1
    }

    /// Notes what is no frame: a change of the box in words, or the end.
    pub fn noted(&mut self, at: Time, words: String) {
        let frame = CapturedFrame { at, interface: NOTES, kept: Vec::new(), bytes: 0, comment: words };
        self.entries.push_back(Entry { frame, is_decided: true });
    }

    /// A change of the box; see [`change_in`].
    pub fn changed(&mut self, at: Time, words: &str) {
        self.noted(at, format!("{CHANGED}{}: {words}", seconds(at)));
    }

    /// What becomes of a frame is decided.
    ///
    /// # Panics
    /// If there is no frame of this number, or it was decided before.
    pub fn decided(&mut self, decision: &Decision) {
        let entry = &mut self.entries[(decision.number - self.first) as usize];
        assert!(!entry.is_decided, "frame {} is decided twice", decision.number);
        entry.is_decided = true;
        let words = match decision.fate {
            Fate::Left { at, is_marked: false } => format!("passes, leaves at {}", seconds(at)),
            Fate::Left { at, is_marked: true } => format!("marked, leaves at {}", seconds(at)),
            Fate::Dropped { at, reason } => format!("dropped at {} ({})", seconds(at), reason.as_str()),
            Fate::LostOnLine { at } => format!("lost on the line at {}", seconds(at)),
        };
        entry.frame.comment += &format!(", flow {}: {words}", decision.flow);
    }

    /// Takes out the frame that came first, if it is decided what becomes of it.
    pub fn settled(&mut self) -> Option<CapturedFrame> {
        let entry = self.entries.pop_front_if(|entry| entry.is_decided)?;
        self.first += 1;
        Some(entry.frame)
    }

    /// Takes out the frame that came first; one about which nothing is decided will never leave.
    pub fn rest(&mut self) -> Option<CapturedFrame> {
        let mut entry = self.entries.pop_front()?;
        self.first += 1;
        if !entry.is_decided {
            entry.frame.comment += ": never leaves";
        }
        Some(entry.frame)
    }
}

/// A time in seconds, to the picosecond.
fn seconds(at: Time) -> String {
    const SECOND: u64 = 1_000_000_000_000;
    let picos = at.as_picos();
    format!("{}.{:012} s", picos / SECOND, picos % SECOND)
}
