//! Keys of `module`.

use shoal_aqm::{Extent, ModuleConfig};

use super::{Place, Resolve};
use crate::field::Section;
use crate::remarks::Table;

/// A queue discipline of your own from a kernel module, which `shoal run --on linux --module FILE` compiles and loads.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Module {
    /// The name under which the module registers the discipline: `.id` of its `Qdisc_ops`.
    #[key(source = "Linux include/net/sch_generic.h struct Qdisc_ops")]
    pub name: String,
    /// Parameters of the module, each as in "limit=20".
    #[key(
        otherwise = "the module's own defaults",
        source = "Linux include/linux/moduleparam.h module_param"
    )]
    pub parameters: Option<Vec<String>>,
    /// Options of this queue: the attributes within TCA_OPTIONS. What they mean is the module's own affair.
    #[key(
        otherwise = "none: the discipline is made without options",
        source = "Linux include/net/netlink.h"
    )]
    pub options: Option<Vec<ModuleOption>>,
}

/// An attribute of netlink: its number, and a value in one of these forms.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct ModuleOption {
    /// Number of the attribute.
    #[key(source = "Linux include/uapi/linux/netlink.h struct nlattr")]
    pub attribute: u32,
    /// A number of 8 bits.
    #[key(source = "Linux include/net/netlink.h nla_get_u8")]
    pub u8: Option<u32>,
    /// A number of 16 bits.
    #[key(source = "Linux include/net/netlink.h nla_get_u16")]
    pub u16: Option<u32>,
    /// A number of 32 bits.
    #[key(source = "Linux include/net/netlink.h nla_get_u32")]
    pub u32: Option<u32>,
    /// A number of 64 bits.
    #[key(source = "Linux include/net/netlink.h nla_get_u64")]
    pub u64: Option<u64>,
    /// Text, with a zero behind it.
    #[key(source = "Linux include/net/netlink.h NLA_NUL_STRING")]
    pub text: Option<String>,
    /// Any bytes, two hexadecimal digits each: other kinds of values, and attributes within attributes.
    #[key(source = "Linux include/net/netlink.h NLA_BINARY")]
    pub hex: Option<String>,
}

/// Bits of an attribute's number; the other two say how its value is encoded.
const NUMBER_BITS: u32 = 14;
/// Longest name of a discipline (`IFNAMSIZ` with the zero behind it).
const LONGEST_NAME: usize = 15;

impl Resolve for Module {
    type Config = ModuleConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<ModuleConfig> {
        let is_word = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
        let is_name = is_word(&self.name) && self.name.len() <= LONGEST_NAME;
        if !is_name {
            let message = format!("\"{}\" is no name of a queue discipline", self.name);
            law.keys.error(
                "name",
                message,
                "write what the module has as .id, 1 to 15 characters without blanks",
            );
        }
        let mut parameters = Vec::new();
        for (number, word) in self.parameters.iter().flatten().enumerate() {
            match word.split_once('=') {
                Some((name, value)) if is_word(name) && is_word(value) => {
                    parameters.push((name.to_owned(), value.to_owned()));
                }
                _ => {
                    let message = format!("\"{word}\" is no parameter of a module");
                    let hint = "write name=value without blanks, as in \"limit=20\"";
                    law.keys.error(&format!("parameters[{number}]"), message, hint);
                }
            }
        }
        let options = self.options.iter().flatten().enumerate().map(|(number, option)| {
            let path = format!("{}.options[{number}]", law.keys.path);
            option.resolve(&Table { path, remarks: law.keys.remarks })
        });
        // Collected before any is unwrapped, so that every option reports its own problems.
        let options: Vec<Option<(u16, Vec<u8>)>> = options.collect();
        let options = options.into_iter().collect::<Option<_>>()?;
        is_name.then(|| ModuleConfig { name: self.name.clone(), parameters, options, limit })
    }
}

impl ModuleOption {
    fn resolve(&self, keys: &Table<'_>) -> Option<(u16, Vec<u8>)> {
        if self.attribute >= 1 << NUMBER_BITS {
            let message = format!("{} is no number of an attribute", self.attribute);
            keys.error("attribute", message, "write 0 to 16383");
            return None;
        }
        let narrow = |key: &str, value: u32, bits: u32| {
            let fits = value < 1 << bits;
            if !fits {
                keys.error(key, format!("{value} has more than {bits} bits"), "use u32 for larger numbers");
            }
            fits.then_some(value)
        };
        let bytes = match (self.u8, self.u16, self.u32, self.u64, &self.text, &self.hex) {
            (Some(value), None, None, None, None, None) => vec![narrow("u8", value, 8)? as u8],
            (None, Some(value), None, None, None, None) => {
                (narrow("u16", value, 16)? as u16).to_ne_bytes().to_vec()
            }
            (None, None, Some(value), None, None, None) => value.to_ne_bytes().to_vec(),
            (None, None, None, Some(value), None, None) => value.to_ne_bytes().to_vec(),
            (None, None, None, None, Some(text), None) => text.bytes().chain([0]).collect(),
            (None, None, None, None, None, Some(digits)) => match bytes_of(digits) {
                Some(bytes) => bytes,
                None => {
                    let message = format!("\"{digits}\" are no bytes");
                    keys.error("hex", message, "write two hexadecimal digits for each, as in \"00ff\"");
                    return None;
                }
            },
            _ => {
                let message = "an option has one value";
                keys.refuse(message, "write attribute and one of u8, u16, u32, u64, text and hex");
                return None;
            }
        };
        Some((self.attribute as u16, bytes))
    }
}

/// The bytes that pairs of digits stand for.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().as_chunks::<2>();
    if !pairs.1.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let text =
        |pair: &[u8; 2]| std::str::from_utf8(pair).ok().and_then(|two| u8::from_str_radix(two, 16).ok());
    pairs.0.iter().map(text).collect()
}
