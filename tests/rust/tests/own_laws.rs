//! Laws from files: what a law decides is what the flow does, and what goes wrong has a name, a place and an end.

use shoal_scenario::{Document, Experiment, Files, GivenFile, GivenLaw, Laws};
use shoal_sim::{Options, Outcome};
use shoal_units::LawFailure;
use std::panic::{AssertUnwindSafe, catch_unwind};

const SUMMARY: &str = r#"{ "abi": 1, "kind": "controller", "summary": "A test's" }"#;

/// Words are eight bytes each, from this address on: cwnd, ssthresh and so on.
const BLOCK: u32 = 1024;

/// A module with this description and these functions.
fn module(description: &str, functions: &str) -> String {
    let data = description.replace('"', "\\\"").replace('\n', " ");
    format!(
        r#"(module (memory (export "memory") 1)
        (data (i32.const 4096) "{data}\00")
        (func (export "shoal_io") (result i32) i32.const {BLOCK})
        (func (export "shoal_describe") (result i32) i32.const 4096)
        {functions})"#
    )
}

fn function(name: &str, body: &str) -> String {
    format!(r#"(func ${name} (export "{name}") (result i32) {body})"#)
}

/// Sets a word to a number.
fn set(word: u32, value: i64) -> String {
    format!("i32.const {} i64.const {value} i64.store", BLOCK + 8 * word)
}

const GROW: &str = "i32.const 1024 i32.const 1024 i64.load i64.const 1 i64.add i64.store i32.const 0";
const HALVE: &str =
    "i32.const 1032 i32.const 1024 i64.load i64.const 1 i64.shr_u i64.const 2 i64.add i64.store i32.const 0";

/// Slow start for ever, and half the window on a loss.
fn plain() -> String {
    module(SUMMARY, &(function("on_growth", GROW) + &function("on_loss", HALVE)))
}

/// A law that does this when its window may grow.
fn growing(body: &str) -> String {
    module(SUMMARY, &(function("on_growth", &format!("{body} i32.const 0")) + &function("on_loss", HALVE)))
}

fn document(law: &str, options: &str) -> Result<Document, String> {
    let text = format!(
        r#"
        duration = "3 s"
        bottleneck = {{ rate = "10 Mbit/s", buffer = "40 packets", aqm = {{ kind = "fifo" }} }}
        flows = [
            {{ cc = "file:mine.wasm", name = "mine", rtt = "20 ms", count = 2, cc_options = {{ {options} }} }},
            {{ cc = "reno", rtt = "20 ms" }},
        ]
        "#
    );
    let controller = shoal_plugin::controller("file:mine.wasm", law.as_bytes());
    let file = GivenFile { file: "mine.wasm".into(), sha256: "0".into() };
    let queue = shoal_plugin::queue("file:mine.wasm", law.as_bytes()).map(Ok);
    let given = GivenLaw { simulator: Some(file), python: None, kernel: None, controller, queue };
    let mut files = Files::default();
    files.laws.insert("file:mine.wasm".into(), given);
    Document::with_files(&text, "test.toml", &[], files).map_err(|errors| errors.to_string())
}

fn experiment(law: &str) -> Experiment {
    let document = document(law, "").unwrap_or_else(|errors| panic!("{errors}"));
    document.resolve(None).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(experiment: &Experiment) -> Result<Outcome, LawFailure> {
    let run = || shoal_sim::run(experiment, Options::default()).expect("nobody stops the run");
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| *panic.downcast().expect("a failure of a law"))
}

/// Goodput of both flows of the law together.
fn goodput_bps(experiment: &Experiment) -> f64 {
    let outcome = run(experiment).unwrap_or_else(|failure| panic!("{failure}"));
    outcome.measured.groups[0].flows.iter().filter_map(|flow| flow.goodput_bps).sum()
}

fn failure(law: &str) -> LawFailure {
    run(&experiment(law)).expect_err("the law fails")
}

#[test]
fn a_law_decides_and_its_run_is_reproducible() {
    let experiment = experiment(&plain());
    let shown = |outcome: &Outcome| format!("{:?}", outcome.measured.groups);
    let first = run(&experiment).unwrap();
    assert!(first.bottlenecks[0].dropped > 0, "it grows until packets are lost");
    assert_eq!(shown(&first), shown(&run(&experiment).unwrap()));
}

/// What a law may do when its window may grow, and what is said of it.
const HOSTILE: &[(&str, &str)] = &[
    ("(loop $again br $again)", "did not end within 5000000 instructions"),
    ("unreachable", "it stopped itself (unreachable)"),
    ("i32.const 1 i32.const 0 i32.div_u drop", "it divided by zero"),
    ("i32.const -2147483648 i32.const -1 i32.div_s drop", "a division overflowed"),
    ("i32.const -16 i64.const 1 i64.store", "it reached beyond its memory"),
    ("i32.const 65535 memory.grow drop", "it asked for more than 16 MiB of memory"),
    ("call $on_growth drop", "its calls are too deep"),
    ("f64.const nan i32.trunc_f64_u drop", "it made an integer of what is no number"),
];

#[test]
fn whatever_stops_a_law_is_named_with_flow_and_packet() {
    for (body, expected) in HOSTILE {
        let failure = failure(&growing(body));
        assert!(failure.what.contains(expected), "{body}: {failure}");
        let text = failure.to_string();
        assert!(text.starts_with("the law `file:mine.wasm` of flow "), "{text}");
        assert!(text.contains("(`mine`) failed at packet "), "{text}");
    }
}

#[test]
fn answers_that_are_no_windows_are_refused() {
    for (word, value, expected) in [
        (0, 0, "it answered cwnd = 0, which is not from 1 to 4294967295"),
        (0, -5, "it answered cwnd = -5,"),
        (0, 1 << 32, "it answered cwnd = 4294967296,"),
        (1, 0, "it answered ssthresh = 0,"),
        (2, -1, "it answered cwnd_cnt = -1,"),
        (5, i64::MAX, "it answered pacing_bytes_per_s = 9223372036854775807, more than"),
        (6, -1, "it answered pacing_burst_packets = -1,"),
        (8, 2f64.to_bits().cast_signed(), "it answered alpha = 2,"),
        (8, f64::INFINITY.to_bits().cast_signed(), "it answered alpha = inf,"),
    ] {
        let failure = failure(&growing(&set(word, value)));
        assert!(failure.what.starts_with(expected), "word {word}: {failure}");
    }
    // Not a number is no estimate, which is an answer.
    assert!(run(&experiment(&growing(&set(8, f64::NAN.to_bits().cast_signed())))).is_ok());
}

#[test]
fn a_question_has_two_answers() {
    let ecn = function("on_ecn", "i32.const 7");
    let law = module(SUMMARY, &(function("on_growth", GROW) + &function("on_loss", HALVE) + &ecn));
    let with_ecn = law.replace(r#"\"summary\""#, r#"\"ecn\": \"dctcp\", \"summary\""#);
    assert!(run(&experiment(&law)).is_ok(), "without ECN nobody asks");
    let text = document(&with_ecn, "").unwrap();
    let marked = text.overridden(&[("bottleneck.aqm".into(), MARKING.into())], Laws::new()).unwrap();
    let failure = run(&marked.resolve(None).unwrap()).expect_err("the law fails");
    assert_eq!(failure.what, "`on_ecn` answered 7, which is neither 0 nor 1");
}

const MARKING: &str = r#"{ kind = "step", threshold = "5 packets" }"#;

#[test]
fn a_timer_is_called_when_it_is_due() {
    // A window of 1 packet; from the first ACK on a timer runs for a second, and makes it 10.
    let first = format!(
        "i32.const 0 i32.load i32.eqz (if (then {} i32.const 0 i32.const 1 i32.store \
         i32.const {} i32.const {} i64.load i64.const 1000000000000 i64.add i64.store)) i32.const 0",
        set(0, 1),
        BLOCK + 8 * 7,
        BLOCK + 8 * 13,
    );
    let functions = function("on_growth", &first) + &function("on_loss", HALVE);
    let without = goodput_bps(&experiment(&module(SUMMARY, &functions)));
    let timer = function("on_timer", &format!("{} i32.const 0", set(0, 10)));
    let with = goodput_bps(&experiment(&module(SUMMARY, &(functions + &timer))));
    // Two of the 2.7 s that are measured have a larger window.
    assert!(with > 2.5 * without, "{with} {without}");
}

#[test]
fn what_is_no_law_is_refused_in_words() {
    let refused = |bytes: &[u8]| shoal_plugin::controller("mine", bytes).unwrap_err();
    assert_eq!(refused(b""), "the file is empty");
    assert!(refused(b"MZ").starts_with("it is no WebAssembly: "), "{}", refused(b"MZ"));
    let of = |text: &str| refused(text.as_bytes());
    let clock = r#"(module (import "env" "clock" (func (result i64))))"#;
    assert!(of(clock).starts_with("it imports `env.clock`, and a law may import nothing"), "{}", of(clock));
    assert!(of(r#"(module (memory (export "memory") 65536))"#).contains("it does not start"));
    assert_eq!(of("(module)"), "it exports no memory called `memory`");
    assert_eq!(of(r#"(module (memory (export "memory") 1))"#), "it has no export `shoal_io`");
    let plain = plain();
    let beyond = plain.replace("i32.const 1024)", "i32.const 65530)");
    assert!(of(&beyond).contains("is not within its memory"), "{}", of(&beyond));
    let endless =
        plain.replace("(result i32) i32.const 4096)", "(result i32) (loop $again br $again) i32.const 0)");
    assert!(of(&endless).starts_with("`shoal_describe` failed: it did not end"), "{}", of(&endless));
    let start = plain.replace("(memory", "(func $s (loop $again br $again)) (start $s) (memory");
    assert!(of(&start).starts_with("it does not start: it did not end"), "{}", of(&start));
    let without = plain.replace("on_loss", "on_lose");
    assert_eq!(of(&without), "it has no function `on_loss`");
    let argument =
        plain.replace(r#"(export "on_loss") (result i32)"#, r#"(export "on_loss") (param i32) (result i32)"#);
    assert!(of(&argument).contains("`on_loss` is no function without arguments"), "{}", of(&argument));
}

#[test]
fn descriptions_are_checked() {
    let with = |description: &str| {
        let law = module(description, &(function("on_growth", GROW) + &function("on_loss", HALVE)));
        shoal_plugin::controller("mine", law.as_bytes()).unwrap_err()
    };
    let parameters =
        |text: &str| with(&format!(r#"{{ "abi": 1, "kind": "controller", "parameters": [{text}] }}"#));
    assert!(with("{").contains("its description is not what shoal expects"));
    assert!(with(r#"{ "abi": 1, "kind": "controller", "ecm": "l4s" }"#).contains("unknown field `ecm`"));
    assert!(with(r#"{ "abi": 2, "kind": "controller" }"#).contains("version 2 of the interface"));
    assert!(with(r#"{ "abi": 1, "kind": "queue" }"#).contains("the law of a queue"));
    let gain = r#"{ "name": "gain", "default": 0.5, "least": 0, "most": 1 }"#;
    assert_eq!(parameters(&format!("{gain}, {gain}")), "it declares the parameter \"gain\" twice");
    assert!(parameters(&gain.replace("0.5", "2")).contains("2 is not from 0 to 1"));
    assert!(parameters(&gain.replace("gain", "Gain x")).contains("is no key"));
    assert!(parameters(&vec![gain; 17].join(",")).contains("17 parameters, more than 16"));
}

#[test]
fn parameters_are_keys_with_the_laws_own_checks() {
    let description = r#"{ "abi": 1, "kind": "controller", "parameters": [
        { "name": "window", "default": 5, "least": 1, "most": 100, "whole": true }] }"#;
    // A window of 13 is unlucky.
    let value = BLOCK + 8 * 56;
    let init = format!(
        "i32.const {value} f64.load f64.const 13 f64.eq (if (result i32) (then i32.const 5000) (else i32.const 0))"
    );
    let functions = function(
        "on_growth",
        &format!("i32.const {BLOCK} i32.const {value} f64.load i64.trunc_f64_u i64.store i32.const 0"),
    ) + &function("on_loss", HALVE)
        + &function("on_init", &init)
        + r#"(data (i32.const 5000) "13 is unlucky\00")"#;
    let law = module(description, &functions);
    let resolved = document(&law, "window = 7").unwrap();
    assert_eq!(resolved.to_json()["flows"][0]["cc_options"].to_string(), r#"{"window":7}"#);
    assert_eq!(resolved.to_json()["laws"]["file:mine.wasm"]["simulator_sha256"], "0");
    let refused = |options: &str| document(&law, options).unwrap_err();
    assert!(refused("window = 13").contains("13 is unlucky"), "{}", refused("window = 13"));
    assert!(refused("window = 101").contains("101 is not from 1 to 100"));
    assert!(refused("window = 2.5").contains("2.5 is not a whole number"));
    assert!(refused("windov = 5").contains("the law has no parameter \"windov\""));
    assert!(refused("window = \"x\"").contains("expected a number"), "{}", refused("window = \"x\""));
    // Other values are other windows, beside a Reno that fills the queue either way.
    let goodput = |options: &str| goodput_bps(&document(&law, options).unwrap().resolve(None).unwrap());
    let ratio = goodput("window = 8") / goodput("window = 2");
    assert!(ratio > 2.0, "{ratio}");
}
