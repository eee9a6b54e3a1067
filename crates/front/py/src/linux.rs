//! The real-kernel plane: plans before a run, measurements after it. Processes belong to Python.

use crate::errors::{broken, not_written, refused, refused_by_plane};
use crate::run::{Run, kept};
use pyo3::prelude::*;
use serde_json::json;
use shoal_linux::{CaptureError, Kernel, Plan, Unlawful, check, measure, write_capture};
use shoal_scenario::{Document, Experiment};
use shoal_trace::laws;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

type Overrides = Vec<(String, String)>;

/// `{"config", "memory_mib", "notes", "rules": [{"place", "text"}], "duration_s"}` of a scenario on the kernel that `kernel`
/// describes (JSON).
#[pyfunction]
#[pyo3(signature = (text, file_name, overrides, kernel, *, seed=None, captures=false))]
pub fn linux_plan(
    py: Python<'_>,
    text: &str,
    file_name: &str,
    overrides: Overrides,
    kernel: &str,
    seed: Option<u64>,
    captures: bool,
) -> PyResult<String> {
    let (_, experiment) = experiment(text, file_name, &overrides, seed)?;
    let kernel = kernel_of(kernel)?;
    let plan = py.detach(|| plan(&experiment, &kernel, captures))?;
    let rules: Vec<_> =
        plan.rules.iter().map(|rule| json!({ "place": rule.place, "text": rule.text })).collect();
    Ok(json!({
        "config": plan.config,
        "memory_mib": plan.memory_mib,
        "notes": plan.notes,
        "rules": rules,
        "duration_s": experiment.duration.as_secs_f64(),
        "seed": experiment.seed,
    })
    .to_string())
}

/// The result of a run whose guest wrote `lines.bin` and `flows.bin` into `folder`.
#[pyfunction]
#[pyo3(signature = (text, file_name, overrides, kernel, folder, *, seed=None))]
pub fn linux_result(
    py: Python<'_>,
    text: &str,
    file_name: &str,
    overrides: Overrides,
    kernel: &str,
    folder: PathBuf,
    seed: Option<u64>,
) -> PyResult<Run> {
    let (document, experiment) = experiment(text, file_name, &overrides, seed)?;
    let kernel = kernel_of(kernel)?;
    let mut scenario = document.to_json();
    // What makes this run again: the seed it had.
    if let Some(value) = scenario.get_mut("seed") {
        *value = experiment.seed.into();
    }
    py.detach(|| {
        let plan = plan(&experiment, &kernel, false)?;
        let lines = std::fs::read(folder.join("lines.bin"))?;
        let flows = std::fs::read(folder.join("flows.bin"))?;
        let unread =
            |error: &dyn std::error::Error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string());
        check(&experiment, &lines, &flows).map_err(|error| match error {
            Unlawful::Records(error) => unread(&error),
            Unlawful::Law(law) => broken(&law),
        })?;
        let version = env!("CARGO_PKG_VERSION");
        let measured = measure(&experiment, &plan, &kernel, &lines, &flows, scenario, version)
            .map_err(|error| unread(&error))?;
        let window_s = (experiment.duration - experiment.warmup).as_secs_f64();
        laws::hold(&measured.result.bottlenecks, window_s).map_err(|law| broken(&law))?;
        Ok(Run { result: measured.result, tables: measured.tables })
    })
}

/// Writes what a guest with captures has left in `folder` to the file `path`, as pcapng.
#[pyfunction]
#[pyo3(signature = (text, file_name, overrides, kernel, folder, path, *, payload=false, seed=None))]
#[allow(clippy::too_many_arguments, reason = "names of Python")]
pub fn linux_capture(
    py: Python<'_>,
    text: &str,
    file_name: &str,
    overrides: Overrides,
    kernel: &str,
    folder: PathBuf,
    path: PathBuf,
    payload: bool,
    seed: Option<u64>,
) -> PyResult<()> {
    let (_, experiment) = experiment(text, file_name, &overrides, seed)?;
    let kernel = kernel_of(kernel)?;
    py.detach(|| {
        let plan = plan(&experiment, &kernel, true)?;
        let packets = BufReader::new(File::open(folder.join("packets.bin"))?);
        write_capture(&experiment, &plan, packets, &path, kept(payload)).map_err(|error| match error {
            CaptureError::Records(error) => pyo3::exceptions::PyRuntimeError::new_err(error.to_string()),
            CaptureError::Read(error) => error.into(),
            CaptureError::Write(error) => not_written(&error),
        })
    })
}

fn experiment(
    text: &str,
    file_name: &str,
    overrides: &Overrides,
    seed: Option<u64>,
) -> PyResult<(Document, Experiment)> {
    let document = Document::with_overrides(text, file_name, overrides).map_err(|errors| refused(&errors))?;
    let experiment = document.resolve(seed).map_err(|errors| refused(&errors))?;
    Ok((document, experiment))
}

fn kernel_of(text: &str) -> PyResult<Kernel> {
    serde_json::from_str(text).map_err(|error| {
        pyo3::exceptions::PyValueError::new_err(format!("not a description of a kernel: {error}"))
    })
}

fn plan(experiment: &Experiment, kernel: &Kernel, captures: bool) -> PyResult<Plan> {
    Plan::with_captures(experiment, kernel, captures).map_err(|refusals| refused_by_plane(&refusals))
}
