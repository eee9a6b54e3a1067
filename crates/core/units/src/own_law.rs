//! What laws of controllers and laws of queues that come from outside have in common.

use crate::Time;
use alloc::format;
use alloc::string::String;
use core::fmt::{self, Display, Formatter};

/// A parameter of a law from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its key.
    pub name: String,
    /// One sentence for users.
    pub text: String,
    /// Unit of its values; empty for plain numbers.
    pub unit: String,
    /// Value unless the scenario gives one.
    pub default: f64,
    /// Smallest value.
    pub least: f64,
    /// Largest value.
    pub most: f64,
    /// Whether only whole numbers are values.
    pub is_whole: bool,
}

impl Parameter {
    /// Whether `value` is one of the parameter.
    ///
    /// # Errors
    /// Why it is not: a sentence without a full stop.
    pub fn check(&self, value: f64) -> Result<(), String> {
        let Self { least, most, .. } = self;
        if !(*least..=*most).contains(&value) {
            return Err(format!("{value} is not from {least} to {most}"));
        }
        if self.is_whole && libm::trunc(value) != value {
            return Err(format!("{value} is not a whole number"));
        }
        Ok(())
    }
}

/// Why the simulator cannot run a law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unmodelled {
    /// It is nothing but a kernel module.
    KernelModule,
    /// It is a class in Python that nobody has given.
    PythonNotGiven,
}

/// Why a law from outside stopped. The room that runs laws unwinds with it, and whoever runs an experiment catches it.
#[derive(Clone, PartialEq, Debug)]
pub struct LawFailure {
    /// Name of the law in the scenario.
    pub law: String,
    /// The flow or the link in which it decided, in words; empty until somebody who knows has said so.
    pub place: String,
    /// What happened: a sentence without a full stop.
    pub what: String,
    /// When it happened.
    pub now: Time,
    /// Packets that this controller had seen delivered, or this queue had seen arrive.
    pub packet: u64,
}

impl Display for LawFailure {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { law, place, what, now, packet } = self;
        let (of, now) = (if place.is_empty() { "" } else { " of " }, now.as_secs_f64());
        write!(out, "the law `{law}`{of}{place} failed at packet {packet}, {now} s into the run: {what}")
    }
}
