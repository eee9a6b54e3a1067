//! Recorded tables as NumPy arrays.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use shoal_trace::{Column, Table};

/// The columns of a table, `{column: values}`: numbers as arrays, words as lists.
pub(crate) fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (spec, column) in table.spec().columns.iter().zip(table.columns()) {
        let values: Bound<'py, PyAny> = match column {
            Column::F64(values) => PyArray1::from_slice(py, values).into_any(),
            Column::U32(values) => PyArray1::from_slice(py, values).into_any(),
            Column::U64(values) => PyArray1::from_slice(py, values).into_any(),
            Column::Text { words, codes } => {
                let words: Vec<_> = words.iter().map(|word| pyo3::types::PyString::new(py, word)).collect();
                PyList::new(py, codes.iter().map(|&code| &words[code as usize]))?.into_any()
            }
        };
        dict.set_item(spec.name, values)?;
    }
    Ok(dict)
}
