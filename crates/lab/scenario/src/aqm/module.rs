//! Keys of `module`.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use shoal_aqm::{Extent, ExternalQueueConfig, ModuleConfig, ModuleValue};

use shoal_units::Unmodelled;

use super::{Place, Resolve};
use crate::field::{Field, Section, entries};
use crate::own_law::{HINT, PAGE, values};
use crate::remarks::Table;
use crate::report::Report;
use crate::schema::OF_FILE;
use crate::tree::{Node, Value};

/// A queue discipline of your own: a file that the simulator runs, a kernel module that `shoal run --on linux --module
/// FILE` compiles and loads, or both.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Module {
    /// Name of the discipline: a law of [laws], a file as in "file:mine.wasm", or what a kernel module has as `.id` of
    /// its `Qdisc_ops`.
    #[key(source = "Linux include/net/sch_generic.h struct Qdisc_ops")]
    pub name: String,
    /// Values of its parameters, as in { limit = 20 }.
    #[key(
        otherwise = "the module's own defaults",
        source = "Linux include/linux/moduleparam.h module_param"
    )]
    pub parameters: Option<Parameters>,
    /// Options of this queue for a kernel module: the attributes within TCA_OPTIONS. What they mean is the module's own
    /// affair.
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

/// Values of a module's parameters: numbers, or for a kernel module any words.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters(BTreeMap<String, ModuleValue>);

impl Field for Parameters {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        // Collected before any is unwrapped, so that every value reports its own problems.
        let read: Vec<_> = entries(node, "as in parameters = { limit = 20 }", report)?
            .iter()
            .map(|entry| {
                let value = match &entry.node.value {
                    Value::Text(text) if is_word(text) && is_word(&entry.key) => {
                        ModuleValue::Text(text.clone())
                    }
                    Value::Text(_) => {
                        let message = format!("\"{}\" has no value of a module's parameter", entry.key);
                        report.error(&entry.node.mark, message, "write a number, or a word without blanks");
                        return None;
                    }
                    _ => ModuleValue::Number(f64::read(&entry.node, report)?),
                };
                Some((entry.key.clone(), value))
            })
            .collect();
        read.into_iter().collect::<Option<_>>().map(Self)
    }
    fn write(&self) -> Option<Json> {
        let written = self.0.iter().map(|(name, value)| {
            let value = match value {
                // Whole numbers are written as such.
                ModuleValue::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                    Json::from(*number as i64)
                }
                ModuleValue::Number(number) => Json::from(*number),
                ModuleValue::Text(text) => Json::from(text.as_str()),
            };
            (name.clone(), value)
        });
        Some(Json::Object(written.collect::<Map<_, _>>()))
    }
    fn schema() -> Json {
        json!({ "type": "object", "additionalProperties": { "type": ["number", "string"] } })
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Bits of an attribute's number; the other two say how its value is encoded.
const NUMBER_BITS: u32 = 14;
/// Longest name of a discipline (`IFNAMSIZ` with the zero behind it).
const LONGEST_NAME: usize = 15;

impl Resolve for Module {
    type Config = ModuleConfig;

    fn resolve(&self, place: &Place<'_>, limit: Extent) -> Option<ModuleConfig> {
        let law = self.law(place);
        let is_kernels = law == Ok(Err(Unmodelled::KernelModule));
        let is_short = is_word(&self.name) && self.name.len() <= LONGEST_NAME;
        let is_name = law.is_ok() && (is_short || !is_kernels);
        if is_kernels && !is_name {
            let message = format!("\"{}\" is no name of a queue discipline", self.name);
            let hint = "write what the module has as .id, 1 to 15 characters without blanks";
            place.keys.error("name", message, hint);
        }
        let options = self.options.iter().flatten().enumerate().map(|(number, option)| {
            let path = format!("{}.options[{number}]", place.keys.path);
            option.resolve(&Table { path, remarks: place.keys.remarks })
        });
        // Collected before any is unwrapped, so that every option reports its own problems.
        let options: Vec<Option<(u16, Vec<u8>)>> = options.collect();
        let options = options.into_iter().collect::<Option<_>>()?;
        let parameters = self.parameters.clone().map(|given| given.0).unwrap_or_default();
        is_name.then_some(ModuleConfig {
            name: self.name.clone(),
            parameters,
            options,
            law: law.ok()?,
            limit,
        })
    }
}

impl Module {
    /// What the simulator runs, with the values of the parameters, or why there is nothing.
    /// The error has been reported.
    fn law(&self, place: &Place<'_>) -> Result<Result<ExternalQueueConfig, Unmodelled>, ()> {
        let keys = &place.keys;
        let Some(given) = keys.remarks.laws.get(&self.name) else {
            let Some(file) = self.name.strip_prefix(OF_FILE) else {
                return Ok(Err(Unmodelled::KernelModule));
            };
            let message = format!("unknown queue discipline \"{}\"", self.name);
            keys.error("name", message, format!("is there a file {file} beside the scenario?"));
            return Err(());
        };
        let config = match given.queue.clone().map_err(|why| {
            let file = given.simulator.as_ref().map_or(self.name.as_str(), |given| given.file.as_str());
            keys.error("name", format!("\"{file}\" is no law of a queue: {why}"), PAGE);
        })? {
            Ok(config) => config,
            Err(why) => return Ok(Err(why)),
        };
        let Some(node) = keys.remarks.tree.find(&keys.at("parameters")) else { return Ok(Ok(config)) };
        let mut report = keys.remarks.report.borrow_mut();
        let values = values(node, Some(config.law().parameters()), &mut report).ok_or(())?;
        config.law().with(&values).map(Ok).map_err(|why| report.error(&node.mark, why, HINT))
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
