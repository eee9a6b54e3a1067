//! What is said of a key is what it does: the default that `shoal describe` and the JSON Schema name is the one in
//! effect.

use serde_json::{Value, json};
use shoal_aqm::DOCS as QUEUES;
use shoal_cc::PRESETS;
use shoal_scenario::{Document, KeyDoc, json_schema, keys_of};
use shoal_tcp::DOCS as STACKS;
use std::collections::BTreeSet;

/// What a law needs, in each of the forms that have defaults of their own.
const FORMS: &[(&str, &[&str])] = &[
    ("fifo", &[""]),
    ("step", &["threshold = '20 packets'"]),
    ("red", &["min = '10 kB', max = '30 kB'"]),
    ("linux-red", &["min = '10 kB'"]),
    (
        "dual-red",
        &[
            "reno = { min = '10 kB', max = '30 kB' }, dctcp = { threshold = '20 packets' }",
            "reno = { min = '10 kB', max = '30 kB' }, dctcp = { min = '10 kB', max = '30 kB' }",
        ],
    ),
    ("module", &["name = 'mine'"]),
    ("open-loop", &["", "mark = 0.1, spacing = 'bursts', on = '1 ms'"]),
    ("coupled", &["saturation = '100 ms'", "reno_slope = 3"]),
    (
        "dualq-coupled",
        &[
            "saturation = '100 ms'",
            "reno_slope = 3",
            "saturation = '100 ms', scheduler = 'weighted'",
            "saturation = '100 ms', scheduler = 'time-shifted'",
            "saturation = '100 ms', protection = {}",
        ],
    ),
    (
        "dualpi2",
        &[
            "",
            "native = 'ramp'",
            "native = 'docsis-ramp', decide = 'enqueue'",
            "scheduler = 'time-shifted'",
            "protection = {}",
        ],
    ),
    ("codel", &[""]),
    ("fq-codel", &["", "classifier = 'flow'"]),
    ("pie", &[""]),
    (
        "gred",
        &["not_ect = { min = '10 kB', max = '30 kB' }, ect = { min = '10 kB', max = '30 kB', ecn = true }"],
    ),
    ("pi2", &[""]),
    (
        "wred",
        &[
            "mark = { min = '10 kB', max = '30 kB' }, drop = { min = '10 kB', max = '30 kB' }, drop_ect = { min = '10 \
             kB', max = '30 kB' }",
        ],
    ),
    ("classes", &["queues = [{ name = 'all' }]"]),
];

/// The law of a queue as the resolved scenario writes it.
fn resolved(kind: &str, keys: &str) -> Value {
    let comma = if keys.is_empty() { "" } else { ", " };
    let text = format!(
        "duration = '10 s'\nbottleneck = {{ rate = '10 Mbit/s', aqm = {{ kind = '{kind}'{comma}{keys} }} }}\nflows = \
         [{{ cc = 'reno', rtt = '25 ms' }}]\n"
    );
    let document = Document::parse(&text, "keys.toml").unwrap_or_else(|errors| panic!("{kind}: {errors}"));
    document.to_json()["bottleneck"]["aqm"].clone()
}

fn at<'v>(table: &'v Value, path: &str) -> &'v Value {
    // Of a list of tables the first one.
    path.split('.').fold(table, |table, key| if table.is_array() { &table[0][key] } else { &table[key] })
}

fn plain(value: &Value) -> String {
    if let Value::Object(table) = value {
        let keys: Vec<_> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        return format!("{{ {} }}", keys.join(", "));
    }
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The node of a key in the JSON Schema.
fn schema_of(properties: &Value, path: &str) -> Value {
    match path.split_once('.') {
        Some((table, key)) => {
            let list = &properties[table]["items"];
            schema_of(&if list.is_null() { &properties[table] } else { list }["properties"], key)
        }
        None => properties[path].clone(),
    }
}

fn schema_of_law(kind: &str) -> Value {
    let schema = json_schema();
    let laws =
        schema["properties"]["bottleneck"]["properties"]["aqm"]["oneOf"].as_array().expect("laws").clone();
    laws.into_iter().find(|law| law["title"] == kind).unwrap_or_else(|| panic!("{kind} is not in the schema"))
}

fn own_keys(doc: &shoal_units::ModelDoc) -> Vec<KeyDoc> {
    keys_of(doc).into_iter().filter(|key| key.name != "buffer").collect()
}

/// Defaults in words: they depend on what else is there.
fn in_words(key: &KeyDoc, schema: &Value) -> bool {
    !key.default.is_empty() && schema["default"].is_null()
}

#[test]
fn the_default_of_every_key_of_every_law_is_the_one_in_effect() {
    assert_eq!(
        FORMS.iter().map(|(kind, _)| *kind).collect::<BTreeSet<_>>(),
        QUEUES.iter().map(|doc| doc.name).collect()
    );
    let mut seen = 0;
    for doc in QUEUES {
        let schema = schema_of_law(doc.name);
        let (_, forms) = FORMS.iter().find(|(kind, _)| *kind == doc.name).expect("forms");
        for key in own_keys(doc) {
            let node = schema_of(&schema["properties"], &key.name);
            assert!(!node.is_null(), "{}.{} is not in the schema", doc.name, key.name);
            if in_words(&key, &node) || node["default"].is_null() {
                continue;
            }
            // Described with its condition behind it, if it has one.
            assert!(
                key.default.starts_with(&plain(&node["default"])),
                "{}.{}: {}",
                doc.name,
                key.name,
                key.default
            );
            let is_conditional = key.default != plain(&node["default"]);
            // Forms without an optional table have none of its keys.
            let has_table =
                |law: &Value| key.name.split_once('.').is_none_or(|(table, _)| !law[table].is_null());
            let laws = forms.iter().map(|form| resolved(doc.name, form)).filter(has_table);
            let values: Vec<_> = laws.map(|law| at(&law, &key.name).clone()).collect();
            let is_default = |value: &Value| {
                *value == node["default"] || value.as_f64() == node["default"].as_f64() && value.is_number()
            };
            // Written by a form itself: nothing to say. Else each form has it, or, under a condition, none or it.
            let written = forms
                .iter()
                .any(|form| form.contains(&format!("{} = ", key.name.rsplit('.').next().expect("a name"))));
            assert!(values.iter().any(is_default) || written, "{}.{}: {values:?}", doc.name, key.name);
            if !is_conditional && !written {
                assert!(values.iter().all(is_default), "{}.{}: {values:?}", doc.name, key.name);
            }
            if is_conditional && !written {
                assert!(
                    values.iter().all(|value| value.is_null() || is_default(value)),
                    "{}.{}: {values:?}",
                    doc.name,
                    key.name
                );
            }
            seen += 1;
        }
    }
    // A rename must not empty this test.
    assert!(seen > 70, "{seen}");
}

#[test]
fn every_default_of_a_controller_is_that_of_its_preset() {
    for preset in PRESETS {
        let text = format!(
            "duration = '10 s'\nbottleneck = {{ rate = '10 Mbit/s' }}\nflows = [{{ cc = '{}', rtt = '25 ms' }}]\n",
            preset.name
        );
        let document = Document::parse(&text, "keys.toml").expect("a scenario");
        let options = &document.to_json()["flows"][0]["cc_options"];
        let keys = keys_of(&preset.doc);
        assert!(!keys.is_empty());
        for key in keys {
            // The gain is a table: `{ shift = 4 }`.
            let written = match &options[&key.name] {
                Value::Object(table) => {
                    let (name, value) = table.iter().next().expect("a key");
                    format!("{{ {name} = {value} }}")
                }
                other => plain(other),
            };
            assert_eq!(key.default, written, "{}.{}", preset.name, key.name);
        }
    }
}

#[test]
fn every_key_is_described_once() {
    let controllers = PRESETS.iter().map(|preset| preset.doc);
    for doc in controllers.chain(QUEUES.iter().copied()).chain(STACKS.iter().copied()) {
        let keys = keys_of(&doc);
        let names: BTreeSet<_> = keys.iter().map(|key| &key.name).collect();
        assert_eq!(names.len(), keys.len(), "{}", doc.name);
        for key in &keys {
            assert!(![key.unit.as_str(), key.doc, key.source].contains(&""), "{}: {key:?}", doc.name);
            assert!(key.doc.ends_with('.'), "{}: {key:?}", doc.name);
            assert!(!key.doc.contains("Default:"), "{}: {key:?}", doc.name);
        }
    }
}

#[test]
fn a_condition_is_said() {
    let dualpi2 = QUEUES.iter().find(|doc| doc.name == "dualpi2").expect("a queue");
    let keys = own_keys(dualpi2);
    let step = keys.iter().find(|key| key.name == "step_threshold").expect("a key");
    assert_eq!(step.default, "1 ms with native = \"step\"");
    let node = schema_of(&schema_of_law("dualpi2")["properties"], "step_threshold");
    assert_eq!(node["default"], json!("1 ms"));
    assert!(
        node["description"]
            .as_str()
            .is_some_and(|text| text.ends_with("The default applies with native = \"step\"."))
    );
}
