//! An arbitrary configuration, and the properties that it guarantees.

use super::{OpenLoopConfig, OpenLoopSpacing};
use crate::testing::{Checked, Input, Promise};
use shoal_units::{Probability, Rate, Span};

impl Checked for OpenLoopConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        let mut probability = || Probability::from_q32(u64::from(input.short()) << 16);
        let (mark, drop) = (probability(), probability());
        let spacing = match input.byte() % 3 {
            0 => OpenLoopSpacing::Independent,
            1 => OpenLoopSpacing::Even,
            _ => OpenLoopSpacing::Bursts {
                on: Span::from_picos(u64::from(input.short()) << (input.byte() % 48)),
            },
        };
        Self { mark, drop, spacing, limit: input.extent() }
    }

    fn promise(&self) -> Promise {
        Promise::of_fifo(self.limit)
    }
}
