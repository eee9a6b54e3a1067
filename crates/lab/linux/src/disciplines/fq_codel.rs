//! `fq-codel`: attributes of
//! [`include/uapi/linux/pkt_sched.h`](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/pkt_sched.h).

use super::codel::{attribute, law_attributes, law_words};
use super::{Discipline, Express, QueueMapping, Site, handle, micros, packet_limit};
use crate::refusal::Refusals;
use shoal_aqm::{CeThresholdFor, FlowQueues, FqCodelConfig};
use shoal_packet::Reason;

impl Express for FqCodelConfig {
    const MARKS: Reason = Reason::Sojourn;
    const DROPS: Reason = Reason::Sojourn;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        let limit = packet_limit(self.limit, "fq_codel", site, refusals)?;
        let memory = memory_limit(self, limit, site, refusals);
        let (flows, classes) = match self.flows {
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
        let (memory, law) = (memory?, &self.law);
        let mut options = law_attributes(law, limit)
            .u32(attribute::FLOWS, flows)
            .u32(attribute::QUANTUM, self.quantum_bytes)
            .u32(attribute::DROP_BATCH_SIZE, self.drop_batch)
            .u32(attribute::MEMORY_LIMIT, memory);
        let mut selector = String::new();
        if let Some(threshold) = law.ce_threshold {
            options = options.u32(attribute::CE_THRESHOLD, micros(threshold));
            if let CeThresholdFor::Field { value, mask } = law.ce_threshold_for {
                options = options
                    .u8(attribute::CE_THRESHOLD_SELECTOR, value)
                    .u8(attribute::CE_THRESHOLD_MASK, mask);
                selector = format!(" ce_threshold_selector {value:#x}/{mask:#x}");
            }
        }
        let tc = format!(
            "fq_codel limit {limit} flows {flows} quantum {} {}{selector} memory_limit {memory} drop_batch {}",
            self.quantum_bytes,
            law_words(law),
            self.drop_batch
        );
        let rules = match self.flows {
            FlowQueues::Hashed(_) => {
                vec!["classifier: the kernel's hash, whose key comes from the seed; flows may collide".to_owned()]
            }
            FlowQueues::PerFlow => vec![
                "classifier: the line sets skb->priority to the flow's class, as tc filter ... flow map key proto-dst \
                 addend -10000 baseclass 10:1 would"
                    .to_owned(),
            ],
        };
        let mapping = QueueMapping::of(Discipline::new("fq_codel", options, tc), rules);
        Some(QueueMapping { classes, ..mapping })
    }

    /// Its law acts on departure. On arrival the kernel answers `NET_XMIT_CN` if it cut the packet's own queue to make
    /// room.
    fn is_law_on_arrival(&self, _refused: bool, _has_room: bool) -> bool {
        false
    }
}

/// Most queues that `fq_codel_change` accepts.
const MOST_QUEUES: u32 = 65_536;

/// The kernel counts the memory of packets, a little more than twice their size. A limit that never takes
/// effect because another limit is reached first has the same meaning in both.
fn memory_limit(config: &FqCodelConfig, limit: u32, site: &Site<'_>, refusals: &mut Refusals) -> Option<u32> {
    /// Largest limit: `fq_codel_change` lowers larger values to this.
    const MOST: u64 = 1 << 31;
    let most = u64::from(limit).saturating_mul(2 * u64::from(site.mtu) + 1024);
    if config.memory_limit_bytes < most && config.memory_limit_bytes < MOST {
        refusals.add(
            "bottleneck.aqm.memory_limit",
            "the kernel counts the memory of packets (skb->truesize), the simulator their bytes, and this limit may \
             act",
            format!("write memory_limit = \"unlimited\", or at least \"{} B\" for {limit} packets", most.min(MOST)),
        );
        return None;
    }
    u32::try_from(config.memory_limit_bytes.min(MOST)).ok()
}
