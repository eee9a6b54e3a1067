//! `pi2`, which no kernel has.

use super::{Express, PLACE, QueueMapping, Site};
use crate::refusal::Refusals;
use shoal_aqm::Pi2Config;
use shoal_packet::Reason;

impl Express for Pi2Config {
    const MARKS: Reason = Reason::Coupled;
    const DROPS: Reason = Reason::Early;

    fn express(&self, _: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        refusals.add(
            PLACE,
            "PI2 with one queue was never part of Linux: sch_pi2 is a module of its authors, for kernels of 2015",
            "use kind = \"dualpi2\", which both planes have, or run this on the simulator",
        );
        None
    }
}
