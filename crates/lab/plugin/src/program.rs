//! Laws without values for their parameters: what they say of themselves, and how one is started.
//!
//! A law from outside is known by reference for the life of the process, so equal ones are kept once: a program by the
//! bytes that it was made of and the name that the scenario gives it.

use crate::body::{Body, Source};
use crate::description::{Description, Kind};
use shoal_law::Words;
use shoal_units::{LawFailure, Parameter, Time};
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::panic::resume_unwind;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A law without values for its parameters.
pub(crate) struct Program {
    name: String,
    description: Description,
    source: Box<dyn Source>,
    is_rate_based: bool,
    /// What it lacks to be a law of its kind.
    lacks: Option<String>,
}

/// Programs by name and bytes.
static PROGRAMS: Mutex<BTreeMap<(String, Vec<u8>), &'static Program>> = Mutex::new(BTreeMap::new());

/// What a host does that cannot catch what unwinds.
static ON_FAILURE: OnceLock<fn(&LawFailure)> = OnceLock::new();

/// Lets `act` have each failure before it unwinds: a host that ends with the first of them learns so what it was. Only
/// the first call has an effect.
pub fn on_failure(act: fn(&LawFailure)) {
    let _ = ON_FAILURE.set(act);
}

impl Program {
    /// The program that the scenario calls `name`, and that `read` makes of `bytes` unless it is known:
    /// its description as JSON, and what starts it.
    pub(crate) fn kept(
        name: &str,
        bytes: &[u8],
        read: impl FnOnce() -> Result<(String, Box<dyn Source>), String>,
    ) -> Result<&'static Self, String> {
        let key = (name.to_owned(), bytes.to_owned());
        let known = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        if let Some(program) = known {
            return Ok(program);
        }
        let (description, source) = read()?;
        let program: &'static Self = Box::leak(Box::new(Self::new(name, &description, source)?));
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(*programs.entry(key).or_insert(program))
    }

    fn new(name: &str, description: &str, source: Box<dyn Source>) -> Result<Self, String> {
        let description = Description::read(description)?;
        let mut body = source.start()?;
        let mut has = |name| body.function(name).map(|function| function.is_some());
        let is_rate_based = description.kind == Kind::Controller && has("on_sample")?;
        // One of each line.
        let required: &[&[&str]] = match description.kind {
            Kind::Controller if is_rate_based => &[],
            Kind::Controller => &[&["on_growth"], &["on_loss"]],
            Kind::Queue => &[&["on_arrival", "on_departure"]],
        };
        let mut lacks = None;
        for names in required {
            let mut has_any = false;
            for name in *names {
                has_any |= has(name)?;
            }
            if !has_any {
                lacks.get_or_insert(format!("it has no function `{}`", names.join("` and no function `")));
            }
        }
        Ok(Self { name: name.to_owned(), description, source, is_rate_based, lacks })
    }

    /// Whether it is a law of this kind.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), String> {
        self.description.kind.check(kind)?;
        self.lacks.clone().map_or(Ok(()), Err)
    }

    pub(crate) fn description(&self) -> &Description {
        &self.description
    }

    /// Whether it is driven by samples of the delivery rate.
    pub(crate) fn is_rate_based(&self) -> bool {
        self.is_rate_based
    }

    /// A new body. The program has been started when it was read, so that this fails only for one that differs from
    /// time to time.
    pub(crate) fn start(&self) -> Box<dyn Body> {
        self.source.start().unwrap_or_else(|what| self.fail(what, Time::ZERO, 0))
    }

    /// Asks the law whether it has anything against the values in `words`.
    pub(crate) fn try_values(&self, mut words: Words) -> Result<(), String> {
        let mut body = self.source.start()?;
        let Some(init) = body.function("on_init")? else { return Ok(()) };
        match body.exchange(init, &mut words, &[]).map_err(|why| format!("`on_init` failed: {why}"))? {
            0 => Ok(()),
            address => Err(format!("it refuses its parameters: {}", body.text(address)?)),
        }
    }

    /// Ends the run: whoever has begun it catches this.
    pub(crate) fn fail(&self, what: String, now: Time, packet: u64) -> ! {
        let law = self.name.clone();
        let failure = LawFailure { law, place: String::new(), what, now, packet };
        if let Some(act) = ON_FAILURE.get() {
            act(&failure);
        }
        resume_unwind(Box::new(failure))
    }
}

impl Debug for Program {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

/// A program with values for its parameters, as the law of something.
pub(crate) struct Law {
    /// The program.
    pub program: &'static Program,
    /// Its parameters and their values.
    pub parameters: Vec<(Parameter, f64)>,
}

/// Laws by program and the bits of their values. A search that tries a million values keeps a million of them, some
/// hundred bytes each.
static LAWS: Mutex<BTreeMap<(usize, Vec<u64>), &'static Law>> = Mutex::new(BTreeMap::new());

impl Law {
    /// The law of `program` with these values, about which `words_of` them the program itself is asked.
    pub(crate) fn kept(
        program: &'static Program,
        parameters: Vec<(Parameter, f64)>,
        words_of: impl FnOnce(&mut dyn Iterator<Item = f64>) -> Words,
    ) -> Result<&'static Self, String> {
        let bits = parameters.iter().map(|(_, value)| value.to_bits()).collect();
        let key = (std::ptr::from_ref(program).addr(), bits);
        if let Some(law) = LAWS.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(law);
        }
        program.try_values(words_of(&mut parameters.iter().map(|(_, value)| *value)))?;
        let law: &'static Self = Box::leak(Box::new(Self { program, parameters }));
        let mut laws = LAWS.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(*laws.entry(key).or_insert(law))
    }

    /// The parameters with other values for some.
    pub(crate) fn parameters_with(&self, values: &[(&str, f64)]) -> Result<Vec<(Parameter, f64)>, String> {
        let mut parameters = self.parameters.clone();
        for (name, value) in values {
            let Some((parameter, place)) = parameters.iter_mut().find(|(known, _)| known.name == *name)
            else {
                return Err(format!("it has no parameter \"{name}\""));
            };
            parameter.check(*value).map_err(|why| format!("{name}: {why}"))?;
            *place = *value;
        }
        Ok(parameters)
    }
}

impl Debug for Law {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.program.name)?;
        out.debug_map()
            .entries(self.parameters.iter().map(|(parameter, value)| (&parameter.name, value)))
            .finish()
    }
}
