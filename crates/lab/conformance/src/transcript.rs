//! What happened when a script was played, whoever played it.

use crate::assertion::Scope;
use crate::syntax::ast::Segment;

/// What happened, one record for each event that was reached.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Transcript {
    /// Records, in the order of the events.
    pub(crate) records: Vec<Record>,
    /// What the player has to say, such as a parameter that it lacks.
    pub notes: Vec<String>,
}

/// What happened at an event. Times are nanoseconds after the start of the script.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Record {
    /// Index of the event.
    pub(crate) event: usize,
    /// End of the event before.
    pub(crate) base: i64,
    /// When it happened.
    pub(crate) at: i64,
    pub(crate) seen: Seen,
}

impl Record {
    pub(crate) fn is_packet(&self) -> bool {
        matches!(self.seen, Seen::Packet { .. })
    }

    /// A packet that follows: together they are what the script has as one. As in packetdrill, everything but the sequence
    /// number and CWR is that of the last, and the flags FIN, PSH and CWR may differ.
    pub(crate) fn append(&mut self, next: Self) {
        let (Seen::Packet { tos, segment, torn }, Seen::Packet { segment: mut last, tos: last_tos, .. }) =
            (&self.seen, next.seen)
        else {
            return;
        };
        let compared = !(1 | 8 | 128);
        let follows = last.seq == segment.seq.wrapping_add(u32::from(segment.payload))
            && last_tos == *tos
            && (last.flags.bits ^ segment.flags.bits) & compared == 0
            && last.ack == segment.ack;
        let torn = *torn || !follows;
        last.seq = segment.seq;
        last.flags.bits = last.flags.bits & !128 | segment.flags.bits & 128;
        last.payload = last.payload.saturating_add(segment.payload);
        self.at = next.at;
        self.seen = Seen::Packet { tos: last_tos, segment: last, torn };
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Seen {
    /// A packet left, in the numbers of the script; `torn` if it is several that do not belong together.
    Packet { tos: u8, segment: Segment, torn: bool },
    /// None did, until now.
    Silence,
    /// A call returned.
    Called {
        ended: i64,
        result: i64,
        error: i64,
        /// What it wrote and should not have.
        differs: Option<String>,
    },
    /// A call did not return.
    Blocked,
    /// State of the socket, or why there is none.
    State(Result<Scope, String>),
    /// A counter was read.
    Counted(i64),
    /// A packet was handed over, something was set.
    Done,
}

/// What a player can tell about packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sight {
    /// The whole packet; otherwise sequence numbers, payload, ECN, flags without PSH, and SACK blocks.
    pub(crate) whole: bool,
}
