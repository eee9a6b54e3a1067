//! An arbitrary configuration, and the properties that it guarantees.

use super::PieConfig;
use crate::testing::{Checked, Input, Promise};
use shoal_units::Rate;

impl Checked for PieConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        Self {
            target: input.delay(),
            tupdate: input.delay(),
            alpha: u32::from(input.byte()),
            beta: u32::from(input.byte()),
            ecn: input.flag(),
            ecn_threshold_percent: input.byte(),
            bytemode: input.flag(),
            dq_rate_estimator: input.flag(),
            mtu_bytes: u32::from(input.short()),
            limit: input.extent(),
        }
    }

    fn promise(&self) -> Promise {
        // Above the threshold ECT packets are dropped, too.
        Promise { keeps_ect: false, ..Promise::of_fifo(self.limit) }
    }
}
