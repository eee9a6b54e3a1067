//! `open-loop`, which no kernel has.

use super::{Express, PLACE, QueueMapping, Site};
use crate::refusal::Refusals;
use shoal_aqm::OpenLoopConfig;
use shoal_packet::Reason;

impl Express for OpenLoopConfig {
    const MARKS: Reason = Reason::Early;
    const DROPS: Reason = Reason::Early;

    fn express(&self, _: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        refusals.add(
            PLACE,
            "`open-loop` is a queue for experiments on paper: no discipline marks or drops with a given probability",
            "run this on the simulator",
        );
        None
    }
}
