//! Formulas on time series with equally spaced values.

use super::finite;

/// Index from which on all values are within `within * |target|` of `target`: convergence.
///
/// Every value is first replaced by the mean of itself and the `smooth - 1` values before it, fewer at the beginning,
/// because single bins of a sawtooth never stay close to its mean. `None` if the last value is not within, or there is
/// no value.
pub fn settled_from(values: &[f64], target: f64, within: f64, smooth: usize) -> Option<usize> {
    let smoothed = trailing_means(values, smooth);
    let is_close = |value: f64| (value - target).abs() <= within * target.abs();
    let last_outside = smoothed.iter().rposition(|value| !is_close(*value));
    let first = last_outside.map_or(0, |index| index + 1);
    (first < values.len()).then_some(first)
}

/// Means of each value and up to `width - 1` values before it.
pub(super) fn trailing_means(values: &[f64], width: usize) -> Vec<f64> {
    let width = width.max(1);
    (1..=values.len())
        .map(|end| {
            let window = &values[end.saturating_sub(width)..end];
            window.iter().sum::<f64>() / window.len() as f64
        })
        .collect()
}

/// A periodic part of a series.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Oscillation {
    /// Period in steps; `None` if nothing repeats.
    pub period: Option<f64>,
    /// Autocorrelation at the period, 1 for a strictly periodic series.
    pub strength: Option<f64>,
    /// Half of the distance between the 5 % and the 95 % quantile: 0.988 of the amplitude of a sine, 0.9 of that of a
    /// triangle. It needs no period.
    pub amplitude: Option<f64>,
}

/// The dominant oscillation of a series.
///
/// The autocorrelation is r(k) = (n / (n - k)) sum (x_i - m)(x_(i+k) - m) / sum (x_i - m)^2 with the mean m. The period
/// is the first place, beyond the first fall below zero, where r has a local maximum of at least 0.9 of the largest up
/// to a third of the series (so that at least three periods were seen): multiples of the period repeat as well as the
/// period does, and the first of them is meant. A parabola through the maximum and its neighbours gives fractions of a
/// step. A maximum below `least` is not an oscillation.
pub fn oscillation(values: &[f64], least: f64) -> Oscillation {
    let spread = super::order_statistics(values);
    let amplitude = spread.p5.zip(spread.p95).map(|(low, high)| (high - low) / 2.0);
    let none = Oscillation { amplitude, ..Oscillation::default() };
    let Some(mean) = spread.mean else { return none };
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let energy: f64 = centred.iter().map(|value| value * value).sum();
    let n = centred.len();
    let correlation = |lag: usize| {
        let products = centred[..n - lag].iter().zip(&centred[lag..]).map(|(a, b)| a * b);
        products.sum::<f64>() / energy * n as f64 / (n - lag) as f64
    };
    let r: Vec<f64> = (0..=n / 3).map(correlation).collect();
    let Some(negative) = r.iter().position(|value| *value < 0.0) else { return none };
    let largest = r[negative..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let peak = (negative.max(1)..r.len().saturating_sub(1))
        .find(|&k| r[k] >= 0.9 * largest && r[k] >= r[k - 1] && r[k] >= r[k + 1]);
    let Some(peak) = peak.filter(|&k| r[k] >= least) else { return none };
    let (before, at, after) = (r[peak - 1], r[peak], r[peak + 1]);
    let curvature = before - 2.0 * at + after;
    let offset = if curvature < 0.0 { 0.5 * (before - after) / curvature } else { 0.0 };
    Oscillation { period: finite(peak as f64 + offset), strength: finite(at), amplitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::TAU;

    #[test]
    fn settling_is_the_first_value_of_a_tail_that_stays_inside() {
        // Within 10 % of 10: 9 to 11. The excursion at index 4 counts, the earlier stay inside does not.
        let values = [2.0, 9.5, 10.0, 10.5, 12.0, 11.0, 9.0, 10.0];
        assert_eq!(settled_from(&values, 10.0, 0.1, 1), Some(5));
        assert_eq!(settled_from(&values, 10.0, 0.3, 1), Some(1));
        assert_eq!(settled_from(&values[..5], 10.0, 0.1, 1), None, "the last value is outside");
        assert_eq!(settled_from(&[10.0, 10.0], 10.0, 0.0, 1), Some(0));
        assert_eq!(settled_from(&[], 10.0, 0.1, 1), None);
        assert_eq!(settled_from(&[f64::NAN], 10.0, 0.1, 1), None, "an unknown value is not inside");
    }

    #[test]
    fn smoothing_is_by_the_values_before() {
        // Means of two: 5, 10, 10, 10: a sawtooth between 5 and 15 has settled at its second value.
        let values = [5.0, 15.0, 5.0, 15.0];
        assert_eq!(settled_from(&values, 10.0, 0.1, 2), Some(1));
        assert_eq!(settled_from(&values, 10.0, 0.1, 1), None);
        // Means of three: 3, 6, 6, then (9 + 6 + 9) / 3 = 8.
        assert_eq!(settled_from(&[3.0, 9.0, 6.0, 9.0], 8.0, 0.0, 3), Some(3));
    }

    #[test]
    fn a_sine_has_its_period_and_amplitude() {
        for period in [7.0, 25.0, 40.5] {
            let values: Vec<f64> =
                (0..1000).map(|i| 3.0 + 2.0 * (TAU * f64::from(i) / period).sin()).collect();
            let found = oscillation(&values, 0.2);
            assert!((found.period.unwrap() / period - 1.0).abs() < 0.01, "{found:?} instead of {period}");
            assert!(found.strength.unwrap() > 0.95, "{found:?}");
            // The 95 % quantile of a sine is sin(0.45 pi) = 0.988 of its amplitude.
            assert!((found.amplitude.unwrap() - 2.0 * 0.988).abs() < 0.03, "{found:?}");
        }
    }

    #[test]
    fn a_sawtooth_has_its_period_and_a_half_of_ninety_percent_of_its_height() {
        let values: Vec<f64> = (0..600).map(|i| f64::from(i % 30)).collect();
        let found = oscillation(&values, 0.2);
        assert!((found.period.unwrap() - 30.0).abs() < 0.1, "{found:?}");
        // Nearest ranks of 0..=29, twenty of each: rank 30 is 1, rank 570 is 28.
        assert_eq!(found.amplitude, Some(13.5));
    }

    #[test]
    fn what_does_not_repeat_has_no_period() {
        assert_eq!(oscillation(&[], 0.2), Oscillation::default());
        assert_eq!(oscillation(&[4.0; 100], 0.2), Oscillation { amplitude: Some(0.0), ..Default::default() });
        let ramp: Vec<f64> = (0..300).map(f64::from).collect();
        assert_eq!(oscillation(&ramp, 0.2).period, None);
        // A linear congruential generator: no correlation.
        let mut state = 1u64;
        let noise: Vec<f64> = (0..3000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f64
            })
            .collect();
        assert_eq!(oscillation(&noise, 0.2).period, None);
    }

    proptest! {
        #[test]
        fn scale_and_offset_do_not_move_the_period(
            period in 5.0f64..50.0,
            scale in 0.01f64..100.0,
            offset in -50.0f64..50.0,
        ) {
            let values: Vec<f64> = (0..600).map(|i| (TAU * f64::from(i) / period).sin()).collect();
            let moved: Vec<f64> = values.iter().map(|value| offset + scale * value).collect();
            let (a, b) = (oscillation(&values, 0.2).period.unwrap(), oscillation(&moved, 0.2).period.unwrap());
            prop_assert!((a - b).abs() < 1e-6, "{a} {b}");
        }

        #[test]
        fn a_settled_tail_is_inside_and_what_precedes_it_is_not(values in prop::collection::vec(0.0f64..20.0, 1..60)) {
            let inside = |value: &f64| (value - 10.0).abs() <= 5.0;
            match settled_from(&values, 10.0, 0.5, 1) {
                Some(first) => {
                    prop_assert!(values[first..].iter().all(inside));
                    prop_assert!(first == 0 || !inside(&values[first - 1]));
                }
                None => prop_assert!(!inside(&values[values.len() - 1])),
            }
        }
    }
}
