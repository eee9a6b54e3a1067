//! How much of the window is used (RFC 2861, <https://www.rfc-editor.org/rfc/rfc2861>; Linux `tcp_cwnd_validate`,
//! `tcp_is_cwnd_limited`).

use crate::WindowUse;
use shoal_cc::{GrowthRules, Window};
use shoal_units::Time;

/// A turn in which the sender might have sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Packets sent.
    pub sent: u32,
    /// `cwnd` stopped the transmission.
    pub stopped: bool,
    /// Packets out afterwards, and those of them in flight.
    pub packets_out: u32,
    pub flight: u32,
    pub snd_una: u64,
    pub snd_nxt: u64,
}

/// What is remembered of the use of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowUsage {
    /// Largest flight of the current window and where the window ends (Linux `max_packets_out`, `max_packets_seq`).
    largest_flight: u32,
    window_end: u64,
    /// Largest flight since the window was last full (Linux `snd_cwnd_used`).
    pub used: u32,
    /// When the window was last full, or changed (Linux `snd_cwnd_stamp`).
    pub stamp: Time,
    /// `cwnd` stopped the transmission (Linux `is_cwnd_limited`).
    limited: bool,
}

impl WindowUsage {
    pub(super) const NONE: Self =
        Self { largest_flight: 0, window_end: 0, used: 0, stamp: Time::ZERO, limited: false };

    /// Notes a turn. Returns whether the window was used up; `None` if the turn says nothing about it.
    #[inline]
    pub(super) fn note(
        &mut self,
        rule: WindowUse,
        growth: &GrowthRules,
        window: &Window,
        turn: &Turn,
    ) -> Option<bool> {
        match rule {
            WindowUse::Missing(_) => (turn.sent > 0).then_some(turn.packets_out >= window.cwnd),
            WindowUse::LargestFlight => {
                if turn.sent == 0 {
                    return None;
                }
                if turn.snd_una >= self.window_end || turn.packets_out > self.largest_flight {
                    self.note_flight(turn, turn.stopped);
                }
                Some(self.is_limited(rule, growth, window, turn.packets_out))
            }
            WindowUse::StickyLimit => {
                let stopped = turn.stopped || turn.flight >= window.cwnd;
                if turn.sent == 0 && !stopped {
                    return None;
                }
                let larger = !self.limited && turn.packets_out > self.largest_flight;
                if stopped || larger || turn.snd_una >= self.window_end {
                    self.note_flight(turn, stopped);
                }
                Some(self.is_limited(rule, growth, window, turn.packets_out))
            }
        }
    }

    #[inline]
    fn note_flight(&mut self, turn: &Turn, stopped: bool) {
        self.largest_flight = turn.packets_out;
        self.window_end = turn.snd_nxt;
        self.limited = stopped;
    }

    /// Whether the window was the limit, by the stack's own test. `flight` is the flight before the ACK.
    #[inline]
    pub(super) fn is_limited(
        &self,
        rule: WindowUse,
        growth: &GrowthRules,
        window: &Window,
        flight: u32,
    ) -> bool {
        let doubles = || window.cwnd < 2 * self.largest_flight;
        match rule {
            WindowUse::Missing(slack) => flight.saturating_add(slack) >= window.cwnd,
            WindowUse::LargestFlight if growth.in_slow_start(window) => doubles(),
            WindowUse::LargestFlight => self.limited,
            WindowUse::StickyLimit => self.limited || (growth.in_slow_start(window) && doubles()),
        }
    }

    /// Whether `cwnd` stopped the transmission in this window.
    #[inline]
    pub(super) fn was_full(&self) -> bool {
        self.limited
    }

    /// The window was full, or begins anew.
    #[inline]
    pub(super) fn restart(&mut self, now: Time) {
        self.used = 0;
        self.stamp = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    /// Twenty packets of `cwnd` in congestion avoidance or slow start; a turn that sends two.
    fn limited(
        rule: WindowUse,
        ssthresh: u32,
        packets_out: u32,
        stopped: bool,
    ) -> (Option<bool>, WindowUsage) {
        let growth = Profile::LINUX_6.growth;
        let window = Window { ssthresh, ..Window::in_packets(20) };
        let mut usage = WindowUsage::NONE;
        let turn = Turn { sent: 2, stopped, packets_out, flight: packets_out, snd_una: 1, snd_nxt: 9000 };
        (usage.note(rule, &growth, &window, &turn), usage)
    }

    #[test]
    fn each_kernel_has_its_own_test_of_a_used_window() {
        let (slow_start, avoidance) = (100, 10);
        for (rule, ssthresh, out, stopped, used) in [
            // Linux 3.2 notes the window as used if it is full.
            (WindowUse::Missing(3), avoidance, 19, false, false),
            (WindowUse::Missing(3), avoidance, 20, true, true),
            // Later: in slow start half of it is enough, 20 < 2 x 11.
            (WindowUse::LargestFlight, slow_start, 10, false, false),
            (WindowUse::LargestFlight, slow_start, 11, false, true),
            (WindowUse::LargestFlight, avoidance, 11, false, false),
            (WindowUse::LargestFlight, avoidance, 11, true, true),
            (WindowUse::StickyLimit, avoidance, 20, false, true),
            (WindowUse::StickyLimit, avoidance, 19, false, false),
        ] {
            assert_eq!(
                limited(rule, ssthresh, out, stopped).0,
                Some(used),
                "{rule:?} {ssthresh} {out} {stopped}"
            );
        }
    }

    #[test]
    fn a_limit_holds_for_its_window() {
        let growth = Profile::LINUX_6.growth;
        let window = Window { ssthresh: 10, ..Window::in_packets(20) };
        let (_, mut usage) = limited(WindowUse::StickyLimit, 10, 20, true);
        // Sent within the window that ends at 9000: the limit is remembered.
        let small =
            Turn { sent: 1, stopped: false, packets_out: 3, flight: 3, snd_una: 8999, snd_nxt: 12_000 };
        assert_eq!(usage.note(WindowUse::StickyLimit, &growth, &window, &small), Some(true));
        let next = Turn { snd_una: 9000, ..small };
        assert_eq!(usage.note(WindowUse::StickyLimit, &growth, &window, &next), Some(false));
        let idle = Turn { sent: 0, ..next };
        assert_eq!(usage.note(WindowUse::StickyLimit, &growth, &window, &idle), None);
    }
}
