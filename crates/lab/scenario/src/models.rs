//! The keys of each model that `shoal describe` knows: controllers, queues, shared memories, stacks and
//! applications.

use serde_json::Map;
use shoal_cc::{CcConfig, Preset};
use shoal_units::{ModelDoc, ModelKind};

use crate::HostPreset;
use crate::field::{Field, KeyDoc, Section, plain};
use crate::schema::{self, Aqm, Bottleneck, FlowGroup, NodeBuffer, SharedBuffer, Workload};

/// Keys of a flow group that set properties of its host stack; the profile fixes all others.
const OF_STACKS: &[&str] =
    &["ecn", "mtu", "header_bytes", "sack", "delayed_ack", "initial_window", "receive_window", "cwnd_clamp"];

/// The keys of a model with the defaults that they have in that model.
pub fn keys_of(model: &ModelDoc) -> Vec<KeyDoc> {
    match model.kind {
        ModelKind::CongestionControl => {
            Preset::by_name(model.name).map_or(Vec::new(), |preset| of_controller(preset.config))
        }
        ModelKind::Queue => match Aqm::key_docs_of(model.name) {
            Some(own) => of_section::<Bottleneck>(&["buffer"]).into_iter().chain(own).collect(),
            // Memory that ports share is not a queue's law; in a graph, the key `node` says which ports share
            // it.
            None => of_section::<NodeBuffer>(&["node"]).into_iter().chain(SharedBuffer::key_docs()).collect(),
        },
        ModelKind::Stack => of_section::<FlowGroup>(OF_STACKS),
        ModelKind::Host => HostPreset::by_name(model.name).map_or(Vec::new(), schema::host_keys_of),
        ModelKind::Path => schema::impairment_docs(),
        // A bulk transfer has no keys.
        ModelKind::Application => Workload::key_docs_of(model.name).unwrap_or_default(),
    }
}

/// Descriptions of the named keys of a section.
fn of_section<S: Section>(names: &[&str]) -> Vec<KeyDoc> {
    S::key_docs().into_iter().filter(|key| names.contains(&key.name.as_str())).collect()
}

/// Policies of a controller; their defaults are the values in the given configuration.
fn of_controller(config: CcConfig) -> Vec<KeyDoc> {
    let values: Map<_, _> = schema::describe_cc_options(config);
    let mut keys = schema::cc_option_docs(config);
    for key in &mut keys {
        key.default = values.get(&key.name).map(plain).unwrap_or_default();
    }
    keys
}
