//! Any document survives being written and read; no text makes the reader panic.

use proptest::prelude::*;
use shoal_scenario::Document;

fn quantity(
    units: &'static [&'static str],
    numbers: &'static [&'static str],
) -> impl Strategy<Value = String> {
    (prop::sample::select(numbers), prop::sample::select(units))
        .prop_map(|(number, unit)| format!("\"{number} {unit}\""))
}

fn time() -> impl Strategy<Value = String> {
    quantity(&["us", "ms", "s"], &["1", "0.5", "2.25", "10", "0.000125"])
}

fn room() -> impl Strategy<Value = String> {
    prop_oneof![
        quantity(&["packets", "MiB", "kB", "BDP"], &["10", "20", "300"]),
        quantity(&["BDP", "ms", "s"], &["1.5", "12.75"]),
        Just("\"unlimited\"".to_owned()),
    ]
}

fn slope() -> impl Strategy<Value = String> {
    (0.0..=1.0f64, 0.0001..=1.0f64, any::<bool>()).prop_map(|(p, w, gentle)| {
        format!("min = \"2 packets\", max = \"5 packets\", max_probability = {p:?}, weight = {w:?}, gentle = {gentle}")
    })
}

fn law() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("{ kind = \"fifo\" }".to_owned()),
        Just("{ kind = \"step\", threshold = \"3 packets\", decide = \"dequeue\" }".to_owned()),
        (slope(), any::<bool>()).prop_map(|(slope, ecn)| format!("{{ kind = \"red\", {slope}, ecn = {ecn}, spacing = \
                                                                  \"independent\" }}")),
        (slope(), slope()).prop_map(|(a, b)| format!("{{ kind = \"dual-red\", reno = {{ {a} }}, dctcp = {{ {b} }}, \
                                                      average = \"per-class\" }}")),
        Just("{ kind = \"linux-red\", min = \"3 kB\", ecn = true, harddrop = true, kernel = \"3.2\", burst = \"4 \
              packets\", limit = \"10 kB\" }".to_owned()),
    ]
}

fn group() -> impl Strategy<Value = String> {
    let cc = prop::sample::select(
        &["reno", "cubic", "dctcp", "dctcp-ikr", "dctcp-stanford", "dctcp-linux-3.18"][..],
    );
    let app = prop_oneof![
        Just("\"bulk\"".to_owned()),
        (1u32..1000, time()).prop_map(|(rounds, every)| format!(
            "{{ transfer = \"1.5 MB\", rounds = {rounds}, every = {every} }}"
        )),
        Just("{ constant_rate = \"64 kbit/s\" }".to_owned()),
        (time(), time()).prop_map(|(on, off)| format!("{{ on = {on}, off = {off} }}")),
    ];
    let start = prop_oneof![
        time(),
        (time(), time()).prop_map(|(every, first)| format!("{{ every = {every}, first = {first} }}")),
        Just("{ uniform = [\"0 s\", \"0.7 s\"] }".to_owned()),
    ];
    (cc, time(), 1u32..5, start, app, any::<(bool, bool)>()).prop_map(
        |(cc, rtt, count, start, app, (sack, delayed))| {
            format!(
                "cc = \"{cc}\", rtt = {rtt}, count = {count}, start = {start}, app = {app}, sack = {sack}, \
                 delayed_ack = {delayed}"
            )
        },
    )
}

fn scenario() -> impl Strategy<Value = String> {
    let groups = prop::collection::vec(group(), 1..4);
    let seed = 0u64..=i64::MAX as u64;
    (seed, room(), law(), groups, any::<bool>(), "\\PC{0,20}").prop_map(|(seed, buffer, law, groups, switches, title)| {
        let groups: Vec<String> =
            groups.iter().enumerate().map(|(index, group)| format!("{{ name = \"g{index}\", {group} }}")).collect();
        let title = title.replace(['\\', '"'], "'");
        let topology = if switches { "topology = { kind = \"dumbbell\", access_rate = \"2.5 Gbit/s\", switches = true \
                                      }" } else { "" };
        format!(
            "title = \"{title}\"\nduration = \"100 s\"\nseed = {seed}\nflows = [{}]\n{topology}\n[bottleneck]\nrate = \
             \"10 Mbit/s\"\nbuffer = {buffer}\nbdp_rtt = \"25 ms\"\naqm = {law}\n",
            groups.join(", ")
        )
    })
}

proptest! {
    #[test]
    fn written_and_read_back(text in scenario()) {
        // Some of them are refused for good reasons (a threshold above the buffer); the others must survive.
        let Ok(document) = Document::parse(&text, "test.toml") else { return Ok(()) };
        let json = document.to_json();
        let from_json = Document::from_json(&json, "json").unwrap_or_else(|e| panic!("{text}\n{e}"));
        prop_assert_eq!(&from_json, &document);
        prop_assert_eq!(from_json.to_json(), json);
        let toml = document.to_toml();
        let from_toml = Document::parse(&toml, "toml").unwrap_or_else(|e| panic!("{toml}\n{e}"));
        prop_assert_eq!(&from_toml, &document);
        prop_assert_eq!(from_toml.resolve(None).unwrap(), document.resolve(None).unwrap());
    }

    #[test]
    fn most_scenarios_are_accepted(texts in prop::collection::vec(scenario(), 20)) {
        // Guards the property above against testing nothing.
        let accepted = texts.iter().filter(|text| Document::parse(text, "test.toml").is_ok()).count();
        prop_assert!(accepted >= 5, "{accepted} of 20");
    }

    #[test]
    fn a_damaged_scenario_is_refused_or_read_but_never_panics(
        text in scenario(),
        at in any::<prop::sample::Index>(),
        junk in "\\PC{0,6}",
    ) {
        let at = at.index(text.len());
        prop_assume!(text.is_char_boundary(at));
        let damaged = format!("{}{junk}{}", &text[..at], text[at..].chars().skip(1).collect::<String>());
        if let Err(errors) = Document::parse(&damaged, "test.toml") {
            prop_assert!(!errors.0.is_empty());
            prop_assert!(errors.to_string().contains("error: "));
        }
    }

    #[test]
    fn no_set_argument_panics(key in "[a-z\\[\\]0-9.\"]{0,20}", value in "\\PC{0,20}") {
        let text = "duration = \"1 s\"\nbottleneck.rate = \"10 Mbit/s\"\nflows = [{ cc = \"reno\", rtt = \"25 ms\" \
                    }]\n";
        let _ = Document::with_overrides(text, "test.toml", &[(key, value)]);
    }
}

#[test]
fn a_huge_text_is_refused_unread() {
    let errors = Document::parse(&"# comment\n".repeat(200_000), "big.toml").unwrap_err();
    insta::assert_snapshot!(errors.to_string(), @r"
    error: the file has 2000000 bytes, more than 1048576
     --> big.toml:1:1
    hint: a scenario file is a few kilobytes; is this the right file?
    ");
}

#[test]
fn json_errors_point_into_the_printed_value() {
    let flow = serde_json::json!({ "cc": "reno", "rtt": 25, "ecn": null });
    let bottleneck = serde_json::json!({ "rate": "10 Mbit/s" });
    let json = serde_json::json!({ "duration": "10 s", "flows": [flow], "bottleneck": bottleneck });
    insta::assert_snapshot!(Document::from_json(&json, "scenario").unwrap_err().to_string(), @r#"
    error: a time needs a unit
     --> scenario:6:14
      |
    6 |       "rtt": 25
      |              ^^
    hint: write a string, as in "25 ms"
    "#);
}

#[test]
fn a_megabyte_of_mistakes_gives_a_hundred_errors() {
    let head = "duration = \"1 s\"\nbottleneck.rate = \"10 Mbit/s\"\n";
    let keys: String = (0..60_000).map(|n| format!("k{n} = 1\n")).collect();
    let syntax = "= =\n".repeat(200_000);
    let groups = "[[flows]]\ncc = \"x\"\n".repeat(40_000);
    for text in [format!("{head}{keys}"), syntax, format!("{head}{groups}")] {
        let errors = Document::parse(&text, "bad.toml").unwrap_err();
        assert_eq!(errors.0.len(), 100);
        assert!(errors.to_string().contains("(further ones are not shown)"));
    }
}
