//! The option of accurate ECN ([RFC 9768, section 3.2.3](https://www.rfc-editor.org/rfc/rfc9768#section-3.2.3)).

use crate::Ecn;
use shoal_units::cast::{count_u32, fit_u8};

/// Order of the counters in an option of accurate ECN, which its kind tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterOrder {
    /// ECT(0), CE, ECT(1): kind 172.
    Ect0First,
    /// ECT(1), CE, ECT(0): kind 174, which Linux sends.
    Ect1First,
}

impl CounterOrder {
    /// Codepoints whose bytes the three fields count.
    pub const fn codepoints(self) -> [Ecn; 3] {
        match self {
            Self::Ect0First => [Ecn::Ect0, Ecn::Ce, Ecn::Ect1],
            Self::Ect1First => [Ecn::Ect1, Ecn::Ce, Ecn::Ect0],
        }
    }
    /// Kind of the option.
    pub const fn kind(self) -> u8 {
        match self {
            Self::Ect0First => 172,
            Self::Ect1First => 174,
        }
    }
}

/// Counters of payload bytes by the codepoint with which they arrived, of 24 bits each; those behind the last that has
/// changed may be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ByteCounters {
    /// Order of the fields.
    pub order: CounterOrder,
    fields: [u32; 3],
    len: u8,
}

impl ByteCounters {
    /// Most fields of an option.
    pub const FIELDS: usize = 3;
    /// Values of a field that it cannot hold.
    pub const MODULUS: u32 = 1 << 24;

    /// The first `len` fields, of each of which the low 24 bits are sent.
    pub fn new(order: CounterOrder, fields: [u32; 3], len: usize) -> Self {
        let len = if len > Self::FIELDS { Self::FIELDS } else { len };
        Self { order, fields: fields.map(|field| field % Self::MODULUS), len: fit_u8(count_u32(len)) }
    }
    /// The fields that are present, in their order.
    pub fn fields(&self) -> &[u32] {
        &self.fields[..usize::from(self.len)]
    }
    /// Each field that is present, with the codepoint whose bytes it counts.
    pub fn counted(&self) -> impl Iterator<Item = (Ecn, u32)> + '_ {
        self.order.codepoints().into_iter().zip(self.fields().iter().copied())
    }
    /// Bytes of the option without padding.
    pub fn bytes(&self) -> u16 {
        2 + 3 * u16::from(self.len)
    }
}
