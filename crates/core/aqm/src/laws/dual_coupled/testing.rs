//! An arbitrary configuration, and the properties that it guarantees.

use super::{CouplingInput, DualCoupledConfig};
use crate::CoupledSlope;
use crate::testing::{Checked, Input, Order, Promise};
use shoal_units::Rate;

impl Checked for DualCoupledConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        Self {
            slope: CoupledSlope::arbitrary(input),
            input: if input.flag() { CouplingInput::Classic } else { CouplingInput::Total },
            threshold: input.extent(),
            decide: input.decide(),
            scheduler: input.scheduler(),
            mtu: u32::from(input.short()),
            protection: input.protection(),
            limit: input.extent(),
        }
    }

    fn promise(&self) -> Promise {
        let order = if self.protection.is_some() { Order::None } else { Order::ByMask(0b11) };
        Promise { order, ..Promise::of_fifo(self.limit) }
    }
}
