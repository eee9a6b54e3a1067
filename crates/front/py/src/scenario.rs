//! The handle of a scenario, which is read, checked and planned once.

use crate::bottleneck::Bottleneck;
use crate::errors::{ScenarioError, refused, refused_by_plane};
use crate::linux::LinuxPlan;
use crate::python_law::{PythonLaw, interruptible};
use crate::run::{Cancel, Run, simulated};
use crate::wire_box;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use shoal_scenario::{
    Document, Experiment, Files, FlowList, FlowLists, GivenFile, GivenLaw, Laws, ListedHosts, Refusal,
};
use shoal_sim::Division;
use shoal_units::{Time, Unmodelled};
use std::path::PathBuf;
use std::sync::Arc;

/// A scenario that has been read and is valid.
#[pyclass(frozen, module = "shoal._native")]
pub struct Scenario(Document);

#[pymethods]
impl Scenario {
    /// Reads a scenario file with `--set` arguments, and the lists of flows and the laws that it names.
    #[new]
    #[pyo3(signature = (text, file_name, overrides, lists=None, laws=None))]
    fn new(
        py: Python<'_>,
        text: &str,
        file_name: &str,
        overrides: Vec<(String, String)>,
        lists: Option<Vec<List>>,
        laws: Option<Vec<LawFile>>,
    ) -> PyResult<Self> {
        interruptible(py, || {
            let files = files(lists, laws)?;
            Document::with_files(text, file_name, &overrides, files)
                .map(Self)
                .map_err(|errors| refused(&errors))
        })
    }

    /// The scenario with further `--set` arguments, and laws that these name.
    #[pyo3(signature = (overrides, laws=None))]
    fn overridden(
        &self,
        py: Python<'_>,
        overrides: Vec<(String, String)>,
        laws: Option<Vec<LawFile>>,
    ) -> PyResult<Self> {
        let laws = given_laws(laws);
        interruptible(py, || self.0.overridden(&overrides, laws).map(Self).map_err(|errors| refused(&errors)))
    }

    /// Warnings, rendered with their places.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings().iter().map(ToString::to_string).collect()
    }

    /// Notes, rendered with their places.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes().iter().map(ToString::to_string).collect()
    }

    /// What the simulator has no model for, with places and remedies; empty if it can run the scenario.
    #[getter]
    fn simulator_refuses(&self, py: Python<'_>) -> PyResult<String> {
        interruptible(py, || {
            let refusals = shoal_sim::check(&self.experiment(None)?).err();
            Ok(refusals.map_or_else(String::new, |found| Refusal::all(&found)))
        })
    }

    /// Whether it writes packets as a table, and as a capture.
    #[getter]
    fn packet_files(&self, py: Python<'_>) -> PyResult<(bool, bool)> {
        interruptible(py, || {
            let trace = self.experiment(None)?.trace;
            Ok((trace.packets, trace.pcap))
        })
    }

    /// A link of the scenario alone, the first bottleneck if it has no name, with the draws of this seed.
    #[pyo3(signature = (link=None, seed=None))]
    fn bottleneck(&self, link: Option<&str>, seed: Option<u64>) -> PyResult<Bottleneck> {
        Bottleneck::of(&self.experiment(seed)?, link)
    }

    /// The resolved scenario as JSON.
    #[getter]
    fn json(&self) -> String {
        // Faster than `to_string` of the value itself, which formats piece by piece.
        serde_json::to_string(&self.0.to_json()).unwrap_or_default()
    }

    /// The resolved scenario as a scenario file.
    #[getter]
    fn toml(&self) -> String {
        self.0.to_toml()
    }

    /// Facts in base units for plots and metrics, as JSON: rates, bandwidth-delay product, thresholds in
    /// bytes.
    #[getter]
    fn facts(&self, py: Python<'_>) -> String {
        py.detach(|| serde_json::to_string(&self.0.facts()).unwrap_or_default())
    }

    /// A bottleneck between two interfaces: what comes in at the first leaves at the second through the
    /// bottleneck, and what comes back for the rest of a round trip. They are those of a network namespace, if the
    /// path of one is given.
    #[pyo3(signature = (inside, outside, *, pcap=None, seed=None, namespace=None))]
    fn wire_box(
        &self,
        inside: &str,
        outside: &str,
        pcap: Option<PathBuf>,
        seed: Option<u64>,
        namespace: Option<PathBuf>,
    ) -> PyResult<wire_box::Box> {
        let experiment = self.experiment(seed)?;
        let ways = wire_box::ways(&experiment)?;
        let about = self.0.to_json_with_seed(experiment.seed).to_string();
        let record = pcap.as_deref().map(|path| (path, &*about));
        wire_box::Box::of(ways, self.box_changes()?, namespace.as_deref(), [inside, outside], record)
    }

    /// Takes the decisions of the record of a box again.
    fn replay_box(&self, path: &str) -> PyResult<wire_box::Compared> {
        wire_box::replayed(path, wire_box::ways(&self.experiment(None)?)?, self.box_changes()?)
    }

    /// Runs the scenario in the simulator, on one or several threads.
    #[pyo3(signature = (
        *, seed=None, packets=None, pcap=None, pcap_payload=false, threads=1, progress=None, cancel=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        packets: Option<PathBuf>,
        pcap: Option<PathBuf>,
        pcap_payload: bool,
        threads: u32,
        progress: Option<Py<PyAny>>,
        cancel: Option<&Cancel>,
    ) -> PyResult<Run> {
        let experiment = interruptible(py, || self.experiment(seed))?;
        shoal_sim::check(&experiment).map_err(|refusals| refused_by_plane(&refusals))?;
        let capture = pcap.as_deref().map(|path| (path, crate::run::kept(pcap_payload)));
        let division = (threads > 1).then(|| py.detach(|| Division::of(&experiment, threads)));
        let division = division.transpose().map_err(|refusals| refused_by_plane(&refusals))?;
        let outcome = simulated(py, &experiment, packets.as_deref(), capture, division, progress, cancel)?;
        let scenario = self.0.to_json_with_seed(experiment.seed);
        let result = outcome.result(scenario, env!("CARGO_PKG_VERSION"));
        Ok(Run { result, tables: outcome.measured.tables })
    }

    /// The plan of the scenario for the kernel that `kernel` describes (JSON).
    #[pyo3(signature = (kernel, *, seed=None, captures=false))]
    fn linux_plan(
        &self,
        py: Python<'_>,
        kernel: &str,
        seed: Option<u64>,
        captures: bool,
    ) -> PyResult<LinuxPlan> {
        interruptible(py, || {
            let experiment = self.experiment(seed)?;
            let scenario = self.0.to_json_with_seed(experiment.seed);
            LinuxPlan::new(experiment, scenario, kernel, captures)
        })
    }
}

impl Scenario {
    /// What changes of a box of this scenario mean.
    fn box_changes(&self) -> PyResult<wire_box::Changes> {
        let copy = self.0.overridden(&[], Laws::default()).map_err(|errors| refused(&errors))?;
        Ok(wire_box::Changes::of(copy))
    }

    fn experiment(&self, seed: Option<u64>) -> PyResult<Experiment> {
        self.0.resolve(seed).map_err(|errors| refused(&errors))
    }
}

/// The scenario file of a resolved scenario given in JSON.
#[pyfunction]
#[pyo3(signature = (text, name, lists=None, laws=None))]
pub(crate) fn json_to_toml(
    py: Python<'_>,
    text: &str,
    name: &str,
    lists: Option<Vec<List>>,
    laws: Option<Vec<LawFile>>,
) -> PyResult<String> {
    let json = serde_json::from_str(text)
        .map_err(|error| ScenarioError::new_err(format!("error: {name} is not JSON: {error}\n")))?;
    interruptible(py, || {
        let document = Document::from_json_with_files(&json, name, files(lists, laws)?);
        document.map(|document| document.to_toml()).map_err(|errors| refused(&errors))
    })
}

/// A list of flows: its SHA-256, starts in picoseconds and bytes as 64-bit numbers, and names of hosts with the sources
/// and destinations as 32-bit numbers of them; all little-endian.
type List = (String, PyBackedBytes, PyBackedBytes, Option<(Vec<String>, PyBackedBytes, PyBackedBytes)>);

fn flow_lists(lists: Option<Vec<List>>) -> PyResult<FlowLists> {
    let read = |(sha256, starts, bytes, hosts): List| {
        let starts = words(&starts).map(|word| Time::from_picos(u64::from_le_bytes(word))).collect();
        let bytes = words(&bytes).map(u64::from_le_bytes).collect();
        let hosts = hosts.map(|(names, sources, destinations)| ListedHosts {
            names,
            sources: words(&sources).map(u32::from_le_bytes).collect(),
            destinations: words(&destinations).map(u32::from_le_bytes).collect(),
        });
        let list = FlowList::new(starts, bytes, hosts).map_err(pyo3::exceptions::PyValueError::new_err)?;
        Ok((sha256, Arc::new(list)))
    };
    lists.unwrap_or_default().into_iter().map(read).collect()
}

/// Words of `N` bytes each.
fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.as_chunks().0.iter().copied()
}

/// A law as Python gives it: its name in the scenario; the simulator's file, its SHA-256, and its bytes; the file of a
/// class in Python, its SHA-256, and the class unless nobody has given it; and the kernel's file with its SHA-256.
type LawFile =
    (String, Option<(String, String, PyBackedBytes)>, Option<PythonFile>, Option<(String, String)>);
type PythonFile = (String, String, Option<PythonLaw>);

fn files(lists: Option<Vec<List>>, laws: Option<Vec<LawFile>>) -> PyResult<Files> {
    Ok(Files { lists: flow_lists(lists)?, laws: given_laws(laws) })
}

fn given_laws(laws: Option<Vec<LawFile>>) -> Laws {
    let laws = laws.unwrap_or_default().into_iter().map(|(name, simulator, python, kernel)| {
        let (controller, queue) = match (&simulator, &python) {
            (Some((.., bytes)), _) => {
                (shoal_plugin::controller(&name, bytes), shoal_plugin::queue(&name, bytes).map(Ok))
            }
            (None, Some((.., Some(law)))) => (law.controller(&name), law.queue(&name).map(Ok)),
            (None, file) => {
                let why = file.as_ref().map_or(Unmodelled::KernelModule, |_| Unmodelled::PythonNotGiven);
                (Ok(shoal_plugin::absent(why)), Ok(Err(why)))
            }
        };
        let simulator = simulator.map(|(file, sha256, _)| GivenFile { file, sha256 });
        let python = python.map(|(file, sha256, _)| GivenFile { file, sha256 });
        let kernel = kernel.map(|(file, sha256)| GivenFile { file, sha256 });
        (name, GivenLaw { simulator, python, kernel, controller, queue })
    });
    laws.collect()
}
