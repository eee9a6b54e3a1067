//! GRED.

use shoal_aqm::{GRED_QUEUES, GredConfig, GredMode, GredQueueConfig, QueueConfig};

use super::{Context, Law};
use crate::schema::{Gred, GredQueue, LinuxRed};

/// Virtual queues: packets that are not ECT, and those that are.
const NOT_ECT: u8 = 0;
const ECT: u8 = 1;

impl Law<'_> {
    pub(super) fn gred(&self, gred: &Gred, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let limit_bytes = self.red_limit(gred.limit, "", 1000, cx);
        let not_ect = self.gred_queue(&gred.not_ect, "not_ect.", gred, cx);
        let ect = self.gred_queue(&gred.ect, "ect.", gred, cx);
        let mut queues = [None; GRED_QUEUES];
        queues[usize::from(NOT_ECT)] = Some(not_ect?);
        queues[usize::from(ECT)] = Some(ect?);
        let config = GredConfig {
            limit_bytes: limit_bytes?,
            grio: gred.grio,
            queues,
            queue_of: [NOT_ECT, ECT, ECT, ECT],
        };
        self.check_weights(&config, cx);
        Some(QueueConfig::Gred(config))
    }

    fn gred_queue(
        &self,
        queue: &GredQueue,
        prefix: &str,
        gred: &Gred,
        cx: &mut Context<'_>,
    ) -> Option<GredQueueConfig> {
        let red = LinuxRed {
            limit: queue.limit.or(gred.limit),
            min: queue.min,
            max: Some(queue.max),
            avpkt: queue.avpkt,
            burst: queue.burst,
            probability: queue.probability,
            bandwidth: queue.bandwidth,
            ecn: queue.ecn,
            harddrop: queue.harddrop,
            nodrop: false,
            adaptive: false,
            kernel: "6.12".to_owned(),
        };
        let red = self.red_as_tc(&red, prefix, cx)?;
        if !(1..=15).contains(&queue.prio) {
            let key = self.at(&format!("{prefix}prio"));
            cx.error(&key, format!("a priority of {}", queue.prio), "write a number from 1 to 15, as in 8");
        }
        Some(GredQueueConfig { red, priority: queue.prio as u8 })
    }

    /// WRED keeps one integer for all, which every virtual queue reads with its own weight.
    fn check_weights(&self, config: &GredConfig, cx: &mut Context<'_>) {
        let wlog = |queue: &GredQueueConfig| queue.red.solve().map(|tc| tc.wlog);
        let weights: Result<Vec<u8>, _> = config.queues.iter().flatten().map(wlog).collect();
        let Ok(weights) = weights else { return };
        if config.mode() == GredMode::Wred && weights.iter().any(|weight| *weight != weights[0]) {
            let key = self.at("ect.burst");
            let message = format!(
                "with one average for both, weights of 2^-{} and 2^-{} misread it",
                weights[0], weights[1]
            );
            cx.error(&key, message, "set burst (or min, avpkt) so that tc finds the same weight for both");
        }
    }
}
