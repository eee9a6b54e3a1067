//! An arbitrary configuration, and the properties that it guarantees.

use super::{CeThresholdFor, CodelConfig, CodelParameters};
use crate::testing::{Checked, Input, Promise};
use shoal_units::Rate;

impl Checked for CodelConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        Self { law: CodelParameters::arbitrary(input), limit: input.extent() }
    }

    fn promise(&self) -> Promise {
        Promise { keeps_ect: self.law.ecn, ..Promise::of_fifo(self.limit) }
    }
}

impl CodelParameters {
    pub(crate) fn arbitrary(input: &mut Input<'_>) -> Self {
        Self {
            target: input.delay(),
            interval: input.delay(),
            ecn: input.flag(),
            ce_threshold: if input.flag() { Some(input.delay()) } else { None },
            ce_threshold_for: if input.flag() {
                CeThresholdFor::Ect
            } else {
                CeThresholdFor::Field { value: input.byte(), mask: input.byte() }
            },
            mtu_bytes: u32::from(input.short()),
        }
    }
}
