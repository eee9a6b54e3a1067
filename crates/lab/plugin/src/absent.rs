//! Laws of which nobody has given what the simulator could run.

use shoal_cc::{EcnUse, ExternalConfig, ExternalController, ExternalLaw, GrowthRules};
use shoal_units::{Parameter, Unmodelled};
use std::sync::{Mutex, PoisonError};

/// Equal ones are kept once, as those with a program are.
static KEPT: Mutex<Vec<&'static Absent>> = Mutex::new(Vec::new());

/// What is known of such a law: the values that the scenario gives its parameters.
#[derive(PartialEq, Debug)]
struct Absent {
    why: Unmodelled,
    parameters: Vec<(Parameter, f64)>,
}

/// A law that the simulator cannot run, without values for its parameters.
pub fn absent(why: Unmodelled) -> ExternalConfig {
    kept(Absent { why, parameters: Vec::new() })
}

fn kept(law: Absent) -> ExternalConfig {
    let mut laws = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(same) = laws.iter().find(|other| ***other == law) {
        return ExternalConfig::new(*same);
    }
    let law: &'static Absent = Box::leak(Box::new(law));
    laws.push(law);
    ExternalConfig::new(law)
}

impl ExternalLaw for Absent {
    fn summary(&self) -> &'static str {
        match self.why {
            Unmodelled::KernelModule => "A kernel module of your own, which only the real kernel runs.",
            Unmodelled::PythonNotGiven => "A class in Python, whose file has not been given.",
        }
    }
    /// Its flags are in the program: a scenario writes `ecn` and `receiver.feedback` where they matter.
    fn ecn_use(&self) -> EcnUse {
        EcnUse::Classic
    }
    fn needs_rate_samples(&self) -> bool {
        false
    }
    fn parameters(&self) -> &[(Parameter, f64)] {
        &self.parameters
    }
    fn with(&self, values: &[(&str, f64)]) -> Result<ExternalConfig, String> {
        let parameter = |(name, value): &(&str, f64)| {
            let known = Parameter {
                name: (*name).to_owned(),
                text: "A parameter of the law.".to_owned(),
                unit: String::new(),
                default: *value,
                least: f64::MIN,
                most: f64::MAX,
                is_whole: value.fract() == 0.0,
            };
            (known, *value)
        };
        Ok(kept(Self { why: self.why, parameters: values.iter().map(parameter).collect() }))
    }
    fn unmodelled(&self) -> Option<Unmodelled> {
        Some(self.why)
    }
    fn start(&self, _: GrowthRules) -> Box<dyn ExternalController> {
        unreachable!("the simulator refuses experiments with laws that it has no model of")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_law_and_any_name_is_taken() {
        let config = absent(Unmodelled::KernelModule).law().with(&[("gain", 4.0)]).unwrap();
        assert_eq!(config, absent(Unmodelled::KernelModule).law().with(&[("gain", 4.0)]).unwrap());
        assert_ne!(config, absent(Unmodelled::KernelModule));
        assert_ne!(absent(Unmodelled::KernelModule), absent(Unmodelled::PythonNotGiven));
        let given: Vec<(&str, f64)> =
            config.law().parameters().iter().map(|(known, value)| (known.name.as_str(), *value)).collect();
        assert_eq!((given, config.law().has_model()), (vec![("gain", 4.0)], false));
    }
}
