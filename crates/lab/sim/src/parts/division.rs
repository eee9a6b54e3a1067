//! Which part of a network belongs to which thread.

use shoal_scenario::{App, Experiment, Flow, Link, NodeId, Refusal};
use shoal_units::cast::count_u32;
use shoal_units::{Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Number that stands for no part, or for no link.
const NONE: u32 = u32::MAX;

/// A division of a network into parts, one for each thread.
#[derive(Clone, Debug)]
pub struct Division {
    pub(crate) parts: u32,
    /// Time by which the parts are independent of each other.
    pub(crate) lookahead: Span,
    /// Part of each node at which paths begin or end.
    node_part: Vec<u32>,
    link_part: Vec<u32>,
    /// Position of each link among the crossings, or [`NONE`].
    crossing_of: Vec<u32>,
    pub(crate) crossings: Vec<Crossing>,
}

/// A link from which packets reach other parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Crossing {
    pub(crate) link: u32,
    /// Part of the host at the end of the link, or [`NONE`].
    pub(crate) end: u32,
    /// The other parts that its packets reach.
    pub(crate) into: Vec<u32>,
}

impl Division {
    /// Divides the network of an experiment for `threads` threads, at least two.
    ///
    /// # Errors
    /// Why the experiment cannot be divided: the reasons of the scenario, or that its network has fewer parts.
    pub fn of(experiment: &Experiment, threads: u32) -> Result<Self, Vec<Refusal>> {
        let refusals = refusals(experiment);
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let classes = Classes::of(experiment);
        let mut node_part = classes.hosts_in_parts(experiment, threads);
        let parts = 1 + node_part.iter().copied().filter(|part| *part != NONE).max().unwrap_or(0);
        if parts < threads {
            return Err(vec![too_few(parts)]);
        }
        classes.add_switches(experiment, &mut node_part, parts);
        let link_part = experiment
            .links
            .iter()
            .map(|link| match node_part[link.from.0 as usize] {
                NONE => node_part[link.to.0 as usize],
                part => part,
            })
            .collect();
        let mut division = Self {
            parts,
            lookahead: experiment.duration + Span::from_picos(1),
            node_part,
            link_part,
            crossing_of: vec![NONE; experiment.links.len()],
            crossings: Vec::new(),
        };
        division.find_crossings(experiment);
        Ok(division)
    }

    /// Part that has the queue of a link.
    #[inline]
    pub(crate) fn of_link(&self, link: u32) -> u32 {
        self.link_part[link as usize]
    }

    /// Part that has the endpoints at a node.
    pub(crate) fn of_host(&self, node: NodeId) -> u32 {
        self.node_part[node.0 as usize]
    }

    /// Position of a link among the crossings, if it is one.
    #[inline]
    pub(crate) fn crossing(&self, link: u32) -> Option<u32> {
        Some(self.crossing_of[link as usize]).filter(|crossing| *crossing != NONE)
    }

    /// Part that has the sender of a flow.
    pub(crate) fn of_sender(&self, experiment: &Experiment, flow: &Flow) -> u32 {
        self.at_start(experiment, flow.forward)
    }

    /// Part that has the receiver of a flow.
    pub(crate) fn of_receiver(&self, experiment: &Experiment, flow: &Flow) -> u32 {
        self.at_start(experiment, flow.backward)
    }

    fn at_start(&self, experiment: &Experiment, path: u32) -> u32 {
        experiment.paths[path as usize].first().map_or(0, |link| self.of_link(link.0))
    }

    fn find_crossings(&mut self, experiment: &Experiment) {
        let mut into: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for path in &experiment.paths {
            for (place, link) in path.iter().enumerate() {
                let next = match path.get(place + 1) {
                    Some(next) => self.of_link(next.0),
                    None => self.of_host(experiment.links[link.0 as usize].to),
                };
                if next != self.of_link(link.0) {
                    into.entry(link.0).or_default().insert(next);
                }
            }
        }
        for (link, into) in into {
            let plan = &experiment.links[link as usize];
            self.lookahead = self.lookahead.min(plan.delay);
            self.crossing_of[link as usize] = count_u32(self.crossings.len());
            let (end, into) = (self.of_host(plan.to), into.into_iter().collect());
            self.crossings.push(Crossing { link, end, into });
        }
    }
}

/// What makes all hosts of an experiment depend on each other without delay, or needs the events of all parts in one
/// order.
fn refusals(experiment: &Experiment) -> Vec<Refusal> {
    let one = |place: String, reason: &str, hint: &str| Refusal {
        place,
        reason: format!("one run on several threads: {reason}"),
        hint: format!("{hint}, or run it on one thread"),
    };
    let mut refusals = Vec::new();
    let mut groups = BTreeSet::new();
    for flow in &experiment.flows {
        let reason = match flow.app {
            App::Transfers { barrier: true, .. } => {
                "the flows of the group wait for each other at a barrier, without delay"
            }
            App::Requests { .. } | App::Page { .. } => {
                "client and server share the state of an exchange, without delay"
            }
            App::Frames { .. } => "the receiver counts frames by when they were written, without delay",
            App::Unresponsive { .. } => "both ends of a flow without connection share one meter",
            App::Transfers { .. } | App::Bulk | App::ConstantRate { .. } | App::OnOff { .. } => continue,
        };
        if groups.insert(flow.group) {
            let place = format!("flow group `{}`: app", experiment.groups[flow.group as usize].name);
            refusals.push(one(
                place,
                reason,
                "use transfers without a barrier, bulk data, a constant rate, or on and off",
            ));
        }
    }
    let trace = &experiment.trace;
    let in_one_order = "its rows come in the order of all events";
    if trace.packets || trace.pcap {
        refusals.push(one("trace.packets, trace.pcap".to_owned(), in_one_order, "leave them out"));
    }
    if trace.controller_flows > 0 {
        refusals.push(one("trace.controller_flows".to_owned(), in_one_order, "write controller_flows = 0"));
    }
    if trace.segment_flows > 0 {
        refusals.push(one("trace.segment_flows".to_owned(), in_one_order, "write segment_flows = 0"));
    }
    refusals
}

fn too_few(parts: u32) -> Refusal {
    let reason = if parts < 2 {
        "one run on several threads: no two hosts are divided by links with a constant delay above 0, so there is no \
         time by which one may go on without hearing of the other"
            .to_owned()
    } else {
        format!("one run on several threads: the hosts are divided into {parts} parts at most")
    };
    let hint = if parts < 2 { "run it on one thread".to_owned() } else { format!("use {parts} threads") };
    Refusal { place: "topology".to_owned(), reason, hint }
}

/// Whether packets on this link may reach another part: it keeps them for a time that is known.
fn keeps_time(link: &Link) -> bool {
    !link.delay.is_zero() && link.schedule.is_empty() && link.impairments.is_none()
}

/// Nodes that must be in one part, and their neighbours.
struct Classes {
    class_of: Vec<usize>,
    /// Neighbours of each class.
    neighbours: Vec<BTreeSet<usize>>,
    /// Packets that the endpoints of each class may send or receive; `None` if no path begins or ends there.
    weights: Vec<Option<u64>>,
    has_pool: Vec<bool>,
}

impl Classes {
    fn of(experiment: &Experiment) -> Self {
        let nodes = experiment.nodes.len();
        let mut parents: Vec<usize> = (0..nodes).collect();
        for link in experiment.links.iter().filter(|link| !keeps_time(link)) {
            join(&mut parents, link.from, link.to);
        }
        let start = |path: u32| {
            experiment.paths[path as usize].first().map(|link| experiment.links[link.0 as usize].from)
        };
        for flow in &experiment.flows {
            for (one, other) in [(flow.forward, flow.backward), (flow.backward, flow.forward)] {
                if let (Some(end), Some(start)) = (experiment.end_of(one), start(other)) {
                    join(&mut parents, end, start);
                }
            }
        }
        let class_of: Vec<usize> = (0..nodes).map(|node| root(&mut parents, node)).collect();
        let mut classes = Self {
            neighbours: vec![BTreeSet::new(); nodes],
            weights: vec![None; nodes],
            has_pool: vec![false; nodes],
            class_of,
        };
        for link in &experiment.links {
            let (from, to) = (classes.class(link.from), classes.class(link.to));
            classes.has_pool[from] |= link.pool.is_some();
            if from != to {
                classes.neighbours[from].insert(to);
                classes.neighbours[to].insert(from);
            }
        }
        for flow in &experiment.flows {
            for path in [flow.forward, flow.backward] {
                if let Some(node) = start(path) {
                    let class = classes.class(node);
                    *classes.weights[class].get_or_insert(0) += packets(experiment, &flow);
                }
            }
        }
        classes
    }

    fn class(&self, node: NodeId) -> usize {
        self.class_of[node.0 as usize]
    }

    /// The part of each node at which paths begin or end. Hosts of one switch stay together as long as there are enough
    /// switches.
    fn hosts_in_parts(&self, experiment: &Experiment, threads: u32) -> Vec<u32> {
        let hosts = || (0..self.weights.len()).filter(|class| self.weights[*class].is_some());
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for host in hosts() {
            let switch = self.neighbours[host].iter().find(|other| self.weights[**other].is_none());
            sets.entry(switch.copied().unwrap_or(host)).or_default().push(host);
        }
        let mut sets: Vec<Vec<usize>> = sets.into_values().collect();
        if sets.len() < threads as usize {
            sets = hosts().map(|host| vec![host]).collect();
        }
        let weight = |set: &Vec<usize>| -> u64 { set.iter().filter_map(|host| self.weights[*host]).sum() };
        let total = sets.iter().map(weight).sum::<u64>().max(1);
        let mut part_of = vec![NONE; self.weights.len()];
        let (mut before, mut behind) = (0u64, 0);
        for (place, set) in (0u32..).zip(&sets) {
            // The part in which the middle of the set lies, as long as each part gets a set.
            let middle = 2 * u128::from(before) + u128::from(weight(set));
            let shares = middle * u128::from(threads) / (2 * u128::from(total));
            let wanted = u32::try_from(shares).unwrap_or(threads);
            let needed = (threads + place).saturating_sub(count_u32(sets.len()));
            let part = wanted.max(needed).clamp(behind.max(1) - 1, behind);
            behind = part + 1;
            for host in set {
                part_of[*host] = part;
            }
            before += weight(set);
        }
        (0..experiment.nodes.len()).map(|node| part_of[self.class_of[node]]).collect()
    }

    /// Adds the switches. One between hosts of a single part belongs to it. Another one needs no part if its ports
    /// share nothing: each of them then belongs to the part at the other end of its link.
    fn add_switches(&self, experiment: &Experiment, node_part: &mut [u32], parts: u32) {
        let mut part_of = vec![NONE; self.weights.len()];
        let mut reached: Vec<bool> = self.weights.iter().map(Option::is_some).collect();
        let mut queue: VecDeque<usize> = (0..reached.len()).filter(|class| reached[*class]).collect();
        for (node, part) in node_part.iter().enumerate().filter(|(_, part)| **part != NONE) {
            part_of[self.class_of[node]] = *part;
        }
        let (mut divided, mut load) = (vec![false; reached.len()], vec![0u32; parts as usize]);
        let is_joined = {
            let mut sizes = vec![0; reached.len()];
            self.class_of.iter().for_each(|class| sizes[*class] += 1);
            move |class: usize| sizes[class] > 1
        };
        while let Some(class) = queue.pop_front() {
            if part_of[class] == NONE {
                let around: BTreeSet<u32> = self.neighbours[class]
                    .iter()
                    .map(|other| part_of[*other])
                    .filter(|part| *part != NONE)
                    .collect();
                let beside_divided = self.neighbours[class].iter().any(|other| divided[*other]);
                match around.first() {
                    Some(part) if around.len() == 1 => part_of[class] = *part,
                    Some(_) if !self.has_pool[class] && !is_joined(class) && !beside_divided => {
                        divided[class] = true;
                    }
                    _ => {
                        let part = (0..parts).min_by_key(|part| load[*part as usize]).unwrap_or(0);
                        load[part as usize] += 1;
                        part_of[class] = part;
                    }
                }
            }
            for other in &self.neighbours[class] {
                if !std::mem::replace(&mut reached[*other], true) {
                    queue.push_back(*other);
                }
            }
        }
        for (node, part) in node_part.iter_mut().enumerate().take(experiment.nodes.len()) {
            *part = part_of[self.class_of[node]];
        }
    }
}

/// About how many packets the flow sends at most.
fn packets(experiment: &Experiment, flow: &Flow) -> u64 {
    let rates = experiment.links_of(flow.forward).filter_map(Link::highest_rate);
    let bytes_per_s = rates.map(|rate| rate.as_bps() / 8).min().unwrap_or(0);
    let time = (Time::ZERO + experiment.duration).since(flow.start);
    let most = u128::from(bytes_per_s) * u128::from(time.as_picos()) / 1_000_000_000_000;
    let wanted = match flow.app {
        App::Transfers { bytes, rounds, .. } => u128::from(bytes) * u128::from(rounds),
        _ => most,
    };
    1 + (wanted.min(most).min(1 << 50) / 1448) as u64
}

fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

fn join(parents: &mut [usize], one: NodeId, other: NodeId) {
    let (one, other) = (root(parents, one.0 as usize), root(parents, other.0 as usize));
    parents[one.max(other)] = one.min(other);
}
