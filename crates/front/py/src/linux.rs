//! The real-kernel plane: a plan before a run, and the result after it. The processes belong to Python.

use crate::errors::{broken, not_written, refused_by_plane};
use crate::run::{Run, kept};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::Value;
use shoal_linux::{CaptureError, Kernel, Plan, Unlawful, check, measure, ran_on, write_capture};
use shoal_measure::Plane;
use shoal_scenario::Experiment;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

/// The plan of a scenario for the guest's kernel.
#[pyclass(frozen, module = "shoal._native")]
pub struct LinuxPlan {
    experiment: Experiment,
    /// The resolved scenario, which becomes part of the result.
    scenario: Value,
    kernel: Kernel,
    plan: Plan,
}

impl LinuxPlan {
    /// Translates an experiment; `kernel` describes the kernel in JSON.
    pub fn new(experiment: Experiment, scenario: Value, kernel: &str, captures: bool) -> PyResult<Self> {
        let kernel = serde_json::from_str(kernel)
            .map_err(|error| PyValueError::new_err(format!("not a description of a kernel: {error}")))?;
        let plan =
            Plan::new(&experiment, &kernel, captures).map_err(|refusals| refused_by_plane(&refusals))?;
        Ok(Self { experiment, scenario, kernel, plan })
    }
}

#[pymethods]
impl LinuxPlan {
    /// Instructions for the guest.
    #[getter]
    fn config(&self) -> &str {
        &self.plan.config
    }

    /// Memory of the guest in MiB.
    #[getter]
    fn memory_mib(&self) -> u64 {
        self.plan.memory_mib
    }

    /// Where the kernel differs from what the scenario asks for.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.plan.notes.clone()
    }

    /// Parts of the scenario, and what they became on the kernel.
    #[getter]
    fn rules(&self) -> Vec<(String, String)> {
        self.plan.rules.iter().map(|rule| (rule.place.clone(), rule.text.clone())).collect()
    }

    /// Seed of the guest's randomness.
    #[getter]
    fn seed(&self) -> u64 {
        self.experiment.seed
    }

    /// The result of a run whose guest wrote `lines.bin`, `flows.bin` and `shown` into `folder`.
    fn result(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Run> {
        let Self { experiment, scenario, kernel, plan } = self;
        py.detach(|| {
            let lines = std::fs::read(folder.join("lines.bin"))?;
            let flows = std::fs::read(folder.join("flows.bin"))?;
            let unread = |error: &dyn std::error::Error| PyRuntimeError::new_err(error.to_string());
            check(experiment, &lines, &flows).map_err(|error| match error {
                Unlawful::Records(error) => unread(&error),
                Unlawful::Law(law) => broken(&law),
            })?;
            let measured = measure(experiment, &lines, &flows).map_err(|error| unread(&error))?;
            if let Some(law) = &measured.broken {
                return Err(broken(law));
            }
            let shown = std::fs::read_to_string(folder.join("shown"))?;
            let plane = Plane::Linux(ran_on(experiment, plan, kernel, &shown));
            let result = measured.result(scenario.clone(), env!("CARGO_PKG_VERSION"), plane);
            Ok(Run { result, tables: measured.tables })
        })
    }

    /// Writes the packets that a guest captured into `folder` to the file `path` as pcapng.
    #[pyo3(signature = (folder, path, *, payload=false))]
    fn capture(&self, py: Python<'_>, folder: PathBuf, path: PathBuf, payload: bool) -> PyResult<()> {
        py.detach(|| {
            let packets = BufReader::new(File::open(folder.join("packets.bin"))?);
            write_capture(&self.experiment, &self.plan, packets, &path, kept(payload)).map_err(|error| {
                match error {
                    CaptureError::Records(error) => PyRuntimeError::new_err(error.to_string()),
                    CaptureError::Read(error) => error.into(),
                    CaptureError::Write(error) => not_written(&error),
                }
            })
        })
    }
}
