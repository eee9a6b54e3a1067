//! Keys are declared once, as fields of structs, and then read, written and described.
//!
//! The declarations are a derive macro (`shoal-derive`): the struct is then an ordinary one, which rustfmt and editors
//! read, and an error points at the field that has it. A builder would name each key three times, in the struct, in its
//! description and where it is read; the macro writes exactly that builder ([`Key`]), and everything else is functions
//! over it.

mod basic;
mod choices;
mod key;
pub(crate) mod kinds;
mod section;

pub(crate) use choices::choices;
pub use key::KeyDoc;
pub(crate) use key::{Key, plain};
pub(crate) use kinds::{Kind, Kinds};
use section::object_schema;
pub(crate) use section::{Reader, Section};

use std::collections::BTreeSet;

use serde_json::Value as Json;

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

/// What a field of any type can say of its value.
pub(crate) trait AnyField {
    /// As [`Field::write`].
    fn write_any(&self) -> Option<Json>;
    /// As [`Field::any_amount`].
    fn has_amount(&self, wanted: fn(Amount) -> bool) -> bool;
}

impl<T: Field> AnyField for T {
    fn write_any(&self) -> Option<Json> {
        self.write()
    }
    fn has_amount(&self, wanted: fn(Amount) -> bool) -> bool {
        self.any_amount(wanted)
    }
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
    keys_by_kind: &[(&'static str, &'static [Key])],
    report: &mut Report,
) -> Vec<Entry> {
    let kinds_with = |key: &str| -> Vec<&str> {
        let has = |keys: &[Key]| keys.iter().any(|of_kind| of_kind.name == key);
        keys_by_kind.iter().filter(|(_, keys)| has(keys)).map(|(kind, _)| *kind).collect()
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
