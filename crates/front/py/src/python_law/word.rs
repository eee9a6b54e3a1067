//! The words as attributes in Python.

use super::block::Block;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::{IntoPyObjectExt, PyClass};
use shoal_law::NONE;

// An attribute that is a word: `__doc__` is the word's own sentence.
#[pyclass(frozen, name = "Word", module = "shoal._native")]
pub(crate) struct WordOfBlock {
    name: &'static str,
    text: &'static str,
    place: usize,
    /// The words that are answers, if this is none.
    answers: Option<String>,
    is_double: bool,
}

/// Gives the class `T` an attribute for each word.
pub(super) fn name_all<T: PyClass>(
    py: Python<'_>,
    docs: &'static [(&'static str, &'static str)],
    answers: &[usize],
    doubles: &[usize],
) -> PyResult<()> {
    let class = py.get_type::<T>();
    let may_be_set: Vec<&str> = answers.iter().map(|place| docs[*place].0).collect();
    for (place, (name, text)) in docs.iter().enumerate() {
        let answers = (!answers.contains(&place)).then(|| may_be_set.join(", "));
        let word =
            WordOfBlock { name, text: text.trim(), place, answers, is_double: doubles.contains(&place) };
        class.setattr(*name, word.into_py_any(py)?)?;
    }
    Ok(())
}

#[pymethods]
impl WordOfBlock {
    #[getter]
    fn __doc__(&self) -> &str {
        self.text
    }
    #[getter]
    fn __name__(&self) -> &str {
        self.name
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        block: Option<&Bound<'py, PyAny>>,
        _class: Option<&Bound<'py, PyType>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(block) = block else { return Ok(slf.clone().into_any()) };
        let word = slf.get();
        let value = block.cast::<Block>()?.get().get(word.place);
        if word.is_double {
            return f64::from_bits(value).into_bound_py_any(slf.py());
        }
        (value != NONE).then_some(value).into_bound_py_any(slf.py())
    }

    fn __set__(&self, block: &Bound<'_, Block>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let name = self.name;
        if let Some(answers) = &self.answers {
            let message = format!("`{name}` is what the host says; a law sets {answers}");
            return Err(PyAttributeError::new_err(message));
        }
        let word = if self.is_double {
            self.double(value)?.to_bits()
        } else if value.is_none() {
            NONE
        } else {
            self.whole(value)?
        };
        block.get().set(self.place, word);
        Ok(())
    }
}

impl WordOfBlock {
    /// A whole number; nothing is cut off from others.
    fn whole(&self, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        let name = self.name;
        value.extract::<u64>().map_err(|error| {
            let shown = shown(value);
            if error.is_instance_of::<PyTypeError>(value.py()) {
                let class = value.get_type().name().map_or_else(|_| String::new(), |class| class.to_string());
                let hint = "divide with //, or round with int()";
                let message =
                    format!("`{name}` is a whole number, and {shown} is of the type {class}: {hint}");
                return PyTypeError::new_err(message);
            }
            PyValueError::new_err(format!("`{name}` = {shown} is not from 0 to {}", u64::MAX))
        })
    }

    fn double(&self, value: &Bound<'_, PyAny>) -> PyResult<f64> {
        if value.is_none() {
            return Ok(f64::NAN);
        }
        let wrong =
            |_| PyTypeError::new_err(format!("`{}` is a number, and not {}", self.name, shown(value)));
        value.extract::<f64>().map_err(wrong)
    }
}

/// A value as Python shows it, or its type if that is long.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| String::new(), |text| text.to_string());
    let class = value.get_type();
    if text.is_empty() || text.len() > 40 { format!("this {class}") } else { text }
}
