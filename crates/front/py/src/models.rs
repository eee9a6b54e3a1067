//! Descriptions of all models, taken from the crates that implement them.

use pyo3::prelude::*;
use serde_json::{Value, json};
use shoal_cc::Preset;
use shoal_scenario::keys_of;
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
