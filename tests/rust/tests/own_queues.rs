//! Laws of queues from files: a law that decides as one of shoal's own gives its results, and what goes wrong has a
//! name, a place and an end.

use shoal_law::{PARAMETERS, QUEUE_WORD_DOCS};
use shoal_scenario::{Document, Experiment, Files, GivenFile, GivenLaw};
use shoal_sim::{Options, Outcome};
use shoal_units::LawFailure;
use std::panic::{AssertUnwindSafe, catch_unwind};

const SUMMARY: &str = r#"{ "abi": 1, "kind": "queue", "summary": "A test's", "parameters": [
    { "name": "threshold", "unit": "bytes", "default": 15000, "least": 0, "most": 1e9 }] }"#;

/// Address of a word by its name in C; `parameter` is the first parameter.
fn at(word: &str) -> usize {
    let place = QUEUE_WORD_DOCS.iter().position(|(name, _)| *name == word);
    1024 + 8 * place.unwrap_or_else(|| if word == "parameter" { PARAMETERS } else { panic!("{word}") })
}

fn load(word: &str) -> String {
    format!("i32.const {} i64.load", at(word))
}

fn set(word: &str, value: &str) -> String {
    format!("i32.const {} {value} i64.store", at(word))
}

/// A law of a queue whose functions have these bodies.
fn law(functions: &[(&str, &str)]) -> String {
    let data = SUMMARY.replace('"', "\\\"").replace('\n', " ");
    let functions = functions
        .iter()
        .map(|(name, body)| format!(r#"(func ${name} (export "{name}") (result i32) {body})"#));
    format!(
        r#"(module (memory (export "memory") 1)
        (data (i32.const 4096) "{data}\00")
        (func (export "shoal_io") (result i32) i32.const 1024)
        (func (export "shoal_describe") (result i32) i32.const 4096)
        {})"#,
        functions.collect::<String>()
    )
}

/// Answers 1 for an ECN-capable packet and 2 for another if this condition holds, and 0 if it does not.
fn signal_if(condition: &str, reason: u32) -> String {
    let ecn = load("ecn");
    let reason = set("reason", &format!("i64.const {reason}"));
    format!(
        "{reason} {condition} (if (result i32) (then i32.const 2 i32.const 1 {ecn} i64.eqz select) \
         (else i32.const 0))"
    )
}

/// Whether what waits, with this packet, has more bytes than the parameter says.
fn is_above_threshold() -> String {
    let (waiting, size) = (load("waiting_bytes"), load("size"));
    format!("{waiting} {size} i64.add i32.const {} f64.load i64.trunc_f64_u i64.gt_u", at("parameter"))
}

fn resolved(law: &str, aqm: &str) -> Result<Experiment, String> {
    let text = format!(
        r#"
        duration = "4 s"
        seed = 5
        bottleneck = {{ rate = "10 Mbit/s", buffer = "40 packets", aqm = {{ {aqm} }} }}
        flows = [{{ cc = "dctcp", rtt = "20 ms" }}, {{ cc = "cubic", ecn = "off", rtt = "20 ms" }}]
        "#
    );
    let (name, file) = ("file:mine.wasm", GivenFile { file: "mine.wasm".into(), sha256: "0".into() });
    let controller = shoal_plugin::controller(name, law.as_bytes());
    let queue = shoal_plugin::queue(name, law.as_bytes()).map(Ok);
    let given = GivenLaw { simulator: Some(file), python: None, kernel: None, controller, queue };
    let mut files = Files::default();
    files.laws.insert(name.into(), given);
    let document = Document::with_files(&text, "test.toml", &[], files);
    document.and_then(|document| document.resolve(None)).map_err(|errors| errors.to_string())
}

const MINE: &str = r#"kind = "module", name = "file:mine.wasm""#;

fn run(law: &str, aqm: &str) -> Result<Outcome, LawFailure> {
    let experiment = resolved(law, aqm).unwrap_or_else(|errors| panic!("{errors}"));
    let run = || shoal_sim::run(&experiment, Options::default()).expect("nobody stops the run");
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| *panic.downcast().expect("a failure of a law"))
}

/// All that a run measured, in words.
fn measured(law: &str, aqm: &str) -> String {
    let outcome = run(law, aqm).unwrap_or_else(|failure| panic!("{failure}"));
    format!("{:?} {:?}", outcome.measured, outcome.bottlenecks)
}

fn failure(functions: &[(&str, &str)]) -> String {
    run(&law(functions), MINE).expect_err("the law fails").to_string()
}

#[test]
fn a_step_gives_the_results_of_the_step_in_shoal() {
    for (call, decide) in [("on_arrival", "enqueue"), ("on_departure", "dequeue")] {
        let law = law(&[(call, &signal_if(&is_above_threshold(), 1))]);
        for threshold in [15_000, 30_000] {
            let mine = measured(&law, &format!("{MINE}, parameters = {{ threshold = {threshold} }}"));
            let step = format!(
                r#"kind = "step", decide = "{decide}", threshold = "{threshold} B", drop_threshold = "{threshold} B""#
            );
            assert_eq!(mine, measured(&law, &step), "{decide} {threshold}");
        }
    }
}

#[test]
fn random_draws_are_those_of_a_law_of_shoal() {
    // A draw for each packet, whose upper half is compared with p = 1/64 of 2^32.
    let (random, draws) = (load("random_0"), set("draws", "i64.const 1"));
    let condition = format!("{draws} {random} i64.const 32 i64.shr_u i64.const 67108864 i64.lt_u");
    let law = law(&[("on_arrival", &signal_if(&condition, 2))]);
    let mine = measured(&law, MINE);
    assert_eq!(mine, measured(&law, r#"kind = "open-loop", mark = 0.015625, drop = 0.015625"#));
    // The check is one: half the probability gives other results.
    assert_ne!(mine, measured(&law, r#"kind = "open-loop", mark = 0.0078125, drop = 0.0078125"#));
}

#[test]
fn a_timer_runs_once_for_each_time_that_it_is_set() {
    // Every 50 ms the next packet that arrives is dropped: a byte at address 8 says so.
    let again = set("timer_ps", &format!("{} i64.const 50000000000 i64.add", load("now_ps")));
    let init = format!("{again} i32.const 0");
    let every = format!("{again} i32.const 8 i32.const 1 i32.store8 i32.const 0");
    let arrival = "i32.const 8 i32.load8_u (if (result i32) (then i32.const 8 i32.const 0 i32.store8 i32.const 2) \
                   (else i32.const 0))";
    let law = law(&[("on_init", &init), ("on_timer", &every), ("on_arrival", arrival)]);
    let outcome = run(&law, MINE).unwrap_or_else(|failure| panic!("{failure}"));
    let early = outcome.bottlenecks[0].dropped_by.early;
    // 3.6 s are measured.
    assert!((71..=73).contains(&early), "{early}");
}

#[test]
fn whatever_stops_a_law_is_named_with_the_link() {
    let past = set("timer_ps", &load("now_ps"));
    let half = format!("i32.const {} f64.const 1.5 f64.store i32.const 0", at("probability"));
    let many = set("draws", "i64.const 5") + " i32.const 0";
    let reason = set("reason", "i64.const 6") + " i32.const 2";
    for (body, expected) in [
        ("(loop $again br $again) i32.const 0", "did not end within 5000000 instructions"),
        ("i32.const 3", "`on_arrival` answered 3, which is not 0, 1 or 2"),
        (&format!("{past} i32.const 0"), "timer_ps ="),
        (&half, "it answered probability = 1.5"),
        (&many, "it answered draws = 5, and this call has 4"),
        (&reason, "it answered reason = 6"),
    ] {
        let text = failure(&[("on_arrival", body)]);
        assert!(
            text.starts_with("the law `file:mine.wasm` of link `bottleneck` failed at packet 1, "),
            "{text}"
        );
        assert!(text.contains(expected), "{body}: {text}");
    }
}

#[test]
fn what_is_no_law_of_a_queue_is_refused_in_words() {
    let mine = law(&[("on_arrival", "i32.const 0")]);
    let refused = |law: &str, aqm: &str| resolved(law, aqm).unwrap_err();
    let text = refused(&mine.replace("\\\"queue\\\"", "\\\"controller\\\""), MINE);
    assert!(text.contains("is no law of a queue: it is a controller"), "{text}");
    let text = refused(&law(&[]), MINE);
    assert!(text.contains("it has no function `on_arrival` and no function `on_departure`"), "{text}");
    let text = refused(&mine, &format!("{MINE}, parameters = {{ treshold = 3 }}"));
    assert!(text.contains("the law has no parameter \"treshold\"") && text.contains("threshold"), "{text}");
    let text = refused(&mine, &format!("{MINE}, parameters = {{ threshold = -1 }}"));
    assert!(text.contains("-1 is not from 0 to"), "{text}");
    let text = refused(&mine, r#"kind = "module", name = "file:other.wasm""#);
    assert!(text.contains("is there a file other.wasm beside the scenario?"), "{text}");
}
