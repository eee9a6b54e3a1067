//! What runs the functions of a law: a module in the interpreter, or what another host brings along.

use shoal_law::Words;
use std::fmt::Debug;

/// A function of a law: a number that its body gave.
pub type Call = usize;

/// One run of a law: the controller of a connection, or the law of a queue.
pub trait Body: Debug + Send {
    /// The function `name`, if the law has it.
    ///
    /// # Errors
    /// Why what has this name is no function of a law: a sentence without a full stop.
    fn function(&mut self, name: &'static str) -> Result<Option<Call>, String>;

    /// Calls a function with these words, and takes over those that are `answers`. Returns what it returned.
    ///
    /// # Errors
    /// What stopped it: a sentence without a full stop.
    fn exchange(&mut self, function: Call, words: &mut Words, answers: &[usize]) -> Result<i32, String>;

    /// The sentence that `on_init` returned.
    ///
    /// # Errors
    /// Why there is none.
    fn text(&self, address: i32) -> Result<String, String>;
}

/// Starts bodies of a law: the program without its state.
pub trait Source: Debug + Send + Sync {
    /// A new body.
    ///
    /// # Errors
    /// Why it does not start: a sentence without a full stop.
    fn start(&self) -> Result<Box<dyn Body>, String>;
}
