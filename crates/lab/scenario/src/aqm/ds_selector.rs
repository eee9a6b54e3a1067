//! Packets by bits of their DS field, as tc writes them: `VALUE/MASK`.

use serde_json::{Value as Json, json};

use crate::field::Field;
use crate::report::Report;
use crate::tree::{Node, Value};

/// Packets whose DS field (what was the type of service) has a value in some bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DsSelector {
    /// Value of the masked bits.
    pub value: u8,
    /// The bits that count.
    pub mask: u8,
}

/// The bits of the DS field that packets of the simulator have: those of ECN ([RFC 3168, section
/// 5](https://www.rfc-editor.org/rfc/rfc3168#section-5)).
const ECN: u8 = 0b11;

impl DsSelector {
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => u8::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        let (value, mask) = text.split_once('/')?;
        Some(Self { value: number(value)?, mask: number(mask)? })
    }

    /// Why it selects nothing that can be marked, or cannot be told here; and what to write.
    fn refusal(self) -> Option<(&'static str, &'static str)> {
        let Self { value, mask } = self;
        if mask & !ECN != 0 {
            return Some((
                "packets have the two bits of ECN of the DS field, and not its code point",
                "write a mask of at most 0x3, as in \"0x1/0x3\" for ECT(1)",
            ));
        }
        if mask == 0 {
            return Some((
                "a mask of 0 selects by nothing",
                "leave the selector out: all ECT packets are meant",
            ));
        }
        if value & !mask != 0 {
            return Some((
                "the value has bits that the mask has not, so that it selects nothing",
                "write a value within the mask, as in \"0x1/0x3\" for ECT(1)",
            ));
        }
        None
    }
}

impl Field for DsSelector {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            let message = format!("expected a selector, found {}", node.value.what());
            report.error(&node.mark, message, "VALUE/MASK in quotes, as in \"0x1/0x3\"");
            return None;
        };
        let Some(selector) = Self::parse(text) else {
            report.error(&node.mark, format!("`{text}` is no selector"), "VALUE/MASK, as in \"0x1/0x3\"");
            return None;
        };
        match selector.refusal() {
            None => Some(selector),
            Some((message, hint)) => {
                report.error(&node.mark, format!("`{text}`: {message}"), hint);
                None
            }
        }
    }
    fn write(&self) -> Option<Json> {
        Some(format!("{:#x}/{:#x}", self.value, self.mask).into())
    }
    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^(0x[0-9a-fA-F]+|[0-9]+)/(0x[0-9a-fA-F]+|[0-9]+)$" })
    }
    fn unit() -> String {
        "VALUE/MASK".to_owned()
    }
}
