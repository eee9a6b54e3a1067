//! An arbitrary configuration, and the properties that it guarantees.

use super::LinuxRedConfig;
use crate::LawConfig;
use crate::testing::{Checked, Input, Promise};
use shoal_units::Rate;

impl Checked for LinuxRedConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        let min_bytes = u32::from(input.short());
        let avpkt_bytes = u32::from(input.short());
        // Mostly bursts that tc accepts.
        let burst_packets = min_bytes / avpkt_bytes.max(1) + u32::from(input.byte());
        Self {
            limit_bytes: u32::from(input.short()) << (input.byte() % 8),
            min_bytes,
            max_bytes: min_bytes.wrapping_add(u32::from(input.short())),
            avpkt_bytes,
            burst_packets,
            probability: input.fraction(),
            bandwidth: input.rate(),
            ecn: input.flag(),
            harddrop: input.flag(),
            nodrop: input.flag(),
            adaptive: input.flag(),
            legacy_probability: input.flag(),
        }
    }

    fn promise(&self) -> Promise {
        Promise { keeps_ect: self.ecn && !self.harddrop, ..Promise::of_fifo(self.limit()) }
    }
}
