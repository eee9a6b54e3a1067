//! Laws that are classes in Python: the same occasions and the same words as those of WebAssembly modules.

mod block;
mod body;
mod flow;
mod port;
mod word;

use body::Class;
use pyo3::prelude::*;
use shoal_aqm::ExternalQueueConfig;
use shoal_cc::ExternalConfig;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A class that is a law, as Python gives it.
#[derive(FromPyObject)]
pub(crate) struct PythonLaw {
    /// What tells it from all other classes of this process.
    identity: Vec<u8>,
    /// Whether it is the law of a queue, and no controller.
    is_queue: bool,
    /// Its description, in JSON.
    description: String,
    /// The class itself.
    #[pyo3(attribute("law"))]
    class: Py<PyAny>,
}

impl PythonLaw {
    /// The controller that the scenario calls `name`, or why there is none.
    pub(crate) fn controller(&self, name: &str) -> Result<ExternalConfig, String> {
        shoal_plugin::controller_from(name, &self.identity, self.description.clone(), Box::new(self.class()))
    }
    /// The law of a queue that the scenario calls `name`, likewise.
    pub(crate) fn queue(&self, name: &str) -> Result<ExternalQueueConfig, String> {
        shoal_plugin::queue_from(name, &self.identity, self.description.clone(), Box::new(self.class()))
    }
    fn class(&self) -> Class {
        Python::attach(|py| Class::new(self.class.clone_ref(py), self.is_queue))
    }
}

/// Does what may call laws in Python, without the interpreter's lock. A signal whose handler raised an error while
/// a law ran ends it with that error, as `failure` in `body` throws it.
pub(crate) fn interruptible<R: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> PyResult<R> + Send,
) -> PyResult<R> {
    py.detach(|| {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| match panic.downcast::<PyErr>() {
            Ok(error) => Err(*error),
            Err(panic) => resume_unwind(panic),
        })
    })
}

/// Adds the classes that a law in Python sees.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<block::Block>()?;
    module.add_class::<word::WordOfBlock>()?;
    module.add_class::<flow::Flow>()?;
    module.add_class::<port::Port>()?;
    let py = module.py();
    word::name_all::<flow::Flow>(py, shoal_law::WORD_DOCS, shoal_law::ANSWERS, shoal_law::DOUBLES)?;
    let (docs, answers) = (shoal_law::QUEUE_WORD_DOCS, shoal_law::QUEUE_ANSWERS);
    word::name_all::<port::Port>(py, docs, answers, shoal_law::QUEUE_DOUBLES)
}
