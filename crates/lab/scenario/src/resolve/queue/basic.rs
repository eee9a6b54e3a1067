//! Laws without an average.

use shoal_aqm::{Extent, OpenLoopConfig, OpenLoopSpacing, QueueConfig, StepConfig};
use shoal_units::Probability;

use super::{Context, Law};
use crate::schema::{OpenLoop, SpacingName, Step};

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

    pub(super) fn open_loop(
        &self,
        given: &OpenLoop,
        limit: Extent,
        cx: &mut Context<'_>,
    ) -> Option<QueueConfig> {
        self.probability(given.mark, "mark", cx);
        self.probability(given.drop, "drop", cx);
        let spacing = match (given.spacing, given.on) {
            (SpacingName::Bursts, Some(on)) if !on.span().is_zero() => {
                OpenLoopSpacing::Bursts { on: on.span() }
            }
            (SpacingName::Bursts, _) => {
                let hint = "write how long all packets are hit, as in on = \"8 ms\"";
                cx.error(&self.at("on"), "bursts need a time above zero", hint);
                return None;
            }
            (_, Some(_)) => {
                let hint = "remove it, or change the spacing";
                cx.error(&self.at("on"), "on needs spacing = \"bursts\"", hint);
                return None;
            }
            (SpacingName::Independent, None) => OpenLoopSpacing::Independent,
            (SpacingName::Even, None) => OpenLoopSpacing::Even,
        };
        Some(QueueConfig::OpenLoop(OpenLoopConfig {
            mark: Probability::from_f64(given.mark),
            drop: Probability::from_f64(given.drop),
            spacing,
            limit,
        }))
    }
}
