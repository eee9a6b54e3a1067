//! Looks at a queue at equal distances, as measurements that poll a real queue do.

use shoal_units::{Span, Time};

/// Counts at how many of the instants `start`, `start + interval`, ... nothing waited. An instant at which the queue
/// changes sees what waits after the change.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    interval: Span,
    next: Time,
    samples: u64,
    empty: u64,
}

impl Sampler {
    pub(crate) const fn new(start: Time, interval: Span) -> Self {
        Self { interval, next: start, samples: 0, empty: 0 }
    }

    /// The next instant.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// What waited did not change until `now`: counts the instants before it.
    pub(crate) fn advance(&mut self, now: Time, is_empty: bool) {
        if now <= self.next {
            return;
        }
        let passed = (now - self.next).as_picos().div_ceil(self.interval.as_picos());
        self.samples += passed;
        self.empty += if is_empty { passed } else { 0 };
        self.next += Span::from_picos(self.interval.as_picos() * passed);
    }

    /// The part of the instants at which nothing waited.
    pub(crate) fn empty_fraction(&self) -> Option<f64> {
        crate::metrics::finite(self.empty as f64 / self.samples as f64)
    }
}
