//! Errors as Python sees them.

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use shoal_scenario::Errors;
use shoal_trace::{WriteError, WriteFailure};

pyo3::create_exception!(
    shoal._native,
    ScenarioError,
    PyValueError,
    "A scenario is refused. The message shows every problem with its place and what would be right."
);
pyo3::create_exception!(shoal._native, Cancelled, PyRuntimeError, "A run was ended by its Cancel token.");

pub fn refused(errors: &Errors) -> PyErr {
    ScenarioError::new_err(errors.to_string())
}

/// An `OSError` with the number and the file where there is one, so that Python picks the subclass.
pub fn not_written(error: &WriteError) -> PyErr {
    let number = match &error.reason {
        WriteFailure::Io(reason) => reason.raw_os_error(),
        WriteFailure::Parquet(_) => None,
    };
    match number {
        Some(number) => {
            // Python's own messages have no such suffix.
            let text = error.reason.to_string().replace(&format!(" (os error {number})"), "");
            PyOSError::new_err((number, text, error.path.clone()))
        }
        None => PyOSError::new_err(error.to_string()),
    }
}
