//! An arbitrary configuration, and the properties that it guarantees.

use super::FifoConfig;
use crate::testing::{Checked, Input, Promise};
use shoal_units::Rate;

impl Checked for FifoConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        Self { limit: input.extent() }
    }

    fn promise(&self) -> Promise {
        Promise::of_fifo(self.limit)
    }
}
