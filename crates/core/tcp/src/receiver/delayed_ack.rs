//! When an ACK may wait (RFC 5681 section 4.2; Linux `tcp_event_data_recv`, `__tcp_ack_snd_check`,
//! `tcp_send_delayed_ack`).

use crate::EndpointConfig;
use shoal_units::{Span, Time};

/// Delayed-ACK state (Linux `icsk_ack`).
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayedAck {
    deadline: Time,
    /// Estimated time between data packets (Linux `ato`); zero before the first.
    ato: Span,
    last_data: Time,
    /// ACKs still to be sent at once (Linux `icsk_ack.quick`).
    quick: u32,
}

impl DelayedAck {
    pub(super) const fn new() -> Self {
        Self { deadline: Time::NEVER, ato: Span::ZERO, last_data: Time::ZERO, quick: 0 }
    }
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.deadline != Time::NEVER
    }
    #[inline]
    pub(super) fn in_quick_mode(&self) -> bool {
        self.quick > 0
    }

    /// Data arrives: learns the spacing; a long silence brings quick ACKs back.
    #[inline]
    pub(super) fn on_data(&mut self, config: &EndpointConfig, _payload: u32, now: Time) {
        let floor = config.stack.delack_min;
        if self.ato.is_zero() {
            self.enter_quick_mode(config);
            self.ato = floor;
        } else {
            let gap = now.since(self.last_data);
            if gap <= floor / 2 {
                self.ato = self.ato / 2 + floor / 2;
            } else if gap < self.ato {
                self.ato = self.ato / 2 + gap;
            } else if gap > config.stack.rto_min + self.ato {
                // Linux compares with the RTO of the reverse direction, which has only the handshake's sample.
                self.enter_quick_mode(config);
            }
        }
        self.last_data = now;
    }

    /// Linux `tcp_incr_quickack`: half the window in segments, at least 2, at most the stack's limit.
    pub(super) fn enter_quick_mode(&mut self, config: &EndpointConfig) {
        let half_window = config.receive_window_bytes / (2 * u32::from(config.mss()));
        self.quick = self.quick.max(half_window.max(2).min(config.stack.quick_acks));
    }
    /// Linux `tcp_enter_quickack_mode(sk, 2)`.
    pub(super) fn enter_quick_mode_two(&mut self) {
        self.quick = self.quick.max(2);
    }

    /// Starts the timer unless it runs.
    #[inline]
    pub(super) fn arm(&mut self, config: &EndpointConfig, now: Time) {
        if !self.is_pending() {
            self.deadline = now + self.ato.max(config.stack.delack_min).min(config.stack.delack_max);
        }
    }
    /// An ACK went out, for whatever reason.
    #[inline]
    pub(super) fn on_ack_sent(&mut self) {
        self.deadline = Time::NEVER;
        self.quick = self.quick.saturating_sub(1);
    }
    /// The timer fired (Linux: the estimate was too short, so it doubles; the next data corrects it).
    pub(super) fn on_timeout(&mut self) {
        self.ato = self.ato * 2;
        self.deadline = Time::NEVER;
    }
}
