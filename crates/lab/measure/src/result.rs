//! The result of one run, as `--json` prints it. The shape is a contract: additions are fine, changes are not.
//!
//! Fields are written in the order of declaration and numbers in their shortest exact form, so equal results are equal
//! bytes. What cannot be measured (the mean of nothing) is null, never NaN.

use crate::fields::described;
use crate::group_sums::GroupSums;
use crate::{Bottleneck, CardResult, Distribution, FlowResult, FrameSummary, PathResult, WaitSummary};
use serde::{Deserialize, Serialize};
use shoal_units::even_shares;
use std::collections::BTreeMap;

/// Version of the shape.
pub const SCHEMA: u32 = 1;

// Not indented, because it contains everything down to the functions.
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
    /// Links with impairments, in scenario order; missing if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathResult>,
    /// Network cards of hosts that make packets wait for an interrupt, in the order of the hosts; missing if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<CardResult>,
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
    /// Stable name of the kind: `starved`, `below-fair-share`, `below-half-share`, `unequal-shares`,
    /// `retransmission-storm`, `heavy-loss`, `no-marks`, `marks-not-seen`, `link-not-full`,
    /// `idle-despite-windows`, `retransmissions-without-drops`, `ect-in-both-queues`, `stalls-left-out`,
    /// `out-of-sight`, `threshold-in-bytes`, or that of a note of the scenario.
    pub kind: String,
    /// One sentence without a full stop.
    pub text: String,
    /// Names of the flow groups that it is about.
    pub groups: Vec<String>,
    /// Names of the links that it is about.
    pub links: Vec<String>,
    /// Stable names of the mechanisms that the numbers of the run support, for the first nine kinds, the one to look at
    /// first at the front; empty if none is determined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<String>,
}

/// A kernel module of the user that was loaded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModuleRun {
    /// Name of the module.
    pub name: String,
    /// Its source file.
    pub source: String,
    /// SHA-256 of its source.
    pub source_sha256: String,
    /// SHA-256 of each file of the same folder that it includes.
    pub includes: BTreeMap<String, String>,
    /// SHA-256 of what was loaded.
    pub module_sha256: String,
    /// What compiled it.
    pub compiler: String,
    /// Release of the kernel that it was compiled for.
    pub kernel: String,
    /// Names of the congestion controls that it registers.
    pub controllers: Vec<String>,
    /// Names of the queue disciplines that it registers.
    pub disciplines: Vec<String>,
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
    /// Kernel modules of the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<ModuleRun>,
    /// How guest processes ran; each mode has its own sample path.
    pub mode: String,
    /// Time between samples of the sockets, in seconds: a hundredth of the duration and 10 ms at most, unless
    /// bins of the time series are shorter or millions of samples would come together.
    pub sample_s: f64,
    /// Where the kernel stood in for something else.
    pub notes: Vec<String>,
    /// What each part of the scenario became: `tc`, `sysctl` and socket options.
    #[serde(default)]
    pub rules: Vec<(String, String)>,
    /// What programs would show of the first sender and of the first receiver with the same settings: host,
    /// program, text. Settings are those that the kernel has, and counters are those at the end.
    #[serde(default)]
    pub shown: Vec<(String, String, String)>,
}

/// The measurement window, `[start_s, end_s)`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Window {
    /// Start, in seconds after the start of the experiment.
    pub start_s: f64,
    /// End, in seconds after the start of the experiment.
    pub end_s: f64,
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
    /// Completion times for transfers of similar size; empty if there are no transfers.
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
    /// From the first request of a page to the last byte of its last object, over all browsers; only if the group loads
    /// pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<WaitSummary>,
    /// Frames of all flows; only if the group writes frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<FrameSummary>,
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
    /// Completion times divided by the time each transfer would take alone.
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

impl RunResult {
    /// The JSON text, indented, with a newline at the end.
    #[allow(clippy::missing_panics_doc, reason = "it cannot fail, see below")]
    pub fn to_json(&self) -> String {
        // Serialisation only fails for maps whose keys are not strings, and there are none.
        let mut text = serde_json::to_string_pretty(self).expect("keys are strings");
        text.push('\n');
        text
    }

    /// The text of [`RunResult::to_json`] from that of [`RunResult::to_compact_json`], without reading its numbers.
    pub fn indented(compact: &str) -> String {
        let mut text = String::with_capacity(compact.len() * 3 / 2);
        let (mut depth, mut in_string, mut escaped, mut before) = (0, false, false, ' ');
        for character in compact.chars() {
            let is_mark = !in_string && matches!(character, '{' | '}' | '[' | ']' | ',' | ':');
            if matches!(character, '}' | ']') && is_mark {
                depth -= 1;
            }
            // An empty object or list stays on its line.
            let is_empty = matches!((before, character), ('{', '}') | ('[', ']'));
            let begins = matches!(before, '{' | '[' | ',') || (is_mark && matches!(character, '}' | ']'));
            if begins && !is_empty {
                text.push('\n');
                (0..depth).for_each(|_| text.push_str("  "));
            }
            text.push(character);
            if is_mark && character == ':' {
                text.push(' ');
            }
            if matches!(character, '{' | '[') && is_mark {
                depth += 1;
            }
            if in_string {
                in_string = escaped || character != '"';
                escaped = !escaped && character == '\\';
            } else {
                in_string = character == '"';
            }
            before = if is_mark { character } else { ' ' };
        }
        text.push('\n');
        text
    }

    /// The JSON text on one line.
    #[allow(clippy::missing_panics_doc, reason = "it cannot fail, as above")]
    pub fn to_compact_json(&self) -> String {
        serde_json::to_string(self).expect("keys are strings")
    }
}

impl GroupResult {
    /// A group with the values that follow from its flows.
    pub fn new(name: String, cc: String, flows: Vec<FlowResult>) -> Self {
        let mut sums = GroupSums::default();
        for flow in &flows {
            sums.add(flow);
        }
        sums.result(name, cc, flows)
    }

    /// The groups with at most `kept` flows in all their lists together, shared equally among the groups.
    pub(crate) fn keep(mut groups: Vec<Self>, kept: u64) -> Vec<Self> {
        let sizes: Vec<u64> = groups.iter().map(|group| group.flow_count).collect();
        for (group, share) in groups.iter_mut().zip(even_shares(kept, &sizes)) {
            group.keep_flows(share as usize);
        }
        groups
    }

    /// Leaves only the first `kept` flows in the list; values computed over all flows stay.
    pub(crate) fn keep_flows(&mut self, kept: usize) {
        self.flows.truncate(kept);
        self.flows_omitted = self.flow_count - self.flows.len() as u64;
    }
}
