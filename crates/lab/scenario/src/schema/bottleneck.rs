//! `[bottleneck]` and `[reverse]`

use serde_json::Value as Json;

use super::{Aqm, Impairments, LinkSchedule};
use crate::field::{Field, KeyDoc, Section, entries, refuse_unknown};
use crate::quantity::{Amount, DataRate, Duration, Size};
use crate::report::Report;
use crate::tree::Node;

/// The link that all flows of a dumbbell share.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Bottleneck {
    /// Rate of the link.
    pub rate: DataRate,
    /// Capacity for waiting packets; the packet in transmission is not counted. One BDP is the rate times bdp_rtt.
    #[key(default = "4 BDP", source = "Linux net/sched/sch_fifo.c")]
    pub buffer: Amount,
    /// Propagation delay of this link; it is part of each flow's rtt.
    #[key(default = "0 s")]
    pub delay: Duration,
    /// Bytes that a packet takes on the wire beyond its IP size (Ethernet with preamble and gap: 38 B).
    #[key(default = "0 B")]
    pub overhead: Size,
    /// Round-trip time behind the unit BDP.
    #[key(otherwise = "the rtt of the first flow group")]
    pub bdp_rtt: Option<Duration>,
    /// Marking and dropping law of the queue.
    #[key(default = { "kind": "fifo" })]
    pub aqm: Aqm,
    /// Changes of the rate and the delay of this link during the run, in its direction.
    pub schedule: Option<LinkSchedule>,
    /// Jitter, loss, duplication, corruption, reordering and bursts on this link, in its direction.
    pub impairments: Option<Impairments>,
}

/// The link in the direction opposite to the bottleneck's. It has the same keys, but for the round-trip time behind the
/// unit BDP, of which a scenario has one.
#[derive(Clone, PartialEq, Debug)]
pub struct Reverse(pub Bottleneck);

/// The key that only `[bottleneck]` has.
const ONLY_BOTTLENECK: &str = "bdp_rtt";

impl Field for Reverse {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let keys: Vec<&str> = Bottleneck::keys().into_iter().filter(|key| *key != ONLY_BOTTLENECK).collect();
        let found = entries(node, &format!("keys of this section: {}", keys.join(", ")), report)?;
        if found.iter().any(|entry| entry.key == ONLY_BOTTLENECK) {
            refuse_unknown(found, &keys, report);
            return None;
        }
        Bottleneck::read_table(found, &[], &node.mark, report).map(Self)
    }
    fn write(&self) -> Option<Json> {
        self.0.write()
    }
    fn schema() -> Json {
        let mut schema = Bottleneck::schema();
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.remove(ONLY_BOTTLENECK);
        }
        schema
    }
    fn key_docs_below() -> Vec<KeyDoc> {
        Bottleneck::key_docs().into_iter().filter(|key| key.name != ONLY_BOTTLENECK).collect()
    }
    fn any_amount(&self, wanted: fn(Amount) -> bool) -> bool {
        self.0.any_amount(wanted)
    }
}
