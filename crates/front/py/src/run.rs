//! Runs an experiment without the interpreter's lock, with progress, and with a prompt end on request.

use crate::errors::{Cancelled, broken, failed, not_written};
use crate::python_law::interruptible;
use crate::tables::columns;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use shoal_measure::RunResult;
use shoal_scenario::Experiment;
use shoal_sim::{Division, FileSink, Files, Options, Outcome};
use shoal_trace::pcapng::Capture;
use shoal_trace::{Table, WriteError, parquet_out};
use shoal_units::LawFailure;
use shoal_units::Time;
use std::hash::Hasher;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
#[allow(clippy::disallowed_types, reason = "only paces the progress display; no result depends on it")]
use std::time::Instant;
use twox_hash::XxHash64;

/// Interval between calls of the progress function, and between checks for pending signals.
const PULSE: Duration = Duration::from_millis(100);

/// A handle that ends the runs that hold it; another thread may use it.
#[pyclass(frozen, module = "shoal._native")]
#[derive(Default)]
pub struct Cancel(Arc<AtomicBool>);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }
    /// Asks the runs to end.
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether the runs were asked to end.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A finished run.
#[pyclass(frozen, module = "shoal._native")]
pub struct Run {
    pub(crate) result: RunResult,
    pub(crate) tables: Vec<Table>,
}

#[pymethods]
impl Run {
    /// The result object of the contract, as JSON text.
    #[getter]
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| self.result.to_json())
    }
    /// What a sweep keeps: the result object as JSON on one line; a hash of it that does not depend on the seed as
    /// such, so that runs have the same if their seeds made no difference; and the text compressed, for
    /// [`uncompressed`].
    fn kept<'py>(&self, py: Python<'py>, seed: u64) -> PyResult<(String, u64, Bound<'py, PyBytes>)> {
        let (text, hash, body) = py.detach(|| {
            let text = self.result.to_compact_json();
            let mut hash = XxHash64::with_seed(0);
            for part in text.split(&format!("\"seed\":{seed},")) {
                hash.write(part.as_bytes());
            }
            let body = snap::raw::Encoder::new().compress_vec(text.as_bytes());
            (text, hash.finish(), body)
        });
        let body = body.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((text, hash, PyBytes::new(py, &body)))
    }
    /// Tables as `{table: {column: values}}`: numbers as arrays, words as lists.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for table in &self.tables {
            tables.set_item(table.spec().name, columns(py, table)?)?;
        }
        Ok(tables)
    }
    /// What incomplete tables leave out, as `{table: sentence}`.
    fn coverage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sentences = PyDict::new(py);
        for table in &self.tables {
            if let Some(coverage) = table.coverage() {
                sentences.set_item(table.spec().name, coverage)?;
            }
        }
        Ok(sentences)
    }
    /// Writes each table as `FOLDER/TABLE.parquet`. The folder must exist.
    fn save_tables(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| {
            let mut tables = self.tables.iter();
            tables.try_for_each(|table| {
                parquet_out::write_table(&folder.join(format!("{}.parquet", table.spec().name)), table)
            })
        })
        .map_err(|error| not_written(&error))
    }
}

/// The text of [`Run::json`] from what [`Run::kept`] compressed.
#[pyfunction]
pub(crate) fn uncompressed(body: &[u8]) -> PyResult<String> {
    let bytes = snap::raw::Decoder::new().decompress_vec(body);
    let bytes = bytes.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let compact = String::from_utf8(bytes).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(RunResult::indented(&compact))
}

/// Raises a `KeyboardInterrupt` in another thread, where Python code runs next: a law in Python that never returns sees
/// no token.
#[pyfunction]
#[expect(unsafe_code, reason = "the interpreter's function for this has no safe form")]
pub(crate) fn interrupt_thread(py: Python<'_>, thread: std::ffi::c_ulong) {
    let kind = py.get_type::<PyKeyboardInterrupt>();
    // SAFETY: the interpreter is attached, the kind is an exception, and for a thread that has ended it does nothing.
    unsafe {
        pyo3::ffi::PyThreadState_SetAsyncExc(thread as _, kind.as_ptr());
    }
}

/// How a run without a result ended.
enum Ended {
    Unwritable(WriteError),
    /// A law from outside failed.
    Failed(Box<LawFailure>),
    Stopped,
}

/// Runs an experiment that the simulator supports.
pub(crate) fn simulated(
    py: Python<'_>,
    experiment: &Experiment,
    packets: Option<&Path>,
    capture: Option<(&Path, Capture)>,
    division: Option<Division>,
    progress: Option<Py<PyAny>>,
    cancel: Option<&Cancel>,
) -> PyResult<Outcome> {
    let mut watch = Watch {
        duration_s: experiment.duration.as_secs_f64(),
        progress,
        cancel: cancel.map(|cancel| Arc::clone(&cancel.0)),
        last: now(),
        error: None,
    };
    let guarded = || {
        let run = || simulate(experiment, packets, capture, division, &mut watch);
        let ended = catch_unwind(AssertUnwindSafe(run));
        Ok(ended.unwrap_or_else(|panic| match panic.downcast::<LawFailure>() {
            Ok(failure) => Err(Ended::Failed(failure)),
            Err(panic) => resume_unwind(panic),
        }))
    };
    match interruptible(py, guarded)? {
        Ok(outcome) => match &outcome.broken {
            Some(law) => Err(broken(law)),
            None => Ok(outcome),
        },
        Err(Ended::Unwritable(error)) => Err(not_written(&error)),
        Err(Ended::Failed(failure)) => Err(failed(&failure)),
        Err(Ended::Stopped) => {
            Err(watch.error.unwrap_or_else(|| Cancelled::new_err("the run was cancelled")))
        }
    }
}

/// How much of each packet a capture keeps.
pub(crate) const fn kept(payload: bool) -> Capture {
    if payload { Capture::Whole } else { Capture::Headers }
}

fn simulate(
    experiment: &Experiment,
    packets: Option<&Path>,
    capture: Option<(&Path, Capture)>,
    division: Option<Division>,
    watch: &mut Watch,
) -> Result<Outcome, Ended> {
    if packets.is_none() && capture.is_none() {
        let mut progress = |time| watch.goes_on(time);
        let options = Options { packets: None, progress: Some(&mut progress), division };
        return shoal_sim::run(experiment, options).ok_or(Ended::Stopped);
    }
    let files = Files::open(experiment, packets, capture).map_err(Ended::Unwritable)?;
    let files = Arc::new(Mutex::new(files));
    let has_failed = || files.lock().unwrap_or_else(PoisonError::into_inner).has_failed();
    let outcome = {
        let mut progress = |time| !has_failed() && watch.goes_on(time);
        let sink = Box::new(FileSink(Arc::clone(&files)));
        let options = Options { packets: Some(sink), progress: Some(&mut progress), division };
        shoal_sim::run(experiment, options)
    };
    // The simulator has dropped its end of the files.
    let files =
        Arc::into_inner(files).map(|files| files.into_inner().unwrap_or_else(PoisonError::into_inner));
    match (outcome, files) {
        (Some(outcome), Some(files)) => files.finish().map(|()| outcome).map_err(Ended::Unwritable),
        (None, Some(files)) if files.has_failed() => {
            Err(files.finish().err().map_or(Ended::Stopped, Ended::Unwritable))
        }
        _ => Err(Ended::Stopped),
    }
}

/// Watches a run: calls the progress function and checks for signals at intervals.
struct Watch {
    duration_s: f64,
    progress: Option<Py<PyAny>>,
    cancel: Option<Arc<AtomicBool>>,
    #[allow(clippy::disallowed_types, reason = "see above")]
    last: Instant,
    /// The exception that the interpreter raised: a KeyboardInterrupt, or an error of the progress function.
    error: Option<PyErr>,
}

impl Watch {
    fn goes_on(&mut self, time: Time) -> bool {
        if self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return false;
        }
        if self.last.elapsed() < PULSE {
            return true;
        }
        self.last = now();
        let pulse = Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                progress.call1(py, (time.as_secs_f64() / self.duration_s,))?;
            }
            Ok(())
        });
        self.error = pulse.err();
        self.error.is_none()
    }
}

#[allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "see the import")]
fn now() -> Instant {
    Instant::now()
}
