//! Any `--set` arguments.

use shoal_scenario::Document;

const BASE: &str = r#"
duration = "10 s"
warmup = "1 s"
[bottleneck]
rate = "10 Mbit/s"
buffer = "4 BDP"
aqm = { kind = "dual-red", reno = { min = "0.5 BDP", max = "1.5 BDP" }, dctcp = { threshold = "0.5 BDP" } }
[[flows]]
name = "reno"
cc = "reno"
rtt = "25 ms"
[[flows]]
name = "dctcp"
cc = "dctcp"
rtt = "25 ms"
cc_options = { gain = { shift = 4 } }
start = { uniform = ["0 s", "1 s"] }
"#;

/// One `key=value` a line, applied to a base scenario: never panics, and what is accepted resolves.
///
/// # Panics
/// If that does not hold.
pub fn scenario_override(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let arguments: Vec<(String, String)> = text
        .lines()
        .take(8)
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    match Document::with_overrides(BASE, "fuzz.toml", &arguments) {
        Ok(document) => {
            document.resolve(Some(1)).expect("what was read was checked");
            let again =
                Document::from_json(&document.to_json(), "json").expect("what was written can be read");
            assert_eq!(again, document);
        }
        Err(errors) => assert!(!errors.0.is_empty() && !errors.to_string().is_empty()),
    }
}
