//! `step`, which the kernel's RED can be.

use super::fifo::tail_drop;
use super::linux_red::{options, red_flags};
use super::{Discipline, Express, QueueMapping, Site, below};
use crate::refusal::Refusals;
use shoal_aqm::{DecideAt, Extent, StepConfig, TcRed};
use shoal_packet::Reason;

impl Express for StepConfig {
    const MARKS: Reason = Reason::Threshold;
    const DROPS: Reason = Reason::Threshold;

    /// RED whose average is the queue itself (Wlog 0) and whose thresholds are equal marks every packet that
    /// finds at least the threshold waiting: `red_calc_qavg_no_idle_time` returns `backlog`, and
    /// `red_cmp_thresh` compares with `>=`.
    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        if self.decide == DecideAt::Dequeue {
            refusals.add(
                "bottleneck.aqm.decide",
                "the kernel's RED decides on arrival only",
                "leave decide out, or run this on the simulator",
            );
            return None;
        }
        let nodrop = match self.drop_threshold {
            Extent::Unlimited => true,
            same if same == self.threshold => false,
            _ => {
                refusals.add(
                    "bottleneck.aqm.drop_threshold",
                    "the kernel's RED has one threshold for marks and drops",
                    "make drop_threshold equal to threshold, or leave it out",
                );
                return None;
            }
        };
        let Some((found_bytes, rule)) = found_before(self.threshold, site) else {
            let (discipline, rule) = tail_drop(self.limit, site.rate, below(1), 10);
            return Some(QueueMapping::of(discipline, vec![rule]));
        };
        let Some(found) = u32::try_from(found_bytes).ok().filter(|bytes| bytes.leading_zeros() > 0) else {
            refusals.add(
                "bottleneck.aqm.threshold",
                "the kernel's thresholds have 31 bits",
                "write less than 2 GiB",
            );
            return None;
        };
        let (child, buffer_rule) = tail_drop(self.limit, site.rate, below(10), 11);
        let rules = vec![
            rule,
            "step: RED with Wlog 0 (`tc red` itself cannot say that) compares the queue on arrival with one threshold"
                .to_owned(),
            buffer_rule,
        ];
        Some(QueueMapping { disciplines: vec![red(found, nodrop), child], rules, ..QueueMapping::default() })
    }
}

/// RED with one threshold on the bytes that a packet finds.
fn red(found: u32, nodrop: bool) -> Discipline {
    // The average needs no ageing, because the next arrival replaces it.
    let tc = TcRed {
        limit_bytes: u32::MAX >> 1,
        min_bytes: found,
        max_bytes: found,
        wlog: 0,
        plog: 0,
        scell_log: 0,
        stab: [31; 256],
        max_p: u32::MAX,
    };
    let flags = red_flags::ECN | if nodrop { red_flags::NODROP } else { 0 };
    let nodrop = if nodrop { " nodrop" } else { "" };
    let words = format!("red, qth_min = qth_max = {found}, Wlog 0, ecn{nodrop}");
    Discipline::new("red", options(&tc, flags), words)
}

/// The bytes that a packet finds waiting when it is marked, and how the scenario's threshold became them; `None` if
/// nothing is. The simulator counts the arriving packet, the kernel does not: K + 1 packets with it are K without.
fn found_before(threshold: Extent, site: &Site<'_>) -> Option<(u64, String)> {
    let (rate, mtu) = (site.rate, site.mtu);
    let found = match threshold {
        Extent::Packets(packets) => (
            u64::from(packets) * u64::from(mtu),
            format!(
                "threshold: more than {packets} packets with the arriving one = at least {packets} x {mtu} B before it"
            ),
        ),
        Extent::Bytes(bytes) => (
            (bytes + 1).saturating_sub(u64::from(mtu)),
            format!("threshold: more than {bytes} B with an arriving packet of {mtu} B"),
        ),
        Extent::Time(span) => {
            let bytes = rate.bytes_in(span);
            (
                (bytes + 1).saturating_sub(u64::from(mtu)),
                format!("threshold: {span} of the line rate = {bytes} B with an arriving packet of {mtu} B"),
            )
        }
        Extent::Unlimited => return None,
    };
    Some(found)
}
