//! `[bottleneck]` and `[reverse]`

use serde_json::{Map, Value as Json};

use super::{Aqm, Impairments, LinkSchedule};
use crate::field::{Field, KeyDoc, Section, entries, object_schema, refuse_unknown, section};
use crate::quantity::{Amount, DataRate, Duration, Size};
use crate::report::Report;
use crate::tree::Node;

section! {
    /// The link that all flows of a dumbbell share.
    Bottleneck {
        /// Rate of the link.
        rate: DataRate,
        /// Capacity for waiting packets; the packet in transmission is not counted. One BDP is the rate times
        /// bdp_rtt.
        #[source = "Linux net/sched/sch_fifo.c"]
        buffer: Amount = "4 BDP",
        /// Propagation delay of this link; it is part of each flow's rtt.
        delay: Duration = "0 s",
        /// Bytes that a packet takes on the wire beyond its IP size (Ethernet with preamble and gap: 38 B).
        overhead: Size = "0 B",
        /// Round-trip time behind the unit BDP.
        #[otherwise = "the rtt of the first flow group"]
        bdp_rtt: Option<Duration>,
        /// Marking and dropping law of the queue.
        aqm: Aqm = { "kind": "fifo" },
        /// Changes of the rate and the delay of this link during the run, in its direction.
        schedule: Option<LinkSchedule>,
        /// Jitter, loss, duplication, corruption, reordering and bursts on this link, in its direction.
        impairments: Option<Impairments>,
    }
}

/// The link in the direction opposite to the bottleneck's. It has the same keys, but for the round-trip time behind the unit
/// BDP, of which a scenario has one.
#[derive(Clone, PartialEq, Debug)]
pub struct Reverse(pub Bottleneck);

/// The key that only `[bottleneck]` has.
const ONLY_BOTTLENECK: &str = "bdp_rtt";

impl Field for Reverse {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let keys: Vec<&str> =
            Bottleneck::keys().iter().copied().filter(|key| *key != ONLY_BOTTLENECK).collect();
        let found = entries(node, &format!("keys of this section: {}", keys.join(", ")), report)?;
        if found.iter().any(|entry| entry.key == ONLY_BOTTLENECK) {
            refuse_unknown(found, &keys, report);
            return None;
        }
        Bottleneck::read_table(found, &[], &node.mark, report).map(Self)
    }
    fn write(&self) -> Option<Json> {
        let mut map = Map::new();
        self.0.write_table(&mut map);
        Some(map.into())
    }
    fn schema() -> Json {
        let mut schema = object_schema::<Bottleneck>();
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.remove(ONLY_BOTTLENECK);
        }
        schema
    }
    fn key_docs_below() -> Vec<KeyDoc> {
        Bottleneck::key_docs().into_iter().filter(|key| key.name != ONLY_BOTTLENECK).collect()
    }
    fn any_amount(&self, wanted: fn(Amount) -> bool) -> bool {
        Section::any_amount(&self.0, wanted)
    }
}
