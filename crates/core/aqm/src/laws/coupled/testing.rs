//! An arbitrary configuration, and the properties that it guarantees.

use super::{CoupledConfig, CoupledSlope};
use crate::testing::{Checked, Input, Promise};
use shoal_units::Rate;

impl Checked for CoupledConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        Self { slope: CoupledSlope::arbitrary(input), decide: input.decide(), limit: input.extent() }
    }

    fn promise(&self) -> Promise {
        Promise::of_fifo(self.limit)
    }
}

impl CoupledSlope {
    pub(crate) fn arbitrary(input: &mut Input<'_>) -> Self {
        if input.flag() {
            Self::Linear { saturation: input.extent(), coupling: f64::from(input.byte()) / 16.0 }
        } else {
            Self::Shift { drop_bits: input.byte(), mark_bits: input.byte(), unit: input.extent() }
        }
    }
}
