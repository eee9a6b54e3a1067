//! What a user sees for each kind of mistake: whole messages.

use shoal_scenario::Document;

mod arrivals;
mod data_centre;
mod delay_laws;
mod dual_queues;
mod flow_groups;
mod interactive;
mod keys;
mod notes;
mod quantities;
mod queues;
mod round_trips;
mod set_arguments;
mod syntax;
mod topologies;
mod unresponsive;
mod values;
mod warnings;
mod ways;

fn arguments(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The errors of a scenario that must be refused.
fn errors(text: &str, set: &[(&str, &str)]) -> String {
    match Document::with_overrides(text, "demo.toml", &arguments(set)) {
        Err(errors) => errors.to_string(),
        Ok(document) => panic!("accepted: {:#}", document.to_json()),
    }
}

/// A scenario that must be accepted.
fn accepted(text: &str, set: &[(&str, &str)]) -> Document {
    Document::with_overrides(text, "demo.toml", &arguments(set)).unwrap_or_else(|e| panic!("{e}"))
}

/// The warnings of a scenario that must be accepted.
fn warnings(text: &str, set: &[(&str, &str)]) -> String {
    accepted(text, set).warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
