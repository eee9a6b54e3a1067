//! Descriptions of all models, taken from the crates that implement them.

use crate::errors::ScenarioError;
use crate::python_law::PythonLaw;
use pyo3::prelude::*;
use serde_json::{Value, json};
use shoal_aqm::ExternalQueueConfig;
use shoal_cc::{ExternalConfig, Preset};
use shoal_scenario::keys_of;
use shoal_units::Parameter;
use shoal_units::{ModelDoc, ModelKind};

/// Descriptions of all controllers, queues, stacks, hosts, applications and paths, as JSON.
#[pyfunction]
pub(crate) fn models() -> String {
    let controllers = shoal_cc::PRESETS.iter().map(controller);
    let queues = shoal_aqm::DOCS.iter().map(model);
    let memories = shoal_sim::MEMORY_DOCS.iter().map(model);
    let stacks = shoal_tcp::DOCS.iter().map(model);
    let applications = shoal_sim::DOCS.iter().map(model);
    let hosts = shoal_scenario::HOST_DOCS.iter().map(model);
    let paths = shoal_netem::DOCS.iter().map(model);
    let hosts = hosts.chain(applications).chain(paths);
    let all = controllers.chain(queues).chain(memories).chain(stacks).chain(hosts);
    Value::Array(all.collect()).to_string()
}

/// The description of a controller, with how its flows use ECN.
fn controller(preset: &Preset) -> Value {
    let mut description = model(&preset.doc);
    description["uses_ecn"] = preset.ecn.into();
    description["is_scalable"] = preset.config.ecn_use().is_scalable().into();
    description
}

/// The description of a law from a file that the scenario would call `name`, as JSON like those of [`models`].
#[pyfunction]
pub(crate) fn law_model(name: &str, content: &[u8]) -> PyResult<String> {
    law_described(name, shoal_plugin::queue(name, content).ok(), || shoal_plugin::controller(name, content))
}

/// The description of a class in Python that is a law, likewise.
#[pyfunction]
pub(crate) fn python_law_model(name: &str, law: PythonLaw) -> PyResult<String> {
    law_described(name, law.queue(name).ok(), || law.controller(name))
}

fn law_described(
    name: &str,
    queue: Option<ExternalQueueConfig>,
    controller: impl FnOnce() -> Result<ExternalConfig, String>,
) -> PyResult<String> {
    let refused =
        |why| ScenarioError::new_err(format!("error: `{name}` is no law: {why}\nhint: {LAW_PAGE}\n"));
    let described = |kind, summary: &str, parameters: &[(Parameter, f64)], is_scalable: bool| {
        let parameters = parameters.iter().map(|(parameter, value)| {
            let Parameter { name, text, unit, least, most, .. } = parameter;
            let doc = format!("{text} From {least} to {most}.");
            json!({ "name": name, "unit": unit, "default": value.to_string(), "doc": doc.trim(), "source": "" })
        });
        json!({
            "name": name,
            "kind": kind,
            "summary": summary,
            "follows": "itself: it is a law from a file",
            "parameters": parameters.collect::<Vec<_>>(),
            "differences": [],
            "uses_ecn": is_scalable,
            "is_scalable": is_scalable,
        })
    };
    if let Some(config) = queue {
        let law = config.law();
        return Ok(described("queue", law.summary(), law.parameters(), false).to_string());
    }
    let config = controller().map_err(refused)?;
    let law = config.law();
    let is_scalable = law.ecn_use().is_scalable();
    Ok(described("controller", law.summary(), law.parameters(), is_scalable).to_string())
}

/// Where laws from files are described.
const LAW_PAGE: &str = "docs/how-to/write-your-own-law.md shows what a law has to be";

/// What a law from a file and its host say to each other, as JSON: words and functions with their sentences.
#[pyfunction]
pub(crate) fn law_interface() -> String {
    json!({
        "abi": shoal_law::ABI,
        "words": shoal_law::WORDS,
        "parameters": shoal_law::PARAMETERS,
        "controller": { "named": shoal_law::WORD_DOCS, "calls": shoal_law::CALL_DOCS },
        "queue": { "named": shoal_law::QUEUE_WORD_DOCS, "calls": shoal_law::QUEUE_CALL_DOCS },
    })
    .to_string()
}

fn model(doc: &ModelDoc) -> Value {
    let kind = match doc.kind {
        ModelKind::CongestionControl => "controller",
        ModelKind::Queue => "queue",
        ModelKind::Stack => "stack",
        ModelKind::Application => "application",
        ModelKind::Host => "host",
        ModelKind::Path => "path",
    };
    let parameters = keys_of(doc).into_iter().map(|key| {
        json!({ "name": key.name, "unit": key.unit, "default": key.default, "doc": key.doc, "source": key.source })
    });
    let differences =
        doc.differences.iter().map(|difference| json!({ "text": difference.text, "test": difference.test }));
    json!({
        "name": doc.name,
        "kind": kind,
        "summary": doc.summary,
        "follows": doc.follows,
        "parameters": parameters.collect::<Vec<_>>(),
        "differences": differences.collect::<Vec<_>>(),
    })
}
