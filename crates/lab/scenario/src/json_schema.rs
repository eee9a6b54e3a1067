//! JSON Schema of the scenario file, generated from the declarations that also read it.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use shoal_cc::PRESETS;
use shoal_tcp::Profile;

use crate::field::Field;
use crate::schema::{self, Scenario};

/// Tables with a shorter description than this many bytes are written where they stand, even if they occur more than
/// once.
const WORTH_A_NAME_BYTES: usize = 300;

/// What laws of one's own may be called; names of presets are among these, and are what they say all the same.
const OTHER_NAMES: &str = "^(file:.+|[a-z][a-z0-9_-]*)$";

/// The schema (draft 2020-12): description, form and default of every key, each where it stands.
pub fn json_schema() -> Json {
    let mut schema = Scenario::schema();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "shoal scenario".into();
    schema["description"] = "An experiment: flows through queues. Quantities are strings with units.".into();
    let group = &mut schema["properties"]["flows"]["items"]["properties"];
    let names = |names: &[&str], of: &str| json!({ "type": "string", "enum": names, "description": of });
    group["cc"]["anyOf"] = json!([
        names(&PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>(), "A preset."),
        names(&[schema::NO_CONTROLLER], "For unresponsive traffic."),
        { "type": "string", "pattern": OTHER_NAMES, "description": "A law of [laws], or a file as in file:mine.wasm." },
    ]);
    group["stack"]["enum"] = Profile::ALL.iter().map(|profile| profile.name).collect();
    schema
}

/// The schema as a file for editors: a table that occurs more than once, such as a queue law at several links,
/// is described once below `$defs`.
///
/// A reference stands alone in its node, since what stands beside a `$ref` is ignored up to draft 7 of JSON Schema,
/// which editors still follow ([draft 7, section
/// 8.3](https://json-schema.org/draft-07/draft-handrews-json-schema-01#rfc.section.8.3)).
pub fn shared_json_schema() -> Json {
    let mut schema = json_schema();
    let mut names = Names::default();
    count(&mut schema, &mut names.occurrences);
    for (key, inner) in children(&mut schema, "") {
        share(inner, &key, &mut names);
    }
    schema["$defs"] = names.definitions.into();
    schema
}

/// How often each table that is worth a name occurs, by its text; what stands within one is counted at its first place.
fn count(node: &mut Json, occurrences: &mut BTreeMap<String, usize>) {
    let text = node.to_string();
    if text.len() >= WORTH_A_NAME_BYTES && node["properties"].is_object() {
        let times = occurrences.entry(text).or_default();
        *times += 1;
        if *times > 1 {
            return;
        }
    }
    for (_, inner) in children(node, "") {
        count(inner, occurrences);
    }
}

#[derive(Default)]
struct Names {
    /// How often each table occurs, by its text.
    occurrences: BTreeMap<String, usize>,
    /// Name of each definition, by the text of its table.
    of: BTreeMap<String, String>,
    definitions: Map<String, Json>,
}

impl Names {
    /// The name for a table below `key`: that of the form, if the key has several.
    fn new_name(&self, key: &str, table: &Json) -> String {
        let name = table["title"].as_str().unwrap_or(key).to_owned();
        let again = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.clone())
            .chain(again)
            .find(|name| !self.of.values().any(|taken| taken == name))
            .unwrap_or(name)
    }
}

/// Replaces tables that occur more than once by references, from the outside in.
fn share(node: &mut Json, key: &str, names: &mut Names) {
    let text = node.to_string();
    if names.occurrences.get(&text).is_none_or(|&times| times <= 1) {
        for (key, inner) in children(node, key) {
            share(inner, &key, names);
        }
        return;
    }
    let name = if let Some(name) = names.of.get(&text) {
        name.clone()
    } else {
        let name = names.new_name(key, node);
        names.of.insert(text, name.clone());
        let mut table = node.clone();
        for (key, inner) in children(&mut table, key) {
            share(inner, &key, names);
        }
        names.definitions.insert(name.clone(), table);
        name
    };
    *node = json!({ "$ref": format!("#/$defs/{name}") });
}

/// The nodes of the schema directly below one, each with the key of the scenario that it describes.
fn children<'a>(node: &'a mut Json, key: &str) -> Vec<(String, &'a mut Json)> {
    let mut found = Vec::new();
    for (word, below) in node.as_object_mut().into_iter().flatten() {
        match (word.as_str(), below) {
            ("properties", Json::Object(keys)) => {
                found.extend(keys.iter_mut().map(|(key, inner)| (key.clone(), inner)));
            }
            ("oneOf" | "anyOf" | "prefixItems", Json::Array(forms)) => {
                found.extend(forms.iter_mut().map(|inner| (key.to_owned(), inner)));
            }
            ("items" | "additionalProperties", inner @ Json::Object(_)) => {
                found.push((key.to_owned(), inner));
            }
            _ => {}
        }
    }
    found
}
