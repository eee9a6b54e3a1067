//! Reading scenarios.

use crate::errors::{ScenarioError, all, refused};
use crate::facts::facts;
use pyo3::prelude::*;
use shoal_scenario::Document;

/// A scenario that was read and found right.
#[pyclass(frozen, module = "shoal._native")]
pub struct Checked {
    /// Warnings, rendered with their places.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// Notes, rendered with their places.
    #[pyo3(get)]
    notes: Vec<String>,
    /// What the simulator has no model of, with places and remedies; empty if it can run this.
    #[pyo3(get)]
    simulator_refuses: String,
    /// The resolved scenario.
    #[pyo3(get)]
    json: String,
    /// The resolved scenario as a scenario file.
    #[pyo3(get)]
    toml: String,
    /// Base units that plots and metrics need: rates, BDP, thresholds in bytes.
    #[pyo3(get)]
    facts: String,
}

/// Reads a scenario file with `--set` arguments.
#[pyfunction]
#[pyo3(signature = (text, file_name, overrides))]
pub fn check(
    py: Python<'_>,
    text: &str,
    file_name: &str,
    overrides: Vec<(String, String)>,
) -> PyResult<Checked> {
    py.detach(|| {
        let document = Document::with_overrides(text, file_name, &overrides)?;
        let experiment = document.resolve(None)?;
        Ok(Checked {
            warnings: document.warnings().iter().map(ToString::to_string).collect(),
            notes: document.notes().iter().map(ToString::to_string).collect(),
            simulator_refuses: shoal_sim::check(&experiment)
                .err()
                .map_or_else(String::new, |found| all(&found)),
            json: document.to_json().to_string(),
            toml: document.to_toml(),
            facts: facts(&document, &experiment).to_string(),
        })
    })
    .map_err(|errors: shoal_scenario::Errors| refused(&errors))
}

/// The scenario file of a resolved scenario in JSON.
#[pyfunction]
pub fn json_to_toml(text: &str, name: &str) -> PyResult<String> {
    let json = serde_json::from_str(text)
        .map_err(|error| ScenarioError::new_err(format!("error: {name} is not JSON: {error}\n")))?;
    Document::from_json(&json, name).map(|document| document.to_toml()).map_err(|errors| refused(&errors))
}
