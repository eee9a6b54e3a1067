//! The formulas between flows and over time. Pure functions; the one owner of each.

mod series;
mod shares;

pub use series::{Oscillation, oscillation, settled_from};
pub use shares::{binned_shares, share_between};

use crate::{Distribution, GroupResult, Metrics, RateSummary};

/// Jain's fairness index, (sum x)^2 / (n sum x^2), in 1/n..=1 (Jain, Chiu, Hawe 1984, DEC-TR-301).
///
/// `None` if there is no rate, or none above zero.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    finite(sum * sum / (rates.len() as f64 * squares))
}

/// `first / second`; `None` if `second` is zero or either is unknown.
pub fn rate_ratio(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    finite(first? / second?)
}

/// Mean and sum of the rates of some flows; `None` if there are none or one is unknown.
pub fn rate_summary(rates: impl IntoIterator<Item = Option<f64>>) -> RateSummary {
    let Some(rates) = rates.into_iter().collect::<Option<Vec<f64>>>().filter(|rates| !rates.is_empty())
    else {
        return RateSummary::default();
    };
    let sum: f64 = rates.iter().sum();
    RateSummary { mean: finite(sum / rates.len() as f64), sum: finite(sum) }
}

/// Time from the first byte sent to the last acknowledgement of a transfer that has the path for itself and is not
/// limited by its window: `base_rtt_s + 8 wire_bytes / rate_bps`, where `base_rtt_s` is propagation both ways and
/// `rate_bps` the slowest link's rate.
pub fn ideal_fct_s(wire_bytes: u64, rate_bps: f64, base_rtt_s: f64) -> Option<f64> {
    finite(base_rtt_s + 8.0 * wire_bytes as f64 / rate_bps)
}

/// Exact statistics of a list, with quantiles by nearest rank: the smallest value such that at least the given part of
/// the list is at or below it. NaN must not be among the values.
pub fn order_statistics(values: &[f64]) -> Distribution {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    let quantile = |permille: usize| sorted.get((n * permille).div_ceil(1000).max(1) - 1).copied();
    let mean = finite(sorted.iter().sum::<f64>() / n as f64);
    // Two passes: the shorter formula cancels.
    let sd = mean.map(|mean| (sorted.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n as f64).sqrt());
    Distribution {
        mean,
        sd,
        min: sorted.first().copied(),
        p5: quantile(50),
        p25: quantile(250),
        p50: quantile(500),
        p75: quantile(750),
        p95: quantile(950),
        p99: quantile(990),
        p999: quantile(999),
        max: sorted.last().copied(),
    }
}

impl Metrics {
    /// The metrics of a run: Jain's index over the wire rates of all flows, and the ratio of the mean wire rates of
    /// every two groups, the earlier one first.
    pub fn of(groups: &[GroupResult]) -> Self {
        let rates: Option<Vec<f64>> =
            groups.iter().flat_map(|group| &group.flows).map(|flow| flow.wire_bps).collect();
        let pairs = groups.iter().enumerate().flat_map(|(i, first)| {
            groups[i + 1..].iter().map(move |second| {
                let ratio = rate_ratio(first.wire_bps.mean, second.wire_bps.mean);
                (format!("{}/{}", first.name, second.name), ratio)
            })
        });
        Self { jain: rates.and_then(|rates| jain(&rates)), rate_ratio: pairs.collect() }
    }
}

/// The number, unless it is none.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn jain_of_known_shares() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2)^2 / (2 (1 + 4)) = 0.9.
        assert_eq!(jain(&[1.0, 2.0]), Some(0.9));
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn unknown_rates_are_not_guessed() {
        assert_eq!(rate_ratio(Some(2.0), Some(4.0)), Some(0.5));
        assert_eq!(rate_ratio(Some(1.0), Some(0.0)), None);
        assert_eq!(rate_ratio(None, Some(1.0)), None);
        assert_eq!(rate_summary([Some(1.0), None]), RateSummary::default());
        assert_eq!(rate_summary([Some(1.0), Some(2.0)]), RateSummary { mean: Some(1.5), sum: Some(3.0) });
    }

    #[test]
    fn ideal_completion_time_of_one_packet() {
        // 12,500 B at 1 Mbit/s take 0.1 s; 0.25 s there and back.
        assert_eq!(ideal_fct_s(12_500, 1e6, 0.25), Some(0.35));
        assert_eq!(ideal_fct_s(1250, 0.0, 0.25), None);
    }

    #[test]
    fn nearest_rank_quantiles() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        let d = order_statistics(&values);
        assert_eq!((d.min, d.p5, d.p25, d.p50), (Some(1.0), Some(1.0), Some(5.0), Some(10.0)));
        assert_eq!((d.p95, d.p99, d.max), (Some(19.0), Some(20.0), Some(20.0)));
        assert_eq!(d.mean, Some(10.5));
        // Variance of 1..n is (n^2 - 1) / 12.
        assert_eq!(d.sd, Some((399.0f64 / 12.0).sqrt()));
        assert_eq!(order_statistics(&[]), Distribution::default());
    }

    proptest! {
        #[test]
        fn jain_is_bounded_and_scale_free(rates in prop::collection::vec(0.001f64..1e10, 1..50), scale in 0.001f64..1000.0) {
            let index = jain(&rates).unwrap();
            prop_assert!(index <= 1.0 + 1e-12 && index >= 1.0 / rates.len() as f64 - 1e-12);
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
            prop_assert!((jain(&scaled).unwrap() - index).abs() < 1e-9);
        }
    }
}
