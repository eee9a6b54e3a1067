//! Reads JSON values with places: the places in the value printed with indentation.

use serde_json::Value as Json;

use super::{Entry, Node, Value};
use crate::diagnostic::Mark;
use crate::report::Report;

/// Adds `json` as a source called `name` and returns its tree. `null` counts as absent.
pub(crate) fn from_json(json: &Json, name: &str, report: &mut Report) -> Node {
    let source = report.sources.len();
    let mut printer = Printer { source, text: String::new() };
    let mut node = printer.print(json, 0);
    let text = std::mem::take(&mut printer.text);
    node.mark.range = 0..text.len();
    report.add_source(name, &text);
    node
}

/// The tree of `json`, all of whose places are the beginning of the first source. `null` counts as absent.
pub(crate) fn placeless(json: &Json) -> Node {
    let mark = Mark { source: 0, range: 0..0 };
    let value = match json {
        Json::Object(map) => {
            let entries = map.iter().filter(|(_, value)| !value.is_null());
            let entry = |(key, value): (&String, &Json)| Entry {
                key: key.clone(),
                key_mark: mark.clone(),
                node: placeless(value),
            };
            Value::Table(entries.map(entry).collect())
        }
        Json::Array(items) => Value::Array(items.iter().map(placeless).collect()),
        leaf => leaf_value(leaf),
    };
    Node { mark, value }
}

struct Printer {
    source: usize,
    text: String,
}

impl Printer {
    fn print(&mut self, json: &Json, depth: usize) -> Node {
        let start = self.text.len();
        let value = match json {
            Json::Object(map) => {
                let mut entries = Vec::new();
                self.text.push('{');
                for (index, (key, value)) in map.iter().filter(|(_, v)| !v.is_null()).enumerate() {
                    self.separate(index, depth + 1);
                    let key_start = self.text.len();
                    self.text.push_str(&Json::from(key.as_str()).to_string());
                    let key_mark = self.mark(key_start);
                    self.text.push_str(": ");
                    entries.push(Entry { key: key.clone(), key_mark, node: self.print(value, depth + 1) });
                }
                self.close('}', entries.is_empty(), depth);
                Value::Table(entries)
            }
            Json::Array(items) => {
                let mut nodes = Vec::new();
                self.text.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.separate(index, depth + 1);
                    nodes.push(self.print(item, depth + 1));
                }
                self.close(']', nodes.is_empty(), depth);
                Value::Array(nodes)
            }
            leaf => {
                self.text.push_str(&leaf.to_string());
                leaf_value(leaf)
            }
        };
        Node { mark: self.mark(start), value }
    }

    fn separate(&mut self, index: usize, depth: usize) {
        self.text.push_str(if index > 0 { ",\n" } else { "\n" });
        self.text.push_str(&"  ".repeat(depth));
    }

    fn close(&mut self, bracket: char, empty: bool, depth: usize) {
        if !empty {
            self.text.push('\n');
            self.text.push_str(&"  ".repeat(depth));
        }
        self.text.push(bracket);
    }

    fn mark(&self, start: usize) -> Mark {
        Mark { source: self.source, range: start..self.text.len() }
    }
}

fn leaf_value(json: &Json) -> Value {
    match json {
        Json::String(text) => Value::Text(text.clone()),
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Number(n) => match (n.as_u64(), n.as_i64(), n.as_f64()) {
            (Some(n), _, _) => Value::Integer(n.into()),
            (None, Some(n), _) => Value::Integer(n.into()),
            (None, None, Some(x)) => Value::Real(x),
            _ => Value::Other("an unreadable number"),
        },
        _ => Value::Other("null"),
    }
}
