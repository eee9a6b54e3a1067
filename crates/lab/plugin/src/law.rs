//! Modules that have been read, and laws: a module with values for its parameters.
//!
//! A law from outside is known by reference for the life of the process (see [`ExternalLaw`]), so equal ones are kept
//! once: a module by its name and bytes, a law by its module and values. A search that tries a million values keeps a
//! million of them, some hundred bytes each.

use crate::controller::Controller;
use crate::description::{Description, Kind};
use crate::instance::{Instance, compile};
use shoal_cc::{
    AckCounting, EcnUse, ExternalConfig, ExternalController, ExternalLaw, GrowthRules, Parameter,
    SlowStartTest,
};
use shoal_law::Words;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Mutex, PoisonError};
use wasmi::Module;

/// A module that has been read: what it says of itself, and what it exports.
pub(crate) struct Program {
    name: String,
    description: Description,
    module: Module,
    is_rate_based: bool,
}

/// Modules by name and bytes.
static PROGRAMS: Mutex<BTreeMap<(String, Vec<u8>), &'static Program>> = Mutex::new(BTreeMap::new());

/// Laws by module and the bits of their values.
static LAWS: Mutex<BTreeMap<(usize, Vec<u64>), &'static ModuleLaw>> = Mutex::new(BTreeMap::new());

/// A program with values for its parameters.
struct ModuleLaw {
    program: &'static Program,
    parameters: Vec<(Parameter, f64)>,
}

/// Growth rules with which values are tried; those of a current Linux.
const TRIED_RULES: GrowthRules = GrowthRules {
    counting: AckCounting::PerPacket,
    slow_start_test: SlowStartTest::Below,
    slow_start_counting: AckCounting::PerPacket,
    is_paced: false,
};

/// Reads the controller in `bytes`, a module in binary form or as text, which the scenario calls `name`.
///
/// # Errors
/// Why it is none, in words that can follow the name: a sentence without a full stop.
pub fn controller(name: &str, bytes: &[u8]) -> Result<ExternalConfig, String> {
    let key = (name.to_owned(), bytes.to_owned());
    let known = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    let program = match known {
        Some(program) => program,
        None => {
            let program: &'static Program = Box::leak(Box::new(Program::read(name, bytes)?));
            let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
            *programs.entry(key).or_insert(program)
        }
    };
    program.law(program.description.parameters())
}

impl Program {
    fn read(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let module = compile(bytes)?;
        let mut instance = Instance::new(&module)?;
        let describe = instance.required("shoal_describe")?;
        let address = instance.call(describe).map_err(|why| format!("`shoal_describe` failed: {why}"))?;
        let description = Description::read(&instance.text(address)?)?;
        if description.kind != Kind::Controller {
            return Err("it is the law of a queue, and no controller: name it as a queue's aqm".into());
        }
        let calls = instance.calls()?;
        let is_rate_based = calls.on_sample.is_some();
        if !is_rate_based {
            for name in ["on_growth", "on_loss"] {
                instance.required(name)?;
            }
        }
        Ok(Self { name: name.to_owned(), description, module, is_rate_based })
    }

    /// The name by which the scenario calls it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn description(&self) -> &Description {
        &self.description
    }

    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    /// The law with these values, which the module itself is asked about.
    fn law(&'static self, parameters: Vec<(Parameter, f64)>) -> Result<ExternalConfig, String> {
        let bits = parameters.iter().map(|(_, value)| value.to_bits()).collect();
        let key = (std::ptr::from_ref(self).addr(), bits);
        if let Some(law) = LAWS.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(ExternalConfig::new(*law));
        }
        self.try_values(&parameters)?;
        let law: &'static ModuleLaw = Box::leak(Box::new(ModuleLaw { program: self, parameters }));
        let mut laws = LAWS.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(ExternalConfig::new(*laws.entry(key).or_insert(law)))
    }

    /// Asks the module whether it has anything against these values.
    fn try_values(&self, parameters: &[(Parameter, f64)]) -> Result<(), String> {
        let mut instance = Instance::new(&self.module)?;
        let Some(init) = instance.export("on_init")? else { return Ok(()) };
        let mut words = Words::new(&TRIED_RULES, parameters.iter().map(|(_, value)| *value));
        match instance.exchange(init, &mut words).map_err(|why| format!("`on_init` failed: {why}"))? {
            0 => Ok(()),
            address => Err(format!("it refuses its parameters: {}", instance.text(address)?)),
        }
    }
}

impl ExternalLaw for ModuleLaw {
    fn ecn_use(&self) -> EcnUse {
        self.program.description.ecn.into()
    }
    fn needs_rate_samples(&self) -> bool {
        self.program.is_rate_based
    }
    fn parameters(&self) -> &[(Parameter, f64)] {
        &self.parameters
    }
    fn with(&self, values: &[(&str, f64)]) -> Result<ExternalConfig, String> {
        let mut parameters = self.parameters.clone();
        for (name, value) in values {
            let Some((parameter, place)) = parameters.iter_mut().find(|(known, _)| known.name == *name)
            else {
                return Err(format!("it has no parameter \"{name}\""));
            };
            parameter.check(*value).map_err(|why| format!("{name}: {why}"))?;
            *place = *value;
        }
        self.program.law(parameters)
    }
    fn start(&self, rules: GrowthRules) -> Box<dyn ExternalController> {
        let values: Vec<f64> = self.parameters.iter().map(|(_, value)| *value).collect();
        Box::new(Controller::start(self.program, &values, rules))
    }
}

impl Debug for Program {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

impl Debug for ModuleLaw {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.program.name)?;
        out.debug_map()
            .entries(self.parameters.iter().map(|(parameter, value)| (&parameter.name, value)))
            .finish()
    }
}
