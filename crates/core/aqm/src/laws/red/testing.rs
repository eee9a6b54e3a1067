//! An arbitrary configuration, and the properties that it guarantees.

use super::{MarkSpacing, RedConfig, RedParameters};
use crate::testing::{Checked, Input, Promise};
use shoal_units::Rate;

impl Checked for RedConfig {
    fn arbitrary(input: &mut Input<'_>, rate: Rate) -> Self {
        Self {
            parameters: RedParameters::arbitrary(input),
            ecn: input.flag(),
            limit: input.extent(),
            rate,
            mean_packet_bytes: u32::from(input.short()),
        }
    }

    fn promise(&self) -> Promise {
        Promise { keeps_ect: self.ecn, ..Promise::of_fifo(self.limit) }
    }
}

impl RedParameters {
    pub(crate) fn arbitrary(input: &mut Input<'_>) -> Self {
        let min_bytes = f64::from(input.short()) / 4.0;
        Self {
            min_bytes,
            max_bytes: min_bytes + f64::from(input.short()) / 4.0,
            max_probability: input.fraction(),
            weight: libm::ldexp(1.0, -i32::from(input.byte() % 12)),
            gentle: input.flag(),
            spacing: if input.flag() { MarkSpacing::Uniformised } else { MarkSpacing::Independent },
        }
    }
}
