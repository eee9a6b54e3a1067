//! What happened when a script was played on the kernel or on a model.

use crate::assertion::Scope;
use crate::syntax::ast::Segment;

/// Record of what happened, one entry for each event that was reached.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Transcript {
    /// Records, in the order of the events.
    pub(crate) records: Vec<Record>,
    /// Remarks of the player, for example that the handshake is turned round.
    pub notes: Vec<String>,
}

/// What happened at an event. Times are in nanoseconds after the start of the script.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Record {
    /// Index of the event.
    pub(crate) event: usize,
    /// End of the preceding event.
    pub(crate) base: i64,
    /// Time at which the event happened.
    pub(crate) at: i64,
    pub(crate) seen: Seen,
}

impl Record {
    pub(crate) fn is_packet(&self) -> bool {
        matches!(self.seen, Seen::Packet { .. })
    }

    /// Adds a consecutive packet that carries a further part of the payload of one packet of the script. As
    /// in packetdrill, all fields but the sequence number and CWR are those of the last packet, and the flags
    /// FIN, PSH and CWR may differ.
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
    /// A packet left; sequence numbers are the script's. `torn`: several packets that do not belong together.
    Packet { tos: u8, segment: Segment, torn: bool },
    /// No packet left by this time.
    Silence,
    /// A system call returned.
    Called {
        ended: i64,
        result: i64,
        error: i64,
        /// Output of the call that differs from the expected one.
        differs: Option<String>,
    },
    /// A system call did not return.
    Blocked,
    /// State of the socket, or the reason why it is not known.
    State(Result<Scope, String>),
    /// Value of a counter.
    Counted(i64),
    /// A packet was delivered, or a parameter set.
    Done,
}

/// Which parts of a packet a player knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sight {
    /// Whether all parts are known; otherwise sequence numbers, payload, ECN, flags without PSH, SACK blocks, and the
    /// counters of accurate ECN.
    pub(crate) whole: bool,
}
