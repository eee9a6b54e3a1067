//! Formulas between flows and over time: pure functions, each the only definition of its metric.

mod series;
mod shares;
mod steps;

pub use series::{Oscillation, oscillation, settled_from};
pub use shares::{binned_shares, share_between};
pub use steps::{ONE_STEP_S, RateStep, Settling, power, rate_steps, reached_from, settling};

use crate::group_sums::RateSums;
use crate::{Distribution, FlowResult, GroupResult, Metrics};

/// Jain's fairness index, (sum x)^2 / (n sum x^2), in 1/n..=1 (Jain, Chiu, Hawe 1984, DEC-TR-301).
///
/// `None` if there is no rate, or none above zero.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let mut sums = RateSums::default();
    for rate in rates {
        sums.add(Some(*rate));
    }
    sums.jain()
}

/// `first / second`; `None` if `second` is zero or either is unknown.
pub fn rate_ratio(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    finite(first? / second?)
}

/// The flows that start: one that never does has no rate.
pub fn starting(flows: &[FlowResult]) -> impl Iterator<Item = &FlowResult> {
    flows.iter().filter(|flow| flow.start_s.is_some())
}

/// Time in seconds from the first byte sent to the last acknowledgement of a transfer that has the path to
/// itself and is not limited by its window: `base_rtt_s + 8 wire_bytes / rate_bps`, where `base_rtt_s` is the
/// round-trip propagation delay and `rate_bps` the rate of the slowest link.
pub fn ideal_fct_s(wire_bytes: u64, rate_bps: f64, base_rtt_s: f64) -> Option<f64> {
    finite(base_rtt_s + 8.0 * wire_bytes as f64 / rate_bps)
}

/// Exact statistics of a list, with quantiles by nearest rank: the smallest value such that at least the given part of
/// the list is at or below it. NaN must not be among the values.
pub fn order_statistics(values: &[f64]) -> Distribution {
    statistics_of(&mut values.to_vec())
}

/// [`order_statistics`] of a list that is sorted for it.
pub(crate) fn statistics_of(sorted: &mut [f64]) -> Distribution {
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    let quantile = |permille: usize| sorted.get((n * permille).div_ceil(1000).max(1) - 1).copied();
    let mean = finite(sorted.iter().sum::<f64>() / n as f64);
    // Two passes, because the shorter formula suffers from cancellation.
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

/// Lower bounds in bytes of the ranges of sizes for which completion times are reported; the last range has
/// no upper bound. They are the ranges in figures 19 and 20 of Alizadeh et al. 2010 (DCTCP), in powers of
/// ten.
pub const SIZE_BINS: [u64; 5] = [0, 10_000, 100_000, 1_000_000, 10_000_000];

/// ACKs per data packet; `None` if either count is unknown or no packet arrived.
pub fn acks_per_packet(acks_sent: Option<u64>, data_packets: Option<u64>) -> Option<f64> {
    finite(acks_sent? as f64 / data_packets? as f64)
}

impl Metrics {
    /// The metrics of a run whose groups list all of their flows.
    pub fn of(groups: &[GroupResult]) -> Self {
        let mut rates = RateSums::default();
        groups.iter().flat_map(|group| starting(&group.flows)).for_each(|flow| rates.add(flow.wire_bps));
        Self::with(&rates, groups)
    }

    /// The metrics of a run: Jain's index over the wire rates of all flows that start, and the ratio of the mean wire
    /// rates of every two groups, the earlier one first.
    pub(crate) fn with(rates: &RateSums, groups: &[GroupResult]) -> Self {
        let pairs = groups.iter().enumerate().flat_map(|(i, first)| {
            groups[i + 1..].iter().map(move |second| {
                let ratio = rate_ratio(first.wire_bps.mean, second.wire_bps.mean);
                (format!("{}/{}", first.name, second.name), ratio)
            })
        });
        Self { jain: rates.jain(), rate_ratio: pairs.collect() }
    }
}

/// The number, unless it is infinite or NaN.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RateSummary;
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
        let summary = |rates: [Option<f64>; 2]| {
            let mut sums = RateSums::default();
            for rate in rates {
                sums.add(rate);
            }
            sums.summary()
        };
        assert_eq!(summary([Some(1.0), None]), RateSummary::default());
        assert_eq!(summary([Some(1.0), Some(2.0)]), RateSummary { mean: Some(1.5), sum: Some(3.0) });
    }

    #[test]
    fn ideal_completion_time_of_one_packet() {
        // 12,500 B at 1 Mbit/s take 0.1 s; 0.25 s there and back.
        assert_eq!(ideal_fct_s(12_500, 1e6, 0.25), Some(0.35));
        assert_eq!(ideal_fct_s(1250, 0.0, 0.25), None);
    }

    #[test]
    fn transfers_fall_into_the_bin_of_their_size() {
        use crate::{FlowCounters, FlowMeter, FlowSpan};
        use shoal_units::Time;
        let flow = |size: Option<u64>, fct: &[f64]| {
            let end = Time::from_picos(1_000_000_000_000);
            let span = FlowSpan { window_start: Time::ZERO, window_end: end, start: Time::ZERO, stop: None };
            let mut flow = FlowMeter::new(Time::ZERO).finish(&FlowCounters::default(), span);
            flow.transfer_bytes = size;
            flow.transfers_begun = 2;
            flow.fct_s = fct.to_vec();
            flow.slowdown = fct.iter().map(|fct| 2.0 * fct).collect();
            flow
        };
        let flows = [
            flow(Some(9_999), &[1.0, 3.0]),
            flow(Some(10_000), &[5.0]),
            flow(Some(50_000_000), &[]),
            flow(None, &[]),
            flow(Some(1), &[8.0, 4.0]),
        ];
        let of = |flows: &[FlowResult]| GroupResult::new("g".into(), "reno".into(), flows.to_vec());
        let bins = of(&flows).fct_by_size;
        let counts: Vec<_> = bins.iter().map(|bin| (bin.from_bytes, bin.count, bin.unfinished)).collect();
        let expected = [(0, 4, 0), (10_000, 1, 1), (100_000, 0, 0), (1_000_000, 0, 0), (10_000_000, 0, 2)];
        assert_eq!(counts, expected);
        assert_eq!(
            (bins[0].fct_s.mean, bins[0].fct_s.p50, bins[0].fct_s.max),
            (Some(4.0), Some(3.0), Some(8.0))
        );
        assert_eq!(bins[1].slowdown.p99, Some(10.0));
        assert_eq!((bins[0].below_bytes, bins[4].below_bytes), (Some(10_000), None));
        assert_eq!(of(&flows[3..4]).fct_by_size, []);

        let mut group = of(&flows);
        let whole = group.clone();
        group.keep_flows(2);
        assert_eq!((group.flows.len(), group.flow_count, group.flows_omitted), (2, 5, 3));
        assert_eq!((group.fct_s, &group.fct_by_size), (whole.fct_s, &whole.fct_by_size));

        // Every group lists flows: six are two each; the group of one leaves a place, which goes to the first.
        let groups = GroupResult::keep([5, 1, 3].map(|count| of(&flows[..count])).to_vec(), 6);
        let listed: Vec<_> = groups.iter().map(|group| (group.flows.len(), group.flows_omitted)).collect();
        assert_eq!(listed, [(3, 2), (1, 0), (2, 1)]);
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
        fn jain_is_bounded_and_scale_free(
            rates in prop::collection::vec(0.001f64..1e10, 1..50),
            scale in 0.001f64..1000.0,
        ) {
            let index = jain(&rates).unwrap();
            prop_assert!(index <= 1.0 + 1e-12 && index >= 1.0 / rates.len() as f64 - 1e-12);
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
            prop_assert!((jain(&scaled).unwrap() - index).abs() < 1e-9);
        }
    }
}
