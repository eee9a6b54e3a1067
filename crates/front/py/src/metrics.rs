//! The formulas of `shoal_measure::metrics`.

use pyo3::prelude::*;
use shoal_measure::{Bucket, LinkBin, metrics};

/// Jain's fairness index; `None` if no rate is above zero.
#[pyfunction]
pub(crate) fn jain(rates: Vec<f64>) -> Option<f64> {
    metrics::jain(&rates)
}

/// `first / second`; `None` if the ratio is not defined.
#[pyfunction]
pub(crate) fn rate_ratio(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    metrics::rate_ratio(first, second)
}

/// Statistics of a list as JSON, quantiles by nearest rank. NaN values are left out.
#[pyfunction]
pub(crate) fn order_statistics(values: Vec<f64>) -> String {
    let known: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
    // Serialising a plain struct of numbers cannot fail.
    serde_json::to_string(&metrics::order_statistics(&known)).unwrap_or_default()
}

/// Index from which on all values are close to the target; see `metrics::settled_from`.
#[pyfunction]
pub(crate) fn settled_from(values: Vec<f64>, target: f64, within: f64, smooth: usize) -> Option<usize> {
    metrics::settled_from(&values, target, within, smooth)
}

/// Period (in steps), strength and amplitude of a series; see `metrics::oscillation`.
#[pyfunction]
pub(crate) fn oscillation(values: Vec<f64>, least: f64) -> (Option<f64>, Option<f64>, Option<f64>) {
    let found = metrics::oscillation(&values, least);
    (found.period, found.strength, found.amplitude)
}

/// Rate, carried rate and queueing delay of each bin `(end_s, bytes, utilisation)` of a link; see
/// `shoal_measure::at_rates`.
#[pyfunction]
pub(crate) fn at_rates(
    bins: Vec<(f64, f64, f64)>,
    bin_s: f64,
    rates: Vec<(f64, f64)>,
) -> Vec<(f64, f64, f64)> {
    let bin = |(end_s, bytes, utilisation)| LinkBin { end_s, bytes, utilisation };
    let bins: Vec<LinkBin> = bins.into_iter().map(bin).collect();
    let found = shoal_measure::at_rates(&bins, bin_s, &rates).into_iter();
    found.map(|bin| (bin.rate_bps, bin.carried_bps, bin.delay_s)).collect()
}

/// Throughput over round-trip time.
#[pyfunction]
pub(crate) fn power(throughput_bps: f64, round_trip_s: f64) -> Option<f64> {
    metrics::power(throughput_bps, round_trip_s)
}

/// Share of a distribution between two values; see `metrics::share_between`.
#[pyfunction]
pub(crate) fn share_between(
    low: Vec<u64>,
    high: Vec<u64>,
    weight: Vec<u64>,
    at_least: f64,
    at_most: f64,
) -> Option<f64> {
    let buckets: Vec<Bucket> = low
        .into_iter()
        .zip(high)
        .zip(weight)
        .map(|((low, high), weight)| Bucket { low, high, weight })
        .collect();
    metrics::share_between(&buckets, at_least, at_most)
}

/// Shares of a distribution in bins; see `metrics::binned_shares`.
#[pyfunction]
pub(crate) fn binned_shares(low: Vec<f64>, high: Vec<f64>, weight: Vec<f64>, edges: Vec<f64>) -> Vec<f64> {
    metrics::binned_shares(&low, &high, &weight, &edges)
}
