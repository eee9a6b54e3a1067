//! How a link answers to a change of its rate: formulas on time series with equally spaced values.

use super::finite;
use super::series::trailing_means;

/// A change of rate, or several in quick succession that count as one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateStep {
    /// When the last of them happens, in seconds.
    pub at_s: f64,
    /// Rate before the first of them in bit/s.
    pub from_bps: f64,
    /// Rate after the last of them in bit/s.
    pub to_bps: f64,
    /// When the next step begins, or the end, in seconds.
    pub until_s: f64,
}

/// Changes of rate that are closer together than this many seconds are one step. The shortest period of the variable
/// capacity in [RFC 7928](https://www.rfc-editor.org/rfc/rfc7928#section-8.2.6) is as long; the steps of ramps and
/// sines are shorter, and a queue has no level of its own during any of them.
pub const ONE_STEP_S: f64 = 0.1;

/// The steps of a link until `end_s`, given its rates as times in seconds and bit/s, the first from the start on.
///
/// An outage and its end are one step, at the end of the outage. One that lasts until the end of the run is none: no
/// rate follows.
pub fn rate_steps(rates: &[(f64, f64)], end_s: f64) -> Vec<RateStep> {
    let mut steps: Vec<RateStep> = Vec::new();
    let changes = rates.windows(2).map(|pair| (pair[0].1, pair[1]));
    for (before_bps, (at_s, to_bps)) in changes.take_while(|(_, (at_s, _))| *at_s < end_s) {
        match steps.last_mut() {
            // Times are sums of fractions.
            Some(step) if before_bps == 0.0 || at_s - step.at_s < ONE_STEP_S - 1e-9 => {
                (step.at_s, step.to_bps) = (at_s, to_bps);
            }
            last => {
                if let Some(step) = last {
                    step.until_s = at_s;
                }
                steps.push(RateStep { at_s, from_bps: before_bps, to_bps, until_s: end_s });
            }
        }
    }
    // What goes on changing until the end has no rate that follows either.
    steps.retain(|step| step.to_bps > 0.0 && step.until_s - step.at_s >= ONE_STEP_S - 1e-9);
    steps
}

/// How a queue moves from one state to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settling {
    /// Index from which on all values are in the later range; `None` if one at the end of the first half is still
    /// outside.
    pub settled: Option<usize>,
    /// By how much the highest value exceeds the later range.
    pub overshoot: f64,
    /// By how much the lowest value falls short of the later range.
    pub undershoot: f64,
}

/// Fewest values of which a later range is told.
const LEAST_VALUES: usize = 20;

/// How the values after a step settle.
///
/// The later range is that of the second half of the values, wider by `margin` on both sides. It is a range and not a
/// mean because a queue below congestion control never rests: a sawtooth has settled when it is the sawtooth that it
/// stays. `None` if there are fewer than 20 values, or one of them is unknown.
pub fn settling(values: &[f64], margin: f64) -> Option<Settling> {
    if values.len() < LEAST_VALUES || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let highest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let (early, later) = values.split_at(values.len() / 2);
    let (low, high) = (lowest(later), highest(later));
    let is_outside = |value: &f64| *value < low - margin || *value > high + margin;
    let first = early.iter().rposition(is_outside).map_or(0, |index| index + 1);
    Some(Settling {
        settled: (first < early.len()).then_some(first),
        overshoot: (highest(early) - high).max(0.0),
        undershoot: (low - lowest(early)).max(0.0),
    })
}

/// Index of the first of `width` successive values whose mean is at least `least`; `None` if there are none.
pub fn reached_from(values: &[f64], least: f64, width: usize) -> Option<usize> {
    let width = width.max(1);
    // The mean of a whole window stands at its last value.
    let means = trailing_means(values, width);
    (0..=values.len().checked_sub(width)?).find(|first| means[first + width - 1] >= least)
}

/// Throughput over round-trip time in bit/s^2 (Kleinrock 1979): what a change gains in one is lost in the other where
/// it is highest.
pub fn power(throughput_bps: f64, round_trip_s: f64) -> Option<f64> {
    finite(throughput_bps / round_trip_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: f64 = 1e6;

    fn steps(rates: &[(f64, f64)]) -> Vec<(f64, f64, f64, f64)> {
        let rates: Vec<_> = rates.iter().map(|(at_s, mbps)| (*at_s, mbps * MBIT)).collect();
        let steps = rate_steps(&rates, 60.0).into_iter();
        steps.map(|step| (step.at_s, step.from_bps / MBIT, step.to_bps / MBIT, step.until_s)).collect()
    }

    #[test]
    fn every_change_that_stands_alone_is_a_step() {
        assert_eq!(
            steps(&[(0.0, 100.0), (20.0, 20.0), (40.0, 100.0)]),
            [(20.0, 100.0, 20.0, 40.0), (40.0, 20.0, 100.0, 60.0)]
        );
        assert_eq!(steps(&[(0.0, 100.0)]), []);
        assert_eq!(steps(&[(0.0, 100.0), (60.0, 20.0)]), [], "at the end nothing follows");
        // 0.3 - 0.2 is less than 0.1 in binary fractions.
        assert_eq!(steps(&[(0.0, 9.0), (0.2, 8.0), (0.3, 7.0)]).len(), 2);
    }

    #[test]
    fn a_ramp_is_one_step_at_its_end() {
        assert_eq!(
            steps(&[(0.0, 40.0), (1.01, 30.0), (1.02, 20.0), (1.025, 10.0), (2.0, 40.0)]),
            [(1.025, 40.0, 10.0, 2.0), (2.0, 10.0, 40.0, 60.0)]
        );
    }

    #[test]
    fn what_changes_until_the_end_has_no_step() {
        let sine: Vec<(f64, f64)> =
            (0..6000).map(|number| (f64::from(number) / 100.0, f64::from(number % 7 + 1))).collect();
        assert_eq!(steps(&sine), []);
    }

    #[test]
    fn an_outage_is_one_step_however_long_it_lasts() {
        assert_eq!(steps(&[(0.0, 40.0), (5.0, 0.0), (8.0, 40.0)]), [(8.0, 40.0, 40.0, 60.0)]);
        // The step before it ends when the outage begins.
        assert_eq!(
            steps(&[(0.0, 40.0), (2.0, 10.0), (5.0, 0.0), (8.0, 40.0)]),
            [(2.0, 40.0, 10.0, 5.0), (8.0, 10.0, 40.0, 60.0)]
        );
        assert_eq!(
            steps(&[(0.0, 40.0), (2.0, 10.0), (5.0, 0.0)]),
            [(2.0, 40.0, 10.0, 5.0)],
            "no rate follows"
        );
    }

    #[test]
    fn a_queue_has_settled_when_it_stays_where_it_is_later() {
        // Later a sawtooth between 4 and 6; before, a peak of 20 that falls and falls short of it. Index 6 (3.5) is the
        // last outside of 3.8..=6.2.
        let mut values = vec![5.0, 20.0, 15.0, 10.0, 2.0, 3.0, 3.5, 4.0, 6.0, 5.0, 5.0];
        values.extend([4.0, 5.0, 6.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0, 4.0, 5.0]);
        let found = settling(&values, 0.2).unwrap();
        assert_eq!(found, Settling { settled: Some(7), overshoot: 14.0, undershoot: 2.0 });
        // A margin of 1 takes 3.0 and 3.5 in.
        assert_eq!(settling(&values, 1.0).unwrap().settled, Some(5));
    }

    #[test]
    fn a_queue_that_still_moves_has_not_settled() {
        let falling: Vec<f64> = (0..40).map(|index| f64::from(40 - index)).collect();
        let found = settling(&falling, 0.1).unwrap();
        assert_eq!((found.settled, found.overshoot, found.undershoot), (None, 20.0, 0.0));
        assert_eq!(settling(&[3.0; 20], 0.0).unwrap().settled, Some(0));
        assert_eq!(settling(&[3.0; 19], 0.0), None, "too short");
        assert_eq!(settling(&[f64::NAN; 20], 0.0), None, "unknown");
    }

    #[test]
    fn a_rate_is_reached_where_a_whole_window_has_it() {
        // Means of two: 0.55, 0.5, 0.75, 0.95.
        let values = [1.0, 0.1, 0.9, 0.6, 1.3];
        assert_eq!(reached_from(&values, 0.9, 2), Some(3));
        assert_eq!(reached_from(&values, 0.9, 1), Some(0));
        assert_eq!(reached_from(&values, 0.96, 2), None);
        assert_eq!(reached_from(&values, 0.1, 6), None, "no whole window");
    }

    #[test]
    fn power_is_throughput_over_delay() {
        assert_eq!(power(10e6, 0.02), Some(5e8));
        assert_eq!(power(1.0, 0.0), None);
    }
}
