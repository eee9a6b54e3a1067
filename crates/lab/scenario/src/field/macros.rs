//! Macros that declare tables, tables with a `kind`, and named choices.

/// A table with fixed keys, and the one place that says what a key is: its documentation, type and default, and where the
/// law has it from. A default may hold only under a condition: if a key above it has a value (`if native = "step"`) or is
/// given at all (`if reno_slope`), or unless one is given (`unless threshold`). `otherwise` says in words what an absent key
/// means when that is not a fixed value; `unit` what a number counts.
macro_rules! section {
    ($(#[doc = $doc:literal])+ $name:ident {
        $(
            $(#[doc = $key_doc:literal])+
            $(#[source = $source:literal])?
            $(#[unit = $unit:literal])?
            $(#[otherwise = $otherwise:literal])?
            $key:ident: $type:ty $(= $default:tt $(if $on:ident $(= $value:literal)?)? $(unless $not:ident)?)?,
        )*
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name {
            $($(#[doc = $key_doc])+ pub $key: $type,)*
        }

        #[allow(unused_variables, unused_mut, reason = "a section may have no keys")]
        impl $crate::field::Section for $name {
            fn read_table(
                entries: &[$crate::tree::Entry],
                skip: &[&str],
                mark: &$crate::diagnostic::Mark,
                report: &mut $crate::report::Report,
            ) -> Option<Self> {
                let known: Vec<&str> = skip.iter().chain(<Self as $crate::field::Section>::keys()).copied().collect();
                $crate::field::refuse_unknown(entries, &known, report);
                $(
                    #[allow(unused_mut, unused_assignments, reason = "only some keys have a default")]
                    let mut default: Option<serde_json::Value> = None;
                    $(
                        default = Some(serde_json::json!($default));
                        $(
                            let given = $on.as_ref().and_then($crate::field::Field::write);
                            let wanted: &[&str] = &[$($value)?];
                            if given.is_none() || wanted.iter().any(|value| given.as_ref() != Some(&(*value).into())) {
                                default = None;
                            }
                        )?
                        $(
                            if $not.as_ref().and_then($crate::field::Field::write).is_some() {
                                default = None;
                            }
                        )?
                    )?
                    let $key = $crate::field::read_key::<$type>(entries, stringify!($key), &known, default, mark, report);
                )*
                Some(Self { $($key: $key?,)* })
            }
            fn write_table(&self, map: &mut serde_json::Map<String, serde_json::Value>) {
                $(if let Some(value) = $crate::field::Field::write(&self.$key) {
                    map.insert(stringify!($key).to_owned(), value);
                })*
            }
            fn properties() -> serde_json::Map<String, serde_json::Value> {
                let mut map = serde_json::Map::new();
                $({
                    #[allow(unused_mut, reason = "only some keys have a default")]
                    let mut schema = <$type as $crate::field::Field>::schema();
                    let condition = $crate::field::condition(
                        &[$($(stringify!($on) $(, $value)?)?)?],
                        &[$($(stringify!($not))?)?],
                    );
                    let default = [$(concat!(" Default: ", $otherwise, "."),)? ""][0];
                    let applies = if condition.is_empty() { String::new() } else { format!(" The default applies{condition}.") };
                    schema["description"] = format!("{}{default}{applies}", concat!($($key_doc),+).trim()).into();
                    $(schema["default"] = serde_json::json!($default);)?
                    map.insert(stringify!($key).to_owned(), schema);
                })*
                map
            }
            fn required() -> Vec<&'static str> {
                let mut keys = Vec::new();
                $({
                    #[allow(unused_mut, unused_assignments, reason = "only some keys have a default")]
                    let mut optional = <$type as $crate::field::Field>::missing().is_some();
                    $(let _ = stringify!($default); optional = true;)?
                    if !optional {
                        keys.push(stringify!($key));
                    }
                })*
                keys
            }
            fn keys() -> &'static [&'static str] {
                &[$(stringify!($key)),*]
            }
            fn key_docs() -> Vec<$crate::field::KeyDoc> {
                let mut docs = Vec::new();
                $({
                    let below = <$type as $crate::field::Field>::key_docs_below();
                    let name = stringify!($key);
                    if below.is_empty() {
                        let condition = $crate::field::condition(
                            &[$($(stringify!($on) $(, $value)?)?)?],
                            &[$($(stringify!($not))?)?],
                        );
                        #[allow(unused_mut, unused_assignments, reason = "only some keys have a default")]
                        let mut default = $crate::field::absent::<$type>();
                        $(default = $otherwise.to_owned();)?
                        $(default = $crate::field::plain(&serde_json::json!($default)) + &condition;)?
                        #[allow(unused_mut, unused_assignments, reason = "only some keys name their unit")]
                        let mut unit = <$type as $crate::field::Field>::unit();
                        $(unit = $unit.to_owned();)?
                        docs.push($crate::field::KeyDoc {
                            name: name.to_owned(),
                            unit,
                            default,
                            doc: concat!($($key_doc),+).trim(),
                            source: [$($source,)? ""][0],
                        });
                    }
                    docs.extend(below.into_iter().map(|doc| doc.within(name)));
                })*
                docs
            }
            fn any_amount(&self, wanted: fn($crate::quantity::Amount) -> bool) -> bool {
                false $(|| $crate::field::Field::any_amount(&self.$key, wanted))*
            }
        }

        impl $crate::field::Field for $name {
            const IS_TABLE: bool = true;

            fn read(node: &$crate::tree::Node, report: &mut $crate::report::Report) -> Option<Self> {
                let keys = <Self as $crate::field::Section>::keys().join(", ");
                let entries = $crate::field::entries(node, &format!("keys of this section: {keys}"), report)?;
                <Self as $crate::field::Section>::read_table(entries, &[], &node.mark, report)
            }
            fn write(&self) -> Option<serde_json::Value> {
                let mut map = serde_json::Map::new();
                $crate::field::Section::write_table(self, &mut map);
                Some(map.into())
            }
            fn schema() -> serde_json::Value {
                $crate::field::object_schema::<Self>()
            }
            fn key_docs_below() -> Vec<$crate::field::KeyDoc> {
                <Self as $crate::field::Section>::key_docs()
            }
            fn any_amount(&self, wanted: fn($crate::quantity::Amount) -> bool) -> bool {
                $crate::field::Section::any_amount(self, wanted)
            }
        }
    };
}

/// A table whose key `kind` determines its other keys.
macro_rules! tagged {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $kind_doc:literal])+ $kind:literal => $variant:ident($section:ty),)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Debug)]
        #[allow(clippy::large_enum_variant, reason = "a scenario has few of them, and none is moved about")]
        pub enum $name { $($(#[doc = $kind_doc])+ $variant($section),)+ }

        impl $name {
            /// Names of all kinds.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// JSON Schema of the kinds except those in `left_out`.
            pub(crate) fn schema_without(left_out: &[&str]) -> serde_json::Value {
                let mut kinds: Vec<serde_json::Value> = Vec::new();
                $(if !left_out.contains(&$kind) {
                    let mut schema = $crate::field::object_schema::<$section>();
                    schema["title"] = $kind.into();
                    schema["description"] = concat!($($kind_doc),+).trim().into();
                    schema["required"].as_array_mut().expect("an array").insert(0, "kind".into());
                    schema["properties"]["kind"] = serde_json::json!({ "const": $kind });
                    kinds.push(schema);
                })+
                serde_json::json!({ "oneOf": kinds })
            }

            fn keys_by_kind() -> Vec<(&'static str, &'static [&'static str])> {
                vec![$(($kind, <$section as $crate::field::Section>::keys())),+]
            }
        }

        impl $crate::field::Field for $name {
            fn read(node: &$crate::tree::Node, report: &mut $crate::report::Report) -> Option<Self> {
                use $crate::tree::Value;
                let entries = $crate::field::entries(node, &format!("as in {{ kind = \"{}\" }}", Self::KINDS[0]), report)?;
                let Some(kind) = entries.iter().find(|e| e.key == "kind") else {
                    report.error(&node.mark, "missing key `kind`", format!("known kinds: {}", Self::KINDS.join(", ")));
                    return None;
                };
                match &kind.node.value {
                    $(Value::Text(text) if text == $kind => {
                        let entries = &$crate::field::refuse_foreign(entries, $kind, &Self::keys_by_kind(), report);
                        <$section as $crate::field::Section>::read_table(entries, &["kind"], &node.mark, report).map(Self::$variant)
                    })+
                    Value::Text(text) => {
                        report.error(&kind.node.mark, format!("unknown kind \"{text}\""), $crate::field::suggest(text, Self::KINDS));
                        None
                    }
                    other => {
                        report.error(&kind.node.mark, format!("expected a kind, found {}", other.what()), format!("known kinds: {}", Self::KINDS.join(", ")));
                        None
                    }
                }
            }
            fn write(&self) -> Option<serde_json::Value> {
                let mut map = serde_json::Map::new();
                match self {
                    $(Self::$variant(section) => {
                        map.insert("kind".to_owned(), $kind.into());
                        $crate::field::Section::write_table(section, &mut map);
                    })+
                }
                Some(map.into())
            }
            fn schema() -> serde_json::Value {
                Self::schema_without(&[])
            }
            fn key_docs_of(kind: &str) -> Option<Vec<$crate::field::KeyDoc>> {
                match kind {
                    $($kind => Some(<$section as $crate::field::Section>::key_docs()),)+
                    _ => None,
                }
            }
            fn any_amount(&self, wanted: fn($crate::quantity::Amount) -> bool) -> bool {
                match self {
                    $(Self::$variant(section) => $crate::field::Section::any_amount(section, wanted),)+
                }
            }
        }
    };
}

/// Names for the values of an enumeration, which is declared here or elsewhere.
macro_rules! choices {
    ($type:ty { $($name:literal => $variant:path,)+ }) => {
        impl $crate::field::Field for $type {
            fn read(node: &$crate::tree::Node, report: &mut $crate::report::Report) -> Option<Self> {
                $crate::field::choice(node, "value", &[$(($name, $variant)),+], report)
            }
            fn write(&self) -> Option<serde_json::Value> {
                match self { $($variant => Some($name.into()),)+ }
            }
            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": [$($name),+] })
            }
        }
    };
}

pub(crate) use {choices, section, tagged};
