//! Keys that hold strings, numbers, lists, optional values and quantities.

use serde_json::{Value as Json, json};

use super::{Field, KeyDoc};
use crate::quantity::{Accepts, Amount, DataRate, Duration, Frequency, PacketCount, QuantityError, Size};
use crate::report::Report;
use crate::tree::{Node, Value};

fn mismatch<T>(node: &Node, wanted: &str, report: &mut Report) -> Option<T> {
    report.error(&node.mark, format!("expected {wanted}, found {}", node.value.what()), "");
    None
}

impl Field for String {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => mismatch(node, "a string", report),
        }
    }
    fn write(&self) -> Option<Json> {
        Some(self.as_str().into())
    }
    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

impl Field for bool {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match node.value {
            Value::Flag(flag) => Some(flag),
            _ => mismatch(node, "true or false", report),
        }
    }
    fn write(&self) -> Option<Json> {
        Some((*self).into())
    }
    fn schema() -> Json {
        json!({ "type": "boolean" })
    }
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn read(node: &Node, report: &mut Report) -> Option<Self> {
                match node.value {
                    Value::Integer(n) => {
                        let value = Self::try_from(n).ok();
                        if value.is_none() {
                            let hint = format!("a whole number from 0 to {}", Self::MAX);
                            report.error(&node.mark, format!("{n} is out of range"), hint);
                        }
                        value
                    }
                    _ => mismatch(node, "a whole number", report),
                }
            }
            fn write(&self) -> Option<Json> {
                Some((*self).into())
            }
            fn schema() -> Json {
                json!({ "type": "integer", "minimum": 0, "maximum": Self::MAX })
            }
        }
    )*};
}

integer!(u8, u16, u32, u64);

impl Field for f64 {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match node.value {
            Value::Real(x) if x.is_finite() => Some(x),
            Value::Real(x) => {
                report.error(&node.mark, format!("{x} is not a usable number"), "write a finite number");
                None
            }
            Value::Integer(n) => Some(n as Self),
            _ => mismatch(node, "a number", report),
        }
    }
    fn write(&self) -> Option<Json> {
        Some((*self).into())
    }
    fn schema() -> Json {
        json!({ "type": "number" })
    }
}

impl<T: Field> Field for Option<T> {
    const IS_TABLE: bool = T::IS_TABLE;
    const IS_LIST_OF_TABLES: bool = T::IS_LIST_OF_TABLES;

    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        T::read(node, report).map(Some)
    }
    fn missing() -> Option<Self> {
        Some(None)
    }
    fn write(&self) -> Option<Json> {
        self.as_ref().and_then(T::write)
    }
    fn schema() -> Json {
        T::schema()
    }
    fn unit() -> String {
        T::unit()
    }
    fn key_docs_below() -> Vec<KeyDoc> {
        T::key_docs_below()
    }
    fn any_amount(&self, wanted: fn(Amount) -> bool) -> bool {
        self.as_ref().is_some_and(|value| value.any_amount(wanted))
    }
}

impl<T: Field> Field for Vec<T> {
    const IS_LIST_OF_TABLES: bool = T::IS_TABLE;

    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Array(items) => {
                // Collected before any is unwrapped, so that every item reports its own problems.
                let read: Vec<Option<T>> = items.iter().map(|item| T::read(item, report)).collect();
                read.into_iter().collect()
            }
            _ => mismatch(node, "an array", report),
        }
    }
    fn write(&self) -> Option<Json> {
        Some(self.iter().filter_map(T::write).collect())
    }
    fn schema() -> Json {
        json!({ "type": "array", "items": T::schema() })
    }
    fn key_docs_below() -> Vec<KeyDoc> {
        T::key_docs_below()
    }
    fn any_amount(&self, wanted: fn(Amount) -> bool) -> bool {
        self.iter().any(|value| value.any_amount(wanted))
    }
}

fn quantity<T>(
    node: &Node,
    accepts: &Accepts,
    parse: fn(&str) -> Result<T, QuantityError>,
    report: &mut Report,
) -> Option<T> {
    let what = match &node.value {
        Value::Text(text) => match parse(text) {
            Ok(value) => return Some(value),
            Err(error) => {
                report.error(&node.mark, error.message, error.hint);
                return None;
            }
        },
        Value::Integer(_) | Value::Real(_) => format!("{} needs a unit", accepts.what),
        other => format!("expected {} as a string, found {}", accepts.what, other.what()),
    };
    report.error(&node.mark, what, format!("write a string, as in \"{}\"", accepts.example));
    None
}

macro_rules! quantities {
    ($($type:ty $(: $any:expr)?),*) => {$(
        impl Field for $type {
            fn read(node: &Node, report: &mut Report) -> Option<Self> {
                quantity(node, &Self::ACCEPTS, Self::parse, report)
            }
            fn write(&self) -> Option<Json> {
                Some(self.to_string().into())
            }
            fn schema() -> Json {
                json!({ "type": "string", "pattern": Self::ACCEPTS.pattern(), "examples": [Self::ACCEPTS.example] })
            }
            fn unit() -> String {
                Self::ACCEPTS.dimensions_in_words()
            }
            $(fn any_amount(&self, wanted: fn(Amount) -> bool) -> bool {
                $any(*self, wanted)
            })?
        }
    )*};
}

quantities!(
    Amount: |amount, wanted: fn(Amount) -> bool| wanted(amount),
    DataRate,
    Duration,
    Frequency,
    PacketCount,
    Size
);
