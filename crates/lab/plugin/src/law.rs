//! Laws from outside, as what the simulator's configurations name.

use crate::body::Source;
use crate::controller::Controller;
use crate::description::Kind;
use crate::instance::{Instance, compile};
use crate::program::{Law, Program};
use shoal_cc::{
    AckCounting, EcnUse, ExternalConfig, ExternalController, ExternalLaw, GrowthRules, SlowStartTest,
};
use shoal_law::Words;
use shoal_units::Parameter;

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
    controller_of(Program::kept(name, bytes, || {
        let module = compile(bytes)?;
        let description = Instance::new(&module)?.description()?;
        Ok((description, Box::new(module) as Box<dyn Source>))
    })?)
}

fn controller_of(program: &'static Program) -> Result<ExternalConfig, String> {
    if program.description().kind != Kind::Controller {
        return Err("it is the law of a queue, and no controller: name it as a queue's aqm".into());
    }
    controller_with(program, program.description().parameters())
}

fn controller_with(
    program: &'static Program,
    parameters: Vec<(Parameter, f64)>,
) -> Result<ExternalConfig, String> {
    Law::kept(program, parameters, |values| Words::new(&TRIED_RULES, values))
        .map(|law| ExternalConfig::new(law))
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
