//! How a value is carried in a word.

use crate::words::NONE;
use shoal_cc::{AckCounting, RecoveryState, SlowStartTest};
use shoal_units::{Span, Time};

/// A value that one word carries. A law may answer any word, so that each word is some value.
pub trait Carried {
    /// The word.
    fn to_word(self) -> u64;
    /// The value of a word; bits that it has no room for are cut off.
    fn of_word(word: u64) -> Self;
}

macro_rules! carried {
    ($($kind:ty: |$value:ident| $word:expr, |$from:ident| $back:expr;)*) => {
        $(impl Carried for $kind {
            #[inline]
            fn to_word(self) -> u64 {
                let $value = self;
                $word
            }
            #[inline]
            fn of_word($from: u64) -> Self {
                $back
            }
        })*
    };
}

carried! {
    u64: |value| value, |word| word;
    u32: |value| value.into(), |word| word as u32;
    bool: |value| value.into(), |word| word != 0;
    f64: |value| value.to_bits(), |word| f64::from_bits(word);
    Time: |value| value.as_picos(), |word| Time::from_picos(word);
    Span: |value| value.as_picos(), |word| Span::from_picos(word);
    Option<Span>: |value| value.map_or(NONE, Span::as_picos), |word| (word != NONE).then(|| Span::from_picos(word));
    Option<u32>: |value| value.map_or(NONE, u64::from), |word| (word != NONE).then_some(word as u32);
    SlowStartTest: |value| (value == Self::Below).into(), |word| if word == 0 { Self::BelowOrAt } else { Self::Below };
    AckCounting: |value| match value {
        Self::PerAck => 0,
        Self::PerPacket => 1,
        Self::Bytes => 2,
    }, |word| match word {
        0 => Self::PerAck,
        1 => Self::PerPacket,
        _ => Self::Bytes,
    };
    RecoveryState: |value| value as u64, |word| match word {
        0 => Self::Open,
        1 => Self::Disorder,
        2 => Self::Cwr,
        3 => Self::Recovery,
        _ => Self::Loss,
    };
}
