//! An arbitrary configuration, and the properties that it guarantees.

use super::{DelayEstimate, Pi2Config};
use crate::testing::{Checked, Input, Promise};
use shoal_units::Rate;

impl Checked for Pi2Config {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        Self {
            target: input.span(),
            tupdate: input.span(),
            alpha_16th_hz: u32::from(input.short()),
            beta_16th_hz: u32::from(input.short()) << (input.byte() % 16),
            coupling: u32::from(input.byte()),
            ecn: input.flag(),
            scalable_mask: input.byte(),
            estimate: if input.flag() { DelayEstimate::Rate } else { DelayEstimate::Sojourn },
            mtu: u32::from(input.short()),
            limit: input.extent(),
        }
    }

    fn promise(&self) -> Promise {
        // Below p = 1 ECT packets that are not scalable are marked, too.
        Promise { keeps_ect: self.ecn, ..Promise::of_fifo(self.limit) }
    }
}
