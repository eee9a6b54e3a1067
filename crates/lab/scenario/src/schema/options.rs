//! `flows.cc_options`: policies that override those of the controller's preset.

use serde_json::{Map, Value as Json, json};
use shoal_cc::{CcConfig, PRESETS, UndoWindow};

use crate::field::{Field, KeyDoc, Section, choices, suggest};
use crate::own_law::PAGE;
use crate::remarks::Table;
use crate::report::Report;
use crate::schema::laws::OF_FILE;
use crate::schema::{FlowGroup, Workload};
use crate::tree::Node;

/// Connects each key with the field of the configuration that it overrides; naming every field, the destructuring
/// fails to compile when a policy is added without a key.
macro_rules! overrides {
    ($options:ident of $config:ident { $($field:ident),* $(,)? }) => {
        impl $options {
            pub(super) fn over(self, config: $config) -> $config {
                $config { $($field: self.$field.map_or(config.$field, Into::into),)* }
            }
            pub(super) fn of(config: $config) -> Self {
                let $config { $($field),* } = config;
                Self { $($field: Some($field.into()),)* }
            }
        }
    };
}

/// An integer type with tighter bounds than its representation.
macro_rules! bounded {
    ($(#[doc = $doc:literal])+ $name:ident($type:ty), $range:expr, $what:literal) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name($type);

        impl From<$name> for $type {
            fn from(value: $name) -> Self {
                value.0
            }
        }
        impl From<$type> for $name {
            fn from(value: $type) -> Self {
                Self(value)
            }
        }
        impl Field for $name {
            fn read(node: &Node, report: &mut Report) -> Option<Self> {
                let value = <$type>::read(node, report)?;
                if $range.contains(&value) {
                    return Some(Self(value));
                }
                report.error(&node.mark, format!("{value} is out of range"), $what);
                None
            }
            fn write(&self) -> Option<Json> {
                Some(self.0.into())
            }
            fn schema() -> Json {
                json!({ "type": "integer", "minimum": $range.start(), "maximum": $range.end() })
            }
        }
    };
}

mod bbr;
mod bbr3;
mod cubic;
mod dctcp;
mod external;
mod ledbat;
mod prague;
mod reno;

/// From the list of controllers: what reads, writes and describes the policies of each.
macro_rules! controllers {
    ($($variant:ident($options:ty)),* $(,)?) => {
        /// Overrides the policies of `preset` with those of `node`.
        fn apply(preset: CcConfig, node: &Node, report: &mut Report) -> Option<CcConfig> {
            Some(match preset {
                $(CcConfig::$variant(config) => {
                    CcConfig::$variant(<$options>::read(node, report)?.over(config))
                })*
                CcConfig::External(config) => CcConfig::External(external::apply(config, node, report)?),
            })
        }

        /// All policies of `config`, as the scenario file writes them.
        pub(crate) fn describe(config: CcConfig) -> Map<String, Json> {
            let mut map = Map::new();
            match config {
                $(CcConfig::$variant(config) => <$options>::of(config).write_table(&mut map),)*
                CcConfig::External(config) => external::describe(config, &mut map),
            }
            map
        }

        /// Description of each policy of the configuration's controller.
        pub(crate) fn docs(config: CcConfig) -> Vec<KeyDoc> {
            match config {
                $(CcConfig::$variant(_) => <$options>::key_docs(),)*
                CcConfig::External(_) => Vec::new(),
            }
        }

        /// The policies of all controllers; those of the same name have the same values.
        fn properties() -> Map<String, Json> {
            let mut properties = Map::new();
            $(properties.extend(<$options>::properties());)*
            properties
        }
    };
}

controllers! {
    Dctcp(dctcp::DctcpOptions),
    Cubic(cubic::CubicOptions),
    Reno(reno::RenoOptions),
    Prague(prague::PragueOptions),
    Bbr(bbr::BbrOptions),
    Bbr3(bbr3::Bbr3Options),
    Ledbat(ledbat::LedbatOptions),
}

/// Policies as written. The controller determines which ones exist, so they are read together with it; until then there
/// are none.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CcOptions(pub(crate) Option<CcConfig>);

impl Field for CcOptions {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        // `apply` reads the policies once the controller is known.
        crate::field::entries(node, "as in cc_options = { alpha_update = \"per-window\" }", report)
            .map(|_| Self::default())
    }
    fn write(&self) -> Option<Json> {
        self.0.map(describe).filter(|policies| !policies.is_empty()).map(Json::from)
    }
    fn schema() -> Json {
        json!({ "type": "object", "additionalProperties": { "type": "number" }, "properties": properties() })
    }
}

/// Name that stands for no controller, for traffic that does not respond to congestion.
pub(crate) const NO_CONTROLLER: &str = "none";

/// The controller of `group`, which has these `keys`.
pub(crate) fn cc_config(group: &FlowGroup, keys: &Table<'_>) -> Option<CcConfig> {
    if let Workload::Unresponsive(_) = group.app {
        if group.cc != NO_CONTROLLER {
            let message = format!("unresponsive traffic has no congestion controller \"{}\"", group.cc);
            keys.error("cc", message, "write cc = \"none\"");
        }
        // Endpoints of such a group never consult a controller.
        return CcConfig::preset("reno");
    }
    if group.cc == NO_CONTROLLER {
        let message = "a connection needs a congestion controller";
        let hint = "name a controller, as in cc = \"reno\", or write app = { unresponsive = \"1 Mbit/s\" }";
        keys.error("cc", message, hint);
        return None;
    }
    let preset = known_preset(&group.cc, keys)?;
    match keys.remarks.tree.find(&keys.at("cc_options")) {
        Some(options) => apply(preset, options, &mut keys.remarks.report.borrow_mut()),
        None => Some(preset),
    }
}

/// The preset or the law called `name`, which the key `cc` of the table gives.
pub(crate) fn known_preset(name: &str, keys: &Table<'_>) -> Option<CcConfig> {
    if let Some(preset) = CcConfig::preset(name) {
        return Some(preset);
    }
    if let Some(law) = keys.remarks.laws.get(name) {
        return match &law.controller {
            Ok(config) => Some(CcConfig::External(*config)),
            Err(why) => {
                let given = law.simulator.as_ref().or(law.python.as_ref());
                let file = given.map_or(name, |given| given.file.as_str());
                let message = format!("\"{file}\" is no controller: {why}");
                keys.error("cc", message, PAGE);
                None
            }
        };
    }
    let message = format!("unknown congestion controller \"{name}\"");
    if let Some(file) = name.strip_prefix(OF_FILE) {
        keys.error("cc", message, format!("is there a file {file} beside the scenario?"));
        return None;
    }
    let laws = keys.remarks.laws.keys().map(String::as_str);
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).chain(laws).collect();
    let mut hint = suggest(name, &names);
    // The names of shoal's own are small letters, those of classes begin with a capital.
    if name.starts_with(|first: char| first.is_ascii_uppercase()) {
        hint += "; a class in Python needs --python FILE, or laws=[...] in a program";
    }
    keys.error("cc", message, hint);
    None
}

choices!(UndoWindow {
    "kernel" => Self::Kernel, "twice-ssthresh" => Self::TwiceSsthresh, "at-reduction" => Self::AtReduction,
});
