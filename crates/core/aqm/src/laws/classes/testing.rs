//! An arbitrary configuration, and the properties that it guarantees.

use super::{ClassConfig, ClassesConfig, Service};
use crate::testing::{Checked, Input, Kind, Limit, Order, Promise, Promises};
use crate::{AnyQueue, Extent, FifoConfig, QueueConfig, ShaperConfig};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use shoal_units::Rate;

/// Flows of the model.
const FLOWS: u8 = 32;

impl Checked for ClassesConfig {
    fn arbitrary(input: &mut Input<'_>, line_rate: Rate) -> Self {
        let count = 1 + input.byte() % 4;
        let queues: Arc<[ClassConfig]> = (0..count).map(|number| class(number, input, line_rate)).collect();
        Self {
            queues,
            queue_of: core::array::from_fn(|codepoint| (codepoint % usize::from(count)) as u8),
            // Some flows lie beyond the end.
            codepoints: (0..input.byte() % FLOWS).map(|_| input.byte() % 64).collect(),
            // Limits by what other queues hold are no promise of a queue; tests of their own are about them.
            memory_bytes: None,
        }
    }

    /// What holds for all packets together; [`Checked::promises`] says what holds for each queue.
    fn promise(&self) -> Promise {
        Promise {
            limit: Limit::Whole(Extent::Unlimited, u64::MAX),
            order: Order::ByFlow,
            keeps_ect: false,
            averages_bytes: true,
        }
    }

    fn promises(&self) -> Promises {
        let config = self.clone();
        let of_queue: Vec<Promise> = self.queues.iter().map(|queue| queue.law.promise()).collect();
        Promises::of_classes(of_queue, Arc::new(move |flow| config.queue_of(flow.0)))
    }

    fn holds_back(&self) -> bool {
        self.queues.iter().any(|queue| queue.shaper.is_some())
    }
}

fn class(number: u8, input: &mut Input<'_>, line_rate: Rate) -> ClassConfig {
    let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Classes).collect();
    let kind = kinds[usize::from(input.byte()) % kinds.len()];
    let law = input.config(kind, line_rate);
    // Most random configurations of some laws are refused by tc.
    let law = match AnyQueue::try_new(&law, line_rate) {
        Ok(_) => law,
        Err(_) => QueueConfig::Fifo(FifoConfig { limit: input.extent() }),
    };
    ClassConfig {
        name: format!("class {number}"),
        service: if input.flag() {
            Service::Strict
        } else {
            Service::Weighted { quantum_bytes: 256 + u32::from(input.short()) }
        },
        shaper: input.flag().then(|| ShaperConfig { rate: input.rate(), burst_bytes: input.short().into() }),
        law,
        alpha: None,
        reserved_bytes: None,
    }
}
