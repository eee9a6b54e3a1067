#![doc = include_str!("../README.md")]

mod bottleneck;
mod conformance;
mod errors;
mod exclusive;
mod linux;
mod metrics;
mod models;
mod python_law;
mod run;
mod scenario;
mod tables;
mod wire_box;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The native half of `shoal`; see the package for what is public.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CODE_POINTS", std::collections::BTreeMap::from(shoal_scenario::CODE_POINTS))?;
    module.add("MAX_SEED", shoal_scenario::schema::Seed::MAX)?;
    module.add_class::<bottleneck::Bottleneck>()?;
    module.add_class::<wire_box::Box>()?;
    module.add_function(wrap_pyfunction!(wire_box::box_record, module)?)?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<linux::LinuxPlan>()?;
    module.add_class::<run::Cancel>()?;
    module.add_class::<run::Run>()?;
    module.add_function(wrap_pyfunction!(build_profile, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(tables_reference, module)?)?;
    module.add_function(wrap_pyfunction!(result_fields, module)?)?;
    module.add_function(wrap_pyfunction!(explanations, module)?)?;
    module.add_function(wrap_pyfunction!(verdict, module)?)?;
    module.add_function(wrap_pyfunction!(models::models, module)?)?;
    module.add_function(wrap_pyfunction!(models::law_model, module)?)?;
    module.add_function(wrap_pyfunction!(run::interrupt_thread, module)?)?;
    module.add_function(wrap_pyfunction!(models::python_law_model, module)?)?;
    python_law::add_to(module)?;
    module.add_function(wrap_pyfunction!(models::law_interface, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::json_to_toml, module)?)?;
    module.add_function(wrap_pyfunction!(run::uncompressed, module)?)?;
    module.add_function(wrap_pyfunction!(conformance::conformance_on_model, module)?)?;
    module.add_function(wrap_pyfunction!(conformance::conformance_program, module)?)?;
    module.add_function(wrap_pyfunction!(conformance::conformance_on_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::jain, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::rate_ratio, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::order_statistics, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::settled_from, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::oscillation, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::at_rates, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::power, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::share_between, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::binned_shares, module)?)?;
    Ok(())
}

/// How this module was compiled: `release` or `debug`.
#[pyfunction]
const fn build_profile() -> &'static str {
    if cfg!(debug_assertions) { "debug" } else { "release" }
}

/// JSON Schema of the scenario file.
#[pyfunction]
fn schema() -> String {
    let mut text = serde_json::to_string_pretty(&shoal_scenario::shared_json_schema()).unwrap_or_default();
    text.push('\n');
    text
}

/// Every field of the result object as a JSON list of `{"path", "kind", "unit", "doc", "may_be_null",
/// "may_be_absent"}`.
#[pyfunction]
fn result_fields() -> String {
    serde_json::to_string(&shoal_measure::result_fields()).unwrap_or_default()
}

/// Questions that notices (JSON) raise, as JSON: objects with the position of the `notice`, the `question`, the first
/// `cause`, and what to `change`.
#[pyfunction]
fn explanations(notices: &str) -> PyResult<String> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let notices: Vec<shoal_measure::Notice> = serde_json::from_str(notices).map_err(wrong)?;
    serde_json::to_string(&shoal_notices::explanations(&notices)).map_err(wrong)
}

/// The verdict on what flows get and how long packets wait, both as JSON: `shoal_notices::Share` and
/// `shoal_notices::Verdict`.
#[pyfunction]
fn verdict(share: &str) -> PyResult<String> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let share: shoal_notices::Share = serde_json::from_str(share).map_err(wrong)?;
    serde_json::to_string(&shoal_notices::verdict(&share)).map_err(wrong)
}

/// Reference page of the recorded tables, in Markdown.
#[pyfunction]
fn tables_reference() -> String {
    shoal_trace::schema_markdown()
}
