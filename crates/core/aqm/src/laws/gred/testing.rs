//! An arbitrary configuration, and the properties that it guarantees.

use super::{GRED_QUEUES, GredConfig, GredMode, GredQueueConfig};
use crate::LinuxRedConfig;
use crate::testing::{Checked, Input, Limit, Order, Promise};
use shoal_units::Rate;

impl Checked for GredConfig {
    fn arbitrary(input: &mut Input<'_>, line_rate: Rate) -> Self {
        let mut queues = [None; GRED_QUEUES];
        let which = input.byte();
        for (n, queue) in queues.iter_mut().enumerate() {
            if which >> n & 1 == 0 {
                let red = LinuxRedConfig::arbitrary(input, line_rate);
                *queue = Some(GredQueueConfig { red, priority: input.byte() % 4 });
            }
        }
        Self {
            limit_bytes: u32::from(input.short()) << (input.byte() % 8),
            grio: input.flag(),
            queues,
            queue_of: core::array::from_fn(|_| input.byte() % 5),
        }
    }

    fn promise(&self) -> Promise {
        // A virtual queue that is not there has no limit of its own.
        let bytes = self
            .queues
            .map(|queue| queue.map_or(u64::MAX, |queue| queue.red.limit_bytes.min(self.limit_bytes).into()));
        let queues = || self.queues.iter().flatten().map(|queue| queue.red);
        let wlogs = || queues().map(|red| red.solve().map(|tc| tc.wlog));
        Promise {
            limit: Limit::Parts {
                queue_of: self.queue_of,
                bytes,
                default: self.limit_bytes.into(),
                of_all: self.mode() == GredMode::Wred,
            },
            order: Order::All,
            keeps_ect: queues().all(|red| red.ecn && !red.harddrop),
            // WRED keeps one integer that every virtual queue reads with its own weight.
            averages_bytes: wlogs().all(|wlog| Some(wlog) == wlogs().next()),
        }
    }
}
