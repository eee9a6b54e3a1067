//! The JSON Schema tells the truth about what is read and written.

use serde_json::{Map, Value as Json};
use shoal_scenario::{Document, json_schema, shared_json_schema};

const MINIMAL: &str = r#"
duration = "10 s"
bottleneck.rate = "10 Mbit/s"
bottleneck.aqm = { kind = "dual-red", reno = { min = "1 packet", max = "3 packets" }, dctcp.threshold = "2 packets" }
flows = [{ cc = "dctcp", rtt = "25 ms" }]
"#;

/// Walks `value` along `schema` and calls `visit` for each key with its description of the schema.
fn visit(value: &Json, schema: &Json, path: &str, each: &mut dyn FnMut(&str, &Json, &Json)) {
    let schema = match (schema.get("oneOf").and_then(Json::as_array), value.get("kind")) {
        (Some(kinds), Some(kind)) => kinds
            .iter()
            .find(|s| s["properties"]["kind"]["const"] == *kind)
            .unwrap_or_else(|| panic!("{path}: no kind {kind}")),
        _ => schema,
    };
    match value {
        Json::Object(map) if schema.get("properties").is_some() => {
            for (key, value) in map {
                let path = format!("{path}.{key}");
                let known =
                    schema["properties"].get(key).unwrap_or_else(|| panic!("{path} is not in the schema"));
                each(&path, value, known);
                visit(value, known, &path, each);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| visit(item, &schema["items"], path, each)),
        _ => {}
    }
}

#[test]
fn every_written_key_is_in_the_schema_with_its_default() {
    let written = Document::parse(MINIMAL, "test.toml").unwrap().to_json();
    let mut defaults = Map::new();
    visit(&written, &json_schema(), "", &mut |path, value, schema| {
        if let Some(default) = schema.get("default").filter(|default| !default.is_object()) {
            // What follows from other keys is written as what it came to: half of 25 ms, rounded up.
            let expected = if path == ".trace.series" { &Json::from("20 ms") } else { default };
            assert_eq!(value, expected, "{path}");
            assert_eq!(default == "auto", path == ".trace.series", "{path}");
            defaults.insert(path.to_owned(), value.clone());
        }
    });
    assert_eq!(defaults[".bottleneck.buffer"], "4 BDP");
    assert!(defaults.len() > 15, "{defaults:?}");
}

#[test]
fn every_key_has_a_description() {
    fn check(schema: &Json, path: &str, count: &mut usize) {
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            let described = inner["description"].as_str().is_some_and(|text| text.ends_with('.'));
            assert!(described || inner.get("const").is_some() || path.contains(".gain."), "{path}: {inner}");
            *count += 1;
            check(inner, &path, count);
            check(&inner["items"], &path, count);
            for one in inner["oneOf"].as_array().into_iter().flatten() {
                check(one, &path, count);
            }
        }
    }
    let mut count = 0;
    check(&json_schema(), "", &mut count);
    assert!(count > 100, "{count}");
}

#[test]
fn what_must_be_there_is_said() {
    let schema = json_schema();
    assert_eq!(schema["required"], serde_json::json!(["duration", "flows"]));
    assert_eq!(schema["properties"]["flows"]["items"]["required"], serde_json::json!(["cc"]));
    assert_eq!(schema["additionalProperties"], false);
}

/// `node` with each reference replaced by what it refers to.
fn expanded(node: &Json, definitions: &Json) -> Json {
    match node {
        Json::Object(map) => match map.get("$ref").and_then(Json::as_str) {
            Some(reference) => {
                assert_eq!(map.len(), 1, "what stands beside a reference is ignored by editors: {node}");
                let name = reference.strip_prefix("#/$defs/").expect("a reference to a definition");
                expanded(&definitions[name], definitions)
            }
            None => map.iter().map(|(key, inner)| (key.clone(), expanded(inner, definitions))).collect(),
        },
        Json::Array(items) => items.iter().map(|item| expanded(item, definitions)).collect(),
        _ => node.clone(),
    }
}

#[test]
fn the_schema_for_editors_says_the_same_with_each_law_described_once() {
    let mut shared = shared_json_schema();
    let definitions = shared.as_object_mut().unwrap().remove("$defs").unwrap();
    assert_eq!(expanded(&shared, &definitions), json_schema());
    assert_eq!(definitions["dualpi2"]["title"], "dualpi2");
    let text = shared.to_string() + &definitions.to_string();
    assert_eq!(text.matches("as in Linux and RFC 9332").count(), 1);
    assert!(text.len() * 3 < json_schema().to_string().len(), "{} bytes", text.len());
    for name in definitions.as_object().unwrap().keys() {
        assert!(text.matches(&format!("\"#/$defs/{name}\"")).count() > 1, "{name} is referred to once");
    }
}
