//! An arbitrary configuration, and the properties that it guarantees.

use super::StepConfig;
use crate::testing::{Checked, Input, Promise};
use shoal_units::Rate;

impl Checked for StepConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        Self {
            threshold: input.extent(),
            decide: input.decide(),
            drop_threshold: input.extent(),
            limit: input.extent(),
        }
    }

    fn promise(&self) -> Promise {
        Promise::of_fifo(self.limit)
    }
}
