//! The two timers of a sender.

use shoal_units::{Span, Time};

/// Added to the early timers: two ticks (Linux `TCP_TIMEOUT_MIN_US`).
pub(super) const TIMEOUT_MIN: Span = Span::from_millis(2);

/// The timer that fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Due {
    /// The tail loss probe ([RFC 8985, section 7](https://www.rfc-editor.org/rfc/rfc8985#section-7)).
    Probe,
    /// The reordering window closes (RFC 8985 section 6.3).
    Reordering,
    /// The retransmission timeout ([RFC 6298](https://www.rfc-editor.org/rfc/rfc6298)).
    Retransmission,
}

/// Deadlines; [`Time::NEVER`] while a timer does not run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    /// Retransmission timeout.
    pub retransmission: Time,
    /// RACK reordering timer or tail loss probe, whichever was armed last (Linux `icsk_pending`).
    early: Time,
    early_is_probe: bool,
}

impl Timers {
    pub(super) const STOPPED: Self =
        Self { retransmission: Time::NEVER, early: Time::NEVER, early_is_probe: false };

    /// Time at which the first of them fires.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.retransmission.min(self.early)
    }

    /// The timer that fires now, if any. The early one stops.
    #[inline]
    pub(super) fn take_due(&mut self, now: Time) -> Option<Due> {
        if now >= self.early {
            self.early = Time::NEVER;
            return Some(if self.early_is_probe { Due::Probe } else { Due::Reordering });
        }
        (now >= self.retransmission).then_some(Due::Retransmission)
    }

    /// Arms the probe, which is never later than the retransmission timeout whose place it takes.
    #[inline]
    pub(super) fn start_probe(&mut self, due: Time) {
        self.early_is_probe = true;
        self.early = due.min(self.retransmission);
    }
    /// Arms the reordering timer, which takes the place of a probe.
    pub(super) fn start_reordering(&mut self, due: Time) {
        self.early_is_probe = false;
        self.early = due;
    }
    /// Whether the early timer was last armed for a probe.
    #[inline]
    pub(super) fn early_is_probe(&self) -> bool {
        self.early_is_probe
    }
    /// Whether the early timer runs.
    pub(super) fn early_is_armed(&self) -> bool {
        self.early != Time::NEVER
    }
    pub(super) fn stop_early(&mut self) {
        self.early = Time::NEVER;
    }
    /// Stops the reordering timer. Returns whether it ran.
    pub(super) fn stop_reordering(&mut self) -> bool {
        let ran = !self.early_is_probe && self.early_is_armed();
        if ran {
            self.stop_early();
        }
        ran
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn the_early_timer_fires_first_and_once() {
        let mut timers = Timers { retransmission: at(300), ..Timers::STOPPED };
        timers.start_probe(at(100));
        assert_eq!((timers.deadline(), timers.take_due(at(99))), (at(100), None));
        assert_eq!(timers.take_due(at(100)), Some(Due::Probe));
        assert_eq!((timers.deadline(), timers.take_due(at(300))), (at(300), Some(Due::Retransmission)));
        timers.start_reordering(at(200));
        assert!(!timers.early_is_probe());
        assert_eq!(timers.take_due(at(300)), Some(Due::Reordering));
    }

    #[test]
    fn a_probe_is_never_later_than_the_timeout() {
        let mut timers = Timers { retransmission: at(50), ..Timers::STOPPED };
        timers.start_probe(at(100));
        assert_eq!(timers.deadline(), at(50));
        assert_eq!(timers.take_due(at(50)), Some(Due::Probe));
    }
}
