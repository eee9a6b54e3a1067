//! `[bottleneck.impairments]` and `topology.links.impairments`

use serde_json::{Value as Json, json};
use shoal_netem::Distribution;

use crate::field::{Field, KeyDoc, Section, choices};
use crate::quantity::{Duration, Size};
use crate::report::Report;
use crate::tree::{Node, Value};

/// What the link does to packets behind its transmitter. On the kernel it is netem with the same seed.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Impairments {
    /// Width of the variation of the propagation delay: half the range of uniform delays, the standard deviation of
    /// normal ones.
    #[key(otherwise = "none", source = "Linux net/sched/sch_netem.c, tabledist")]
    pub jitter: Option<Duration>,
    /// Form of the variation.
    #[key(default = "uniform", source = "iproute2 netem/normal.c, netem/pareto.c, netem/paretonormal.c")]
    pub jitter_distribution: Distribution,
    /// Correlation of the variation from packet to packet, from 0 to 1. As in the kernel it has no effect unless it is
    /// very close to 1: the delay is the remainder of a correlated number by a small one, which is not correlated.
    #[key(default = 0.0, source = "Linux net/sched/sch_netem.c, get_crandom")]
    pub jitter_correlation: f64,
    /// Whether no packet overtakes another: one that would arrives together with the one before it. Without, packets
    /// are reordered as their delays say.
    #[key(
        default = true,
        source = "Linux net/sched/sch_netem.c, tfifo_enqueue; packet_time_ns with a rate at which no packet takes any \
                  time"
    )]
    pub keep_order: bool,
    /// Loss: a probability, { p = ..., r = ... } for bursts after Gilbert and Elliott, or { p13 = ..., ... } for the
    /// chain with four states.
    #[key(otherwise = "none", source = "Linux net/sched/sch_netem.c, loss_event")]
    pub loss: Option<PathLoss>,
    /// Correlation of a loss given as a probability, from 0 to 1. It makes losses rarer than the probability says.
    #[key(default = 0.0, source = "Linux net/sched/sch_netem.c, get_crandom")]
    pub loss_correlation: f64,
    /// Probability that a packet arrives twice.
    #[key(default = 0.0, source = "Linux net/sched/sch_netem.c, netem_enqueue")]
    pub duplicate: f64,
    /// Probability that a packet arrives with a wrong bit, so that its receiver drops it.
    #[key(default = 0.0, source = "Linux net/sched/sch_netem.c, netem_enqueue")]
    pub corrupt: f64,
    /// Packets that are sent at once, ahead of those that are delayed.
    #[key(otherwise = "none")]
    pub reorder: Option<PathReorder>,
    /// Packets leave in bursts, as from a radio link that aggregates them.
    #[key(otherwise = "they leave one by one")]
    pub slot: Option<PathSlot>,
    /// Whether the ECN field of every packet is cleared, as by a router that writes the whole byte of the type of
    /// service: marks made before it do not arrive, and queues behind it drop. On the simulator only.
    #[key(
        default = false,
        source = "RFC 9768 section 3.2.2.3, https://www.rfc-editor.org/rfc/rfc9768#section-3.2.2.3"
    )]
    pub clear_ecn: bool,
}

choices!(Distribution {
    "uniform" => Self::Uniform,
    "normal" => Self::Normal,
    "pareto" => Self::Pareto,
    "paretonormal" => Self::ParetoNormal,
});

/// Packets that are sent ahead of those that are delayed.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct PathReorder {
    /// Probability for each packet that may be sent ahead.
    #[key(default = 1.0, source = "Linux net/sched/sch_netem.c, netem_enqueue")]
    pub probability: f64,
    /// One packet in this many may be sent ahead.
    #[key(default = 1, source = "Linux net/sched/sch_netem.c, netem_enqueue")]
    pub gap: u32,
}

/// Slots in which packets leave.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct PathSlot {
    /// Shortest time to the next slot.
    #[key(source = "Linux net/sched/sch_netem.c, get_slot_next")]
    pub min: Duration,
    /// Longest time to the next slot.
    #[key(otherwise = "min", source = "Linux net/sched/sch_netem.c, get_slot_next")]
    pub max: Option<Duration>,
    /// Most packets in a slot.
    #[key(otherwise = "any number", source = "Linux net/sched/sch_netem.c, netem_dequeue")]
    pub packets: Option<u32>,
    /// Most bytes in a slot, but for its last packet. Counted are IP packets with 14 B of Ethernet.
    #[key(otherwise = "any number", source = "Linux net/sched/sch_netem.c, netem_dequeue")]
    pub bytes: Option<Size>,
}

/// Loss in bursts after Gilbert and Elliott.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct GilbertElliott {
    /// Probability of going from the good to the bad state, at each packet.
    #[key(source = "Linux net/sched/sch_netem.c, loss_gilb_ell")]
    pub p: f64,
    /// Probability of going back: a bad period lasts 1 / r packets on average.
    #[key(source = "Linux net/sched/sch_netem.c, loss_gilb_ell")]
    pub r: f64,
    /// Probability of loss in the bad state.
    #[key(default = 1.0, source = "Linux net/sched/sch_netem.c, loss_gilb_ell")]
    pub loss_in_bad: f64,
    /// Probability of loss in the good state.
    #[key(default = 0.0, source = "Linux net/sched/sch_netem.c, loss_gilb_ell")]
    pub loss_in_good: f64,
}

/// Loss after a Markov chain with four states: good in a gap (1), good in a burst (2), lost in a burst (3), lost alone
/// (4).
#[derive(Clone, PartialEq, Debug, Section)]
pub struct FourStates {
    /// Probability of going from a gap to a loss in a burst.
    #[key(source = "Linux net/sched/sch_netem.c, loss_4state")]
    pub p13: f64,
    /// Probability of going from a loss in a burst to a gap.
    #[key(source = "Linux net/sched/sch_netem.c, loss_4state")]
    pub p31: f64,
    /// Probability of going from a loss in a burst to a good packet in it.
    #[key(default = 0.0, source = "Linux net/sched/sch_netem.c, loss_4state")]
    pub p32: f64,
    /// Probability of going from a good packet in a burst to a loss.
    #[key(default = 1.0, source = "Linux net/sched/sch_netem.c, loss_4state")]
    pub p23: f64,
    /// Probability of going from a gap to a single loss.
    #[key(default = 0.0, source = "Linux net/sched/sch_netem.c, loss_4state")]
    pub p14: f64,
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
