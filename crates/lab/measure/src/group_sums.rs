//! What the result of a group needs of all of its flows.

use crate::metrics::{SIZE_BINS, acks_per_packet, finite, statistics_of};
use crate::{FlowResult, GroupResult, RateSummary, SizeBin, Totals};

/// Sums over flows that are added one by one, in the order of their numbers: so a group has a result without a list of
/// its flows.
pub(crate) struct GroupSums {
    flows: u64,
    wire_bps: RateSums,
    goodput_bps: RateSums,
    pub(crate) totals: Totals,
    /// Transfers by size; `None` before the first.
    by_size: Option<Box<[Transfers; SIZE_BINS.len()]>>,
    /// Completions of flows whose size is not known.
    others: Transfers,
}

/// Sums of the rates of some flows.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct RateSums {
    count: u64,
    sum: f64,
    squares: f64,
    /// Whether a rate is not known.
    has_unknown: bool,
}

/// Transfers of similar size.
#[derive(Default)]
struct Transfers {
    begun: u64,
    fct_s: Vec<f64>,
    slowdown: Vec<f64>,
}

impl RateSums {
    pub(crate) fn add(&mut self, rate: Option<f64>) {
        let Some(rate) = rate else {
            self.has_unknown = true;
            return;
        };
        self.count += 1;
        self.sum += rate;
        self.squares += rate * rate;
    }

    /// Mean and sum; `None` if there are no rates or one is unknown.
    pub(crate) fn summary(&self) -> RateSummary {
        if self.has_unknown || self.count == 0 {
            return RateSummary::default();
        }
        RateSummary { mean: finite(self.sum / self.count as f64), sum: finite(self.sum) }
    }

    /// Jain's fairness index; see [`crate::metrics::jain`].
    pub(crate) fn jain(&self) -> Option<f64> {
        let index = self.sum * self.sum / (self.count as f64 * self.squares);
        finite(index).filter(|_| !self.has_unknown)
    }
}

impl Default for GroupSums {
    fn default() -> Self {
        Self {
            flows: 0,
            wire_bps: RateSums::default(),
            goodput_bps: RateSums::default(),
            // A group without flows has counts of zero.
            totals: Totals { data_packets: Some(0), acks_sent: Some(0), ..Totals::default() },
            by_size: None,
            others: Transfers::default(),
        }
    }
}

impl GroupSums {
    /// Adds the next flow.
    pub(crate) fn add(&mut self, flow: &FlowResult) {
        self.add_rates(flow.start_s.is_some(), flow.wire_bps, flow.goodput_bps);
        self.totals.add(&Totals::of(flow));
        self.add_transfers(flow.transfer_bytes, flow.transfers_begun, &flow.fct_s, &flow.slowdown);
    }

    /// Adds the rates of the next flow. One that never starts has none.
    pub(crate) fn add_rates(&mut self, starts: bool, wire_bps: Option<f64>, goodput_bps: Option<f64>) {
        self.flows += 1;
        if starts {
            self.wire_bps.add(wire_bps);
            self.goodput_bps.add(goodput_bps);
        }
    }

    /// Adds the transfers of a flow, of `bytes` each.
    pub(crate) fn add_transfers(&mut self, bytes: Option<u64>, begun: u64, fct_s: &[f64], slowdown: &[f64]) {
        let transfers = match bytes {
            Some(bytes) => {
                let bin = SIZE_BINS.partition_point(|from| *from <= bytes) - 1;
                &mut self.by_size.get_or_insert_default()[bin]
            }
            None => &mut self.others,
        };
        transfers.begun += begun;
        transfers.fct_s.extend_from_slice(fct_s);
        transfers.slowdown.extend_from_slice(slowdown);
    }

    /// The result of the group, which lists `flows`.
    pub(crate) fn result(self, name: String, cc: String, flows: Vec<FlowResult>) -> GroupResult {
        let mut all = Transfers::default();
        let mut fct_by_size = Vec::new();
        let belows = SIZE_BINS[1..].iter().copied().map(Some).chain([None]);
        let by_size = self.by_size.map_or_else(Vec::new, |bins| Vec::from(*bins));
        for ((transfers, from_bytes), below_bytes) in by_size.into_iter().zip(SIZE_BINS).zip(belows) {
            fct_by_size.push(transfers.bin(from_bytes, below_bytes, &mut all));
        }
        all.fct_s.extend(self.others.fct_s);
        all.slowdown.extend(self.others.slowdown);
        GroupResult {
            wire_bps: self.wire_bps.summary(),
            goodput_bps: self.goodput_bps.summary(),
            fct_s: statistics_of(&mut all.fct_s),
            slowdown: statistics_of(&mut all.slowdown),
            fct_by_size,
            acks_per_packet: acks_per_packet(self.totals.acks_sent, self.totals.data_packets),
            totals: self.totals,
            flow_count: self.flows,
            flows_omitted: self.flows - flows.len() as u64,
            exchanges: None,
            rounds: None,
            pages: None,
            frames: None,
            name,
            cc,
            flows,
        }
    }
}

impl Transfers {
    /// The result for these sizes; the completions are then among those of `all`.
    fn bin(mut self, from_bytes: u64, below_bytes: Option<u64>, all: &mut Self) -> SizeBin {
        let count = self.fct_s.len() as u64;
        let bin = SizeBin {
            from_bytes,
            below_bytes,
            count,
            unfinished: self.begun.saturating_sub(count),
            fct_s: statistics_of(&mut self.fct_s),
            slowdown: statistics_of(&mut self.slowdown),
        };
        // The first list is taken as it is: often all transfers are of similar size.
        let join = |all: &mut Vec<f64>, own: Vec<f64>| {
            if all.is_empty() { *all = own } else { all.extend(own) }
        };
        join(&mut all.fct_s, self.fct_s);
        join(&mut all.slowdown, self.slowdown);
        bin
    }
}

impl Totals {
    /// The counts of one flow.
    pub fn of(flow: &FlowResult) -> Self {
        Self {
            delivered_bytes: flow.delivered_bytes,
            marks_seen: flow.marks_seen,
            losses: flow.losses,
            retransmissions: flow.retransmissions,
            timeouts: flow.timeouts,
            reductions: flow.reductions,
            data_packets: flow.data_packets,
            acks_sent: flow.acks_sent,
        }
    }

    /// Adds others; a count that one of both does not have is unknown.
    pub fn add(&mut self, other: &Self) {
        let both = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
        self.delivered_bytes += other.delivered_bytes;
        self.marks_seen += other.marks_seen;
        self.losses += other.losses;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.reductions += other.reductions;
        self.data_packets = both(self.data_packets, other.data_packets);
        self.acks_sent = both(self.acks_sent, other.acks_sent);
    }
}
