//! CoDel, alone and behind fair queueing: attributes of
//! [`include/uapi/linux/pkt_sched.h`](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/pkt_sched.h).

use super::{Discipline, Express, QueueMapping, Site, micros, packet_limit};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::{CodelConfig, CodelParameters};
use shoal_packet::Reason;

pub(super) mod attribute {
    pub(in crate::disciplines) const TARGET: u16 = 1;
    pub(in crate::disciplines) const LIMIT: u16 = 2;
    pub(in crate::disciplines) const INTERVAL: u16 = 3;
    pub(in crate::disciplines) const ECN: u16 = 4;
    pub(in crate::disciplines) const CODEL_CE_THRESHOLD: u16 = 5;
    pub(in crate::disciplines) const FLOWS: u16 = 5;
    pub(in crate::disciplines) const QUANTUM: u16 = 6;
    pub(in crate::disciplines) const CE_THRESHOLD: u16 = 7;
    pub(in crate::disciplines) const DROP_BATCH_SIZE: u16 = 8;
    pub(in crate::disciplines) const MEMORY_LIMIT: u16 = 9;
    pub(in crate::disciplines) const CE_THRESHOLD_SELECTOR: u16 = 10;
    pub(in crate::disciplines) const CE_THRESHOLD_MASK: u16 = 11;
}

impl Express for CodelConfig {
    const MARKS: Reason = Reason::Sojourn;
    const DROPS: Reason = Reason::Sojourn;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        let limit = packet_limit(self.limit, "codel", site, refusals)?;
        let law = &self.law;
        let mut options = law_attributes(law, limit);
        if let Some(threshold) = law.ce_threshold {
            options = options.u32(attribute::CODEL_CE_THRESHOLD, micros(threshold));
        }
        let tc = format!("codel limit {limit} {}", law_words(law));
        Some(QueueMapping::of(Discipline::new("codel", options, tc), Vec::new()))
    }
}

pub(super) fn law_attributes(law: &CodelParameters, limit: u32) -> Attributes {
    Attributes::default()
        .u32(attribute::TARGET, micros(law.target))
        .u32(attribute::LIMIT, limit)
        .u32(attribute::INTERVAL, micros(law.interval))
        .u32(attribute::ECN, law.ecn.into())
}

pub(super) fn law_words(law: &CodelParameters) -> String {
    let ce_threshold = law.ce_threshold.map(|span| format!(" ce_threshold {}us", micros(span)));
    format!(
        "target {}us interval {}us {}{}",
        micros(law.target),
        micros(law.interval),
        if law.ecn { "ecn" } else { "noecn" },
        ce_threshold.unwrap_or_default()
    )
}
