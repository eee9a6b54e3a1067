//! Which hosts of a flow group exchange data: in turn, at random, or each with one other.

use std::collections::BTreeSet;

use shoal_units::Stream;

use super::Context;
use super::ends::Ends;
use super::network::Network;
use crate::experiment::NodeId;
use crate::schema::Pairing;

impl Ends {
    /// What decides whether two hosts may exchange data: `entry` is the position of `host` in the list of senders or of
    /// receivers.
    pub(super) fn mark(&self, entry: usize, host: NodeId) -> usize {
        match self.pairing {
            // With F senders and T receivers, flow n uses entries n mod F and n mod T: i and j meet if i = j
            // mod gcd(F, T).
            Pairing::InTurn => entry % gcd(self.from.len(), self.to.len()),
            Pairing::Random | Pairing::Permutation => host.0 as usize,
        }
    }

    /// Whether a host with one of the `marks` may exchange data with one of the other list that has this `mark`.
    pub(super) fn meet(&self, marks: &BTreeSet<usize>, mark: usize) -> bool {
        match self.pairing {
            Pairing::InTurn => marks.contains(&mark),
            // Any two different hosts.
            Pairing::Random | Pairing::Permutation => marks.len() > usize::from(marks.contains(&mark)),
        }
    }

    /// A host that would be both ends of some flow.
    pub(super) fn self_pair(&self) -> Option<NodeId> {
        match self.pairing {
            Pairing::InTurn => {
                let marked = |(entry, host): (usize, &NodeId)| (*host, self.mark(entry, *host));
                let receivers: BTreeSet<_> = self.to.iter().enumerate().map(marked).collect();
                self.from.iter().enumerate().find(|host| receivers.contains(&marked(*host))).map(|(_, h)| *h)
            }
            Pairing::Random | Pairing::Permutation => {
                let hosts: BTreeSet<_> = self.from.iter().chain(&self.to).collect();
                (hosts.len() == 1).then(|| self.from[0])
            }
        }
    }

    /// The pairs of the flows of `group`, which these are the ends of.
    pub(super) fn pairs<'e>(&'e self, seed: u64, group: &'e str) -> Pairs<'e> {
        Pairs { ends: self, seed, group, permutation: None }
    }
}

/// Chooses the two hosts of each flow of a group.
pub(super) struct Pairs<'e> {
    pub ends: &'e Ends,
    pub seed: u64,
    pub group: &'e str,
    /// The permutation of the round that was asked for last, and the number of the round.
    permutation: Option<(usize, Vec<NodeId>)>,
}

impl Pairs<'_> {
    /// Sending and receiving host of flow `number`. Flows of a permutation are asked for in their order, so that each
    /// permutation is drawn once.
    pub(super) fn of(&mut self, number: u32) -> (NodeId, NodeId) {
        let n = number as usize;
        if let Some((nodes, hosts)) =
            self.ends.listed.as_ref().and_then(|(nodes, list)| Some((nodes, list.hosts()?)))
        {
            return (nodes[hosts.sources[n] as usize], nodes[hosts.destinations[n] as usize]);
        }
        let (from, to) = (&self.ends.from, &self.ends.to);
        match self.ends.pairing {
            Pairing::InTurn => (from[n % from.len()], to[n % to.len()]),
            Pairing::Random => {
                let mut stream = Stream::new(self.seed, &format!("pair/{}/{number}", self.group));
                let mut pick = |of: &[NodeId]| of[below(of.len(), &mut stream)];
                // A pair of different hosts exists, otherwise the scenario has been refused.
                loop {
                    let (from, to) = (pick(from), pick(to));
                    if from != to {
                        return (from, to);
                    }
                }
            }
            Pairing::Permutation => {
                let (round, entry) = (n / from.len(), n % from.len());
                let drawn = self.permutation.take().filter(|(drawn, _)| *drawn == round);
                let (_, receivers) =
                    self.permutation.insert(drawn.unwrap_or_else(|| (round, self.draw(round))));
                (from[entry], receivers[entry])
            }
        }
    }

    /// The receivers of the senders in a round: all orders in which no host sends to itself are equally likely.
    fn draw(&self, round: usize) -> Vec<NodeId> {
        let mut stream = Stream::new(self.seed, &format!("permutation/{}/{round}", self.group));
        let mut receivers = self.ends.to.clone();
        // An order is right with a probability of about 1/e, and of at least 1/3; with a single pair of hosts, which
        // are different, always.
        loop {
            for last in (1..receivers.len()).rev() {
                receivers.swap(last, below(last + 1, &mut stream));
            }
            if self.ends.from.iter().zip(&receivers).all(|(from, to)| from != to) {
                return receivers;
            }
        }
    }
}

/// A whole number below `count`, each equally likely.
fn below(count: usize, stream: &mut Stream) -> usize {
    ((u128::from(stream.uniform_u64()) * count as u128) >> 64) as usize
}

/// Checks that the hosts and flows of group `index` make whole permutations, if it asks for them.
pub(super) fn check(index: usize, ends: &Ends, network: &Network, cx: &Context<'_>) -> bool {
    if ends.pairing != Pairing::Permutation {
        return true;
    }
    let keys = cx.group(index);
    let (senders, receivers) = (ends.from.len(), ends.to.len());
    if senders != receivers {
        let message = format!("a permutation of {senders} senders onto {receivers} receivers");
        keys.error("to", message, "name as many hosts in to as in from, or write pairing = \"random\"");
        return false;
    }
    for (key, hosts) in [("from", &ends.from), ("to", &ends.to)] {
        let mut seen = BTreeSet::new();
        if let Some(twice) = hosts.iter().find(|host| !seen.insert(**host)) {
            let name = &network.nodes[twice.0 as usize].name;
            let hint =
                "name each host once; for several flows of each host write a multiple of the hosts as count";
            keys.error(key, format!("a permutation with \"{name}\" twice"), hint);
            return false;
        }
    }
    let flows = cx.scenario.flows[index].count.map(|count| count as usize);
    if let Some(count) = flows.filter(|count| !count.is_multiple_of(senders)) {
        let hint = format!("write a multiple of {senders}, or leave count out: one flow from each host");
        keys.error("count", format!("{count} flows are no whole permutations of {senders} hosts"), hint);
        return false;
    }
    true
}

const fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
