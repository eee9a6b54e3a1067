//! What the law of a queue in Python sees.

use super::block::Block;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use shoal_law::QueueWord;

/// A port as the law of its queue sees it: the packet of this call, and what waits.
///
/// The words `timer_ps`, `probability`, `average_bytes`, `draws` and `reason` are the law's to set; all others are what
/// the host says. Times are whole picoseconds. A word without a value is None.
#[pyclass(frozen, extends = Block, module = "shoal")]
pub(crate) struct Port;

impl Port {
    pub(super) fn new(py: Python<'_>) -> PyResult<Bound<'_, Self>> {
        Bound::new(py, PyClassInitializer::from(Block::new()).add_subclass(Self))
    }
}

#[pymethods]
impl Port {
    /// The next of the four random draws of a call: a whole number, uniform in 64 bits.
    fn draw(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let block = slf.as_super().get();
        let used = block.get(QueueWord::draws as usize);
        if used >= shoal_law::DRAWS as u64 {
            return Err(PyValueError::new_err(format!("a call has {} random draws", shoal_law::DRAWS)));
        }
        block.set(QueueWord::draws as usize, used + 1);
        Ok(block.get(QueueWord::random_0 as usize + used as usize))
    }
}
