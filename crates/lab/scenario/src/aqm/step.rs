//! Keys of `step`.

use shoal_aqm::{DecideAt, Extent, StepConfig};

use super::{Place, Resolve};
use crate::field::{Section, choices};
use crate::quantity::Amount;

/// Step marking.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Step {
    /// K: an ECT packet is marked if more than this waits, itself included.
    #[key(source = "RFC 8257 section 3.1; Kuehlewind et al. 2014 section IV-B")]
    pub threshold: Amount,
    /// When the queue is compared with the threshold; at dequeue a time is the packet's own wait.
    #[key(
        default = "enqueue",
        source = "RFC 8257 section 3.1 (enqueue); RFC 9332 section 2.5.1 (sojourn time at dequeue)"
    )]
    pub decide: DecideAt,
    /// A packet that is not ECT is dropped if more than this waits, itself included.
    #[key(
        default = "unlimited",
        source = "Linux net/sched/sch_red.c (packets that are not ECT are dropped where others are marked)"
    )]
    pub drop_threshold: Amount,
}

choices!(DecideAt { "enqueue" => Self::Enqueue, "dequeue" => Self::Dequeue, });

impl Resolve for Step {
    type Config = StepConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<StepConfig> {
        law.within_buffer(self.threshold, "threshold", law.port.mtu);
        law.within_buffer(self.drop_threshold, "drop_threshold", law.port.mtu);
        if self.threshold.value().is_none() {
            law.keys.warning("threshold", "an unlimited threshold marks nothing", "this is a fifo");
        }
        let threshold = law.extent(self.threshold, "threshold");
        let drop_threshold = law.extent(self.drop_threshold, "drop_threshold");
        Some(StepConfig {
            threshold: threshold?,
            decide: self.decide,
            drop_threshold: drop_threshold?,
            limit,
        })
    }
}
