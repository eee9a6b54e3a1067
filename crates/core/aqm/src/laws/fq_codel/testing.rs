//! An arbitrary configuration, and the properties that it guarantees.

use super::{FlowQueues, FqCodelConfig};
use crate::CodelParameters;
use crate::testing::{Checked, Input, Limit, Order, Promise};
use shoal_units::Rate;

impl Checked for FqCodelConfig {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        Self {
            law: CodelParameters::arbitrary(input),
            flows: match input.byte() % 4 {
                0 => FlowQueues::PerFlow,
                n => FlowQueues::Hashed([1, 3, 1024][usize::from(n - 1)]),
            },
            quantum_bytes: u32::from(input.short()),
            limit: input.extent(),
            memory_limit_bytes: if input.flag() { u64::MAX } else { u64::from(input.short()) << 3 },
            drop_batch: u32::from(input.byte() % 65),
        }
    }

    fn promise(&self) -> Promise {
        Promise {
            limit: Limit::Whole(self.limit, self.memory_limit_bytes),
            order: Order::ByFlow,
            keeps_ect: self.law.ecn,
            averages_bytes: true,
        }
    }
}
