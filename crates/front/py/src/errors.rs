//! Conversion of errors to the classes of `shoal.errors`, which defines them.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use shoal_measure::laws::BrokenLaw;
use shoal_scenario::{Errors, Refusal};
use shoal_trace::{WriteError, WriteFailure};
use shoal_units::LawFailure;
use std::path::Path;

pyo3::import_exception!(shoal.errors, ScenarioError);
pyo3::import_exception!(shoal.errors, Cancelled);
pyo3::import_exception!(shoal.errors, OutputError);

pyo3::import_exception!(shoal.errors, LawError);
pyo3::import_exception!(shoal.errors, OwnLawError);

/// The error of a finished run whose numbers violate a law.
pub(crate) fn broken(law: &BrokenLaw) -> PyErr {
    LawError::new_err(law.to_string())
}

/// The error of a run that a law from outside ended.
pub(crate) fn failed(failure: &LawFailure) -> PyErr {
    OwnLawError::new_err(failure.to_string())
}

pub(crate) fn refused(errors: &Errors) -> PyErr {
    ScenarioError::new_err(errors.to_string())
}

/// The error for all refusals of a plane, in one message.
pub(crate) fn refused_by_plane(refusals: &[Refusal]) -> PyErr {
    ScenarioError::new_err(Refusal::all(refusals))
}

/// An `OutputError` with the file and the operating system's message; `shoal.files` words it.
pub(crate) fn not_written(error: &WriteError) -> PyErr {
    let number = match &error.reason {
        WriteFailure::Io(reason) => reason.raw_os_error(),
        WriteFailure::Parquet(_) => None,
    };
    let text = error.reason.to_string();
    let system = match number {
        // Python's own messages lack the suffix with the number.
        Some(number) => PyOSError::new_err((
            number,
            text.replace(&format!(" (os error {number})"), ""),
            error.path.clone(),
        )),
        None => PyOSError::new_err(text),
    };
    Python::attach(|py| worded(py, &error.path, system).unwrap_or_else(|error| error))
}

fn worded(py: Python<'_>, path: &Path, system: PyErr) -> PyResult<PyErr> {
    let error = py.import("shoal.files")?.call_method1("unwritable", (path, system))?;
    Ok(PyErr::from_value(error))
}
