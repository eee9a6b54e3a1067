//! The trait by which keys are declared once and then read, written and described.

mod basic;
mod macros;

pub(crate) use macros::{choices, section, tagged};

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use crate::diagnostic::Mark;
use crate::quantity::Amount;
use crate::report::Report;
use crate::tree::{Entry, Node, Value};

/// A value that a key can hold.
pub(crate) trait Field: Sized {
    /// Whether the value is a table with fixed keys.
    const IS_TABLE: bool = false;
    /// Whether the value is a list of such tables, each of which has brackets of its own in a scenario file.
    const IS_LIST_OF_TABLES: bool = false;

    /// Reads the value; problems go into the report and give `None`.
    fn read(node: &Node, report: &mut Report) -> Option<Self>;
    /// Value of an absent key; `None` if the key must be there.
    fn missing() -> Option<Self> {
        None
    }
    /// The value as a scenario file writes it; `None` if the key is left out.
    fn write(&self) -> Option<Json>;
    /// JSON Schema of the value.
    fn schema() -> Json;
    /// How the value is written, in words: the names of a choice, the dimensions of a quantity.
    fn unit() -> String {
        let schema = Self::schema();
        match (schema["enum"].as_array(), schema["type"].as_str()) {
            (Some(values), _) => values.iter().map(plain).collect::<Vec<_>>().join(" | "),
            (None, Some("boolean")) => "bool".to_owned(),
            (None, Some("integer")) => "count".to_owned(),
            (None, kind) => kind.unwrap_or_default().to_owned(),
        }
    }
    /// Descriptions of the keys inside, if the value is a table.
    fn key_docs_below() -> Vec<KeyDoc> {
        Vec::new()
    }
    /// Descriptions of the keys of the given kind, if the value is a table of several kinds and has that one.
    fn key_docs_of(_kind: &str) -> Option<Vec<KeyDoc>> {
        None
    }
    /// Whether the value holds an amount of queue for which `wanted` is true.
    fn any_amount(&self, _wanted: fn(Amount) -> bool) -> bool {
        false
    }
}

/// Description of a key for the reference and for `shoal describe`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyDoc {
    /// Name of the key, with the table in which it is: `reno.min`.
    pub name: String,
    /// Unit of the value, or the values that it can have.
    pub unit: String,
    /// Default as written in a scenario file, or in words; empty if the key is required or has no default.
    pub default: String,
    /// What the key does, in full sentences.
    pub doc: &'static str,
    /// Source of the key: section of an RFC, place in a paper, or kernel file; empty if it is this project's
    /// own.
    pub source: &'static str,
}

impl KeyDoc {
    /// The same key as one of the table `name`.
    pub(crate) fn within(self, name: &str) -> Self {
        Self { name: format!("{name}.{}", self.name), ..self }
    }
}

/// Condition under which a default applies, in words; empty if it always applies. `on`: a key and perhaps its
/// value.
pub(crate) fn condition(on: &[&str], not: &[&str]) -> String {
    let with = match on {
        [key, value] => format!(" with {key} = \"{value}\""),
        [key] => format!(" with {key}"),
        _ => String::new(),
    };
    let without = not.first().map_or(String::new(), |key| format!(" without {key}"));
    format!("{with}{without}")
}

/// What the absence of a key without a default means, in words; empty if the key is required.
pub(crate) fn absent<T: Field>() -> String {
    if T::missing().is_some() { "not set".to_owned() } else { String::new() }
}

/// A value in readable form: strings without quotes, tables as in a scenario file.
pub(crate) fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Object(table) => {
            let keys: Vec<_> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        other => other.to_string(),
    }
}

/// A table with fixed keys.
pub(crate) trait Section: Sized {
    /// Reads the entries of the table at `mark`, except those named in `skip`.
    fn read_table(entries: &[Entry], skip: &[&str], mark: &Mark, report: &mut Report) -> Option<Self>;
    /// Adds the keys of the section to `map`.
    fn write_table(&self, map: &mut Map<String, Json>);
    /// JSON Schema of the section's keys.
    fn properties() -> Map<String, Json>;
    /// Names of the required keys.
    fn required() -> Vec<&'static str>;
    /// Names of all keys.
    fn keys() -> &'static [&'static str];
    /// Description of each key; keys of inner tables carry the name of their table.
    fn key_docs() -> Vec<KeyDoc>;
    /// Whether the section holds an amount of queue for which `wanted` is true.
    fn any_amount(&self, wanted: fn(Amount) -> bool) -> bool;
}

/// The entries of a node that must be a table.
pub(crate) fn entries<'n>(node: &'n Node, hint: &str, report: &mut Report) -> Option<&'n [Entry]> {
    match &node.value {
        Value::Table(entries) => Some(entries),
        other => {
            report.error(&node.mark, format!("expected a table, found {}", other.what()), hint);
            None
        }
    }
}

/// Reads one key of a section.
pub(crate) fn read_key<T: Field>(
    entries: &[Entry],
    key: &'static str,
    known: &[&str],
    default: Option<Json>,
    mark: &Mark,
    report: &mut Report,
) -> Option<T> {
    if let Some(entry) = entries.iter().find(|e| e.key == key) {
        if T::IS_LIST_OF_TABLES && matches!(entry.node.value, Value::Table(_)) {
            let hint = format!("write two brackets, as in [[{key}]], once for each of the list");
            report.error(&entry.key_mark, format!("`{key}` is a list of tables, found one table"), hint);
            return None;
        }
        return T::read(&entry.node, report);
    }
    if let Some(default) = default {
        // Defaults are right, so no message needs their text.
        let mut scratch = Report::default();
        scratch.add_source(key, "");
        let node = crate::tree::placeless(&default);
        let value = T::read(&node, &mut scratch);
        assert!(value.is_some(), "default of `{key}`: {scratch:?}");
        return value;
    }
    let value = T::missing();
    // A misspelt key is reported as such, and not as missing as well.
    let misspelt =
        entries.iter().any(|e| !known.contains(&e.key.as_str()) && nearest(&e.key, known) == Some(key));
    if value.is_none() && !misspelt {
        report.error(mark, format!("missing key `{key}`"), addition(key, &T::schema()));
    }
    value
}

/// Reads one of the named values; `what` they are.
pub(crate) fn choice<T: Copy>(
    node: &Node,
    what: &str,
    named: &[(&str, T)],
    report: &mut Report,
) -> Option<T> {
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    let Value::Text(text) = &node.value else {
        let message = format!("expected a string, found {}", node.value.what());
        report.error(&node.mark, message, format!("known: {}", names.join(", ")));
        return None;
    };
    let found = named.iter().find(|(name, _)| name == text).map(|(_, value)| *value);
    if found.is_none() {
        report.error(&node.mark, format!("unknown {what} \"{text}\""), suggest(text, &names));
    }
    found
}

/// Refuses keys that are not in `known`.
pub(crate) fn refuse_unknown(entries: &[Entry], known: &[&str], report: &mut Report) {
    for entry in entries.iter().filter(|e| !known.contains(&e.key.as_str())) {
        let hint = nearest(&entry.key, known).map_or_else(
            || format!("known keys here: {}", known.join(", ")),
            |name| format!("did you mean `{name}`?"),
        );
        report.error(&entry.key_mark, format!("unknown key `{}`", entry.key), hint);
    }
}

/// Refuses keys that belong to other kinds only, and returns the remaining entries.
pub(crate) fn refuse_foreign(
    entries: &[Entry],
    kind: &str,
    keys_by_kind: &[(&str, &[&str])],
    report: &mut Report,
) -> Vec<Entry> {
    let kinds_with = |key: &str| -> Vec<&str> {
        keys_by_kind.iter().filter(|(_, keys)| keys.contains(&key)).map(|(kind, _)| *kind).collect()
    };
    let mut own = Vec::new();
    for entry in entries {
        let kinds = kinds_with(&entry.key);
        if kinds.is_empty() || kinds.contains(&kind) {
            own.push(entry.clone());
            continue;
        }
        let message = format!("`{}` is not a key of kind \"{kind}\"", entry.key);
        report.error(&entry.key_mark, message, format!("it belongs to {}", kinds.join(", ")));
    }
    own
}

/// The known name that `name` most likely stands for.
pub(crate) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    // Edit distance takes time and memory in proportion to the product of both lengths.
    const LONGEST_BYTES: usize = 64;
    if name.len() > LONGEST_BYTES {
        return None;
    }
    let lower = name.to_lowercase().replace('-', "_");
    known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(&lower, &k.to_lowercase().replace('-', "_")), *k))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, k)| *distance <= 1 + k.len().min(name.len()) / 4)
        .map(|(_, k)| k)
}

/// A hint that begins with `did you mean`, or the list of all names without repetitions.
pub(crate) fn suggest(name: &str, known: &[&str]) -> String {
    const MOST_NAMES: usize = 20;
    let mut seen = BTreeSet::new();
    let known: Vec<&str> = known.iter().copied().filter(|name| seen.insert(*name)).collect();
    let known = known.as_slice();
    let mut list = known.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    if known.len() > MOST_NAMES {
        list.push_str(", ...");
    }
    match nearest(name, known) {
        Some(near) => format!("did you mean \"{near}\"? known: {list}"),
        None => format!("known: {list}"),
    }
}

/// JSON Schema of a section as a closed object.
pub(crate) fn object_schema<S: Section>() -> Json {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": S::required(),
        "properties": S::properties(),
    })
}

fn addition(key: &str, schema: &Json) -> String {
    match (schema["examples"][0].as_str(), schema["type"].as_str()) {
        (Some(example), _) => format!("add {key} = \"{example}\""),
        (None, Some("array")) => format!("add {key} = [...] or a section [[{key}]]"),
        (None, Some("object")) => format!("add a section [{key}]"),
        (None, Some("string")) => format!("add {key} = \"...\""),
        _ => format!("add {key}"),
    }
}
