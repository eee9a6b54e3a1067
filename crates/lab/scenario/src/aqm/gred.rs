//! Keys of `gred`: RED queues of several classes in one FIFO.

use shoal_aqm::{Extent, GRED_QUEUES, GredConfig, GredMode, GredQueueConfig};

use super::linux_red::LinuxRed;
use super::{Place, Resolve};
use crate::field::Section;
use crate::quantity::{Amount, DataRate, PacketCount, Size};

/// GRED with the parameters of `tc qdisc add ... gred`; two virtual queues, chosen by ECN capability.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Gred {
    /// Priorities count: with equal ones both virtual queues share one average of the whole queue (WRED), else the one
    /// with the higher number adds the other's (RIO). Without it (tc's default) each averages its own packets.
    #[key(default = true, source = "sch_gred.c gred_wred_mode_check, gred_enqueue")]
    pub grio: bool,
    /// Largest limit of both virtual queues.
    #[key(otherwise = "the link's buffer", source = "sch_gred.c gred_change_vq")]
    pub limit: Option<Amount>,
    /// The virtual queue of packets that are not ECT.
    pub not_ect: GredQueue,
    /// The virtual queue of ECT packets.
    pub ect: GredQueue,
}

/// A virtual queue of GRED.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct GredQueue {
    /// Limit on the backlog that its law sees.
    #[key(otherwise = "that of the whole", source = "sch_gred.c gred_enqueue")]
    pub limit: Option<Amount>,
    /// Minimum threshold: below this average nothing is marked or dropped.
    #[key(source = "red.h red_cmp_thresh")]
    pub min: Amount,
    /// Maximum threshold: from this average on every packet is marked or dropped.
    #[key(source = "red.h red_cmp_thresh; q_gred.c")]
    pub max: Amount,
    /// Average packet size, for the weight and the idle table.
    #[key(default = "1000 B", source = "tc_red.c tc_red_eval_ewma")]
    pub avpkt: Size,
    /// Burst that shall pass: determines the weight 2^-Wlog.
    #[key(otherwise = "(2 min + max) / (3 avpkt)", source = "tc_red.c tc_red_eval_ewma")]
    pub burst: Option<PacketCount>,
    /// Probability at the maximum threshold.
    #[key(default = 0.02, unit = "0 to 1", source = "q_gred.c; red.h red_random")]
    pub probability: f64,
    /// Bandwidth that tc is told: only for the idle table.
    #[key(default = "10 Mbit/s", source = "tc_red.c tc_red_eval_idle_damping")]
    pub bandwidth: DataRate,
    /// Mark ECT packets instead of dropping them.
    #[key(default = false, source = "sch_gred.c gred_use_ecn (for each virtual queue since 5.0)")]
    pub ecn: bool,
    /// With ecn: drop above the maximum even if ECT.
    #[key(default = false, source = "sch_gred.c gred_use_harddrop")]
    pub harddrop: bool,
    /// Priority; lower numbers come first. Only with grio.
    #[key(default = 8, unit = "1 to 15", source = "sch_gred.c gred_change")]
    pub prio: u16,
}

/// Virtual queues: packets that are not ECT, and those that are.
const NOT_ECT: u8 = 0;
const ECT: u8 = 1;

impl Resolve for Gred {
    type Config = GredConfig;

    fn resolve(&self, law: &Place<'_>, _: Extent) -> Option<GredConfig> {
        let limit_bytes = law.red_limit(self.limit, 1000);
        let not_ect = law.table("not_ect").gred_queue(&self.not_ect, self);
        let ect = law.table("ect").gred_queue(&self.ect, self);
        let mut queues = [None; GRED_QUEUES];
        queues[usize::from(NOT_ECT)] = Some(not_ect?);
        queues[usize::from(ECT)] = Some(ect?);
        let config = GredConfig {
            limit_bytes: limit_bytes?,
            grio: self.grio,
            queues,
            queue_of: [NOT_ECT, ECT, ECT, ECT],
        };
        law.check_weights(&config);
        Some(config)
    }
}

impl Place<'_> {
    fn gred_queue(&self, queue: &GredQueue, gred: &Gred) -> Option<GredQueueConfig> {
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
        let red = self.red_as_tc(&red)?;
        if !(1..=15).contains(&queue.prio) {
            self.keys.error(
                "prio",
                format!("a priority of {}", queue.prio),
                "write a number from 1 to 15, as in 8",
            );
        }
        Some(GredQueueConfig { red, priority: queue.prio as u8 })
    }

    /// WRED keeps one integer for all, which every virtual queue reads with its own weight.
    fn check_weights(&self, config: &GredConfig) {
        let wlog = |queue: &GredQueueConfig| queue.red.solve().map(|tc| tc.wlog);
        let weights: Result<Vec<u8>, _> = config.queues.iter().flatten().map(wlog).collect();
        let Ok(weights) = weights else { return };
        if config.mode() == GredMode::Wred && weights.iter().any(|weight| *weight != weights[0]) {
            let message = format!(
                "with one average for both, weights of 2^-{} and 2^-{} misread it",
                weights[0], weights[1]
            );
            self.keys.error(
                "ect.burst",
                message,
                "set burst (or min, avpkt) so that tc finds the same weight for both",
            );
        }
    }
}
