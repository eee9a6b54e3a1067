//! A law from a file that does anything.

use crate::Bytes;
use shoal_law::{CALL_DOCS, QUEUE_CALL_DOCS, WORDS};
use shoal_scenario::{Document, Files, GivenFile, GivenLaw};
use shoal_sim::Options;
use shoal_units::LawFailure;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Address of the block of words.
const BLOCK: usize = 1024;
/// Operators of two numbers of 64 bits.
const OPERATORS: &[&str] =
    &["add", "sub", "mul", "div_u", "div_s", "rem_u", "rem_s", "shl", "shr_u", "and", "or", "xor"];
const NUMBERS: &[&str] =
    &["0", "1", "2", "10", "1500", "-1", "4294967295", "4294967296", "9223372036854775807"];
const REALS: &[&str] = &["0", "1", "0.5", "-0", "1e300", "-1e300", "inf", "nan", "4294967296", "1e-300"];

/// A file is read or refused, and a law that is read runs to the end or fails with a reason, twice alike: nothing
/// panics, and nothing goes on for ever.
///
/// # Panics
/// If one of these properties does not hold.
pub fn own_law(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    if bytes.byte().is_multiple_of(8) {
        let content = &input[1.min(input.len())..];
        for why in
            [shoal_plugin::controller("mine", content).err(), shoal_plugin::queue("mine", content).err()]
        {
            assert!(why.is_none_or(|why| !why.is_empty()));
        }
        return;
    }
    let is_queue = bytes.flag();
    let law = module(&mut bytes, is_queue);
    let [first, second] = [run(&law, is_queue), run(&law, is_queue)];
    assert_eq!(first, second, "{law}");
}

/// What becomes of a run with this law, in words; nothing if the law is refused.
fn run(law: &str, is_queue: bool) -> Option<String> {
    let (cc, aqm) = if is_queue {
        ("dctcp", r#"kind = "module", name = "file:mine.wasm""#)
    } else {
        ("file:mine.wasm", r#"kind = "step", threshold = "10 packets""#)
    };
    let text = format!(
        r#"
        duration = "400 ms"
        warmup = "0 s"
        bottleneck = {{ rate = "10 Mbit/s", buffer = "30 packets", aqm = {{ {aqm} }} }}
        flows = [{{ cc = "{cc}", rtt = "10 ms" }}, {{ cc = "cubic", rtt = "10 ms", stack = "freebsd-14" }}]
        "#
    );
    let file = GivenFile { file: "mine.wasm".into(), sha256: "0".into() };
    let controller = shoal_plugin::controller("file:mine.wasm", law.as_bytes());
    let queue = shoal_plugin::queue("file:mine.wasm", law.as_bytes()).map(Ok);
    let given = GivenLaw { simulator: Some(file), python: None, kernel: None, controller, queue };
    let mut files = Files::default();
    files.laws.insert("file:mine.wasm".into(), given);
    let document = Document::with_files(&text, "fuzz.toml", &[], files).ok()?;
    let experiment = document.resolve(None).expect("what was read was checked");
    let run = || shoal_sim::run(&experiment, Options::default()).expect("nobody stops the run");
    Some(match catch_unwind(AssertUnwindSafe(run)) {
        Ok(outcome) => format!("{:?}", outcome.measured),
        Err(panic) => match panic.downcast::<LawFailure>() {
            Ok(failure) => {
                assert!(failure.what.len() > 5, "{failure}");
                failure.to_string()
            }
            Err(panic) => resume_unwind(panic),
        },
    })
}

/// A module whose functions do what the bytes say.
fn module(bytes: &mut Bytes<'_>, is_queue: bool) -> String {
    let (kind, calls) = if is_queue { ("queue", QUEUE_CALL_DOCS) } else { ("controller", CALL_DOCS) };
    let required: &[&str] = if is_queue { &["on_arrival"] } else { &["on_growth", "on_loss"] };
    let mut functions = String::new();
    for (name, _) in calls {
        // A law of rate samples is another kind of controller: it has them if it has the first of them.
        if !required.contains(name) && !bytes.byte().is_multiple_of(4) {
            continue;
        }
        let mut body = String::new();
        for _ in 0..bytes.byte() % 4 {
            body += &statement(bytes, required[0], 0);
        }
        let answer = bytes.byte();
        let answer = if answer < 200 { u32::from(answer % 3) } else { u32::from(answer) };
        functions += &format!("(func ${name} (export \"{name}\") (result i32) {body} i32.const {answer})\n");
    }
    format!(
        r#"(module (memory (export "memory") 1)
        (data (i32.const 4096) "{{ \"abi\": 1, \"kind\": \"{kind}\" }}\00")
        (func (export "shoal_io") (result i32) i32.const {BLOCK})
        (func (export "shoal_describe") (result i32) i32.const 4096)
        {functions})"#
    )
}

fn statement(bytes: &mut Bytes<'_>, other: &str, depth: u32) -> String {
    let place = BLOCK + 8 * (usize::from(bytes.byte()) % WORDS);
    match bytes.byte() % 16 {
        0 => format!("i32.const {} memory.grow drop ", bytes.byte()),
        1 => format!("call ${other} drop "),
        2 => format!("(loop $again {} i64.const 3 i64.lt_u br_if $again) ", whole(bytes, depth)),
        3 => "unreachable ".into(),
        4 => format!("{} i32.wrap_i64 {} i64.store ", whole(bytes, depth), whole(bytes, depth)),
        5 if depth < 3 => {
            let (test, then) = (whole(bytes, depth + 1), statement(bytes, other, depth + 1));
            format!("{test} i64.eqz (if (then {then})) ")
        }
        6..=8 => format!("i32.const {place} {} f64.store ", real(bytes, depth)),
        _ => format!("i32.const {place} {} i64.store ", whole(bytes, depth)),
    }
}

/// An expression of type i64.
fn whole(bytes: &mut Bytes<'_>, depth: u32) -> String {
    match bytes.byte() % 8 {
        0 | 1 if depth < 3 => {
            let (left, right) = (whole(bytes, depth + 1), whole(bytes, depth + 1));
            format!("{left} {right} i64.{}", bytes.pick(OPERATORS))
        }
        2 if depth < 3 => format!("{} i64.trunc_f64_u", real(bytes, depth + 1)),
        3 | 4 => format!("i64.const {}", bytes.pick(NUMBERS)),
        5 => format!("i64.const {}", bytes.byte()),
        _ => format!("i32.const {} i64.load", BLOCK + 8 * (usize::from(bytes.byte()) % WORDS)),
    }
}

/// An expression of type f64.
fn real(bytes: &mut Bytes<'_>, depth: u32) -> String {
    match bytes.byte() % 6 {
        0 if depth < 3 => format!("{} {} f64.div", real(bytes, depth + 1), real(bytes, depth + 1)),
        1 if depth < 3 => format!("{} f64.sqrt", real(bytes, depth + 1)),
        2 if depth < 3 => format!("{} f64.convert_i64_u", whole(bytes, depth + 1)),
        3 => format!("i32.const {} f64.load", BLOCK + 8 * (usize::from(bytes.byte()) % WORDS)),
        _ => format!("f64.const {}", bytes.pick(REALS)),
    }
}
