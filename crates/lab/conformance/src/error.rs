//! Errors in scripts: what is wrong, where, and how to correct it.

use std::fmt;

/// Why a script cannot run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The script violates the syntax.
    Syntax,
    /// The script uses something that is not supported; the script itself may be correct.
    Refused,
}

/// A script that cannot run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError {
    /// Kind of fault.
    pub fault: Fault,
    /// Line of the script, counted from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// How to correct it.
    pub hint: Option<&'static str>,
}

impl ScriptError {
    pub(crate) fn syntax(line: u32, message: impl Into<String>) -> Self {
        Self { fault: Fault::Syntax, line, message: message.into(), hint: None }
    }
    pub(crate) fn refused(line: u32, message: impl Into<String>) -> Self {
        Self { fault: Fault::Refused, line, message: message.into(), hint: None }
    }
    pub(crate) fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)?;
        match self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ScriptError {}
