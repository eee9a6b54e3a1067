//! ACKs that stand for several packets beyond a hole (Linux since 4.18 `__tcp_ack_snd_check`,
//! `tcp_compressed_ack_kick`).

use shoal_units::{Span, Time};

/// ACKs that are sent before any is held back, for each in-order position (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u8 = 3;
/// Most packets that one ACK represents (`tcp_comp_sack_nr`).
const MOST: u16 = 44;
/// Longest wait (`tcp_comp_sack_delay_ns`).
const LONGEST: Span = Span::from_millis(1);
/// Time by which the kernel's timer may be late and, on an idle machine, is (`tcp_comp_sack_slack_ns`).
const SLACK: Span = Span::from_micros(10);

/// State of the compression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compression {
    deadline: Time,
    /// Number of packets whose ACK is held back.
    held: u16,
    /// Number of ACKs sent immediately at `position`.
    sent: u8,
    /// In-order position.
    position: u64,
}

impl Compression {
    pub(super) const fn new() -> Self {
        Self { deadline: Time::NEVER, held: 0, sent: 0, position: 0 }
    }
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }
    #[inline]
    pub(super) fn is_holding(&self) -> bool {
        self.held > 0
    }

    /// Whether the ACK of a packet that leaves holes is held back, at most for `wait`, the part of the RTT that is
    /// known, and not beyond `tick`, when the timer of delayed ACKs expires that was set last.
    pub(super) fn holds(&mut self, position: u64, wait: Span, tick: Time, now: Time) -> bool {
        if self.held >= MOST {
            return false;
        }
        if self.position != position {
            self.position = position;
            self.sent = 0;
        }
        if self.sent < AT_ONCE {
            self.sent += 1;
            return false;
        }
        self.held += 1;
        if self.deadline == Time::NEVER {
            self.deadline = now + wait.min(LONGEST) + SLACK;
            if tick > now {
                self.deadline = self.deadline.min(tick);
            }
        }
        true
    }

    /// Resets the compression after an ACK was sent for any reason (`tcp_event_ack_sent`).
    #[inline]
    pub(super) fn on_ack_sent(&mut self) {
        self.held = 0;
        self.deadline = Time::NEVER;
    }
}
