//! The result of one run, as `--json` prints it. The shape is a contract: additions are fine, changes are not.
//!
//! Fields are written in the order of declaration and numbers in their shortest exact form, so equal results are equal
//! bytes. What cannot be measured (the mean of nothing) is null, never NaN.

use crate::fields::described;
use serde::{Deserialize, Serialize};
use shoal_packet::Reason;
use shoal_units::even_shares;
use std::collections::BTreeMap;

/// Version of the shape.
pub const SCHEMA: u32 = 1;

// Not indented: it holds all that follows down to the functions.
described! {

/// One run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// Version of the shape of this object; it rises when a field changes its meaning or goes.
    pub schema: u32,
    /// Version of shoal that made it.
    pub version: String,
    /// The resolved scenario.
    pub scenario: serde_json::Value,
    /// Seed of all random streams.
    pub seed: u64,
    /// The plane: `sim` or `linux`.
    pub on: String,
    /// What the measurements cover.
    pub window: Window,
    /// Monitored links, in scenario order.
    pub bottlenecks: Vec<Bottleneck>,
    /// Flow groups, in scenario order.
    pub groups: Vec<GroupResult>,
    /// What is computed between flows.
    pub metrics: Metrics,
    /// What a reader has to know about this run.
    #[serde(default)]
    pub notices: Vec<Notice>,
    /// Events the engine processed in the whole run; null where there is no engine.
    pub events: Option<u64>,
    /// Only on the Linux plane: what ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linux: Option<LinuxRun>,
}

/// Something that a reader of the numbers has to know, in plain words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Notice {
    /// Stable name of the kind: `starved`, `idle-despite-windows`, `retransmissions-without-drops`, or that of a note of the scenario.
    pub kind: String,
    /// One sentence without a full stop.
    pub text: String,
    /// Names of the flow groups that it is about.
    pub groups: Vec<String>,
    /// Names of the links that it is about.
    pub links: Vec<String>,
    /// With `starved`: stable names of the mechanisms that the numbers of the run support; empty if none is determined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<String>,
}

/// What ran on the Linux plane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinuxRun {
    /// Release of the kernel.
    pub kernel: String,
    /// Which build of it: version, and a digest of configuration and tool chain.
    #[serde(default)]
    pub build: String,
    /// Which modules and programs of ours it ran: a digest of their sources.
    #[serde(default)]
    pub modules: String,
    /// Program that drove the flows instead of the guest's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
    /// How guest processes ran; each mode has its own sample path.
    pub mode: String,
    /// Time between samples of the sockets, in seconds.
    pub sample_s: f64,
    /// Where the kernel stood in for something else.
    pub notes: Vec<String>,
    /// What each part of the scenario became: `tc`, `sysctl` and socket options.
    #[serde(default)]
    pub rules: Vec<(String, String)>,
}

/// The measurement window, `[start_s, end_s)`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Window {
    /// Start, in seconds after the start of the experiment.
    pub start_s: f64,
    /// End, in seconds after the start of the experiment.
    pub end_s: f64,
}

/// A monitored link. Everything covers the measurement window only.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bottleneck {
    /// Name of the link.
    pub name: String,
    /// Line rate in bit/s.
    pub rate_bps: f64,
    /// Fraction of the time the link transmitted.
    pub utilisation: Option<f64>,
    /// Waiting bytes, weighted by time. The packet in transmission does not wait.
    pub queue_bytes: Distribution,
    /// Waiting packets, weighted by time.
    pub queue_packets: Distribution,
    /// `queue_packets` of each class.
    pub class_queue_packets: ClassQueues,
    /// Fraction of the time nothing waited.
    pub queue_empty: Option<f64>,
    /// Fraction of the instants at which nothing waited, sampled every `trace.sample` from the start of the window on.
    pub queue_empty_sampled: Option<f64>,
    /// Time in the queue in seconds, one value a packet, at its departure.
    pub delay_s: ClassDelays,
    /// Packets that arrived at the queue.
    pub arrived: u64,
    /// Packets the queue marked.
    pub marked: u64,
    /// Packets the queue dropped.
    pub dropped: u64,
    /// Packets whose transmission began.
    pub departed: u64,
    /// Bytes on the wire of those, framing included.
    pub departed_bytes: u64,
    /// `dropped` by cause.
    pub dropped_by: DroppedBy,
    /// `marked` by cause.
    pub marked_by: MarkedBy,
    /// The part of the ECN-capable packets.
    pub ect: ClassCounts,
    /// The part of the others.
    pub not_ect: ClassCounts,
}

/// Summary of a weighted distribution. Quantiles have three significant digits, the rest is exact.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// 5 % quantile.
    pub p5: Option<f64>,
    /// Lower quartile.
    pub p25: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// Upper quartile.
    pub p75: Option<f64>,
    /// 95 % quantile.
    pub p95: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// 99.9 % quantile.
    pub p999: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
}

/// Queueing delay per class.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassDelays {
    /// Both classes.
    pub all: Distribution,
    /// ECN-capable packets.
    pub ect: Distribution,
    /// The others.
    pub not_ect: Distribution,
}

/// Waiting packets per class.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ClassQueues {
    /// ECN-capable packets.
    pub ect: Distribution,
    /// The others.
    pub not_ect: Distribution,
}

/// Drops by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DroppedBy {
    /// By the marking law: the sum of threshold, early, forced, coupled and sojourn.
    pub aqm: u64,
    /// The buffer was full.
    pub buffer: u64,
    /// Above a fixed threshold.
    pub threshold: u64,
    /// Random early decision.
    pub early: u64,
    /// Average above its upper limit.
    pub forced: u64,
    /// Sojourn time above its target for too long.
    #[serde(default)]
    pub sojourn: u64,
    /// The memory that the port shares with others had no room.
    #[serde(default)]
    pub shared_buffer: u64,
    /// Random decision coupled to that about classic traffic, about a packet that could not be marked; only if there are any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub coupled: u64,
}

/// Marks by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MarkedBy {
    /// Above a fixed threshold.
    pub threshold: u64,
    /// Random early decision.
    pub early: u64,
    /// Average above its upper limit.
    pub forced: u64,
    /// Random decision coupled to that about classic traffic.
    #[serde(default)]
    pub coupled: u64,
    /// Sojourn time above its target for too long.
    #[serde(default)]
    pub sojourn: u64,
    /// The buffer was full; only if there are any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub buffer: u64,
    /// The memory that the port shares with others had no room; only if there are any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_buffer: u64,
}

/// Packet counts of one class.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassCounts {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets the queue marked.
    pub marked: u64,
    /// Packets the queue dropped.
    pub dropped: u64,
    /// Packets whose transmission began.
    pub departed: u64,
    /// Bytes on the wire of those.
    pub departed_bytes: u64,
    /// `marked / arrived`.
    pub mark_fraction: Option<f64>,
    /// `dropped / arrived`.
    pub drop_fraction: Option<f64>,
}

/// A flow group.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GroupResult {
    /// Name of the group.
    pub name: String,
    /// Controller preset.
    pub cc: String,
    /// Its flows, in the order of their numbers; the first ones only if there are more than the scenario keeps
    /// (`trace.flows`). Everything below covers all of them.
    pub flows: Vec<FlowResult>,
    /// Number of flows.
    #[serde(default)]
    pub flow_count: u64,
    /// Flows that are missing in `flows`.
    #[serde(default)]
    pub flows_omitted: u64,
    /// Rates of the flows on the bottleneck's wire.
    pub wire_bps: RateSummary,
    /// Rates of the flows as their applications see them.
    pub goodput_bps: RateSummary,
    /// Completion times of all transfers of the group, in seconds.
    pub fct_s: Distribution,
    /// Completion times of all transfers, each divided by the time it would take alone.
    pub slowdown: Distribution,
    /// The same for transfers of similar size; empty if there are no transfers.
    #[serde(default)]
    pub fct_by_size: Vec<SizeBin>,
    /// Sums over all flows.
    #[serde(default)]
    pub totals: Totals,
    /// ACKs of all flows over their data packets; null where one of the two is.
    #[serde(default)]
    pub acks_per_packet: Option<f64>,
    /// From a request to the last byte of its response, over all flows; only if the group asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<WaitSummary>,
    /// From the start of a round until all flows have delivered it; only if rounds wait for all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<WaitSummary>,
    /// Frames of all flows; only if the group writes frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<FrameSummary>,
}

/// What somebody waited for, if the wait began inside the measurement window.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WaitSummary {
    /// Waits that ended.
    pub count: u64,
    /// Those that did not end within the run; percentiles lack them.
    pub unfinished: u64,
    /// How long they took, in seconds. Quantiles are exact.
    pub time_s: Distribution,
}

/// Frames that were written inside the measurement window.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FrameSummary {
    /// Frames whose deadline came before the end of the run: the sum of the next three.
    pub due: u64,
    /// Complete at the receiver within the deadline.
    pub on_time: u64,
    /// Complete after it.
    pub late: u64,
    /// Not complete when the run ended.
    pub missing: u64,
    /// `on_time / due`.
    pub on_time_fraction: Option<f64>,
    /// From the write of a frame to its last byte at the receiver, in seconds, of all that arrived. Quantiles are exact.
    pub delay_s: Distribution,
    /// How long after the deadline, in seconds, of those that were late.
    pub lateness_s: Distribution,
    /// How often a player that waits for late frames stood still.
    pub stalls: u64,
    /// How long in all, in seconds.
    pub stalled_s: f64,
    /// The longest of them, in seconds.
    pub longest_stall_s: f64,
}

/// Completion of the transfers of one range of sizes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SizeBin {
    /// Smallest size of a transfer, bytes.
    pub from_bytes: u64,
    /// Transfers are smaller than this; null in the last bin.
    pub below_bytes: Option<u64>,
    /// Completed transfers.
    pub count: u64,
    /// Transfers that began but did not end within the run; percentiles lack them.
    pub unfinished: u64,
    /// Completion times in seconds.
    pub fct_s: Distribution,
    /// Those divided by the time each transfer would take alone.
    pub slowdown: Distribution,
}

/// Counts of the flows of a group, added up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Payload bytes delivered in order.
    pub delivered_bytes: u64,
    /// Marked packets the receivers saw.
    pub marks_seen: u64,
    /// Packets the senders declared lost.
    pub losses: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions.
    pub reductions: u64,
    /// Data packets that arrived at the receivers; null if a flow has no such count.
    #[serde(default)]
    pub data_packets: Option<u64>,
    /// ACKs without data that the receivers sent; null if a flow has no such count.
    #[serde(default)]
    pub acks_sent: Option<u64>,
}

/// One flow. Counts and rates cover the measurement window only; a flow that lives for a part of it still has its
/// bytes divided by the whole window, so that rates add up.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FlowResult {
    /// Bits of payload delivered in order, a second.
    pub goodput_bps: Option<f64>,
    /// Bits on the bottleneck's wire, a second.
    pub wire_bps: Option<f64>,
    /// Congestion window in packets, weighted by time.
    pub cwnd_packets: Summary,
    /// DCTCP's estimate of the marked fraction, weighted by time; null for controllers without one.
    pub alpha: AlphaSummary,
    /// Smoothed round-trip time in seconds, one value an update.
    pub srtt_s: SrttSummary,
    /// Marked packets the receiver saw.
    pub marks_seen: u64,
    /// Packets the sender declared lost.
    pub losses: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions.
    pub reductions: u64,
    /// Data packets that arrived at the receiver, copies included. Null for unresponsive traffic, which nobody
    /// acknowledges. On Linux: `tcpi_data_segs_in` of the receiver.
    #[serde(default)]
    pub data_packets: Option<u64>,
    /// ACKs without data that the receiver sent; null where `data_packets` is. On Linux: `tcpi_segs_out` of the receiver less
    /// `tcpi_data_segs_out` and the handshake.
    #[serde(default)]
    pub acks_sent: Option<u64>,
    /// `acks_sent` over `data_packets`: 1/2 if every second packet is acknowledged; null without packets.
    #[serde(default)]
    pub acks_per_packet: Option<f64>,
    /// Completion times of its transfers in seconds, in order.
    pub fct_s: Vec<f64>,
    /// Those divided by the time each transfer would take alone; empty if that is not known.
    pub slowdown: Vec<f64>,
    /// Payload bytes delivered in order.
    pub delivered_bytes: u64,
    /// Propagation there and back, in seconds.
    #[serde(default)]
    pub base_rtt_s: Option<f64>,
    /// When it connected, in seconds after the start of the experiment.
    pub start_s: f64,
    /// When its last byte was acknowledged; null if it was still running at the end.
    pub stop_s: Option<f64>,
    /// Bytes of each of its transfers; null if its application does not transfer.
    #[serde(default)]
    pub transfer_bytes: Option<u64>,
    /// Transfers that began, completed or not.
    #[serde(default)]
    pub transfers_begun: u64,
    /// What became of its packets, if the traffic is unresponsive.
    #[serde(default)]
    pub datagrams: Option<Box<DatagramSummary>>,
    /// Its exchanges, if its client asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<Box<WaitSummary>>,
    /// Its frames, if it writes some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Box<FrameSummary>>,
}

/// Unresponsive traffic: the packets of a flow that were sent inside the measurement window.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct DatagramSummary {
    /// Packets sent.
    pub sent: u64,
    /// Those that arrived within the run.
    pub received: u64,
    /// Those that did not arrive although a later one did.
    pub lost: u64,
    /// Those that arrived with CE.
    pub marked: u64,
    /// One-way delay in seconds.
    pub delay_s: Distribution,
}

/// Mean and range.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
}

/// Smoothed round-trip time of a flow.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SrttSummary {
    /// Mean over the updates.
    pub mean: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Number of updates.
    pub count: u64,
}

/// DCTCP's alpha.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AlphaSummary {
    /// Mean over time.
    pub mean: Option<f64>,
}

/// Rates of the flows of a group.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RateSummary {
    /// Mean over the flows.
    pub mean: Option<f64>,
    /// Sum over the flows.
    pub sum: Option<f64>,
}

/// What is computed between flows.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Metrics {
    /// Jain's index of the wire rates of all flows.
    pub jain: Option<f64>,
    /// Mean wire rate of a flow of the first group over that of the second, for every two groups in scenario order;
    /// the key is `first/second`. Keys are sorted.
    pub rate_ratio: BTreeMap<String, Option<f64>>,
}
}

/// For counts that nearly no result has.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl DroppedBy {
    /// Counts by [`Reason`], in the order of its codes.
    pub(crate) const fn of(counts: [u64; Reason::NAMES.len()]) -> Self {
        let [buffer, threshold, early, forced, coupled, sojourn, shared_buffer] = counts;
        let aqm = threshold + early + forced + coupled + sojourn;
        Self { aqm, buffer, threshold, early, forced, sojourn, shared_buffer, coupled }
    }
}

impl MarkedBy {
    /// Counts by [`Reason`], in the order of its codes.
    pub(crate) const fn of(counts: [u64; Reason::NAMES.len()]) -> Self {
        let [buffer, threshold, early, forced, coupled, sojourn, shared_buffer] = counts;
        Self { threshold, early, forced, coupled, sojourn, buffer, shared_buffer }
    }
}

impl RunResult {
    /// The JSON text, indented, with a newline at the end.
    #[allow(clippy::missing_panics_doc, reason = "it cannot fail, see below")]
    pub fn to_json(&self) -> String {
        // Serialisation fails only for maps with keys that are no strings, and there are none.
        let mut text = serde_json::to_string_pretty(self).expect("keys are strings");
        text.push('\n');
        text
    }
}

impl GroupResult {
    /// The group with what follows from its flows.
    pub fn new(name: String, cc: String, flows: Vec<FlowResult>) -> Self {
        use crate::metrics::{acks_per_packet, by_size, order_statistics, rate_summary, totals};
        let all = |of: fn(&FlowResult) -> &Vec<f64>| flows.iter().flat_map(of).copied().collect::<Vec<_>>();
        let totals = totals(&flows);
        Self {
            wire_bps: rate_summary(flows.iter().map(|flow| flow.wire_bps)),
            goodput_bps: rate_summary(flows.iter().map(|flow| flow.goodput_bps)),
            fct_s: order_statistics(&all(|flow| &flow.fct_s)),
            slowdown: order_statistics(&all(|flow| &flow.slowdown)),
            fct_by_size: by_size(&flows),
            acks_per_packet: acks_per_packet(totals.acks_sent, totals.data_packets),
            totals,
            flow_count: flows.len() as u64,
            flows_omitted: 0,
            exchanges: None,
            rounds: None,
            frames: None,
            name,
            cc,
            flows,
        }
    }

    /// What is computed between all flows, and the groups with no more than `kept` flows in their lists together, shared
    /// equally among the groups.
    pub fn conclude(mut groups: Vec<Self>, kept: usize) -> (Vec<Self>, Metrics) {
        let metrics = Metrics::of(&groups);
        let sizes: Vec<u64> = groups.iter().map(|group| group.flow_count).collect();
        for (group, share) in groups.iter_mut().zip(even_shares(kept as u64, &sizes)) {
            group.keep_flows(share as usize);
        }
        (groups, metrics)
    }

    /// Leaves only the first `kept` flows in the list; what was computed of all of them stays.
    pub(crate) fn keep_flows(&mut self, kept: usize) {
        self.flows.truncate(kept);
        self.flows_omitted = self.flow_count - self.flows.len() as u64;
    }
}
