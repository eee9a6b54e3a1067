//! A finished run.

use crate::columns;
use serde_json::Value as Json;
use shoal_sim::Outcome;
use shoal_trace::Table;
use wasm_bindgen::prelude::wasm_bindgen;

/// A finished run.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Run {
    json: String,
    questions: String,
    tables: Vec<Table>,
}

#[wasm_bindgen]
impl Run {
    /// The result object of the contract, as JSON text.
    pub fn json(&self) -> String {
        self.json.clone()
    }

    /// The questions that its notices raise, as JSON text: a list of objects with the position of the `notice`, the
    /// `question`, the first `cause`, and what to `change` (null if there is nothing to advise).
    pub fn questions(&self) -> String {
        self.questions.clone()
    }

    /// Names of the tables.
    pub fn tables(&self) -> Vec<String> {
        columns::names(self.tables.iter())
    }

    /// Names of the columns of a table; none if there is no such table.
    pub fn columns(&self, table: &str) -> Vec<String> {
        columns::of(self.table(table))
    }

    /// A column of numbers, or for words their positions among [`Self::words`]; none if there is no such column.
    /// Integers above 2^53 are rounded.
    pub fn numbers(&self, table: &str, column: &str) -> Option<Vec<f64>> {
        columns::numbers(self.table(table), column, 0)
    }

    /// The words of a column; none if it has no words.
    pub fn words(&self, table: &str, column: &str) -> Option<Vec<String>> {
        columns::words(self.table(table), column)
    }
}

impl Run {
    /// The run that ended with `outcome`, given its resolved scenario.
    ///
    /// # Errors
    /// The law of conservation that the outcome breaks.
    pub(crate) fn of(outcome: Outcome, scenario: Json) -> Result<Self, String> {
        if let Some(law) = &outcome.broken {
            return Err(law.to_string());
        }
        let result = outcome.result(scenario, env!("CARGO_PKG_VERSION"));
        let questions = serde_json::to_string(&shoal_notices::explanations(&result.notices));
        let questions = questions.map_err(|error| error.to_string())?;
        Ok(Self { json: result.to_json(), questions, tables: outcome.measured.tables })
    }

    fn table(&self, name: &str) -> Option<&Table> {
        columns::find(self.tables.iter(), name)
    }
}
