//! What a table says of each of its keys.

use serde_json::Value as Json;

use super::Field;

/// One key of a table; `#[derive(Section)]` writes these down.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    doc: &'static str,
    source: &'static str,
    unit: Option<&'static str>,
    otherwise: Option<&'static str>,
    default: Option<fn() -> Json>,
    condition: Condition,
    of_type: TypeFacts,
}

/// What the type of a value says of a key.
struct TypeFacts {
    is_optional: fn() -> bool,
    schema: fn() -> Json,
    unit: fn() -> String,
    keys_below: fn() -> Vec<KeyDoc>,
}

/// When the default of a key applies.
enum Condition {
    Always,
    /// Another key has a value.
    When(&'static str),
    /// Another key has this value.
    WhenEqual(&'static str, &'static str),
    /// Another key has no value.
    Unless(&'static str),
}

impl Key {
    /// A key of type `T`, which is required unless the type or a default says otherwise.
    pub(crate) const fn of<T: Field>(name: &'static str, doc: &'static str) -> Self {
        let of_type = TypeFacts {
            is_optional: || T::missing().is_some(),
            schema: T::schema,
            unit: T::unit,
            keys_below: T::key_docs_below,
        };
        let condition = Condition::Always;
        Self { name, doc, source: "", unit: None, otherwise: None, default: None, condition, of_type }
    }

    /// Value of the absent key.
    pub(crate) const fn default(self, default: fn() -> Json) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The default applies if `key` has a value.
    pub(crate) const fn when(self, key: &'static str) -> Self {
        Self { condition: Condition::When(key), ..self }
    }

    /// The default applies if `key` has this value.
    pub(crate) const fn when_equal(self, key: &'static str, value: &'static str) -> Self {
        Self { condition: Condition::WhenEqual(key, value), ..self }
    }

    /// The default applies if `key` has no value.
    pub(crate) const fn unless(self, key: &'static str) -> Self {
        Self { condition: Condition::Unless(key), ..self }
    }

    /// What the absent key means, in words.
    pub(crate) const fn otherwise(self, words: &'static str) -> Self {
        Self { otherwise: Some(words), ..self }
    }

    /// What a number counts, instead of what the type says.
    pub(crate) const fn unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// Where the law has the key from.
    pub(crate) const fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// The default, if it applies; `referred` is the value of the key that the condition names.
    pub(super) fn default_with(&self, referred: Option<&Json>) -> Option<Json> {
        let applies = match self.condition {
            Condition::Always => true,
            Condition::When(_) => referred.is_some(),
            Condition::WhenEqual(_, value) => referred.is_some_and(|referred| referred == value),
            Condition::Unless(_) => referred.is_none(),
        };
        self.default.filter(|_| applies).map(|default| default())
    }

    /// Whether a table without the key is valid as far as the schema can tell.
    pub(super) fn is_optional(&self) -> bool {
        self.default.is_some() || (self.of_type.is_optional)()
    }

    /// JSON Schema of the value, with what is said of the key.
    pub(super) fn schema(&self) -> Json {
        let mut schema = (self.of_type.schema)();
        let otherwise = self.otherwise.map_or(String::new(), |words| format!(" Default: {words}."));
        let condition = match self.condition.in_words() {
            words if words.is_empty() => words,
            words => format!(" The default applies{words}."),
        };
        schema["description"] = format!("{}{otherwise}{condition}", self.doc).into();
        if let Some(default) = self.default {
            schema["default"] = default();
        }
        schema
    }

    /// Descriptions of the key and of those inside of its table; a table with fixed keys has none of its own.
    pub(super) fn docs(&self) -> Vec<KeyDoc> {
        let below = (self.of_type.keys_below)();
        if !below.is_empty() {
            return below.into_iter().map(|doc| doc.within(self.name)).collect();
        }
        let default = match (self.default, self.otherwise) {
            (Some(default), _) => plain(&default()) + &self.condition.in_words(),
            (None, Some(words)) => words.to_owned(),
            (None, None) if (self.of_type.is_optional)() => "not set".to_owned(),
            (None, None) => String::new(),
        };
        let unit = self.unit.map_or_else(self.of_type.unit, str::to_owned);
        vec![KeyDoc { name: self.name.to_owned(), unit, default, doc: self.doc, source: self.source }]
    }
}

impl Condition {
    /// The condition as the end of a sentence about the default; empty if it always applies.
    fn in_words(&self) -> String {
        match self {
            Self::Always => String::new(),
            Self::When(key) => format!(" with {key}"),
            Self::WhenEqual(key, value) => format!(" with {key} = \"{value}\""),
            Self::Unless(key) => format!(" without {key}"),
        }
    }
}

/// Description of a key for the reference and for `shoal describe`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyDoc {
    /// Name of the key, with the table in which it is: `reno.min`.
    pub name: String,
    /// Unit of the value, or the values that it can have.
    pub unit: String,
    /// Default as written in a scenario file, or in words; empty if the key is required or has no default.
    pub default: String,
    /// What the key does, in full sentences.
    pub doc: &'static str,
    /// Source of the key: section of an RFC, place in a paper, or kernel file; empty if it is this project's own.
    pub source: &'static str,
}

impl KeyDoc {
    /// The key as one of the table `name`.
    pub(crate) fn within(self, name: &str) -> Self {
        Self { name: format!("{name}.{}", self.name), ..self }
    }
}

/// A value in readable form: strings without quotes, tables as in a scenario file.
pub(crate) fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Object(table) => {
            let keys: Vec<_> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        other => other.to_string(),
    }
}
