//! Measures frames: pieces of a stream that are of use only within a deadline.

use crate::Distribution;
use crate::fields::described;
use crate::metrics::{finite, order_statistics};
use serde::{Deserialize, Serialize};
use shoal_units::{Span, Time};
use std::collections::VecDeque;

described! {

/// Frames that were written inside the measurement window.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FrameSummary {
    /// Frames whose deadline came before the end of the run: the sum of the next three.
    pub due: u64,
    /// Complete at the receiver within the deadline.
    pub on_time: u64,
    /// Complete after it.
    pub late: u64,
    /// Not complete when the run ended.
    pub missing: u64,
    /// `on_time / due`.
    pub on_time_fraction: Option<f64>,
    /// From the write of a frame to its last byte at the receiver, in seconds, of all that arrived. Quantiles are
    /// exact.
    pub delay_s: Distribution,
    /// How long after the deadline, in seconds, of those that were late.
    pub lateness_s: Distribution,
    /// How often a player that waits for late frames stood still.
    pub stalls: u64,
    /// How long in all, in seconds.
    pub stalled_s: f64,
    /// The longest of them, in seconds.
    pub longest_stall_s: f64,
    /// Sizes of the frames that were written, in bytes, if an encoder adapts them. Quantiles are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<Distribution>,
}
}

/// Frames of one flow: when each was complete at the receiver, and what a video player there would have
/// shown.
///
/// The player shows the first frame at its deadline, or on its arrival if that is later, and each further
/// frame an interval after the preceding one. If a frame has not arrived by then, the player stalls, and all
/// later frames are shown later by the same time. Deadlines thus describe a live picture, and stalls a viewer
/// who prefers to wait.
#[derive(Clone, Debug)]
pub struct FrameMeter {
    is_adaptive: bool,
    interval: Span,
    deadline: Span,
    window_start: Time,
    /// Time at which the first frame was written; all further ones follow at equal intervals.
    began: Time,
    written: u64,
    written_bytes: u64,
    delivered: u64,
    /// Bytes of the stream with which the frames that are under way are complete.
    ends: VecDeque<u64>,
    /// Bytes of the frames that were written inside the window, if their sizes differ.
    sizes: Vec<f64>,
    /// Delays from write to delivery of the frames that were written inside the window.
    delays: Vec<Span>,
    player: Player,
}

#[derive(Clone, Copy, Debug, Default)]
struct Player {
    /// Time at which the next frame is to be shown; has no meaning before the first frame.
    due: Time,
    stalls: u64,
    stalled: Span,
    longest: Span,
}

/// A frame that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameArrival {
    /// Time from write to delivery.
    pub took: Span,
    /// Time by which the frame missed its deadline; zero if it was in time.
    pub late: Span,
}

impl FrameMeter {
    /// A meter for frames every `interval`, due after `deadline`; frames written before `window_start` do not count.
    /// Sizes are measured if an encoder adapts them.
    pub const fn new(is_adaptive: bool, interval: Span, deadline: Span, window_start: Time) -> Self {
        Self {
            is_adaptive,
            interval,
            deadline,
            window_start,
            began: Time::ZERO,
            written: 0,
            written_bytes: 0,
            delivered: 0,
            ends: VecDeque::new(),
            sizes: Vec::new(),
            delays: Vec::new(),
            player: Player { due: Time::ZERO, stalls: 0, stalled: Span::ZERO, longest: Span::ZERO },
        }
    }

    /// Reports that a frame is written, with which the application has written `bytes` of the stream. All but the first
    /// are an interval apart.
    pub fn on_written(&mut self, bytes: u64, now: Time) {
        if self.written == 0 {
            self.began = now;
        }
        debug_assert_eq!(now, self.written_at(self.written));
        if self.is_adaptive && now >= self.window_start {
            self.sizes.push((bytes - self.written_bytes) as f64);
        }
        self.written += 1;
        self.written_bytes = bytes;
        self.ends.push_back(bytes);
    }

    /// Bytes of the stream with which the next frame is complete; [`u64::MAX`] if none is under way.
    pub fn awaited_bytes(&self) -> u64 {
        self.ends.front().copied().unwrap_or(u64::MAX)
    }

    /// The next frame, if `bytes` of the stream delivered in order complete one. Must be called until it
    /// returns `None`.
    pub fn on_delivered(&mut self, bytes: u64, now: Time) -> Option<FrameArrival> {
        if bytes < self.awaited_bytes() {
            return None;
        }
        self.ends.pop_front();
        let number = self.delivered;
        self.delivered += 1;
        let took = now.since(self.written_at(number));
        if self.written_at(number) >= self.window_start {
            self.delays.push(took);
        }
        let due = if number == 0 { now.max(self.began + self.deadline) } else { self.player.due };
        self.player.stall(due, now, self.window_start);
        self.player.due = now.max(due).saturating_add(self.interval);
        Some(FrameArrival { took, late: took.saturating_sub(self.deadline) })
    }

    /// Summary of the frames in the window, at the end of the run.
    pub fn summary(&self, end: Time) -> FrameSummary {
        FrameSummary::of(std::iter::once(self), end)
    }

    fn written_at(&self, number: u64) -> Time {
        self.began.saturating_add(self.interval.saturating_mul(number))
    }

    /// Number of written frames before the first one that is written at `time` or later.
    fn written_before(&self, time: Time) -> u64 {
        let before = time.since(self.began).as_picos();
        if time <= self.began { 0 } else { before.div_ceil(self.interval.as_picos()).min(self.written) }
    }

    /// Number of frames in the window whose deadline came before `end`.
    fn due(&self, end: Time) -> u64 {
        let last = Time::from_picos((end.as_picos() + 1).saturating_sub(self.deadline.as_picos()));
        self.written_before(last).saturating_sub(self.written_before(self.window_start))
    }

    /// State of the player at the end of the run: a missing frame stalls it.
    fn player_at(&self, end: Time) -> Player {
        let mut player = self.player;
        if self.delivered > 0 && self.delivered < self.written {
            player.stall(player.due, end, self.window_start);
        }
        player
    }
}

impl Player {
    fn stall(&mut self, due: Time, until: Time, window_start: Time) {
        if until > due && due >= window_start {
            self.stalls += 1;
            self.stalled += until - due;
            self.longest = self.longest.max(until - due);
        }
    }
}

impl FrameSummary {
    /// Summary of the frames of several flows.
    pub fn of<'a>(meters: impl IntoIterator<Item = &'a FrameMeter>, end: Time) -> Self {
        let (mut due, mut in_time, mut late) = (0, 0, 0);
        let (mut delays, mut lateness, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        let mut player = Player::default();
        for meter in meters {
            let own_due = meter.due(end);
            // A frame that arrived before a deadline beyond the end of the run was in time.
            let decided = meter.delays.len().min(own_due as usize);
            due += own_due;
            for took in &meter.delays {
                delays.push(took.as_secs_f64());
                if *took > meter.deadline {
                    lateness.push((*took - meter.deadline).as_secs_f64());
                }
            }
            let own_late = meter.delays[..decided].iter().filter(|took| **took > meter.deadline).count();
            late += own_late as u64;
            in_time += (decided - own_late) as u64;
            let own = meter.player_at(end);
            sizes.extend_from_slice(&meter.sizes);
            player.stalls += own.stalls;
            player.stalled += own.stalled;
            player.longest = player.longest.max(own.longest);
        }
        Self {
            due,
            on_time: in_time,
            late,
            missing: due - in_time - late,
            on_time_fraction: finite(in_time as f64 / due as f64),
            delay_s: order_statistics(&delays),
            lateness_s: order_statistics(&lateness),
            stalls: player.stalls,
            stalled_s: player.stalled.as_secs_f64(),
            longest_stall_s: player.longest.as_secs_f64(),
            size_bytes: (!sizes.is_empty()).then(|| order_statistics(&sizes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Frames of 1000 B every 40 ms from 5 ms on, due after 100 ms; `arrivals` completes one frame each.
    fn meter(window_start: u64, written: u64, arrivals: &[u64]) -> FrameMeter {
        let mut meter =
            FrameMeter::new(false, Span::from_millis(40), Span::from_millis(100), ms(window_start));
        (0..written).for_each(|n| meter.on_written(1000 * (n + 1), ms(5 + 40 * n)));
        for (number, at) in (1..).zip(arrivals) {
            assert_eq!(meter.awaited_bytes(), number * 1000);
            assert_eq!(meter.on_delivered(number * 1000 - 1, ms(*at)), None);
            let took = Span::from_millis(at - 5 - 40 * (number - 1));
            let late = took.saturating_sub(Span::from_millis(100));
            assert_eq!(meter.on_delivered(number * 1000, ms(*at)), Some(FrameArrival { took, late }));
        }
        meter
    }

    #[test]
    fn frames_on_time_late_and_missing() {
        // Written at 5, 45, 85, 125, 165, 205, 245 ms; due at 105, 145, 185, 225, 265, 305, 345 ms. The fourth is late
        // by 15 ms, the fifth never comes, and the run ends at 310 ms: the last frame is not yet due, whatever becomes
        // of it.
        let summary = meter(0, 7, &[30, 145, 150, 240]).summary(ms(310));
        assert_eq!((summary.due, summary.on_time, summary.late, summary.missing), (6, 3, 1, 2));
        assert_eq!(summary.on_time_fraction, Some(0.5));
        assert_eq!((summary.delay_s.min, summary.delay_s.max), (Some(0.025), Some(0.115)));
        assert_eq!((summary.lateness_s.mean, summary.lateness_s.max), (Some(0.015), Some(0.015)));
        // Shown at 105, 145, 185 and, after a stall of 15 ms, 240 ms; the fifth would have been at 280 ms.
        assert_eq!((summary.stalls, summary.stalled_s, summary.longest_stall_s), (2, 0.045, 0.03));
    }

    #[test]
    fn sizes_that_differ_are_measured_in_the_window() {
        let mut meter = FrameMeter::new(true, Span::from_millis(40), Span::from_millis(100), ms(45));
        (0..3).zip([1000, 1500, 3500]).for_each(|(n, end)| meter.on_written(end, ms(5 + 40 * n)));
        assert_eq!(meter.on_delivered(1499, ms(60)).map(|arrival| arrival.took), Some(Span::from_millis(55)));
        assert_eq!((meter.on_delivered(1499, ms(60)), meter.awaited_bytes()), (None, 1500));
        while meter.on_delivered(3500, ms(90)).is_some() {}
        assert_eq!(meter.awaited_bytes(), u64::MAX);
        let sizes = meter.summary(ms(1000)).size_bytes.expect("they differ");
        assert_eq!((sizes.min, sizes.mean, sizes.max), (Some(500.0), Some(1250.0), Some(2000.0)));
    }

    #[test]
    fn a_deadline_at_the_end_of_the_run_counts() {
        assert_eq!(meter(0, 1, &[]).summary(ms(105)).due, 1);
        assert_eq!(meter(0, 1, &[]).summary(ms(104)).due, 0);
        // In time, but its deadline is beyond the end: nothing is decided yet.
        let early = meter(0, 1, &[30]).summary(ms(104));
        assert_eq!((early.due, early.on_time, early.on_time_fraction), (0, 0, None));
        assert_eq!(early.delay_s.max, Some(0.025));
    }

    #[test]
    fn frames_before_the_window_do_not_count() {
        // The window opens at 45 ms: the frame written then is the first of it. The first was late, and so is the
        // second's picture, but the stall began before the window: 105 ms is within, 30 ms is not.
        let summary = meter(45, 3, &[120, 125, 130]).summary(ms(1000));
        assert_eq!((summary.due, summary.on_time, summary.stalls), (2, 2, 0));
        // Without a window the same frames: the first one is late, and starts the player 15 ms later without a stall.
        let summary = meter(0, 3, &[120, 125, 130]).summary(ms(1000));
        assert_eq!((summary.due, summary.late, summary.stalls), (3, 1, 0));
    }

    #[test]
    fn one_arrival_may_complete_several_frames() {
        let mut meter = meter(0, 3, &[]);
        let arrivals: Vec<_> = std::iter::from_fn(|| meter.on_delivered(2500, ms(90))).collect();
        let took = |ms| FrameArrival { took: Span::from_millis(ms), late: Span::ZERO };
        assert_eq!(arrivals, [took(85), took(45)]);
        assert_eq!(meter.awaited_bytes(), 3000);
    }

    #[test]
    fn flows_are_added_up() {
        let (good, bad) = (meter(0, 2, &[30, 70]), meter(0, 2, &[200, 205]));
        let both = FrameSummary::of([&good, &bad], ms(1000));
        assert_eq!((both.due, both.on_time, both.late, both.on_time_fraction), (4, 2, 2, Some(0.5)));
        assert_eq!(both.lateness_s.mean, Some(0.0775));
        assert_eq!(FrameSummary::of([], ms(1000)).on_time_fraction, None);
    }
}
