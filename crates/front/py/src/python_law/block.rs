//! The words of one law, where Python reads and writes them.

use pyo3::prelude::*;
use shoal_law::{WORDS, Words};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a law and its host say to each other.
///
/// The words are atomic since an object in Python may be seen by several threads; relaxed, that costs nothing.
#[pyclass(frozen, subclass, module = "shoal._native")]
pub(crate) struct Block([AtomicU64; WORDS]);

impl Block {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
    #[inline]
    pub(super) fn get(&self, place: usize) -> u64 {
        self.0[place].load(Ordering::Relaxed)
    }
    #[inline]
    pub(super) fn set(&self, place: usize, word: u64) {
        self.0[place].store(word, Ordering::Relaxed);
    }
    /// A copy of all of them.
    pub(super) fn words(&self) -> Words {
        Words(std::array::from_fn(|place| self.get(place)))
    }
    /// Takes over all words before a call.
    pub(super) fn fill(&self, words: &Words) {
        for (place, word) in self.0.iter().zip(words.0) {
            place.store(word, Ordering::Relaxed);
        }
    }
}
