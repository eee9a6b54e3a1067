//! `red` as published, where our module for two instances does the same.

use super::{Express, PLACE, QueueMapping, Site};
use crate::refusal::Refusals;
use shoal_aqm::{AverageScope, DualRedConfig, MarkSpacing, RedConfig};
use shoal_packet::Reason;

impl Express for RedConfig {
    const MARKS: Reason = Reason::Early;
    const DROPS: Reason = Reason::Early;

    /// RED as published has real-valued parameters and any weight; the kernel's RED has powers of two.
    /// `dualred` computes RED as published, with an instance for each class of packets, each of which counts
    /// the packets since its own last decision. It equals one published RED if no instance counts, or if only
    /// one of them ever sees packets.
    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        let counts = self.parameters.spacing == MarkSpacing::Uniformised;
        let (reason, hint) = match (self.ecn, site.any_ect) {
            (false, true) => (
                "`red` without ecn drops ECT packets; `dualred`, the only RED with any weight, marks them",
                "write ecn = true, or switch ECN off for all flows, or use kind = \"linux-red\"",
            ),
            (true, true) if counts => (
                "`dualred`, the only RED with any weight, counts packets between decisions for each class of packets \
                 alone",
                "write spacing = \"independent\", or use kind = \"dual-red\" or \"linux-red\", which are the same on \
                 both planes",
            ),
            _ => {
                let dual = DualRedConfig {
                    not_ect: self.parameters,
                    ect: self.parameters,
                    average: AverageScope::Shared,
                    limit: self.limit,
                    rate: self.rate,
                    mean_packet_bytes: self.mean_packet_bytes,
                };
                let mut mapping = dual.express(site, refusals)?;
                mapping.rules.push("red: both instances of dualred alike, of which one decides".to_owned());
                return Some(mapping);
            }
        };
        refusals.add(PLACE, reason, hint);
        None
    }
}
