//! Measures how long somebody waits for something, over and over: a client for responses, a barrier for its slowest
//! flow.

use crate::Distribution;
use crate::fields::described;
use crate::metrics::order_statistics;
use serde::{Deserialize, Serialize};
use shoal_units::{Span, Time};

described! {

/// What somebody waited for, if the wait began inside the measurement window.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WaitSummary {
    /// Waits that ended.
    pub count: u64,
    /// Waits that did not end within the run; percentiles lack them.
    pub unfinished: u64,
    /// How long they took, in seconds. Quantiles are exact.
    pub time_s: Distribution,
}
}

/// Waits of one client or barrier. Those that began before the measurement window do not count.
#[derive(Clone, Debug)]
pub struct WaitMeter {
    window_start: Time,
    /// Begun inside the window.
    begun: u64,
    since: Time,
    times: Vec<Span>,
}

impl WaitMeter {
    /// A meter whose window opens at `window_start`.
    pub const fn new(window_start: Time) -> Self {
        Self { window_start, begun: 0, since: Time::ZERO, times: Vec::new() }
    }

    /// A wait begins.
    pub fn on_begin(&mut self, now: Time) {
        self.since = now;
        self.begun += u64::from(now >= self.window_start);
    }

    /// It ends; returns its length.
    pub fn on_end(&mut self, now: Time) -> Span {
        let took = now.since(self.since);
        if self.since >= self.window_start {
            self.times.push(took);
        }
        took
    }

    /// The waits of the window.
    pub fn summary(&self) -> WaitSummary {
        WaitSummary::of(std::iter::once(self))
    }
}

impl WaitSummary {
    /// The waits of several clients together.
    pub fn of<'a>(meters: impl IntoIterator<Item = &'a WaitMeter>) -> Self {
        let (mut begun, mut times) = (0, Vec::new());
        for meter in meters {
            begun += meter.begun;
            times.extend(meter.times.iter().map(|time| time.as_secs_f64()));
        }
        let count = times.len() as u64;
        Self { count, unfinished: begun - count, time_s: order_statistics(&times) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_began_inside_the_window() {
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let mut meter = WaitMeter::new(ms(100));
        meter.on_begin(ms(99));
        assert_eq!(meter.on_end(ms(150)), Span::from_millis(51));
        for (from, to) in [(150, 160), (160, 190)] {
            meter.on_begin(ms(from));
            meter.on_end(ms(to));
        }
        meter.on_begin(ms(190));
        let summary = meter.summary();
        assert_eq!((summary.count, summary.unfinished), (2, 1));
        assert_eq!(
            (summary.time_s.min, summary.time_s.mean, summary.time_s.max),
            (Some(0.01), Some(0.02), Some(0.03))
        );
        let both = WaitSummary::of([&meter, &meter]);
        assert_eq!((both.count, both.unfinished, both.time_s.mean), (4, 2, Some(0.02)));
        assert_eq!(WaitMeter::new(ms(0)).summary(), WaitSummary::default());
    }
}
