//! Values that are not `Sync`, in objects of Python.

use std::sync::{Mutex, PoisonError};

/// A value that only its owner reaches, and that any thread may drop.
///
/// Python collects garbage in whatever thread runs just then, so that its objects have to be `Send` and `Sync`. The
/// lock makes the second of what is only the first; it is never taken, since every use has the object to itself.
pub(crate) struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn get(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
