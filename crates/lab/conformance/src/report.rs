//! Verdicts as JSON, one object for each script.

use crate::kernel::{self, Program};
use crate::model::{self, Laws};
use crate::syntax::ast::Script;
use crate::{Failure, ScriptError, judge_kernel, judge_model, parse};
use serde_json::{Value, json};
use shoal_units::LawFailure;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Returns the text of a file in the script's folder.
pub type Include<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Plays a script on the models and returns the verdict.
pub fn on_model(text: &str, include: Include<'_>, laws: Laws<'_>) -> Value {
    let play = || parse(text, include).and_then(|script| model::play_with(&script, laws));
    let played =
        catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|panic| match panic.downcast::<LawFailure>() {
            Ok(failure) => Err(ScriptError::syntax(1, failure.to_string()).hint("mend the law")),
            Err(panic) => resume_unwind(panic),
        });
    match played {
        Err(error) => refused(&error),
        Ok(played) => {
            let failure = judge_model(&played.script, &played.transcript);
            let mut found = verdict(failure, &played.transcript.notes);
            if let Some(reason) = played.until {
                found["until"] = json!({ "line": reason.line, "reason": reason.message });
            }
            found
        }
    }
}

/// The guest's program for a script, with the script's line for each of its lines (0: none), as `{"program": "...",
/// "lines": [...]}`, or the reason why there is none.
pub fn program(text: &str, include: Include<'_>) -> Value {
    match translated(text, include) {
        Ok((_, program)) => json!({ "program": program.text, "lines": program.lines }),
        Err(error) => refused(&error),
    }
}

/// Judges the records that the guest wrote while it played the program of a script.
///
/// # Errors
/// The bytes are not records of a guest.
pub fn on_kernel(text: &str, include: Include<'_>, records: &[u8]) -> Result<Value, String> {
    let (script, program) = translated(text, include).map_err(|error| error.to_string())?;
    let transcript = kernel::read(&script, &program, records)?;
    Ok(verdict(judge_kernel(&script, &transcript), &transcript.notes))
}

fn translated(text: &str, include: Include<'_>) -> Result<(Script, Program), ScriptError> {
    let script = parse(text, include)?;
    let program = kernel::translate(&script)?;
    Ok((script, program))
}

fn refused(error: &ScriptError) -> Value {
    let kind = match error.fault {
        crate::Fault::Syntax => "wrong",
        crate::Fault::Refused => "refused",
    };
    json!({ "verdict": kind, "line": error.line, "reason": error.message, "hint": error.hint })
}

fn verdict(failure: Option<Failure>, notes: &[String]) -> Value {
    let mut found = match failure {
        None => json!({ "verdict": "pass" }),
        Some(failure) => json!({
            "verdict": "fail",
            "line": failure.line,
            "reason": failure.what,
            "wanted": failure.wanted,
            "seen": failure.seen,
        }),
    };
    if !notes.is_empty() {
        found["notes"] = json!(notes);
    }
    found
}
