//! The two timers of a sender.

use shoal_units::{Span, Time, wheel_expiry};

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
    retransmission: Time,
    /// RACK reordering timer or tail loss probe, whichever was armed last (Linux `icsk_pending`).
    early: Time,
    /// When one of them was last set: the kernel has a single timer for both (`icsk_retransmit_timer`).
    armed: Time,
    early_is_probe: bool,
    /// Whether the first of them waits for its slot of the kernel's wheel already.
    is_in_slot: bool,
}

impl Timers {
    pub(super) const STOPPED: Self = Self {
        retransmission: Time::NEVER,
        early: Time::NEVER,
        armed: Time::ZERO,
        early_is_probe: false,
        is_in_slot: false,
    };

    /// Time at which the first of them fires.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.retransmission.min(self.early)
    }

    /// The timer that fires now, if any. The early one stops. With a `wheel`, a timer that is due waits for its slot.
    #[cold]
    #[inline(never)]
    pub(super) fn take_due(&mut self, now: Time, wheel: bool) -> Option<Due> {
        if wheel && now >= self.deadline() && !self.is_in_slot {
            self.enter_slot();
        }
        if now >= self.early {
            self.early = Time::NEVER;
            return Some(if self.early_is_probe { Due::Probe } else { Due::Reordering });
        }
        (now >= self.retransmission).then_some(Due::Retransmission)
    }

    fn enter_slot(&mut self) {
        self.is_in_slot = true;
        let slot = wheel_expiry(self.armed, self.deadline().since(self.armed));
        if self.early <= self.retransmission {
            self.early = slot;
        }
        // The early timer takes the place of the retransmission timeout, which cannot go off before it.
        self.retransmission = self.retransmission.max(slot);
    }

    #[inline]
    fn arm(&mut self, now: Time) {
        self.armed = now;
        self.is_in_slot = false;
    }
    /// Arms the retransmission timeout.
    pub(super) fn start_retransmission(&mut self, due: Time, now: Time) {
        self.arm(now);
        self.retransmission = due;
    }
    pub(super) fn stop_retransmission(&mut self) {
        self.retransmission = Time::NEVER;
    }
    /// Whether the retransmission timeout runs.
    #[inline]
    pub(super) fn retransmission_is_armed(&self) -> bool {
        self.retransmission != Time::NEVER
    }
    /// When the retransmission timeout is due; [`Time::NEVER`] while it does not run.
    #[inline]
    pub(super) fn retransmission(&self) -> Time {
        self.retransmission
    }
    /// Arms the probe, which takes the place of the retransmission timeout, so that this cannot come before it.
    #[inline]
    pub(super) fn start_probe(&mut self, due: Time, now: Time) {
        self.arm(now);
        self.early_is_probe = true;
        self.early = due;
        self.retransmission = self.retransmission.max(due);
    }
    /// Arms the reordering timer, which takes the place of a probe.
    pub(super) fn start_reordering(&mut self, due: Time, now: Time) {
        self.arm(now);
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
        timers.start_probe(at(100), at(0));
        assert_eq!((timers.deadline(), timers.take_due(at(99), false)), (at(100), None));
        assert_eq!(timers.take_due(at(100), false), Some(Due::Probe));
        assert_eq!(
            (timers.deadline(), timers.take_due(at(300), false)),
            (at(300), Some(Due::Retransmission))
        );
        timers.start_reordering(at(200), at(150));
        assert!(!timers.early_is_probe());
        assert_eq!(timers.take_due(at(300), false), Some(Due::Reordering));
    }

    /// 220 ms from 3 ms on end in the slot of 8 ms that ends at 224 ms.
    #[test]
    fn a_timer_that_is_due_waits_for_its_slot() {
        let mut timers = Timers::STOPPED;
        timers.start_retransmission(at(223), at(3));
        assert_eq!((timers.deadline(), timers.take_due(at(223), true)), (at(223), None));
        assert_eq!((timers.deadline(), timers.take_due(at(223), true)), (at(224), None));
        assert_eq!(timers.take_due(at(224), true), Some(Due::Retransmission));
    }

    #[test]
    fn a_timeout_is_not_earlier_than_the_probe_in_its_place() {
        let mut timers = Timers::STOPPED;
        timers.start_retransmission(at(218), at(3));
        timers.start_probe(at(217), at(3));
        assert_eq!((timers.take_due(at(217), true), timers.deadline()), (None, at(224)));
        assert_eq!(timers.take_due(at(224), true), Some(Due::Probe));
    }
}
