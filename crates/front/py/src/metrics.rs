//! The formulas of `shoal_trace::metrics`.

use pyo3::prelude::*;
use shoal_trace::metrics;

/// Jain's fairness index; `None` if no rate is above zero.
#[pyfunction]
pub fn jain(rates: Vec<f64>) -> Option<f64> {
    metrics::jain(&rates)
}

/// `first / second`; `None` if that is not defined.
#[pyfunction]
pub fn rate_ratio(first: Option<f64>, second: Option<f64>) -> Option<f64> {
    metrics::rate_ratio(first, second)
}

/// Statistics of a list as JSON, quantiles by nearest rank. NaN values are left out.
#[pyfunction]
pub fn order_statistics(values: Vec<f64>) -> String {
    let known: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
    // A plain struct of numbers: this cannot fail.
    serde_json::to_string(&metrics::order_statistics(&known)).unwrap_or_default()
}

/// Completion time of a transfer that has the path for itself, in seconds.
#[pyfunction]
pub fn ideal_fct_s(wire_bytes: u64, rate_bps: f64, base_rtt_s: f64) -> Option<f64> {
    metrics::ideal_fct_s(wire_bytes, rate_bps, base_rtt_s)
}
