//! Conformance scripts: verdicts on the models, and the program and the verdict of a run on the kernel.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use shoal_conformance::report;
use std::path::{Path, PathBuf};

/// Verdict of a script on the models (JSON). Included files and laws are in `folder`.
#[pyfunction]
pub(crate) fn conformance_on_model(py: Python<'_>, text: &str, folder: PathBuf) -> String {
    let law = |name: &str| {
        let read = std::fs::read(folder.join(name.strip_prefix("file:")?));
        Some(read.map_err(|error| error.to_string()).and_then(|bytes| shoal_plugin::controller(name, &bytes)))
    };
    py.detach(|| report::on_model(text, &beside(&folder), &law)).to_string()
}

/// `{"program": "...", "lines": [...]}` for the guest, or the reason why there is none (JSON).
#[pyfunction]
pub(crate) fn conformance_program(text: &str, folder: PathBuf) -> String {
    report::program(text, &beside(&folder)).to_string()
}

/// Verdict of a script on the kernel (JSON), from the records that the guest wrote.
#[pyfunction]
pub(crate) fn conformance_on_kernel(text: &str, folder: PathBuf, records: &[u8]) -> PyResult<String> {
    let found = report::on_kernel(text, &beside(&folder), records).map_err(PyRuntimeError::new_err)?;
    Ok(found.to_string())
}

fn beside(folder: &Path) -> impl Fn(&str) -> Option<String> {
    move |name| std::fs::read_to_string(folder.join(name)).ok()
}
