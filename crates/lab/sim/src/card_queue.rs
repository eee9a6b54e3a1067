//! The queue in front of the card of a host that segments, as far as it is full: TCP hands over whole segments, asks
//! before, and keeps what does not fit, so that nothing is lost there.
//!
//! The port keeps the packets of the segments; here is what the kernel's tail drop counts. A segment leaves the count
//! as a whole when its transmission begins. Pure ACKs, which take little, are not counted.

use shoal_aqm::{Bound, Extent, FifoConfig, QueueConfig};
use shoal_packet::Backlog;
use shoal_scenario::{Experiment, HostConfig, Link, LinkId};
use shoal_tcp::Pacing;
use shoal_units::Time;
use std::collections::{BTreeSet, VecDeque};

/// The segments that wait for the card.
pub(crate) struct CardQueue {
    limit: Bound,
    /// When the transmission of each begins, and its bytes, in this order.
    waiting: VecDeque<(Time, u64)>,
    bytes: u64,
}

impl CardQueue {
    /// The queue of this link if it is the card of hosts that segment alone, and drops at a limit. Such hosts with `fq`
    /// give their card one segment at a time, and a queue whose packets are recorded stands in the network.
    pub(crate) fn of(experiment: &Experiment, segmenting: &BTreeSet<LinkId>, id: LinkId) -> Option<Self> {
        let link = &experiment.links[id.0 as usize];
        let is_limited = matches!(&link.queue, QueueConfig::Fifo(fifo) if *fifo != UNLIMITED);
        let rate = link.rate.filter(|_| is_limited && !link.monitored && experiment.is_card(link))?;
        segmenting.contains(&id).then(|| Self {
            limit: Bound::new(link.queue.limit(), rate),
            waiting: VecDeque::new(),
            bytes: 0,
        })
    }

    /// Whether a segment fits, which is handed over if it does and would be sent at `begins`.
    pub(crate) fn takes(&mut self, bytes: u64, begins: Time, now: Time) -> bool {
        while let Some((_, sent)) = self.waiting.front().filter(|(begins, _)| *begins <= now) {
            self.bytes -= sent;
            self.waiting.pop_front();
        }
        // The kernel counts segments (`struct sk_buff`) where the limit is a number of packets.
        let packets = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX).saturating_add(1);
        let fits = !self.limit.is_exceeded_by(Backlog { packets, bytes: self.bytes + bytes });
        if fits && begins > now {
            self.waiting.push_back((begins, bytes));
            self.bytes += bytes;
        }
        fits
    }

    /// The link as the port sees it, which drops nothing.
    pub(crate) fn without_limit(link: &Link) -> Link {
        Link { queue: QueueConfig::Fifo(UNLIMITED), ..link.clone() }
    }
}

const UNLIMITED: FifoConfig = FifoConfig { limit: Extent::Unlimited };

/// First links of paths that only hosts send on that segment without `fq`.
pub(crate) fn segmenting_cards(experiment: &Experiment) -> BTreeSet<LinkId> {
    let (mut segmenting, mut others) = (BTreeSet::new(), BTreeSet::new());
    let segments = |host: &HostConfig| host.offload.is_some_and(|offload| offload.pacing != Pacing::Fq);
    if !experiment.groups.iter().any(|group| segments(&group.host)) {
        return segmenting;
    }
    for flow in &experiment.flows {
        let segments = segments(experiment.host_of(&flow));
        let firsts = [flow.forward, flow.backward].map(|path| experiment.paths[path as usize].first());
        (if segments { &mut segmenting } else { &mut others }).extend(firsts.into_iter().flatten().copied());
    }
    &segmenting - &others
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_units::Rate;

    fn queue(limit: Extent) -> CardQueue {
        let limit = Bound::new(limit, Rate::from_bps(1_000_000_000));
        CardQueue { limit, waiting: VecDeque::new(), bytes: 0 }
    }

    #[test]
    fn a_segment_in_transmission_is_not_in_the_queue() {
        let at = |us: u64| Time::from_picos(us * 1_000_000);
        let mut queue = queue(Extent::Bytes(100_000));
        assert!(queue.takes(60_000, at(0), at(0)), "the card is idle");
        assert!(queue.takes(60_000, at(480), at(1)));
        assert!(!queue.takes(60_000, at(960), at(2)), "120 kB would wait");
        assert!(queue.takes(40_000, at(960), at(2)));
        assert!(!queue.takes(1, at(1280), at(479)));
        assert!(queue.takes(60_000, at(1280), at(480)), "the second segment has begun");
    }

    #[test]
    fn a_limit_in_packets_counts_segments() {
        let mut queue = queue(Extent::Packets(2));
        let (now, later) = (Time::ZERO, Time::from_picos(1));
        let taken = [60_000, 60_000, 60_000].map(|bytes| queue.takes(bytes, later, now));
        assert_eq!(taken, [true, true, false]);
    }
}
