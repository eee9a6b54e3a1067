//! Tables with fixed keys.

use serde_json::{Map, Value as Json, json};

use super::{AnyField, Field, Key, KeyDoc, entries, nearest, refuse_unknown};
use crate::diagnostic::Mark;
use crate::quantity::Amount;
use crate::report::Report;
use crate::tree::{Entry, Node, Value, placeless};

pub(crate) use shoal_derive::Section;

/// A table with fixed keys: a struct with `#[derive(Section)]`.
pub(crate) trait Section: Sized {
    /// All keys, in the order in which they are read and written.
    const KEYS: &'static [Key];

    /// Reads all keys, each of which may refer to those above it.
    fn read_keys(reader: &mut Reader<'_>) -> Option<Self>;
    /// The values, in the order of the keys.
    fn values(&self) -> Vec<&dyn AnyField>;

    /// Names of all keys.
    fn keys() -> Vec<&'static str> {
        Self::KEYS.iter().map(|key| key.name).collect()
    }
    /// Reads the entries of the table at `mark`, except those named in `skip`.
    fn read_table(entries: &[Entry], skip: &[&str], mark: &Mark, report: &mut Report) -> Option<Self> {
        let known: Vec<&str> = skip.iter().copied().chain(Self::keys()).collect();
        refuse_unknown(entries, &known, report);
        Self::read_keys(&mut Reader { entries, known: &known, mark, report })
    }
    /// Adds the keys of the section to `map`.
    fn write_table(&self, map: &mut Map<String, Json>) {
        write_values(Self::KEYS, &self.values(), map);
    }
    /// JSON Schema of the section's keys.
    fn properties() -> Map<String, Json> {
        properties(Self::KEYS)
    }
    /// Description of each key; keys of inner tables carry the name of their table.
    fn key_docs() -> Vec<KeyDoc> {
        Self::KEYS.iter().flat_map(Key::docs).collect()
    }
}

impl<S: Section> Field for S {
    const IS_TABLE: bool = true;

    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let hint = format!("keys of this section: {}", Self::keys().join(", "));
        let entries = entries(node, &hint, report)?;
        Self::read_table(entries, &[], &node.mark, report)
    }
    fn write(&self) -> Option<Json> {
        let mut map = Map::new();
        self.write_table(&mut map);
        Some(map.into())
    }
    fn schema() -> Json {
        object_schema(Self::KEYS)
    }
    fn key_docs_below() -> Vec<KeyDoc> {
        Self::key_docs()
    }
    fn any_amount(&self, wanted: fn(Amount) -> bool) -> bool {
        self.values().iter().any(|value| value.has_amount(wanted))
    }
}

/// Reads the keys of one table.
pub(crate) struct Reader<'t> {
    entries: &'t [Entry],
    known: &'t [&'t str],
    mark: &'t Mark,
    report: &'t mut Report,
}

impl Reader<'_> {
    /// Reads a key; `referred` is the value of the key on which its default depends.
    pub(crate) fn read<T: Field>(&mut self, key: &'static Key, referred: Option<Json>) -> Option<T> {
        let name = key.name;
        if let Some(entry) = self.entries.iter().find(|entry| entry.key == name) {
            if T::IS_LIST_OF_TABLES && matches!(entry.node.value, Value::Table(_)) {
                let message = format!("`{name}` is a list of tables, found one table");
                let hint = format!("write two brackets, as in [[{name}]], once for each of the list");
                self.report.error(&entry.key_mark, message, hint);
                return None;
            }
            return T::read(&entry.node, self.report);
        }
        if let Some(default) = key.default_with(referred.as_ref()) {
            // Defaults are right, so no message needs their text.
            let mut scratch = Report::default();
            scratch.add_source(name, "");
            let value = T::read(&placeless(&default), &mut scratch);
            assert!(value.is_some(), "default of `{name}`: {scratch:?}");
            return value;
        }
        let value = T::missing();
        // A misspelt key is reported as such, and not as missing as well.
        let is_misspelt = |entry: &Entry| {
            !self.known.contains(&entry.key.as_str()) && nearest(&entry.key, self.known) == Some(name)
        };
        if value.is_none() && !self.entries.iter().any(is_misspelt) {
            self.report.error(self.mark, format!("missing key `{name}`"), addition(name, &T::schema()));
        }
        value
    }
}

/// Adds values to `map` under the names of their keys.
pub(super) fn write_values(keys: &[Key], values: &[&dyn AnyField], map: &mut Map<String, Json>) {
    for (key, value) in keys.iter().zip(values) {
        if let Some(value) = value.write_any() {
            map.insert(key.name.to_owned(), value);
        }
    }
}

/// JSON Schema of a table with these keys and no others.
pub(crate) fn object_schema(keys: &[Key]) -> Json {
    let required: Vec<_> = keys.iter().filter(|key| !key.is_optional()).map(|key| key.name).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties(keys),
    })
}

fn properties(keys: &[Key]) -> Map<String, Json> {
    keys.iter().map(|key| (key.name.to_owned(), key.schema())).collect()
}

/// What to write for a key that is missing.
fn addition(key: &str, schema: &Json) -> String {
    match (schema["examples"][0].as_str(), schema["type"].as_str()) {
        (Some(example), _) => format!("add {key} = \"{example}\""),
        (None, Some("array")) => format!("add {key} = [...] or a section [[{key}]]"),
        (None, Some("object")) => format!("add a section [{key}]"),
        (None, Some("string")) => format!("add {key} = \"...\""),
        _ => format!("add {key}"),
    }
}
