//! `--set key=value`: changes to the parsed tree before its meaning is read.

use std::ops::Range;

use crate::diagnostic::Mark;
use crate::field::suggest;
use crate::report::Report;
use crate::tree::{Entry, Node, Value, value_from_toml};

/// Applies one `--set` argument.
pub(crate) fn apply(root: &mut Node, key: &str, value: &str, report: &mut Report) {
    let source = report.add_source("--set", &format!("{key}={value}"));
    let mark = |range: Range<usize>| Mark { source, range };
    let Some(steps) = steps(key) else {
        let hint = "write a dotted key, as in bottleneck.rate, flows[0].cc, flows.reno.cc or flows.*.cc";
        return report.error(&mark(0..key.len()), format!("`{key}` is not a key"), hint);
    };
    let Some(new) = read_value(source, key.len() + 1, value, report) else { return };
    put(root, &steps, new, source, report);
}

/// One component of a dotted key, and its place in the key.
struct Step {
    kind: StepKind,
    range: Range<usize>,
}

enum StepKind {
    Key(String),
    Index(usize),
    /// `*`: each entry of an array.
    Each,
}

fn steps(key: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < key.len() {
        let rest = &key[at..];
        let (kind, length) = if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"')?;
            (StepKind::Key(quoted[..end].to_owned()), end + 2)
        } else if rest.starts_with('[') {
            let end = rest.find(']')?;
            (StepKind::Index(rest[1..end].parse().ok()?), end + 1)
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let name = &rest[..end];
            if name != "*"
                && (name.is_empty()
                    || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'))
            {
                return None;
            }
            (if name == "*" { StepKind::Each } else { StepKind::Key(name.to_owned()) }, end)
        };
        steps.push(Step { kind, range: at..at + length });
        at += length;
        if let Some(next) = key[at..].strip_prefix('.') {
            at += 1;
            if next.is_empty() {
                return None;
            }
        } else if at < key.len() && !key[at..].starts_with('[') {
            return None;
        }
    }
    (!steps.is_empty()).then_some(steps)
}

/// Reads the value as TOML, or else as a string: the shell has usually removed the quotes.
fn read_value(source: usize, offset: usize, value: &str, report: &mut Report) -> Option<Node> {
    let mark = Mark { source, range: offset..offset + value.len() };
    if value.is_empty() {
        report.error(&mark, "the value is empty", "write key=value");
        return None;
    }
    match value_from_toml(source, mark.range.clone(), report) {
        Ok(node) => Some(node),
        Err(errors) if value.starts_with(['"', '\'', '[', '{']) => {
            for error in errors {
                report.error(&mark, error.message(), "");
            }
            None
        }
        Err(_) => Some(Node { mark, value: Value::Text(value.to_owned()) }),
    }
}

fn put(node: &mut Node, steps: &[Step], new: Node, source: usize, report: &mut Report) {
    let Some((step, rest)) = steps.split_first() else {
        *node = new;
        return;
    };
    let mark = Mark { source, range: step.range.clone() };
    match (&step.kind, &mut node.value) {
        (StepKind::Key(key), Value::Table(entries)) => {
            let entry = match entries.iter().position(|e| e.key == *key) {
                Some(index) => &mut entries[index],
                None => {
                    let empty = Node { mark: mark.clone(), value: Value::Table(Vec::new()) };
                    entries.push(Entry { key: key.clone(), key_mark: mark.clone(), node: empty });
                    entries.last_mut().expect("just pushed")
                }
            };
            // A problem with the new value concerns the argument, not the file.
            if rest.is_empty() {
                entry.key_mark = mark;
            }
            put(&mut entry.node, rest, new, source, report);
        }
        (StepKind::Key(name), Value::Array(items)) => {
            let names: Vec<String> = items.iter().map(item_name).collect();
            match names.iter().position(|n| n == name) {
                Some(index) => put(&mut items[index], rest, new, source, report),
                None => {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let hint = format!("{}; or by number, as in [0]", suggest(name, &names));
                    report.error(&mark, format!("there is no \"{name}\" here"), hint);
                }
            }
        }
        (StepKind::Index(index), Value::Array(items)) => {
            let count = items.len();
            match items.get_mut(*index) {
                Some(item) => put(item, rest, new, source, report),
                None => report.error(
                    &mark,
                    format!("there is no entry {index}"),
                    format!("there are {count}, counted from 0"),
                ),
            }
        }
        (StepKind::Each, Value::Array(items)) if !items.is_empty() => {
            for item in items {
                put(item, rest, new.clone(), source, report);
            }
        }
        (StepKind::Each, other) => {
            report.error(
                &mark,
                format!("expected an array with entries, found {}", other.what()),
                "`*` is each entry of an array, as in flows.*.cc",
            );
        }
        (StepKind::Index(_), other) => {
            report.error(
                &mark,
                format!("expected an array to count in, found {}", other.what()),
                "leave out the brackets",
            );
        }
        (StepKind::Key(key), other) => {
            let message = format!("`{key}` cannot be set inside {}", other.what());
            report.error(&mark, message, "set the whole value of the key before it");
        }
    }
}

/// Name of a flow group: its `name`, or its controller's as [`crate::schema::FlowGroup::name`] says.
fn item_name(item: &Node) -> String {
    match item.get("name").or_else(|| item.get("cc")).map(|e| &e.node.value) {
        Some(Value::Text(name)) => name.clone(),
        _ => String::new(),
    }
}
