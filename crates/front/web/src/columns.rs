//! Columns of tables as JavaScript gets them.

use shoal_trace::{Column, Table};

/// Tables by their names.
pub(crate) fn names<'a>(tables: impl Iterator<Item = &'a Table>) -> Vec<String> {
    tables.map(|table| table.spec().name.to_owned()).collect()
}

/// The table called `name`.
pub(crate) fn find<'a>(mut tables: impl Iterator<Item = &'a Table>, name: &str) -> Option<&'a Table> {
    tables.find(|table| table.spec().name == name)
}

/// Names of the columns of a table; none if there is no table.
pub(crate) fn of(table: Option<&Table>) -> Vec<String> {
    let columns = table.map_or(&[][..], |table| table.spec().columns);
    columns.iter().map(|column| column.name.to_owned()).collect()
}

/// Values of a column of numbers from row `from` on, or for words their positions among [`words`].
pub(crate) fn numbers(table: Option<&Table>, column: &str, from: usize) -> Option<Vec<f64>> {
    fn behind<T>(values: &[T], from: usize) -> &[T] {
        &values[from.min(values.len())..]
    }
    Some(match table?.column(column)? {
        Column::F64(values) => behind(values, from).to_vec(),
        Column::U32(values) => behind(values, from).iter().map(|&value| value.into()).collect(),
        Column::U64(values) => behind(values, from).iter().map(|&value| value as f64).collect(),
        Column::Text { codes, .. } => behind(codes, from).iter().map(|&code| code.into()).collect(),
    })
}

/// The words of a column; none if it has no words.
pub(crate) fn words(table: Option<&Table>, column: &str) -> Option<Vec<String>> {
    match table?.column(column)? {
        Column::Text { words, .. } => Some(words.clone()),
        _ => None,
    }
}
