//! `[bottleneck.impairments]` and `topology.links.impairments`

use serde_json::{Value as Json, json};
use shoal_netem::Distribution;

use crate::field::{Field, KeyDoc, Section, choices, section};
use crate::quantity::{Duration, Size};
use crate::report::Report;
use crate::tree::{Node, Value};

section! {
    /// What the link does to packets behind its transmitter. On the kernel it is netem with the same seed.
    Impairments {
        /// Width of the variation of the propagation delay: half the range of uniform delays, the standard deviation of normal ones.
        #[source = "Linux net/sched/sch_netem.c, tabledist"]
        #[otherwise = "none"]
        jitter: Option<Duration>,
        /// Form of the variation.
        #[source = "iproute2 netem/normal.c, netem/pareto.c, netem/paretonormal.c"]
        jitter_distribution: Distribution = "uniform",
        /// Correlation of the variation from packet to packet, from 0 to 1.
        #[source = "Linux net/sched/sch_netem.c, get_crandom"]
        jitter_correlation: f64 = 0.0,
        /// Whether no packet overtakes another: one that would arrives together with the one before it. Without, packets are reordered
        /// as their delays say.
        #[source = "Linux net/sched/sch_netem.c, tfifo_enqueue; packet_time_ns with a rate at which no packet takes any time"]
        keep_order: bool = true,
        /// Loss: a probability, { p = ..., r = ... } for bursts after Gilbert and Elliott, or { p13 = ..., ... } for the chain with
        /// four states.
        #[source = "Linux net/sched/sch_netem.c, loss_event"]
        #[otherwise = "none"]
        loss: Option<PathLoss>,
        /// Correlation of a loss given as a probability, from 0 to 1. It makes losses rarer than the probability says.
        #[source = "Linux net/sched/sch_netem.c, get_crandom"]
        loss_correlation: f64 = 0.0,
        /// Probability that a packet arrives twice.
        #[source = "Linux net/sched/sch_netem.c, netem_enqueue"]
        duplicate: f64 = 0.0,
        /// Probability that a packet arrives with a wrong bit, so that its receiver drops it.
        #[source = "Linux net/sched/sch_netem.c, netem_enqueue"]
        corrupt: f64 = 0.0,
        /// Packets that are sent at once, ahead of those that are delayed.
        #[otherwise = "none"]
        reorder: Option<PathReorder>,
        /// Packets leave in bursts, as from a radio link that aggregates them.
        #[otherwise = "they leave one by one"]
        slot: Option<PathSlot>,
    }
}

choices!(Distribution {
    "uniform" => Self::Uniform,
    "normal" => Self::Normal,
    "pareto" => Self::Pareto,
    "paretonormal" => Self::ParetoNormal,
});

section! {
    /// Packets that are sent ahead of those that are delayed.
    PathReorder {
        /// Probability for each packet that may be sent ahead.
        #[source = "Linux net/sched/sch_netem.c, netem_enqueue"]
        probability: f64 = 1.0,
        /// One packet in this many may be sent ahead.
        #[source = "Linux net/sched/sch_netem.c, netem_enqueue"]
        gap: u32 = 1,
    }
}

section! {
    /// Slots in which packets leave.
    PathSlot {
        /// Shortest time to the next slot.
        #[source = "Linux net/sched/sch_netem.c, get_slot_next"]
        min: Duration,
        /// Longest time to the next slot.
        #[source = "Linux net/sched/sch_netem.c, get_slot_next"]
        #[otherwise = "min"]
        max: Option<Duration>,
        /// Most packets in a slot.
        #[source = "Linux net/sched/sch_netem.c, netem_dequeue"]
        #[otherwise = "any number"]
        packets: Option<u32>,
        /// Most bytes in a slot, but for its last packet. Counted are IP packets with 14 B of Ethernet.
        #[source = "Linux net/sched/sch_netem.c, netem_dequeue"]
        #[otherwise = "any number"]
        bytes: Option<Size>,
    }
}

section! {
    /// Loss in bursts after Gilbert and Elliott.
    GilbertElliott {
        /// Probability of going from the good to the bad state, at each packet.
        #[source = "Linux net/sched/sch_netem.c, loss_gilb_ell"]
        p: f64,
        /// Probability of going back: a bad period lasts 1 / r packets on average.
        #[source = "Linux net/sched/sch_netem.c, loss_gilb_ell"]
        r: f64,
        /// Probability of loss in the bad state.
        #[source = "Linux net/sched/sch_netem.c, loss_gilb_ell"]
        loss_in_bad: f64 = 1.0,
        /// Probability of loss in the good state.
        #[source = "Linux net/sched/sch_netem.c, loss_gilb_ell"]
        loss_in_good: f64 = 0.0,
    }
}

section! {
    /// Loss after a Markov chain with four states: good in a gap (1), good in a burst (2), lost in a burst (3), lost alone (4).
    FourStates {
        /// Probability of going from a gap to a loss in a burst.
        #[source = "Linux net/sched/sch_netem.c, loss_4state"]
        p13: f64,
        /// Probability of going from a loss in a burst to a gap.
        #[source = "Linux net/sched/sch_netem.c, loss_4state"]
        p31: f64,
        /// Probability of going from a loss in a burst to a good packet in it.
        #[source = "Linux net/sched/sch_netem.c, loss_4state"]
        p32: f64 = 0.0,
        /// Probability of going from a good packet in a burst to a loss.
        #[source = "Linux net/sched/sch_netem.c, loss_4state"]
        p23: f64 = 1.0,
        /// Probability of going from a gap to a single loss.
        #[source = "Linux net/sched/sch_netem.c, loss_4state"]
        p14: f64 = 0.0,
    }
}

/// How packets are lost on a path.
#[derive(Clone, PartialEq, Debug)]
pub enum PathLoss {
    /// Each with this probability.
    Random(f64),
    /// In bursts after Gilbert and Elliott.
    GilbertElliott(GilbertElliott),
    /// After a Markov chain with four states.
    FourStates(FourStates),
}

impl Field for PathLoss {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Integer(_) | Value::Real(_) => f64::read(node, report).map(Self::Random),
            Value::Table(entries) if entries.iter().any(|e| FourStates::keys().contains(&e.key.as_str())) => {
                FourStates::read_table(entries, &[], &node.mark, report).map(Self::FourStates)
            }
            Value::Table(entries) => {
                GilbertElliott::read_table(entries, &[], &node.mark, report).map(Self::GilbertElliott)
            }
            other => {
                let hint = "write 0.01, { p = 0.01, r = 0.2 } or { p13 = 0.01, p31 = 0.3 }";
                report.error(&node.mark, format!("expected a loss, found {}", other.what()), hint);
                None
            }
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::Random(probability) => probability.write(),
            Self::GilbertElliott(model) => model.write(),
            Self::FourStates(model) => model.write(),
        }
    }
    fn schema() -> Json {
        let probability = json!({ "type": "number", "minimum": 0, "maximum": 1 });
        json!({ "oneOf": [probability, GilbertElliott::schema(), FourStates::schema()] })
    }
}

/// Descriptions of the keys of a link's impairments, with those of both models of bursts.
pub(crate) fn impairment_docs() -> Vec<KeyDoc> {
    let of_models = GilbertElliott::key_docs().into_iter().chain(FourStates::key_docs());
    Impairments::key_docs().into_iter().chain(of_models.map(|doc| doc.within("loss"))).collect()
}
