//! `dualq-coupled`, a module of ours: attributes of linux/modules/uapi/pkt_sched_shoal.h.

use super::coupled::{Amount, attribute, check, common, mapping};
use super::{Express, QueueMapping, Site, bounds};
use crate::refusal::Refusals;
use shoal_aqm::{CouplingInput, DualCoupledConfig, SchedulerConfig};
use shoal_packet::Reason;

impl Express for DualCoupledConfig {
    const MARKS: Reason = Reason::Coupled;
    const DROPS: Reason = Reason::Early;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        let slope = check(self.slope, site.rate, refusals);
        if self.protection.is_some() {
            refusals.add(
                "bottleneck.aqm.protection",
                "the module has no queue protection",
                "leave protection out, or run this on the simulator",
            );
            return None;
        }
        let threshold = Amount::of(self.threshold);
        let amounts = &bounds::AMOUNT_OR_NOTHING;
        bounds::check(
            "threshold",
            threshold.value,
            amounts,
            "at most 11 days, 10^15 bytes or packets",
            refusals,
        )?;
        // A shift is a time, and no time of a scenario exceeds what the module accepts.
        slope?;
        let (options, words) = common(self.slope, self.decide, self.limit, site.rate);
        let total = self.input == CouplingInput::Total;
        let (scheduler, percent, shift, scheduler_words) = match self.scheduler {
            SchedulerConfig::StrictPriority => (0, 0, 0, "priority".to_owned()),
            SchedulerConfig::Weighted { classic_percent } => {
                (1, classic_percent, 0, format!("weighted classic_percent {classic_percent}"))
            }
            SchedulerConfig::TimeShifted { shift } => {
                (2, 0, shift.as_nanos(), format!("shifted shift {}ns", shift.as_nanos()))
            }
        };
        let options = options
            .u64(attribute::THRESHOLD, threshold.value)
            .u8(attribute::THRESHOLD_MEASURE, threshold.measure)
            .u8(attribute::INPUT, total.into())
            .u8(attribute::SCHEDULER, scheduler)
            .u8(attribute::CLASSIC_PERCENT, percent)
            .u64(attribute::SHIFT, shift)
            .u32(attribute::MTU, self.mtu);
        let tc = format!(
            "dualq_coupled {words} threshold {threshold} input {} scheduler {scheduler_words} mtu {}b",
            if total { "total" } else { "classic" },
            self.mtu
        );
        Some(mapping("dualq_coupled", options, tc))
    }
}
