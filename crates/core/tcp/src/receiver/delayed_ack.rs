//! When an ACK may wait ([RFC 5681, section 4.2](https://www.rfc-editor.org/rfc/rfc5681#section-4.2); Linux
//! `tcp_event_data_recv`, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`).

use crate::{EndpointConfig, Linux};
use shoal_units::{JIFFY, Span, Time, jiffies_between, wheel_expiry};

/// Delayed-ACK state (Linux `icsk_ack`).
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayedAck {
    deadline: Time,
    /// When Linux' timer goes off that was set last. An ACK that is sent does not stop it: it expires, and sends an ACK
    /// only if one is compressed then (`tcp_delack_timer_handler`).
    timer: Time,
    /// Estimated time between data packets in whole jiffies (Linux `ato`); zero before the first one.
    ato: Span,
    last_data: Time,
    /// RTT of the handshake, the only one that a receiver measures; zero if it measured none.
    rtt: Span,
    /// Number of further ACKs that are sent immediately (Linux `icsk_ack.quick`).
    quick: u32,
    /// Whether data with PSH, or less than a full segment, came since the last ACK (Linux `ICSK_ACK_PUSHED`).
    is_pushed: bool,
    /// Whether the read of what came since the last ACK sends the next.
    read_acknowledges: bool,
    /// Whether this end answers what it receives within the estimated time, so that ACKs travel with answers (Linux
    /// `inet_csk_in_pingpong_mode`).
    is_interactive: bool,
}

impl DelayedAck {
    pub(super) const fn new() -> Self {
        Self {
            deadline: Time::NEVER,
            timer: Time::ZERO,
            ato: Span::ZERO,
            last_data: Time::ZERO,
            rtt: Span::ZERO,
            quick: 0,
            is_pushed: false,
            read_acknowledges: false,
            is_interactive: false,
        }
    }
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }
    /// When the timer that was set last expires or has expired, whether or not an ACK has been sent since.
    pub(super) fn tick(&self) -> Time {
        self.timer
    }
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.deadline != Time::NEVER
    }
    #[inline]
    pub(super) fn in_quick_mode(&self) -> bool {
        self.quick > 0 && !self.is_interactive
    }
    /// Notes data that the sender pushed. The read of it sends the ACK, but in interactive mode only if a small segment
    /// follows another one that was pushed (Linux `tcp_measure_rcv_mss`, `__tcp_cleanup_rbuf`).
    #[cold]
    pub(super) fn note_pushed(&mut self, is_small: bool) {
        let was_pushed = core::mem::replace(&mut self.is_pushed, true);
        self.read_acknowledges |= !self.is_interactive || (is_small && was_pushed);
    }
    /// Whether the read of what came since the last ACK sends the next.
    #[inline]
    pub(super) fn read_acknowledges(&self) -> bool {
        self.read_acknowledges
    }
    /// This end sends data. Soon after data that it has received, they are an answer (Linux `tcp_event_data_sent`).
    pub(super) fn on_data_sent(&mut self, now: Time) {
        self.is_interactive |= now.since(self.last_data) < self.ato;
    }
    #[inline]
    pub(super) fn rtt(&self) -> Span {
        self.rtt
    }
    /// Stores the RTT of the handshake.
    pub(super) fn set_rtt(&mut self, rtt: Span) {
        self.rtt = rtt;
    }

    /// Handles data that arrive in order: estimates their spacing; quick ACKs return after a long silence.
    #[inline]
    pub(super) fn on_data(&mut self, config: &EndpointConfig, now: Time) {
        let Some(rules) = config.receiver_stack().linux() else { return };
        let floor = rules.delack_min;
        let last = core::mem::replace(&mut self.last_data, now);
        // Data that follow each other closely leave the least estimate as it is.
        if self.ato != floor || now.since(last) + JIFFY > floor / 2 {
            self.estimate(config, rules, jiffies_between(last, now));
        }
    }

    /// Estimates the spacing of data that have come `gap` apart, which is in whole jiffies.
    #[inline(never)]
    fn estimate(&mut self, config: &EndpointConfig, rules: &Linux, gap: Span) {
        let floor = rules.delack_min;
        if self.ato.is_zero() {
            self.quick = self.quick.max(initial_quick_acks(config, rules));
            self.ato = floor;
        } else if gap <= floor / 2 {
            self.ato = half_in_jiffies(self.ato) + floor / 2;
        } else {
            self.on_sparse_data(config, rules, gap);
        }
    }

    #[cold]
    fn on_sparse_data(&mut self, config: &EndpointConfig, rules: &Linux, gap: Span) {
        if gap < self.ato {
            let most = self.rto(config).min(config.receiver_stack().delack_max);
            self.ato = (half_in_jiffies(self.ato) + gap).min(most);
        } else if gap > self.rto(config) {
            self.quick = self.quick.max(initial_quick_acks(config, rules));
        }
    }

    /// Retransmission timeout of the receiver's own direction, which only has the sample of the handshake.
    fn rto(&self, config: &EndpointConfig) -> Span {
        if self.rtt.is_zero() {
            return config.receiver_stack().rto_initial;
        }
        self.rtt + (self.rtt * 2).max(config.receiver_stack().rto_min)
    }

    /// Enters quick-ACK mode for at most `limit` ACKs (Linux `tcp_enter_quickack_mode`).
    #[cold]
    pub(super) fn enter_quick_mode(&mut self, config: &EndpointConfig, limit: u32) {
        let Some(rules) = config.receiver_stack().linux() else { return };
        self.quick = self.quick.max(initial_quick_acks(config, rules).min(limit));
        self.is_interactive = false;
        self.ato = rules.delack_min;
    }

    /// A segment has made the window larger. Linux makes the number of quick ACKs that are left odd then, so that at
    /// least one is (`tcp_grow_window`: `quick |= 1`).
    #[cold]
    pub(super) fn on_larger_window(&mut self, config: &EndpointConfig) {
        if config.receiver_stack().linux().is_some() {
            self.quick |= 1;
        }
    }

    /// Starts the timer for an ACK that may wait. Linux also tests whether the timer is about to expire
    /// (`tcp_send_delayed_ack`); since small segments are acknowledged immediately, there is never a second one that
    /// may wait.
    #[inline]
    pub(super) fn arm_on_linux(&mut self, config: &EndpointConfig, rules: &Linux, now: Time) {
        let floor = rules.delack_min;
        let mut ato = self.ato;
        if ato > floor {
            // A known RTT bounds the estimate (Linux tcp_send_delayed_ack).
            let bound =
                if self.rtt.is_zero() { config.receiver_stack().delack_max } else { self.rtt.max(floor) };
            ato = ato.min(bound).min(config.receiver_stack().delack_max);
        }
        let wait = ato.max(floor);
        let expiry = if rules.timer_wheel { wheel_expiry(now, wait) } else { now + wait };
        self.deadline = self.deadline.min(expiry);
        self.timer = self.deadline;
    }
    /// Starts the timer for an ACK that may wait.
    #[inline]
    pub(super) fn arm_on_freebsd(&mut self, config: &EndpointConfig, now: Time) {
        self.deadline = now + config.receiver_stack().delack_max;
    }
    /// Stops the timer after an ACK was sent for any reason.
    #[inline]
    pub(super) fn on_ack_sent(&mut self, config: &EndpointConfig) {
        self.deadline = Time::NEVER;
        self.is_pushed = false;
        self.read_acknowledges = false;
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0
                && let Some(rules) = config.receiver_stack().linux()
            {
                self.ato = rules.delack_min;
            }
        }
    }
    /// Handles the expiry of the timer (Linux: the estimate was too short, so it doubles; further data correct it). An
    /// answer that does not come in time ends the interactive mode.
    pub(super) fn on_timeout(&mut self, config: &EndpointConfig) {
        self.ato = match config.receiver_stack().linux() {
            Some(rules) if self.is_interactive => rules.delack_min,
            _ => (self.ato * 2).min(self.rto(config)).min(config.receiver_stack().delack_max),
        };
        self.is_interactive = false;
        self.deadline = Time::NEVER;
    }
}

/// Half of a time, in whole jiffies.
fn half_in_jiffies(span: Span) -> Span {
    JIFFY * (span.as_picos() / 2 / JIFFY.as_picos())
}

/// Half of the receive window in segments, at least 2, at most the stack's limit (Linux `tcp_incr_quickack`).
fn initial_quick_acks(config: &EndpointConfig, rules: &Linux) -> u32 {
    let half_window = config.receive_window_bytes / (2 * u32::from(config.mss()));
    let wanted = if half_window == 0 { 2 } else { half_window };
    wanted.min(rules.quick_acks)
}
