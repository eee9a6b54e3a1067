//! The words that host and law exchange: the one place that knows where each of them is.
//!
//! A law's module has a block of [`WORDS`] words of 64 bits, little-endian, in its memory. Before a call the host
//! writes all of them, and after it reads those that are answers. Times are picoseconds, and a word that has no value
//! is [`NONE`]. The header for C is made from this list.

use crate::word::Carried;

/// Number of words.
pub const WORDS: usize = 72;
/// Number of bytes.
pub const BYTES: usize = WORDS * 8;
/// Most parameters that a law may have.
pub const MOST_PARAMETERS: usize = 16;
/// What a word without a value has.
pub const NONE: u64 = u64::MAX;

/// Declares words from 0 on: their names, which are those of the fields in C, and which of them are answers.
macro_rules! words {
    ($(#[$list_doc:meta])* $list:ident, $docs:ident, $answers:ident: [$($answer:ident),*] {
        $($(#[doc = $doc:literal])+ $name:ident),* $(,)?
    }) => {
        $(#[$list_doc])*
        #[allow(non_camel_case_types, reason = "words are called as they are in C")]
        #[derive(Clone, Copy, Debug)]
        #[repr(usize)]
        pub enum $list { $($(#[doc = $doc])+ $name,)* }

        impl From<$list> for usize {
            #[inline]
            fn from(word: $list) -> usize {
                word as usize
            }
        }

        /// Names and sentences of all words but the parameters, in their order.
        pub const $docs: &[(&str, &str)] = &[$((stringify!($name), concat!($($doc),+)),)*];
        /// The words that are read after a call; what the host alone says stays.
        pub const $answers: &[usize] = &[$($list::$answer as usize),*];

        const _: () = assert!($docs.len() + $crate::MOST_PARAMETERS <= $crate::WORDS);
    };
}
pub(crate) use words;

/// Place of the first parameter.
pub const PARAMETERS: usize = WORDS - MOST_PARAMETERS;

/// The words of one law in one connection.
#[derive(Clone, Debug)]
pub struct Words(pub [u64; WORDS]);

impl Words {
    /// Words with these values of the parameters, and zero for the rest.
    pub fn with_parameters(values: impl Iterator<Item = f64>) -> Self {
        let mut words = Self([0; WORDS]);
        for (place, value) in words.0[PARAMETERS..].iter_mut().zip(values) {
            *place = value.to_bits();
        }
        words
    }

    /// What a word carries.
    #[inline]
    pub fn get<T: Carried>(&self, word: impl Into<usize>) -> T {
        T::of_word(self.0[word.into()])
    }

    /// Sets a word.
    #[inline]
    pub fn set<T: Carried>(&mut self, word: impl Into<usize>, value: T) {
        self.0[word.into()] = value.to_word();
    }

    /// The value of parameter `number`.
    pub fn parameter(&self, number: usize) -> f64 {
        f64::from_bits(self.0[PARAMETERS + number])
    }

    /// Writes all words into a law's memory.
    pub fn write_to(&self, memory: &mut [u8]) {
        for (place, word) in memory.chunks_exact_mut(8).zip(&self.0) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Takes over these words of a law's memory.
    pub fn read_from(&mut self, memory: &[u8], answers: &[usize]) {
        for word in answers {
            let place = word * 8;
            if let Some(Ok(bytes)) = memory.get(place..place + 8).map(<[u8; 8]>::try_from) {
                self.0[*word] = u64::from_le_bytes(bytes);
            }
        }
    }
}
