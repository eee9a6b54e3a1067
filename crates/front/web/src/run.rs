//! A finished run.

use shoal_trace::{Column, Table};
use wasm_bindgen::prelude::wasm_bindgen;

/// A finished run.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Run {
    json: String,
    tables: Vec<Table>,
}

#[wasm_bindgen]
impl Run {
    /// The result object of the contract, as JSON text.
    pub fn json(&self) -> String {
        self.json.clone()
    }

    /// Names of the tables.
    pub fn tables(&self) -> Vec<String> {
        self.tables.iter().map(|table| table.spec().name.to_owned()).collect()
    }

    /// Names of the columns of a table; none if there is no such table.
    pub fn columns(&self, table: &str) -> Vec<String> {
        let columns = self.table(table).map_or(&[][..], |table| table.spec().columns);
        columns.iter().map(|column| column.name.to_owned()).collect()
    }

    /// A column of numbers, or for words their positions among [`Self::words`]; none if there is no such column. Integers above 2^53
    /// are rounded.
    pub fn numbers(&self, table: &str, column: &str) -> Option<Vec<f64>> {
        Some(match self.column(table, column)? {
            Column::F64(values) => values.clone(),
            Column::U32(values) => values.iter().map(|&value| value.into()).collect(),
            Column::U64(values) => values.iter().map(|&value| value as f64).collect(),
            Column::Text { codes, .. } => codes.iter().map(|&code| code.into()).collect(),
        })
    }

    /// The words of a column; none if it has no words.
    pub fn words(&self, table: &str, column: &str) -> Option<Vec<String>> {
        match self.column(table, column)? {
            Column::Text { words, .. } => Some(words.clone()),
            _ => None,
        }
    }
}

impl Run {
    pub(crate) fn new(json: String, tables: Vec<Table>) -> Self {
        Self { json, tables }
    }

    fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.spec().name == name)
    }

    fn column(&self, table: &str, column: &str) -> Option<&Column> {
        let table = self.table(table)?;
        let position = table.spec().columns.iter().position(|spec| spec.name == column)?;
        table.columns().get(position)
    }
}
