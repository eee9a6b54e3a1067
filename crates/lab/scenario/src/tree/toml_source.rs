//! Reads TOML text as values with places.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::{Entry, Node, Value};
use crate::diagnostic::Mark;
use crate::report::Report;

/// Reads the text of source `source`; all syntax errors go into the report.
pub(crate) fn from_toml(source: usize, report: &mut Report) -> Node {
    let text = report.sources[source].text.clone();
    let (table, errors) = DeTable::parse_recoverable(&text);
    report_syntax(source, 0, &errors, report);
    let mark = Mark { source, range: 0..text.len() };
    Node { mark, value: table_value(table.get_ref(), &Shift { source, offset: 0 }, report) }
}

/// Reads one value at `range` of source `source`.
pub(crate) fn value_from_toml(
    source: usize,
    range: Range<usize>,
    report: &mut Report,
) -> Result<Node, Vec<Error>> {
    let text = report.sources[source].text[range.clone()].to_owned();
    let (value, errors) = DeValue::parse_recoverable(&text);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut node = node(&value, &Shift { source, offset: range.start }, report);
    node.mark.range = range;
    Ok(node)
}

/// Reports syntax errors found at `offset` of a source.
pub(super) fn report_syntax(source: usize, offset: usize, errors: &[Error], report: &mut Report) {
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let mark = Mark { source, range: span.start + offset..span.end + offset };
        let message = error.message();
        let hint = if message.contains("duplicate key") { "keep one of them" } else { "" };
        report.error(&mark, message, hint);
    }
}

/// Offset of the parsed text in its source.
struct Shift {
    source: usize,
    offset: usize,
}

impl Shift {
    fn mark(&self, span: Range<usize>) -> Mark {
        Mark { source: self.source, range: span.start + self.offset..span.end + self.offset }
    }
}

fn node(value: &Spanned<DeValue<'_>>, shift: &Shift, report: &mut Report) -> Node {
    let mark = shift.mark(value.span());
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => match i128::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Value::Integer(n),
            Err(_) => {
                report.error(&mark, "this integer is too large", "");
                Value::Other("a too large integer")
            }
        },
        DeValue::Float(x) => match x.as_str().parse() {
            Ok(x) => Value::Real(x),
            Err(_) => Value::Other("an unreadable number"),
        },
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| node(item, shift, report)).collect()),
        DeValue::Table(table) => table_value(table, shift, report),
    };
    Node { mark, value }
}

fn table_value(table: &DeTable<'_>, shift: &Shift, report: &mut Report) -> Value {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_mark: shift.mark(key.span()),
            node: node(value, shift, report),
        })
        .collect();
    // The parser sorts by name, but errors and warnings read better in file order.
    entries.sort_by_key(|entry| entry.key_mark.range.start);
    Value::Table(entries)
}
