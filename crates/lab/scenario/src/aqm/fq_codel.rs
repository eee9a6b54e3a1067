//! Keys of `fq-codel` ([RFC 8290](https://www.rfc-editor.org/rfc/rfc8290)).

use shoal_aqm::{CeThresholdFor, Extent, FlowQueues, FqCodelConfig};

use super::ds_selector::DsSelector;
use super::{Place, Resolve};
use crate::field::{Section, choices};
use crate::quantity::{Amount, Duration, PacketCount, Size};

/// Fair queueing with CoDel, with the parameters of `tc qdisc add ... fq_codel`.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct FqCodel {
    /// How packets find their queue: by a hash of their flow, with collisions, or one queue for each flow.
    #[key(default = "hash", source = "sch_fq_codel.c fq_codel_hash; RFC 8290 section 4.1.1")]
    pub classifier: FlowClassifier,
    /// Queues behind the hash. Excluded by classifier = "flow".
    #[key(default = 1024, when(classifier = "hash"), unit = "1 to 65536", source = "RFC 8290 section 5.2.1")]
    pub flows: Option<u32>,
    /// Bytes that a queue may send in one turn, at least 256 B.
    #[key(
        otherwise = "the largest packet of any flow",
        source = "RFC 8290 section 5.2.4; sch_fq_codel.c fq_codel_change"
    )]
    pub quantum: Option<Size>,
    /// Sojourn time that may stand in a queue; kept in ticks of 1024 ns.
    #[key(default = "5 ms", source = "RFC 8289 section 4.2; codel_impl.h codel_should_drop")]
    pub target: Duration,
    /// How long the target must be exceeded before the first signal; the n-th gap between signals is this over sqrt(n).
    #[key(default = "100 ms", source = "RFC 8289 section 4.3; codel_impl.h codel_control_law")]
    pub interval: Duration,
    /// Mark ECT packets instead of dropping them.
    #[key(default = true, source = "codel_impl.h codel_dequeue")]
    pub ecn: bool,
    /// Beyond this sojourn time ECT packets are marked at once, whatever the law says.
    #[key(otherwise = "never", source = "codel_impl.h codel_dequeue (since 4.2)")]
    pub ce_threshold: Option<Duration>,
    /// Packets that ce_threshold is for: all ECT, or ECT(1) only (tc's ce_threshold_selector 1/3).
    #[key(default = "ect", source = "codel_impl.h codel_dequeue (since 5.16)")]
    pub ce_threshold_for: ThresholdFor,
    /// Packets that ce_threshold is for, by bits of the DS field, as tc has it: those of which the masked bits have the
    /// value. Packets have the bits of ECN here: "0x1/0x3" is ECT(1), "0x2/0x3" ECT(0). Excludes ce_threshold_for.
    #[key(
        otherwise = "as ce_threshold_for says",
        source = "codel_impl.h codel_dequeue (since 5.16); iproute2 q_fq_codel.c"
    )]
    pub ce_threshold_selector: Option<DsSelector>,
    /// What may wait in all queues together; tc's own default is 10240 packets. Beyond it the fattest queue is cut.
    #[key(otherwise = "the link's buffer", source = "sch_fq_codel.c fq_codel_init")]
    pub limit: Option<Amount>,
    /// The limit in bytes, beside that in packets.
    #[key(default = "33554432 B", source = "sch_fq_codel.c fq_codel_enqueue")]
    pub memory_limit: Size,
    /// Beyond a limit the fattest queue loses half of its bytes from its head, at most so many packets.
    #[key(default = "64 packets", source = "sch_fq_codel.c fq_codel_drop")]
    pub drop_batch: PacketCount,
}

/// How packets find their queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowClassifier {
    /// By a hash of their flow.
    Hash,
    /// Every flow has its own.
    Flow,
}

choices!(FlowClassifier { "hash" => Self::Hash, "flow" => Self::Flow, });

/// Packets that a CE threshold is for, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThresholdFor {
    /// All ECN-capable ones.
    Ect,
    /// ECT(1).
    Ect1,
}

choices!(ThresholdFor { "ect" => Self::Ect, "ect1" => Self::Ect1, });

/// `fq_codel_change` raises a smaller quantum to this; here it is refused.
const LEAST_QUANTUM: u64 = 256;

impl Resolve for FqCodel {
    type Config = FqCodelConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<FqCodelConfig> {
        let FqCodel { target, interval, ecn, ce_threshold, .. } = *self;
        let parameters = law.codel_law((target, interval), ecn, (ce_threshold, law.threshold_for(self)));
        let limit = law.limit(self.limit, limit);
        let (flows, quantum) = (law.flow_queues(self), law.quantum(self));
        let memory = self.memory_limit.bytes().unwrap_or(u64::MAX);
        if memory < law.port.mtu.into() {
            let hint = format!("write at least \"{} B\"", law.port.mtu);
            law.keys.error(
                "memory_limit",
                format!("the memory does not hold one packet of {} B", law.port.mtu),
                hint,
            );
        }
        let batch = self.drop_batch.packets().filter(|&packets| packets > 0);
        if batch.is_none() {
            let hint = "as in \"64 packets\"";
            law.keys.error("drop_batch", "a cut needs a number of packets above 0", hint);
        }
        Some(FqCodelConfig {
            law: parameters?,
            flows: flows?,
            quantum_bytes: quantum?,
            limit: limit?,
            memory_limit_bytes: memory,
            drop_batch: batch?,
        })
    }
}

impl Place<'_> {
    fn threshold_for(&self, fq: &FqCodel) -> CeThresholdFor {
        let Some(DsSelector { value, mask }) = fq.ce_threshold_selector else {
            return match fq.ce_threshold_for {
                ThresholdFor::Ect => CeThresholdFor::Ect,
                ThresholdFor::Ect1 => CeThresholdFor::ECT1,
            };
        };
        let key = "ce_threshold_selector";
        if fq.ce_threshold.is_none() {
            let hint = "write ce_threshold, as in \"1 ms\", or remove the selector";
            self.keys.error(key, "a selector needs a ce_threshold", hint);
        }
        // The default stands in every scenario that was written in full, beside a selector as well.
        let is_default = matches!(fq.ce_threshold_for, ThresholdFor::Ect);
        if self.port.remarks.is_written(&self.keys.at("ce_threshold_for")) && !is_default {
            self.keys.error(key, "ce_threshold_for excludes ce_threshold_selector", "keep one of them");
        }
        CeThresholdFor::Field { value, mask }
    }

    fn flow_queues(&self, fq: &FqCodel) -> Option<FlowQueues> {
        match (fq.classifier, fq.flows) {
            (FlowClassifier::Flow, None) => Some(FlowQueues::PerFlow),
            (FlowClassifier::Flow, Some(_)) => {
                let hint = "remove flows, or write classifier = \"hash\"";
                self.keys.error("flows", "a queue for each flow has no number of queues", hint);
                None
            }
            (FlowClassifier::Hash, flows) => {
                let queues = flows.unwrap_or(1024);
                if !(1..=65_536).contains(&queues) {
                    let hint = "write a number from 1 to 65536, as in 1024";
                    self.keys.error("flows", format!("{queues} queues"), hint);
                }
                Some(FlowQueues::Hashed(queues))
            }
        }
    }

    fn quantum(&self, fq: &FqCodel) -> Option<u32> {
        let Some(quantum) = fq.quantum else {
            return Some(self.port.mtu.max(LEAST_QUANTUM as u32));
        };
        let bytes = quantum
            .bytes()
            .filter(|bytes| *bytes >= LEAST_QUANTUM)
            .and_then(|bytes| u32::try_from(bytes).ok());
        if bytes.is_none() {
            let hint = "write at least \"256 B\", as in \"1514 B\"";
            self.keys.error("quantum", format!("a quantum of {quantum}"), hint);
        }
        bytes
    }
}
