//! Queues for traffic classes, which this plane does not have yet.

use super::{Express, PLACE, QueueMapping, Site};
use crate::refusal::Refusals;
use shoal_aqm::ClassesConfig;
use shoal_packet::Reason;

impl Express for ClassesConfig {
    const MARKS: Reason = Reason::Threshold;
    const DROPS: Reason = Reason::Early;

    fn express(&self, _: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        refusals.add(
            PLACE,
            "queues for traffic classes are `ets` with child disciplines, which the testbed's kernel does not have",
            "run this on the simulator",
        );
        None
    }
}
