//! The scenario as written: values with their places, before they are interpreted.

mod json;
mod toml_source;

pub(crate) use json::{from_json, placeless};
pub(crate) use toml_source::{from_toml, value_from_toml};

use crate::diagnostic::Mark;

/// A value and the place where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub mark: Mark,
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Table(Vec<Entry>),
    Array(Vec<Node>),
    Text(String),
    Integer(i128),
    Real(f64),
    Flag(bool),
    /// A value of a type that no key accepts, with the name of that type.
    Other(&'static str),
}

/// A key of a table with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub key_mark: Mark,
    pub node: Node,
}

impl Entry {
    /// What to underline if the value as a whole is wrong: the key of a table, which may span many lines.
    pub(crate) fn mark(&self) -> &Mark {
        if matches!(self.node.value, Value::Table(_)) { &self.key_mark } else { &self.node.mark }
    }
}

impl Value {
    /// Type of the value with its article.
    pub(crate) const fn what(&self) -> &'static str {
        match self {
            Self::Table(_) => "a table",
            Self::Array(_) => "an array",
            Self::Text(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Real(_) => "a number",
            Self::Flag(_) => "a boolean",
            Self::Other(what) => what,
        }
    }
}

impl Node {
    /// The entry called `key`, if the value is a table that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|e| e.key == key),
            _ => None,
        }
    }

    /// The value at `path` (such as `flows[0].app.every`), if it was written.
    pub(crate) fn find(&self, path: &str) -> Option<&Self> {
        self.walk(path).1
    }

    /// Place of `path`, or of the nearest enclosing value that was written.
    pub(crate) fn mark_of(&self, path: &str) -> Mark {
        self.walk(path).0
    }

    fn walk(&self, path: &str) -> (Mark, Option<&Self>) {
        let (mut node, mut mark) = (self, self.mark.clone());
        for step in path.split(['.', '[']) {
            if let Some(index) = step.strip_suffix(']') {
                let Value::Array(items) = &node.value else { return (mark, None) };
                let Some(item) = index.parse().ok().and_then(|i: usize| items.get(i)) else {
                    return (mark, None);
                };
                (node, mark) = (item, item.mark.clone());
            } else {
                let Some(entry) = node.get(step) else { return (mark, None) };
                (node, mark) = (&entry.node, entry.mark().clone());
            }
        }
        (mark, Some(node))
    }
}
