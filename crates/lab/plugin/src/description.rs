//! What a module says of itself: JSON that it returns from `shoal_describe`.

use serde::Deserialize;
use shoal_cc::EcnUse;
use shoal_law::{ABI, MOST_PARAMETERS};
use shoal_units::Parameter;

/// The description of a law.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    /// Version of the interface, [`ABI`].
    pub abi: u32,
    /// What the law is.
    pub kind: Kind,
    /// One sentence for users.
    #[serde(default)]
    pub summary: String,
    /// How a controller uses ECN.
    #[serde(default)]
    pub ecn: Ecn,
    /// Whether `on_growth` is called in CWR, too.
    #[serde(default)]
    pub grows_in_cwr: bool,
    /// Whether the endpoint announces a reduction for ECN with CWR.
    #[serde(default = "yes")]
    pub sends_cwr: bool,
    /// Keys of its own.
    #[serde(default)]
    pub parameters: Vec<Declared>,
}

/// What a law is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A congestion controller.
    Controller,
    /// The law of a queue.
    Queue,
}

impl Kind {
    /// Whether it is what is wanted.
    pub(crate) fn check(self, wanted: Self) -> Result<(), String> {
        match self {
            _ if self == wanted => Ok(()),
            Self::Queue => {
                Err("it is the law of a queue, and no controller: name it as a queue's aqm".into())
            }
            Self::Controller => {
                Err("it is a controller, and no law of a queue: name it as a flow group's cc".into())
            }
        }
    }
}

/// How a controller uses ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ecn {
    #[default]
    Classic,
    Dctcp,
    L4s,
}

impl From<Ecn> for EcnUse {
    fn from(ecn: Ecn) -> Self {
        match ecn {
            Ecn::Classic => Self::Classic,
            Ecn::Dctcp => Self::Dctcp,
            Ecn::L4s => Self::L4s,
        }
    }
}

/// A parameter as a law declares it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declared {
    name: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    unit: String,
    default: f64,
    least: f64,
    most: f64,
    #[serde(default)]
    whole: bool,
}

const fn yes() -> bool {
    true
}

impl Description {
    /// Reads and checks a description.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text)
            .map_err(|error| format!("its description is not what shoal expects: {error}"))?;
        if read.abi != ABI {
            return Err(format!(
                "it speaks version {} of the interface, and this shoal version {ABI}",
                read.abi
            ));
        }
        if read.parameters.len() > MOST_PARAMETERS {
            return Err(format!(
                "it declares {} parameters, more than {MOST_PARAMETERS}",
                read.parameters.len()
            ));
        }
        for (place, declared) in read.parameters.iter().enumerate() {
            let name = &declared.name;
            let is_key = |name: &str| {
                let mut bytes = name.bytes();
                bytes.next().is_some_and(|first| first.is_ascii_lowercase())
                    && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            };
            if !is_key(name) {
                return Err(format!(
                    "its parameter \"{}\" has a name that is no key: small letters, digits and _",
                    name.escape_debug()
                ));
            }
            if read.parameters[..place].iter().any(|before| before.name == *name) {
                return Err(format!("it declares the parameter \"{name}\" twice"));
            }
            let declared = Parameter::from(declared.clone());
            declared
                .check(declared.default)
                .map_err(|why| format!("the default of its parameter \"{name}\" is no value of it: {why}"))?;
        }
        Ok(read)
    }

    /// The parameters with their defaults.
    pub(crate) fn parameters(&self) -> Vec<(Parameter, f64)> {
        let declared = self.parameters.iter().cloned().map(Parameter::from);
        declared
            .map(|declared| {
                let default = declared.default;
                (declared, default)
            })
            .collect()
    }
}

impl From<Declared> for Parameter {
    fn from(declared: Declared) -> Self {
        let Declared { name, text, unit, default, least, most, whole } = declared;
        Self { name, text, unit, default, least, most, is_whole: whole }
    }
}
