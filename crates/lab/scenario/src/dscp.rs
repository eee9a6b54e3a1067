//! DiffServ code points: numbers and their names.

use serde_json::{Value as Json, json};

use crate::field::{Field, suggest};
use crate::report::Report;
use crate::tree::{Node, Value};

/// A DiffServ code point ([RFC 2474, section 3](https://www.rfc-editor.org/rfc/rfc2474#section-3)): the upper six bits
/// of what was the type of service.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Dscp(u8);

/// How many there are.
const COUNT: u8 = 64;

/// The names: best effort, class selectors (RFC 2474 section 4.2.2), assured forwarding
/// ([RFC 2597, section 6](https://www.rfc-editor.org/rfc/rfc2597#section-6)) and expedited forwarding
/// ([RFC 3246, section 2.7](https://www.rfc-editor.org/rfc/rfc3246#section-2.7)).
pub const CODE_POINTS: [(&str, u8); 23] = [
    ("be", 0),
    ("default", 0),
    ("cs0", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("ef", 46),
];

impl Dscp {
    /// The number, below 64.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl Field for Dscp {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Integer(number) => {
                let code = u8::try_from(*number).ok().filter(|number| *number < COUNT);
                if code.is_none() {
                    report.error(
                        &node.mark,
                        format!("a code point of {number}"),
                        "a number from 0 to 63, as in 10",
                    );
                }
                code.map(Self)
            }
            Value::Text(text) => {
                let code = CODE_POINTS
                    .iter()
                    .find(|(name, _)| text.eq_ignore_ascii_case(name))
                    .map(|(_, code)| Self(*code));
                if code.is_none() {
                    let names = CODE_POINTS.map(|(name, _)| name);
                    report.error(&node.mark, format!("unknown code point \"{text}\""), suggest(text, &names));
                }
                code
            }
            other => {
                let message = format!("expected a code point, found {}", other.what());
                report.error(&node.mark, message, "a number from 0 to 63 or a name, as in 10 or \"af11\"");
                None
            }
        }
    }
    fn write(&self) -> Option<Json> {
        Some(self.0.into())
    }
    fn schema() -> Json {
        let number = json!({ "type": "integer", "minimum": 0, "maximum": COUNT - 1 });
        json!({ "oneOf": [number, { "enum": CODE_POINTS.map(|(name, _)| name) }] })
    }
    fn unit() -> String {
        "0 to 63, or a name".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2474: class selectors are xxx000. RFC 2597: AF class c with drop precedence p is 8 c + 2 p.
    #[test]
    fn names_follow_their_formulas() {
        for (name, code) in CODE_POINTS {
            let digits: Vec<u8> = name.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
            let expected = match (name, digits.as_slice()) {
                ("be" | "default", _) => 0,
                ("ef", _) => 0b10_1110,
                (_, [class]) => 8 * class,
                (_, [class, precedence]) => 8 * class + 2 * precedence,
                _ => panic!("{name}"),
            };
            assert_eq!(code, expected, "{name}");
        }
    }
}
