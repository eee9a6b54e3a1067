//! CoDel, alone and behind fair queueing: attributes of
//! [`include/uapi/linux/pkt_sched.h`](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/pkt_sched.h).

use super::{Action, Discipline, QueueMapping, Site, below, handle, micros, packet_limit};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::{CeThresholdFor, CodelConfig, CodelParameters, FlowQueues, FqCodelConfig};

mod attribute {
    pub(super) const TARGET: u16 = 1;
    pub(super) const LIMIT: u16 = 2;
    pub(super) const INTERVAL: u16 = 3;
    pub(super) const ECN: u16 = 4;
    pub(super) const CODEL_CE_THRESHOLD: u16 = 5;
    pub(super) const FLOWS: u16 = 5;
    pub(super) const QUANTUM: u16 = 6;
    pub(super) const CE_THRESHOLD: u16 = 7;
    pub(super) const DROP_BATCH_SIZE: u16 = 8;
    pub(super) const MEMORY_LIMIT: u16 = 9;
    pub(super) const CE_THRESHOLD_SELECTOR: u16 = 10;
    pub(super) const CE_THRESHOLD_MASK: u16 = 11;
}

pub(super) fn codel(config: &CodelConfig, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
    let limit = packet_limit(config.limit, "codel", site, refusals)?;
    let law = &config.law;
    let mut options = law_attributes(law, limit);
    if let Some(threshold) = law.ce_threshold {
        options = options.u32(attribute::CODEL_CE_THRESHOLD, micros(threshold));
    }
    let tc = format!("codel limit {limit} {}", law_words(law));
    Some(mapping("codel", options, tc, Vec::new()))
}

pub(super) fn fq_codel(
    config: &FqCodelConfig,
    site: &Site<'_>,
    refusals: &mut Refusals,
) -> Option<QueueMapping> {
    let limit = packet_limit(config.limit, "fq_codel", site, refusals)?;
    let memory = memory_limit(config, limit, site, refusals);
    let (flows, classes) = match config.flows {
        FlowQueues::Hashed(flows) => (flows, 0),
        FlowQueues::PerFlow if site.flows <= MOST_QUEUES => (site.flows, handle(10)),
        FlowQueues::PerFlow => {
            refusals.add(
                "bottleneck.aqm.classifier",
                format!("{} flows; fq_codel has at most {MOST_QUEUES} queues", site.flows),
                "write classifier = \"hash\"",
            );
            return None;
        }
    };
    let (memory, law) = (memory?, &config.law);
    let mut options = law_attributes(law, limit)
        .u32(attribute::FLOWS, flows)
        .u32(attribute::QUANTUM, config.quantum_bytes)
        .u32(attribute::DROP_BATCH_SIZE, config.drop_batch)
        .u32(attribute::MEMORY_LIMIT, memory);
    let mut selector = "";
    if let Some(threshold) = law.ce_threshold {
        options = options.u32(attribute::CE_THRESHOLD, micros(threshold));
        if law.ce_threshold_for == CeThresholdFor::Ect1 {
            options =
                options.u8(attribute::CE_THRESHOLD_SELECTOR, 0b01).u8(attribute::CE_THRESHOLD_MASK, 0b11);
            selector = " ce_threshold_selector 0x1/0x3";
        }
    }
    let tc = format!(
        "fq_codel limit {limit} flows {flows} quantum {} {}{selector} memory_limit {memory} drop_batch {}",
        config.quantum_bytes,
        law_words(law),
        config.drop_batch
    );
    let rules = match config.flows {
        FlowQueues::Hashed(_) => {
            vec!["classifier: the kernel's hash, whose key comes from the seed; flows may collide".to_owned()]
        }
        FlowQueues::PerFlow => vec![
            "classifier: the line sets skb->priority to the flow's class, as tc filter ... flow map key proto-dst addend \
             -10000 baseclass 10:1 would"
                .to_owned(),
        ],
    };
    let mut mapping = mapping("fq_codel", options, tc, rules);
    mapping.classes = classes;
    Some(mapping)
}

/// `fq_codel_change`.
const MOST_QUEUES: u32 = 65_536;

/// The kernel counts the memory of packets: twice their size and a little more. A limit that others come before is the same
/// in both.
fn memory_limit(config: &FqCodelConfig, limit: u32, site: &Site<'_>, refusals: &mut Refusals) -> Option<u32> {
    /// `fq_codel_change` lowers more to this.
    const MOST: u64 = 1 << 31;
    let most = u64::from(limit).saturating_mul(2 * u64::from(site.mtu) + 1024);
    if config.memory_limit_bytes < most && config.memory_limit_bytes < MOST {
        refusals.add(
            "bottleneck.aqm.memory_limit",
            "the kernel counts the memory of packets (skb->truesize), the simulator their bytes, and this limit may act",
            format!("write memory_limit = \"unlimited\", or at least \"{} B\" for {limit} packets", most.min(MOST)),
        );
        return None;
    }
    u32::try_from(config.memory_limit_bytes.min(MOST)).ok()
}

fn law_attributes(law: &CodelParameters, limit: u32) -> Attributes {
    Attributes::default()
        .u32(attribute::TARGET, micros(law.target))
        .u32(attribute::LIMIT, limit)
        .u32(attribute::INTERVAL, micros(law.interval))
        .u32(attribute::ECN, law.ecn.into())
}

fn law_words(law: &CodelParameters) -> String {
    let ce_threshold = law.ce_threshold.map(|span| format!(" ce_threshold {}us", micros(span)));
    format!(
        "target {}us interval {}us {}{}",
        micros(law.target),
        micros(law.interval),
        if law.ecn { "ecn" } else { "noecn" },
        ce_threshold.unwrap_or_default()
    )
}

fn mapping(kind: &'static str, options: Attributes, tc: String, rules: Vec<String>) -> QueueMapping {
    let options = options.into_bytes();
    let discipline =
        Discipline { parent: below(1), handle: handle(10), kind, action: Action::Add, options, tc };
    QueueMapping::of(discipline, rules)
}
