//! The keys of each model that `shoal describe` knows: of controllers, queues, memories, stacks and applications.

use serde_json::Map;
use shoal_cc::{CcConfig, Preset};
use shoal_units::{ModelDoc, ModelKind};

use crate::field::{Field, KeyDoc, Section, plain};
use crate::schema::{self, Aqm, Bottleneck, FlowGroup, NodeBuffer, SharedBuffer, Workload};

/// What a flow group may set of its host stack; all else is fixed by the profile.
const OF_STACKS: &[&str] =
    &["ecn", "mtu", "header_bytes", "sack", "delayed_ack", "initial_window", "receive_window", "cwnd_clamp"];

/// The keys of a model, with the defaults that they have in it.
pub fn keys_of(model: &ModelDoc) -> Vec<KeyDoc> {
    match model.kind {
        ModelKind::CongestionControl => {
            Preset::by_name(model.name).map_or(Vec::new(), |preset| of_controller(preset.config))
        }
        ModelKind::Queue => match Aqm::key_docs_of(model.name) {
            Some(own) => of_section::<Bottleneck>(&["buffer"]).into_iter().chain(own).collect(),
            // Memory that ports share is not the law of a queue; in a graph it says whose ports.
            None => of_section::<NodeBuffer>(&["node"]).into_iter().chain(SharedBuffer::key_docs()).collect(),
        },
        ModelKind::Stack => of_section::<FlowGroup>(OF_STACKS),
        // Presets, whose numbers are no keys yet.
        ModelKind::Host => Vec::new(),
        // Bulk has no keys.
        ModelKind::Application => Workload::key_docs_of(model.name).unwrap_or_default(),
    }
}

/// Some keys of a section.
fn of_section<S: Section>(names: &[&str]) -> Vec<KeyDoc> {
    S::key_docs().into_iter().filter(|key| names.contains(&key.name.as_str())).collect()
}

/// The policies of a controller: what the configuration has is their default.
fn of_controller(config: CcConfig) -> Vec<KeyDoc> {
    let values: Map<_, _> = schema::describe_cc_options(config).0;
    let mut keys = schema::cc_option_docs(config);
    for key in &mut keys {
        key.default = values.get(&key.name).map(plain).unwrap_or_default();
    }
    keys
}
