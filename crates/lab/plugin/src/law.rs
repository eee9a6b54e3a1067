//! Laws from outside, as what the simulator's configurations name.

use crate::body::Source;
use crate::controller::Controller;
use crate::description::Kind;
#[cfg(feature = "interpreter")]
use crate::instance::{Instance, compile};
use crate::program::{Law, Program};
use crate::queue::{Queue, words_of};
use shoal_aqm::{Extent, ExternalQueue, ExternalQueueConfig, ExternalQueueLaw};
use shoal_cc::{
    AckCounting, EcnUse, ExternalConfig, ExternalController, ExternalLaw, GrowthRules, SlowStartTest,
};
use shoal_law::Words;
use shoal_units::{Parameter, Rate};

/// Growth rules with which values are tried; those of a current Linux.
const TRIED_RULES: GrowthRules = GrowthRules {
    counting: AckCounting::PerPacket,
    slow_start_test: SlowStartTest::Below,
    slow_start_counting: AckCounting::PerPacket,
    is_paced: false,
};

/// Line rate with which values of a queue's law are tried.
const TRIED_RATE: Rate = Rate::from_bps(1_000_000_000);

/// Reads the controller in `bytes`, a module in binary form or as text, which the scenario calls `name`.
///
/// # Errors
/// Why it is none, in words that can follow the name: a sentence without a full stop.
#[cfg(feature = "interpreter")]
pub fn controller(name: &str, bytes: &[u8]) -> Result<ExternalConfig, String> {
    controller_of(program(name, bytes)?)
}

/// Reads the law of a queue in `bytes`, likewise.
///
/// # Errors
/// As those of [`controller`].
#[cfg(feature = "interpreter")]
pub fn queue(name: &str, bytes: &[u8]) -> Result<ExternalQueueConfig, String> {
    queue_of(program(name, bytes)?)
}

#[cfg(feature = "interpreter")]
fn program(name: &str, bytes: &[u8]) -> Result<&'static Program, String> {
    Program::kept(name, bytes, || {
        let module = compile(bytes)?;
        let description = Instance::new(&module)?.description()?;
        Ok((description, Box::new(module) as Box<dyn Source>))
    })
}

/// The controller that another host brings along, which the scenario calls `name`: its description in JSON, and what
/// starts it. Laws of the same `identity` and name are one.
///
/// # Errors
/// Why it is none, in words that can follow the name: a sentence without a full stop.
pub fn controller_from(
    name: &str,
    identity: &[u8],
    description: String,
    source: Box<dyn Source>,
) -> Result<ExternalConfig, String> {
    controller_of(Program::kept(name, identity, || Ok((description, source)))?)
}

/// The law of a queue that another host brings along, likewise.
///
/// # Errors
/// As those of [`controller_from`].
pub fn queue_from(
    name: &str,
    identity: &[u8],
    description: String,
    source: Box<dyn Source>,
) -> Result<ExternalQueueConfig, String> {
    queue_of(Program::kept(name, identity, || Ok((description, source)))?)
}

fn controller_of(program: &'static Program) -> Result<ExternalConfig, String> {
    program.check(Kind::Controller)?;
    controller_with(program, program.description().parameters())
}

fn controller_with(
    program: &'static Program,
    parameters: Vec<(Parameter, f64)>,
) -> Result<ExternalConfig, String> {
    Law::kept(program, parameters, |values| Words::new(&TRIED_RULES, values))
        .map(|law| ExternalConfig::new(law))
}

fn queue_of(program: &'static Program) -> Result<ExternalQueueConfig, String> {
    program.check(Kind::Queue)?;
    queue_with(program, program.description().parameters())
}

fn queue_with(
    program: &'static Program,
    parameters: Vec<(Parameter, f64)>,
) -> Result<ExternalQueueConfig, String> {
    let words = |values: &mut dyn Iterator<Item = f64>| words_of(Extent::Unlimited, TRIED_RATE, values);
    Law::kept(program, parameters, words).map(|law| ExternalQueueConfig::new(law))
}

impl ExternalLaw for Law {
    fn summary(&self) -> &str {
        &self.program.description().summary
    }
    fn ecn_use(&self) -> EcnUse {
        self.program.description().ecn.into()
    }
    fn needs_rate_samples(&self) -> bool {
        self.program.is_rate_based()
    }
    fn parameters(&self) -> &[(Parameter, f64)] {
        &self.parameters
    }
    fn with(&self, values: &[(&str, f64)]) -> Result<ExternalConfig, String> {
        controller_with(self.program, self.parameters_with(values)?)
    }
    fn start(&self, rules: GrowthRules) -> Box<dyn ExternalController> {
        let values: Vec<f64> = self.parameters.iter().map(|(_, value)| *value).collect();
        Box::new(Controller::start(self.program, &values, rules))
    }
}

impl ExternalQueueLaw for Law {
    fn summary(&self) -> &str {
        &self.program.description().summary
    }
    fn parameters(&self) -> &[(Parameter, f64)] {
        &self.parameters
    }
    fn with(&self, values: &[(&str, f64)]) -> Result<ExternalQueueConfig, String> {
        queue_with(self.program, self.parameters_with(values)?)
    }
    fn start(&self, limit: Extent, line_rate: Rate) -> Box<dyn ExternalQueue> {
        let mut values = self.parameters.iter().map(|(_, value)| *value);
        Box::new(Queue::start(self.program, words_of(limit, line_rate, &mut values)))
    }
}
