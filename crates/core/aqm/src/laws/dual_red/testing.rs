//! An arbitrary configuration, and the properties that it guarantees.

use super::{AverageScope, DualRedConfig};
use crate::RedParameters;
use crate::testing::{Checked, Input, Promise};
use shoal_units::Rate;

impl Checked for DualRedConfig {
    fn arbitrary(input: &mut Input<'_>, rate: Rate) -> Self {
        Self {
            not_ect: RedParameters::arbitrary(input),
            ect: RedParameters::arbitrary(input),
            average: if input.flag() { AverageScope::Shared } else { AverageScope::PerClass },
            limit: input.extent(),
            rate,
            mean_packet_bytes: u32::from(input.short()),
        }
    }

    fn promise(&self) -> Promise {
        Promise::of_fifo(self.limit)
    }
}
