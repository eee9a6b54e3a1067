//! Tables whose key `kind` determines their other keys.

use serde_json::{Map, Value as Json, json};

use super::section::write_values;
use super::{AnyField, Key, KeyDoc, Section, entries, object_schema, refuse_foreign, suggest};
use crate::diagnostic::Mark;
use crate::report::Report;
use crate::tree::{Entry, Node, Value};

pub(crate) use shoal_derive::Kinds;

/// A table of one of several kinds: an enumeration with `#[derive(Kinds)]`.
pub(crate) trait Kinds: Sized + 'static {
    /// All kinds, in the order of the reference.
    const KINDS: &'static [Kind<Self>];

    /// The kind of this table, and the values of its section.
    fn section(&self) -> (&'static Kind<Self>, Vec<&dyn AnyField>);

    /// Names of all kinds.
    fn names() -> Vec<&'static str> {
        Self::KINDS.iter().map(|kind| kind.name).collect()
    }
}

/// One kind of a table.
pub(crate) struct Kind<T> {
    name: &'static str,
    doc: &'static str,
    keys: &'static [Key],
    read: fn(&[Entry], &Mark, &mut Report) -> Option<T>,
}

impl<T> Kind<T> {
    /// A kind whose keys are those of `S`.
    pub(crate) const fn of<S: Section>(
        name: &'static str,
        doc: &'static str,
        read: fn(&[Entry], &Mark, &mut Report) -> Option<T>,
    ) -> Self {
        Self { name, doc, keys: S::KEYS, read }
    }
}

/// [`super::Field::read`] of a table of several kinds.
pub(crate) fn read<T: Kinds>(node: &Node, report: &mut Report) -> Option<T> {
    let names = T::names();
    let entries = entries(node, &format!("as in {{ kind = \"{}\" }}", names[0]), report)?;
    let known = || format!("known kinds: {}", names.join(", "));
    let Some(named) = entries.iter().find(|entry| entry.key == "kind") else {
        report.error(&node.mark, "missing key `kind`", known());
        return None;
    };
    let Value::Text(name) = &named.node.value else {
        report.error(
            &named.node.mark,
            format!("expected a kind, found {}", named.node.value.what()),
            known(),
        );
        return None;
    };
    let Some(kind) = T::KINDS.iter().find(|kind| kind.name == name) else {
        report.error(&named.node.mark, format!("unknown kind \"{name}\""), suggest(name, &names));
        return None;
    };
    let keys_by_kind: Vec<_> = T::KINDS.iter().map(|kind| (kind.name, kind.keys)).collect();
    let of_kind = refuse_foreign(entries, kind.name, &keys_by_kind, report);
    (kind.read)(&of_kind, &node.mark, report)
}

/// [`super::Field::write`] of a table of several kinds.
pub(crate) fn write<T: Kinds>(table: &T) -> Json {
    let (kind, values) = table.section();
    let mut map = Map::new();
    map.insert("kind".to_owned(), kind.name.into());
    write_values(kind.keys, &values, &mut map);
    map.into()
}

/// JSON Schema of the kinds except those in `left_out`.
pub(crate) fn schema<T: Kinds>(left_out: &[&str]) -> Json {
    let kinds = T::KINDS.iter().filter(|kind| !left_out.contains(&kind.name)).map(|kind| {
        let mut schema = object_schema(kind.keys);
        schema["title"] = kind.name.into();
        schema["description"] = kind.doc.into();
        schema["required"].as_array_mut().expect("an array").insert(0, "kind".into());
        schema["properties"]["kind"] = json!({ "const": kind.name });
        schema
    });
    json!({ "oneOf": kinds.collect::<Vec<_>>() })
}

/// [`super::Field::key_docs_of`] of a table of several kinds.
pub(crate) fn key_docs_of<T: Kinds>(name: &str) -> Option<Vec<KeyDoc>> {
    let kind = T::KINDS.iter().find(|kind| kind.name == name)?;
    Some(kind.keys.iter().flat_map(Key::docs).collect())
}
