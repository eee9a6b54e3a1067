//! What runs the functions of a class: an object for each connection or queue.

use super::block::Block;
use super::flow::Flow;
use super::port::Port;
use pyo3::exceptions::{PyKeyboardInterrupt, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTraceback};
use shoal_law::Words;
use shoal_plugin::{Body, Call, Source};
use std::panic::resume_unwind;

/// Functions that are asked yes or no; nothing is a no.
const QUESTIONS: [&str; 3] = ["on_ecn", "on_loss_in_cwr", "on_sample"];
/// Functions that are asked for a window.
const WINDOWS: [&str; 2] = ["undo_cwnd", "rate_halving_floor"];
/// Functions that are asked what becomes of a packet; nothing lets it pass.
const VERDICTS: [&str; 2] = ["on_arrival", "on_departure"];
/// The function that says what is wrong with the parameters.
const INIT: &str = "on_init";
/// Codes of programs that a signal has ended are above this.
const SIGNALS_FROM: i64 = 128;
/// Longest message of an exception that is repeated.
const MESSAGE_CHARACTERS: usize = 500;

/// A class whose objects are laws.
#[derive(Debug)]
pub(super) struct Class {
    class: Py<PyAny>,
    is_queue: bool,
}

impl Class {
    pub(super) const fn new(class: Py<PyAny>, is_queue: bool) -> Self {
        Self { class, is_queue }
    }
    /// What is given to the methods of one object.
    fn block(&self, py: Python<'_>) -> PyResult<Py<Block>> {
        Ok(if self.is_queue {
            Port::new(py)?.as_super().clone().unbind()
        } else {
            Flow::new(py)?.as_super().clone().unbind()
        })
    }
}

impl Source for Class {
    fn start(&self) -> Result<Box<dyn Body>, String> {
        Python::attach(|py| {
            let block = self.block(py).map_err(|error| failure(py, error))?;
            Ok(Box::new(Object {
                class: self.class.clone_ref(py),
                object: None,
                block,
                methods: Vec::new(),
                text: String::new(),
            }) as Box<dyn Body>)
        })
    }
}

/// The law of one connection, or of one queue.
#[derive(Debug)]
struct Object {
    class: Py<PyAny>,
    /// It is made in the first call, when the values of the parameters are known.
    object: Option<Py<PyAny>>,
    /// What is given to its methods.
    block: Py<Block>,
    methods: Vec<Method>,
    /// What `on_init` said.
    text: String,
}

/// A function that the host has asked for.
#[derive(Debug)]
struct Method {
    name: &'static str,
    /// The method of the object, once it has been called; the class may lack `on_init`, which is called all the same.
    bound: Option<Py<PyAny>>,
}

impl Object {
    fn call(
        &mut self,
        py: Python<'_>,
        function: Call,
        words: &mut Words,
        answers: &[usize],
    ) -> Result<i32, String> {
        let block = self.block.get();
        block.fill(words);
        if self.object.is_none() {
            let values: Vec<f64> =
                (0..shoal_law::MOST_PARAMETERS).map(|number| words.parameter(number)).collect();
            let made = self.class.call_method1(py, "_start", (values,));
            self.object = Some(made.map_err(|error| failure(py, error))?);
        }
        let method = &mut self.methods[function];
        let bound = match (&method.bound, &self.object) {
            (Some(bound), _) => bound,
            (None, Some(object)) if has(py, &self.class, method.name)? => {
                let bound = object.getattr(py, method.name).map_err(|error| failure(py, error))?;
                method.bound.insert(bound)
            }
            _ => return Ok(0),
        };
        let answer = bound.call1(py, (&self.block,)).map_err(|error| failure(py, error))?;
        for place in answers {
            words.0[*place] = block.get(*place);
        }
        let answer = answer.into_bound(py);
        if method.name == INIT
            && let Ok(text) = answer.cast::<PyString>()
        {
            self.text = text.to_string();
            return Ok(1);
        }
        answered(method.name, &answer)
    }
}

impl Body for Object {
    fn function(&mut self, name: &'static str) -> Result<Option<Call>, String> {
        // Making the object belongs to the beginning, whether or not the class has something to do there.
        if name != INIT && !Python::attach(|py| has(py, &self.class, name))? {
            return Ok(None);
        }
        self.methods.push(Method { name, bound: None });
        Ok(Some(self.methods.len() - 1))
    }

    fn exchange(&mut self, function: Call, words: &mut Words, answers: &[usize]) -> Result<i32, String> {
        Python::attach(|py| self.call(py, function, words, answers))
    }

    fn text(&self, _: i32) -> Result<String, String> {
        Ok(self.text.clone())
    }
}

fn has(py: Python<'_>, class: &Py<PyAny>, name: &str) -> Result<bool, String> {
    class.bind(py).hasattr(name).map_err(|error| failure(py, error))
}

/// What a method returned as the number that the host expects.
fn answered(name: &str, answer: &Bound<'_, PyAny>) -> Result<i32, String> {
    let refused = |asked: &str| {
        let shown = answer.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string());
        Err(format!("`{name}` returned {shown}, and is asked for {asked}"))
    };
    if WINDOWS.contains(&name) {
        return match answer.extract::<u32>() {
            Ok(window) if !answer.is_instance_of::<PyBool>() => Ok(window.cast_signed()),
            _ => refused("a window, a whole number"),
        };
    }
    if answer.is_none() {
        return Ok(0);
    }
    if QUESTIONS.contains(&name) {
        return match answer.extract::<i32>() {
            Ok(answer @ (0 | 1)) => Ok(answer),
            _ => refused("True or False"),
        };
    }
    if VERDICTS.contains(&name) {
        return match answer.extract::<i32>() {
            Ok(verdict) if !answer.is_instance_of::<PyBool>() => Ok(verdict),
            _ => refused("PASS, MARK or DROP"),
        };
    }
    if name == INIT {
        return refused("nothing, or a text that says what is wrong with the parameters");
    }
    refused("nothing: it sets attributes of what it is given")
}

/// What stopped a method, with its place in the user's file. A signal that came while it ran is no failure of the law:
/// what it raised goes on through the run.
fn failure(py: Python<'_>, error: PyErr) -> String {
    if is_of_a_signal(py, &error) {
        resume_unwind(Box::new(error));
    }
    let class = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    let message = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string());
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message: String = words.chars().take(MESSAGE_CHARACTERS).collect();
    let colon = if message.is_empty() { "" } else { ": " };
    let place = error.traceback(py).and_then(|begun| place(&begun).ok().flatten());
    format!("{class}{colon}{message}{}", place.unwrap_or_default())
}

/// Whether the handler of a signal has raised an error: `shoal._process` ends the program with 128 and the signal.
fn is_of_a_signal(py: Python<'_>, error: &PyErr) -> bool {
    if !error.is_instance_of::<PySystemExit>(py) {
        return error.is_instance_of::<PyKeyboardInterrupt>(py);
    }
    let code = error.value(py).getattr("code").and_then(|code| code.extract::<i64>());
    code.is_ok_and(|code| code > SIGNALS_FROM)
}

/// The last line of the file in which the error's way begins: what it called elsewhere is not the user's.
fn place(begun: &Bound<'_, PyTraceback>) -> PyResult<Option<String>> {
    let mut at: Option<Bound<'_, PyAny>> = Some(begun.clone().into_any());
    let mut file: Option<String> = None;
    let mut line: Option<String> = None;
    while let Some(step) = at {
        let code = step.getattr("tb_frame")?.getattr("f_code")?;
        let name: String = code.getattr("co_filename")?.extract()?;
        // An object is made by `shoal` itself, which is no place of interest.
        let is_ours = code.getattr("co_name")?.extract::<String>()? == "_start";
        if !is_ours && *file.get_or_insert_with(|| name.clone()) == name {
            let number: u64 = step.getattr("tb_lineno")?.extract()?;
            let function: String = code.getattr("co_name")?.extract()?;
            line = Some(format!(" ({name}, line {number}, in {function})"));
        }
        let next = step.getattr("tb_next")?;
        at = (!next.is_none()).then_some(next);
    }
    Ok(line)
}
