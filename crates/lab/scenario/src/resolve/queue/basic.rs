//! Laws without an average.

use shoal_aqm::{Extent, QueueConfig, StepConfig};

use super::{Context, Law};
use crate::schema::Step;

impl Law<'_> {
    pub(super) fn step(&self, step: &Step, limit: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        self.within_buffer(step.threshold, "threshold", self.port.mtu, cx);
        self.within_buffer(step.drop_threshold, "drop_threshold", self.port.mtu, cx);
        if step.threshold.value().is_none() {
            cx.warning(&self.at("threshold"), "an unlimited threshold marks nothing", "this is a fifo");
        }
        let threshold = self.port.extent(step.threshold, &self.at("threshold"), cx);
        let drop_threshold = self.port.extent(step.drop_threshold, &self.at("drop_threshold"), cx);
        Some(QueueConfig::Step(StepConfig {
            threshold: threshold?,
            decide: step.decide,
            drop_threshold: drop_threshold?,
            limit,
        }))
    }
}
