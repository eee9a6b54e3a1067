//! Descriptions of the result's fields, taken from the declarations with which the result is written, so that
//! they are never stale.

use crate::RunResult;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A field of the result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ResultField {
    /// Path of the field: names joined by dots, `[]` after a list, `*` for any key.
    pub path: String,
    /// Name of the object that declares the field.
    pub object: &'static str,
    /// Description of that object.
    pub object_doc: String,
    /// JSON type: `number`, `integer`, `text`, `object`, `list` or `any`.
    pub kind: &'static str,
    /// Complete type in JSON Schema; an object that is declared here appears as a reference to its name.
    pub schema: Value,
    /// Unit of a number; empty if it has none, and for what is not a number.
    pub unit: &'static str,
    /// Meaning of the field.
    pub doc: String,
    /// Whether the field may be null, as it is if its value cannot be measured.
    pub may_be_null: bool,
    /// Whether the field may be missing.
    pub may_be_absent: bool,
}

/// All fields of [`RunResult`], each object before its fields. The fields of `scenario` are those of a
/// scenario file.
pub fn result_fields() -> Vec<ResultField> {
    let mut found = Vec::new();
    RunResult::describe("", "", &mut found);
    found
}

/// A type that may be part of the result.
pub(crate) trait Described {
    /// Name of the JSON type.
    const KIND: &'static str;
    /// Whether a value may be null.
    const NULLABLE: bool = false;
    /// Suffix of the path for what is inside.
    const INSIDE: &'static str = "";
    /// The type in JSON Schema.
    fn schema() -> Value;
    /// Adds the fields inside; `unit` follows from the names of the enclosing fields.
    fn describe(_path: &str, _unit: &'static str, _found: &mut Vec<ResultField>) {}
}

macro_rules! plain {
    ($($type:ty: $kind:literal, $schema:tt);+) => { $(
        impl Described for $type {
            const KIND: &'static str = $kind;
            fn schema() -> Value {
                json!($schema)
            }
        }
    )+ };
}

plain! {
    u32: "integer", { "type": "integer" };
    u64: "integer", { "type": "integer" };
    f64: "number", { "type": "number" };
    String: "text", { "type": "string" };
    Value: "any", {};
    (String, String, String): "list", { "type": "array", "items": { "type": "string" } };
    (String, String): "list", { "type": "array", "items": { "type": "string" } }
}

impl<T: Described> Described for Option<T> {
    const KIND: &'static str = T::KIND;
    const NULLABLE: bool = true;
    const INSIDE: &'static str = T::INSIDE;
    fn schema() -> Value {
        json!({ "anyOf": [T::schema(), { "type": "null" }] })
    }
    fn describe(path: &str, unit: &'static str, found: &mut Vec<ResultField>) {
        T::describe(path, unit, found);
    }
}

impl<T: Described> Described for Box<T> {
    const KIND: &'static str = T::KIND;
    const INSIDE: &'static str = T::INSIDE;
    fn schema() -> Value {
        T::schema()
    }
    fn describe(path: &str, unit: &'static str, found: &mut Vec<ResultField>) {
        T::describe(path, unit, found);
    }
}

impl<T: Described> Described for Vec<T> {
    const KIND: &'static str = "list";
    const INSIDE: &'static str = "[]";
    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }
    fn describe(path: &str, unit: &'static str, found: &mut Vec<ResultField>) {
        T::describe(path, unit, found);
    }
}

impl<T: Described> Described for BTreeMap<String, T> {
    const KIND: &'static str = "object";
    const INSIDE: &'static str = ".*";
    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": T::schema() })
    }
}

/// A field as its object declares it.
pub(crate) struct Declared {
    /// Name of the object.
    pub object: &'static str,
    /// Lines of the object's documentation.
    pub object_docs: &'static [&'static str],
    /// Name of the field.
    pub name: &'static str,
    /// Lines of the field's documentation.
    pub docs: &'static [&'static str],
    /// Serde attribute of the field.
    pub serde: &'static str,
}

/// Adds a field of an object, and what is inside it.
pub(crate) fn add<T: Described>(
    field: &Declared,
    path: &str,
    inherited: &'static str,
    found: &mut Vec<ResultField>,
) {
    let name = field.name;
    let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let unit = match unit(name) {
        // A count beside quantities, such as `srtt_s.count`, is not in seconds.
        None if T::KIND != "integer" => inherited,
        own => own.unwrap_or_default(),
    };
    let may_be_absent = field.serde.contains("skip_serializing_if");
    found.push(ResultField {
        path: path.clone(),
        object: field.object,
        object_doc: joined(field.object_docs),
        kind: T::KIND,
        schema: T::schema(),
        unit: if matches!(T::KIND, "text" | "any") { "" } else { unit },
        doc: joined(field.docs),
        // A missing field is not null.
        may_be_null: T::NULLABLE && !may_be_absent,
        may_be_absent,
    });
    T::describe(&(path + T::INSIDE), unit, found);
}

/// Joins the lines of a documentation comment.
fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// The unit that the end of a name states.
fn unit(name: &str) -> Option<&'static str> {
    const UNITS: [(&str, &str); 4] = [("bps", "bit/s"), ("bytes", "B"), ("packets", "packets"), ("s", "s")];
    let (_, end) = name.rsplit_once('_')?;
    UNITS.iter().find(|(suffix, _)| *suffix == end).map(|(_, unit)| *unit)
}

/// Declares objects of the result; the documentation of their fields becomes part of [`result_fields`].
macro_rules! described {
    ($(
        $( #[doc = $about:literal] )+
        #[derive($($derived:ident),+)]
        pub struct $name:ident { $(
            $( #[doc = $doc:literal] )+
            $( #[serde($($serde:tt)*)] )?
            pub $field:ident: $type:ty,
        )+ }
    )+) => { $(
        $( #[doc = $about] )+
        #[derive($($derived),+)]
        pub struct $name { $(
            $( #[doc = $doc] )+
            $( #[serde($($serde)*)] )?
            pub $field: $type,
        )+ }

        impl $crate::fields::Described for $name {
            const KIND: &'static str = "object";
            fn schema() -> serde_json::Value {
                serde_json::json!({ "$ref": concat!("#/$defs/", stringify!($name)) })
            }
            fn describe(path: &str, unit: &'static str, found: &mut Vec<$crate::fields::ResultField>) {
                const DOCS: &[&str] = &[$($about),+];
                $(
                    let declared = $crate::fields::Declared {
                        object: stringify!($name),
                        object_docs: DOCS,
                        name: stringify!($field),
                        docs: &[$($doc),+],
                        serde: concat!($(stringify!($($serde)*))?),
                    };
                    $crate::fields::add::<$type>(&declared, path, unit, found);
                )+
            }
        }
    )+ };
}
pub(crate) use described;

#[cfg(test)]
mod tests {
    use super::*;

    fn field(path: &str) -> ResultField {
        result_fields().into_iter().find(|field| field.path == path).unwrap_or_else(|| panic!("no {path}"))
    }

    #[test]
    fn units_are_those_of_the_nearest_name() {
        let units = [
            ("window.start_s", "s"),
            ("bottlenecks[].queue_bytes.p99", "B"),
            ("bottlenecks[].class_queue_packets.ect.mean", "packets"),
            ("bottlenecks[].delay_s.all.p50", "s"),
            ("bottlenecks[].arrived", ""),
            ("groups[].wire_bps.mean", "bit/s"),
            ("groups[].flows[].fct_s", "s"),
            ("groups[].flows[].srtt_s.mean", "s"),
            ("groups[].flows[].srtt_s.count", ""),
            ("groups[].fct_by_size[].from_bytes", "B"),
            ("groups[].slowdown.mean", ""),
            ("on", ""),
        ];
        for (path, unit) in units {
            assert_eq!(field(path).unit, unit, "{path}");
        }
    }

    #[test]
    fn what_may_be_missing_or_null_is_said() {
        let said = |path| (field(path).may_be_null, field(path).may_be_absent);
        assert_eq!(said("bottlenecks[].utilisation"), (true, false));
        assert_eq!(said("groups[].frames"), (false, true));
        assert_eq!(said("seed"), (false, false));
    }

    #[test]
    fn every_field_and_every_object_has_a_sentence() {
        for field in result_fields() {
            for doc in [&field.doc, &field.object_doc] {
                assert!(doc.ends_with('.') && !doc.contains("[`"), "{}: {doc}", field.path);
            }
        }
    }

    #[test]
    fn types_are_said_in_json_schema() {
        let said = |path| (field(path).object, field(path).schema);
        let number_or_null = json!({ "anyOf": [{ "type": "number" }, { "type": "null" }] });
        assert_eq!(
            said("groups"),
            ("RunResult", json!({ "type": "array", "items": { "$ref": "#/$defs/GroupResult" } }))
        );
        assert_eq!(said("groups[].fct_s.p99"), ("Distribution", number_or_null.clone()));
        assert_eq!(
            said("metrics.rate_ratio"),
            ("Metrics", json!({ "type": "object", "additionalProperties": number_or_null }))
        );
        // A value that is boxed or may be missing has the type of its content.
        let frames = json!({ "anyOf": [{ "$ref": "#/$defs/FrameSummary" }, { "type": "null" }] });
        assert_eq!(said("groups[].flows[].frames"), ("FlowResult", frames));
    }
}
