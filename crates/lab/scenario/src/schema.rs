//! The scenario file: one declaration for every key with its type, default and meaning.

mod bottleneck;
mod distributions;
mod fabric;
mod flows;
mod host;
mod impairments;
mod interactive;
mod laws;
mod moment;
mod opportunities;
mod options;
mod rtt;
mod schedule;
mod seed;
mod start;
mod stop;
mod topology;
mod trace;
mod workload;

pub use crate::aqm::Aqm;
pub use crate::aqm::Fifo;
pub use bottleneck::{Bottleneck, Reverse};
pub use distributions::{CdfPoint, Distribution, Distributions};
pub use fabric::{FatTree, LeafSpine, Reported};
pub(crate) use flows::MAX_HOSTS;
pub use flows::{Direction, FlowGroup, Hosts, Misbehaviour, Pairing, Receiver, Replace};
pub(crate) use host::key_docs_of as host_keys_of;
pub use host::{Host, HostOptions};
pub(crate) use impairments::impairment_docs;
pub use impairments::{FourStates, GilbertElliott, Impairments, PathLoss, PathReorder, PathSlot};
pub use interactive::{Encoder, Frame, Frames, Pages, Requests, Think};
pub(crate) use laws::OF_FILE;
pub use laws::{LawFiles, Laws};
pub use options::CcOptions;
pub(crate) use options::{
    NO_CONTROLLER, cc_config, describe as describe_cc_options, docs as cc_option_docs, known_preset,
};
pub use rtt::{Rtt, RttRange};
pub use schedule::{LinkChange, LinkSchedule};
pub use seed::Seed;
pub use start::{Listed, Load, Poisson, Staggered, Start};
pub use stop::Stop;
pub use topology::{Dumbbell, Graph, GraphLink, NodeBuffer, ParkingLot, SharedBuffer, Star, Topology};
pub use trace::{KeptFlows, Series, TimeOrOff, Trace};
pub use workload::{Arrivals, ConstantRate, OnOff, TransferSize, Transfers, Unresponsive, Workload};

use crate::field::Section;
use crate::quantity::Duration;

/// An experiment as a file.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Scenario {
    /// Title in reports.
    #[key(default = "Untitled scenario")]
    pub title: String,
    /// What the experiment shows, in a few sentences.
    pub description: Option<String>,
    /// Length of the run. At most 1,000,000 s.
    pub duration: Duration,
    /// Time at which measurement begins. Default: a tenth of the duration, at most 30 s.
    pub warmup: Option<Duration>,
    /// Seed of all random streams.
    #[key(default = 1)]
    pub seed: Seed,
    /// Hosts, switches and links. Default: a dumbbell around [bottleneck].
    #[key(default = { "kind": "dumbbell" })]
    pub topology: Topology,
    /// The link that all flows of a dumbbell share.
    pub bottleneck: Option<Bottleneck>,
    /// The link in the opposite direction, which all ACKs of a dumbbell share, and the data of flows with direction =
    /// "reverse".
    #[key(
        otherwise = "ACKs take a path without a queue, or in a dumbbell with switches one like the bottleneck"
    )]
    pub reverse: Option<Reverse>,
    /// Distributions of transfer sizes, by name; web-search and data-mining are built in.
    #[key(default = {})]
    pub distributions: Distributions,
    /// Laws of one's own, by name: files that a controller or a queue is in. A name in cc that begins with file: names
    /// the file itself.
    #[key(default = {})]
    pub laws: Laws,
    /// Groups of flows that differ only in their start, their hosts and their rtt.
    pub flows: Vec<FlowGroup>,
    /// What is recorded beyond the summary.
    #[key(default = {})]
    pub trace: Trace,
}
