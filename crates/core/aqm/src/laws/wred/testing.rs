//! An arbitrary configuration, and the properties that it guarantees.

use super::{WredConfig, WredProfile, WredThresholds};
use crate::testing::{Checked, Input, Promise};
use shoal_units::{Rate, Span};

impl Checked for WredConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        Self {
            mark: profile(input),
            drop: profile(input),
            drop_ect: profile(input),
            weight: input.byte() % 16,
            decide: input.decide(),
            cell_bytes: if input.flag() { 1 } else { u32::from(input.short()).max(1) },
            limit: input.extent(),
        }
    }

    fn promise(&self) -> Promise {
        Promise {
            keeps_ect: self.drop_ect.is_none(),
            // Averages count the bytes of whole cells, which the model of all queues does not know.
            averages_bytes: self.cell_bytes == 1,
            ..Promise::of_fifo(self.limit)
        }
    }
}

fn profile(input: &mut Input<'_>) -> Option<WredProfile> {
    let (min, more) = (u32::from(input.byte()), u32::from(input.byte() % 64));
    let bytes = |packets: u32| u64::from(packets) << 8;
    let max = min + more;
    let thresholds = match input.byte() % 4 {
        0 => return None,
        1 => WredThresholds::Packets { min, max },
        2 => WredThresholds::Bytes { min: bytes(min), max: bytes(max) },
        _ => {
            let unit = u64::from(input.short());
            let time = |packets: u32| Span::from_picos(u64::from(packets) * unit << 16);
            WredThresholds::Time { min: time(min), max: time(max) }
        }
    };
    Some(WredProfile { thresholds, max_probability: input.fraction() })
}
