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
            comment: format!("came at {}, {} bytes, {codepoint}", seconds(at), read.bytes),
        };
        self.entries.push_back(Entry { frame, is_decided: false });
        self.first + self.entries.len() as u64 - 1
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
