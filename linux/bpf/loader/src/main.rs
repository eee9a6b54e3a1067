//! Loads shoal's BPF programs into the running kernel: `shoal bpf` calls it, with a request in JSON as its only
//! argument.
//!
//! What it has to say is one line of JSON on standard output; an error is `{"error": ..., "hint": ...}` and exit
//! code 1.
//! A program that is not pinned stays as long as this process, which ends on SIGINT and SIGTERM.

mod device;
mod kernel;
mod load;
mod parameters;
mod pins;
mod refusal;
mod trace;

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::refusal::{Outcome, Refusal};

/// What may be asked for.
#[derive(Deserialize)]
#[serde(tag = "verb", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    Load(load::Load),
    Unload { program: String, device: Option<String> },
    Show {},
}

fn main() -> ExitCode {
    match answer() {
        Ok(answer) => {
            say(&answer);
            ExitCode::SUCCESS
        }
        Err(Refusal { what, hint }) => {
            say(&json!({ "error": what, "hint": hint }));
            ExitCode::FAILURE
        }
    }
}

fn answer() -> Outcome<Value> {
    let usage = "it is called by `shoal bpf`";
    let text = std::env::args().nth(1).ok_or_else(|| Refusal::new("no request", usage))?;
    let request =
        serde_json::from_str(&text).map_err(|error| Refusal::new(format!("no request: {error}"), usage))?;
    match request {
        Request::Load(load) => load.carry_out(),
        Request::Unload { program, device } => pins::unload(&pins::place(&program, device.as_deref())),
        Request::Show {} => pins::show(),
    }
}

/// Prints a line of JSON at once.
fn say(line: &Value) {
    use std::io::Write;

    let mut out = std::io::stdout().lock();
    // Whoever called us and went away cannot be told.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
