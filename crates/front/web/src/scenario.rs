//! The handle of a scenario, which is read, checked and planned once.

use crate::{Run, laws};
use serde_json::Value as Json;
use shoal_scenario::{Document, Experiment, Refusal};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// A scenario that has been read and is valid.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Scenario(Document);

#[wasm_bindgen]
impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// What is wrong with it, as text with places and remedies.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, file_name: &str) -> Result<Scenario, JsValue> {
        Self::read(text, file_name).map_err(JsValue::from)
    }

    /// Reads a scenario that is given as JSON, with the keys of a scenario file.
    ///
    /// # Errors
    /// What is wrong with it, as text with places and remedies.
    #[wasm_bindgen(js_name = fromJson)]
    pub fn from_json(text: &str, name: &str) -> Result<Scenario, JsValue> {
        let json: Json = serde_json::from_str(text).map_err(|error| format!("{name}: not JSON: {error}"))?;
        Ok(Self(
            Document::from_json_with_files(&json, name, laws::files(text))
                .map_err(|errors| errors.to_string())?,
        ))
    }

    /// The resolved scenario as JSON.
    pub fn json(&self) -> String {
        self.0.to_json().to_string()
    }

    /// The resolved scenario as a scenario file.
    pub fn toml(&self) -> String {
        self.0.to_toml()
    }

    /// Warnings and notes, each with its place.
    pub fn remarks(&self) -> Vec<String> {
        self.0.warnings().iter().chain(self.0.notes()).map(ToString::to_string).collect()
    }

    /// Runs the scenario; `seed` replaces its own.
    ///
    /// # Errors
    /// What the simulator has no model for, as text, or the law of conservation that the result breaks.
    pub fn run(&self, seed: Option<u64>) -> Result<Run, JsValue> {
        self.simulate(seed).map_err(JsValue::from)
    }
}

impl Scenario {
    fn read(text: &str, file_name: &str) -> Result<Self, String> {
        Document::with_files(text, file_name, &[], laws::files(text))
            .map(Self)
            .map_err(|errors| errors.to_string())
    }

    fn simulate(&self, seed: Option<u64>) -> Result<Run, String> {
        let experiment = self.experiment(seed)?;
        let scenario = self.json_with_seed(experiment.seed);
        // The same engine as that of live runs, so that the module does not hold it twice.
        Run::of(shoal_sim::Live::new(Box::new(experiment), None).finish(), scenario)
    }

    /// The experiment; `seed` replaces the scenario's own.
    ///
    /// # Errors
    /// What is wrong with it, or what the simulator has no model for.
    pub(crate) fn experiment(&self, seed: Option<u64>) -> Result<Experiment, String> {
        let experiment = self.0.resolve(seed).map_err(|errors| errors.to_string())?;
        shoal_sim::check(&experiment).map_err(|refusals| Refusal::all(&refusals))?;
        Ok(experiment)
    }

    /// The resolved scenario of a run with this seed.
    pub(crate) fn json_with_seed(&self, seed: u64) -> Json {
        self.0.to_json_with_seed(seed)
    }
}
