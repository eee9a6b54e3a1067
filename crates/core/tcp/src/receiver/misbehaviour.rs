//! Receivers that say what is not so
//! ([RFC 9743, section 7.6](https://www.rfc-editor.org/rfc/rfc9743#section-7.6)).
//!
//! The first three are the attacks of [Savage et al. 1999](https://doi.org/10.1145/505696.505704), section 3: ACK
//! division, spoofing of duplicate ACKs, and optimistic ACKs.

use super::Receiver;
use crate::{EndpointConfig, Output};
use shoal_packet::{Packet, SackBlocks, Seq};
use shoal_units::{Span, Time};

/// What a receiver does wrong; several at once are possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Misbehaviour {
    /// ACKs in which what one would acknowledge is divided; 1: it is not.
    pub pieces: u32,
    /// Times that each ACK is sent again.
    pub copies: u32,
    /// Full packets beyond the last that has come, whatever is missing before, that are acknowledged as if they had
    /// come. `None`: nothing is acknowledged that has not come.
    pub packets_ahead: Option<u32>,
    /// Whether no mark is reported.
    pub hides_marks: bool,
    /// Time of the run from which on no ACK is sent.
    pub silent_from: Option<Span>,
}

impl Misbehaviour {
    /// A receiver that does nothing wrong.
    pub const NONE: Self =
        Self { pieces: 1, copies: 0, packets_ahead: None, hides_marks: false, silent_from: None };
}

/// Whether the receiver reports no mark.
pub(super) fn hides_marks(config: &EndpointConfig) -> bool {
    config.receiver.misbehaviour.is_some_and(|misbehaviour| misbehaviour.hides_marks)
}

impl Receiver {
    /// Sends what the receiver makes of an ACK; the one before was for `before`.
    #[cold]
    #[inline(never)]
    pub(super) fn transmit_misbehaving(
        &mut self,
        (config, misbehaviour): (&EndpointConfig, &Misbehaviour),
        before: u64,
        mut ack: Packet,
        now: Time,
        out: &mut impl Output,
    ) {
        if misbehaviour.silent_from.is_some_and(|silent_from| now >= Time::ZERO + silent_from) {
            return;
        }
        if let Some(accurate) = self.feedback.accurate() {
            accurate.write(config, &mut ack, now, self.delayed.rtt());
        }
        let mut position = self.last_ack;
        if let Some(packets) = misbehaviour.packets_ahead {
            position = self.reassembly.end() + u64::from(packets) * u64::from(config.mss());
            ack.sack = SackBlocks::EMPTY;
        }
        let whole = position.saturating_sub(before);
        let pieces = u64::from(misbehaviour.pieces).clamp(1, whole.max(1));
        for piece in 1..=pieces {
            ack.ack = Seq::of(before.min(position) + whole * piece / pieces);
            for _ in 0..=misbehaviour.copies {
                out.transmit(ack);
            }
        }
    }
}
