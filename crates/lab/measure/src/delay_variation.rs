//! How one-way delays of a stream of numbered packets vary ([RFC 5481](https://www.rfc-editor.org/rfc/rfc5481)).

use crate::{Distribution, Histogram};
use shoal_units::Span;

/// Packets of which the delay is remembered: two neighbours of which one is overtaken by so many others are no pair.
const REMEMBERED: usize = 64;

/// Differences between the delays of packets that were sent one after the other and have both arrived: the
/// inter-packet delay variation of RFC 5481 section 4.1, whose type-P selection RFC 3393
/// (<https://www.rfc-editor.org/rfc/rfc3393>) calls consecutive packets.
#[derive(Clone, Debug)]
pub(crate) struct DelayVariation {
    /// One more than the number of the packet at its place, and its delay; 0 if there is none.
    recent: Vec<(u64, Span)>,
    /// Absolute differences in picoseconds.
    differences: Histogram,
}

impl DelayVariation {
    pub(crate) const fn new() -> Self {
        Self { recent: Vec::new(), differences: Histogram::new() }
    }

    /// Packet `number` has arrived for the first time, with this delay.
    pub(crate) fn on_received(&mut self, number: u64, delay: Span) {
        if self.recent.is_empty() {
            self.recent.resize(REMEMBERED, (0, Span::ZERO));
        }
        let place = |number: u64| (number % REMEMBERED as u64) as usize;
        // Whichever of two neighbours comes last finds the other one.
        for neighbour in [number.checked_sub(1), number.checked_add(1)].into_iter().flatten() {
            let (mark, other) = self.recent[place(neighbour)];
            if mark == neighbour + 1 {
                self.differences.record(delay.as_picos().abs_diff(other.as_picos()));
            }
        }
        self.recent[place(number)] = (number + 1, delay);
    }

    /// The differences, in seconds.
    pub(crate) fn distribution(&self) -> Distribution {
        self.differences.distribution(Span::from_secs(1).as_picos() as f64)
    }
}

/// The packet delay variation of RFC 5481 section 4.2: what delays exceed the smallest of them by. Quantiles are within
/// 0.05 % of the delay.
pub(crate) fn above_least(delay: &Distribution) -> Distribution {
    let Some(least) = delay.min else { return Distribution::default() };
    let above = |value: Option<f64>| value.map(|value| (value - least).max(0.0));
    Distribution {
        mean: above(delay.mean),
        sd: delay.sd,
        min: above(delay.min),
        p5: above(delay.p5),
        p25: above(delay.p25),
        p50: above(delay.p50),
        p75: above(delay.p75),
        p95: above(delay.p95),
        p99: above(delay.p99),
        p999: above(delay.p999),
        max: above(delay.max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    /// Delays of 10, 14, 11, lost, 20, 15 ms: pairs (0, 1), (1, 2) and (4, 5) differ by 4, 3 and 5 ms. Number 1 comes
    /// after number 2, and the pairs are the same.
    #[test]
    fn neighbours_that_have_both_arrived_are_pairs_in_any_order() {
        for order in [[0, 1, 2, 4, 5], [0, 2, 1, 4, 5], [5, 4, 2, 1, 0]] {
            let mut variation = DelayVariation::new();
            for number in order {
                variation.on_received(number, ms([10, 14, 11, 0, 20, 15][number as usize]));
            }
            let seen = variation.distribution();
            assert_eq!((seen.min, seen.mean, seen.max), (Some(0.003), Some(0.004), Some(0.005)), "{order:?}");
        }
    }

    #[test]
    fn a_packet_that_is_overtaken_by_many_is_no_pair() {
        let mut variation = DelayVariation::new();
        (1..=64).for_each(|number| variation.on_received(number, ms(10)));
        variation.on_received(65, ms(10));
        // The place of number 1 now holds number 65.
        variation.on_received(0, ms(90));
        assert_eq!(variation.distribution().max, Some(0.0));
    }

    #[test]
    fn variation_is_counted_from_the_smallest_delay() {
        let mut delays = Histogram::new();
        for delay in [20, 25, 22, 60] {
            delays.record(ms(delay).as_picos());
        }
        let delay = delays.distribution(1e12);
        let above = above_least(&delay);
        // 0, 5, 2 and 40 ms; their mean is 11.75 ms.
        assert_eq!(above.min, Some(0.0));
        assert!((above.mean.unwrap() - 0.01175).abs() < 1e-12);
        assert!((above.max.unwrap() - 0.04).abs() < 1e-12);
        assert_eq!(above.sd, delay.sd);
        assert_eq!(above_least(&Distribution::default()), Distribution::default());
    }
}
