//! An arbitrary configuration, and the properties that it guarantees.

use super::{DualPi2Config, DualPi2Form, NativeMarking, Tossing};
use crate::testing::{Checked, Input, Limit, Order, Promise};
use shoal_units::Rate;

impl Checked for DualPi2Config {
    fn arbitrary(input: &mut Input<'_>, _: Rate) -> Self {
        let native = match input.byte() % 4 {
            0 | 2 => {
                NativeMarking::Step { threshold: input.extent(), min_packets: u32::from(input.byte() % 8) }
            }
            1 => NativeMarking::Ramp {
                min: input.span(),
                range: input.span(),
                min_packets: u32::from(input.byte() % 8),
            },
            _ => NativeMarking::DelayRamp(input.delay_ramp()),
        };
        Self {
            form: if input.flag() { DualPi2Form::Mainline } else { DualPi2Form::L4sTeam },
            first_update: input.span(),
            target: input.span(),
            tupdate: input.span(),
            alpha_256th_hz: u32::from(input.short()) << (input.byte() % 16),
            beta_256th_hz: u32::from(input.short()) << (input.byte() % 16),
            coupling: input.byte(),
            native,
            tossing: if input.flag() { Tossing::Random } else { Tossing::Recur },
            ecn_mask: input.byte(),
            scheduler: input.scheduler(),
            drop_on_overload: input.flag(),
            decide: input.decide(),
            min_backlog_bytes: u64::from(input.short()),
            memory_limit_bytes: u64::from(input.short()) << (input.byte() % 16),
            limit: input.extent(),
            mtu: u32::from(input.short()),
            protection: input.protection(),
        }
    }

    fn promise(&self) -> Promise {
        Promise {
            limit: Limit::Whole(self.limit, self.memory_limit_bytes),
            order: if self.protection.is_some() { Order::None } else { Order::ByMask(self.ecn_mask) },
            // ECT packets are dropped if k p' exceeds 1.
            keeps_ect: !self.drop_on_overload,
            averages_bytes: true,
        }
    }
}
