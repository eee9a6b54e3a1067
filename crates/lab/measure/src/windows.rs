//! Distributions over windows of equal length, cut out of histograms that grow over the whole measurement.

use crate::{Bucket, Histogram};
use shoal_trace::QueueClass;
use shoal_units::{Span, Time};

/// What was recorded for one class in one window. Buckets are those of [`Histogram`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowPart {
    /// The window begins.
    pub start: Time,
    /// The window ends; the last one may be shorter than the others.
    pub end: Time,
    /// What the distribution is about.
    pub class: QueueClass,
    /// The buckets with weight, in rising order.
    pub buckets: Vec<Bucket>,
}

/// Cuts histograms at the ends of windows. Recording costs nothing more: only the differences at the ends are taken.
#[derive(Clone, Debug)]
pub(crate) struct WindowedHistograms<const N: usize> {
    length: Span,
    start: Time,
    classes: [QueueClass; N],
    /// The histograms at the last cut.
    before: [Histogram; N],
    parts: Vec<WindowPart>,
}

impl<const N: usize> WindowedHistograms<N> {
    /// The first window begins at `start`; a length of zero means that there are no windows.
    pub(crate) fn new(start: Time, length: Span, classes: [QueueClass; N]) -> Self {
        Self { length, start, classes, before: [const { Histogram::new() }; N], parts: Vec::new() }
    }

    /// The end of the current window.
    pub(crate) fn end(&self) -> Time {
        if self.length.is_zero() { Time::NEVER } else { self.start + self.length }
    }

    /// Ends the current window at `end` with everything that was recorded up to it.
    pub(crate) fn cut(&mut self, end: Time, histograms: [&Histogram; N]) {
        for ((class, histogram), before) in self.classes.iter().zip(histograms).zip(&mut self.before) {
            let buckets: Vec<Bucket> = histogram.gained(before).collect();
            if !buckets.is_empty() {
                self.parts.push(WindowPart { start: self.start, end, class: *class, buckets });
            }
            before.clone_from(histogram);
        }
        self.start = end;
    }

    /// All windows; what was recorded since the last cut belongs to one that ends at `end`.
    pub(crate) fn finish(mut self, end: Time, histograms: [&Histogram; N]) -> Vec<WindowPart> {
        if !self.length.is_zero() && end > self.start {
            self.cut(end, histograms);
        }
        self.parts
    }
}
