//! The RED family.

use super::Extent;
use shoal_units::Rate;

/// How marks are spread between the RED thresholds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkSpacing {
    /// Uniform gaps by counting (Floyd and Jacobson 1993, section 4): long-run rate near 2p/(1+p).
    Uniformised,
    /// An independent coin for each packet: geometric gaps, long-run rate p.
    Independent,
}

/// One RED instance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedParameters {
    /// Minimum threshold of the average, bytes.
    pub min_bytes: f64,
    /// Maximum threshold of the average, bytes; equal to the minimum for a step.
    pub max_bytes: f64,
    /// Probability at the maximum threshold, 0..=1.
    pub max_probability: f64,
    /// Weight of the moving average, 0 < w <= 1. With 1 and min = max the arriving packet is included in the comparison
    /// (Kuehlewind et al. 2014 section IV-B: 7812 B and 8203 B "both able to hold 5 packets without marking").
    pub weight: f64,
    /// Between max and 2 max rise linearly to 1 instead of jumping there.
    pub gentle: bool,
    /// How marks are spread.
    pub spacing: MarkSpacing,
}

/// RED as published (Floyd and Jacobson 1993), floating point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedConfig {
    /// The instance.
    pub parameters: RedParameters,
    /// Whether ECT packets are marked instead of dropped.
    pub ecn: bool,
    /// Waiting packets that fit.
    pub limit: Extent,
    /// Line rate: idle ageing assumes `idle time / time of a mean packet` virtual arrivals.
    pub rate: Rate,
    /// Mean packet size in bytes for idle ageing.
    pub mean_packet_bytes: u32,
}

/// RED as `tc qdisc add ... red` configures it and `net/sched/sch_red.c` runs it: fixed point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinuxRedConfig {
    /// Hard limit of the child queue, bytes.
    pub limit_bytes: u32,
    /// Minimum threshold, bytes.
    pub min_bytes: u32,
    /// Maximum threshold, bytes.
    pub max_bytes: u32,
    /// Average packet size, bytes.
    pub avpkt_bytes: u32,
    /// Burst, packets: determines the weight.
    pub burst_packets: u32,
    /// Probability at the maximum threshold.
    pub probability: f64,
    /// Bandwidth `tc` was told: only for the idle table.
    pub bandwidth: Rate,
    /// Mark ECT packets.
    pub ecn: bool,
    /// With `ecn`: drop above the maximum even if ECT.
    pub harddrop: bool,
    /// With `ecn`: let packets that are not ECT pass instead of dropping them.
    pub nodrop: bool,
    /// Adapt the maximum probability every 0.5 s (ARED).
    pub adaptive: bool,
    /// Kernels before 3.3: the probability is rounded to a power of two (`Plog`) instead of a 32-bit fraction.
    pub legacy_probability: bool,
}

/// Whether the two RED instances share the input of their averages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AverageScope {
    /// Each instance averages the whole queue at every arrival, as WRED does.
    Shared,
    /// Each instance averages the whole queue only at arrivals of its own class, which can lock
    /// a group out for minutes: its own few packets must bring the average down.
    PerClass,
}

/// Two RED instances on one queue, chosen by ECN capability (Kuehlewind et al. 2014 section III-C).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualRedConfig {
    /// For packets that are not ECT: they are dropped.
    pub not_ect: RedParameters,
    /// For ECT packets: they are marked.
    pub ect: RedParameters,
    /// Whether the averages share their input.
    pub average: AverageScope,
    /// Waiting packets that fit.
    pub limit: Extent,
    /// Line rate, for idle ageing.
    pub rate: Rate,
    /// Mean packet size in bytes for idle ageing.
    pub mean_packet_bytes: u32,
}
