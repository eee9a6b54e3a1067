//! Dumbbell: hosts on both sides of one bottleneck.
//!
//! The rtt of a flow is propagation only (as in Kühlewind et al. 2014, whose BDP is exactly 31250 B);
//! serialisation comes on top. What remains of it beyond the fixed delay of the bottleneck is split into
//! halves: one on the forward path, one on the path of the ACKs.
//!
//! With `[reverse]` the ACKs share a link in the opposite direction; flows in that direction take both links the other
//! way round.

use std::collections::BTreeMap;
use std::sync::Arc;

use shoal_units::Span;

use super::Context;
use super::graph::directed;
use super::impairments::impairments;
use super::network::{ENDLESS, Network, Reference, Routes, checked_overhead, port, template};
use super::rtt::{self, Rest};
use super::schedule::{Start, schedule};
use crate::HostConfig;
use crate::aqm::{check_shapers, queue, uses_bdp};
use crate::experiment::{Link, LinkId, NodeId, Schedule};
use crate::quantity::Duration;
use crate::schema::{Aqm, Bottleneck, Direction, Dumbbell, Fifo, FlowGroup, Reverse, Rtt};

/// The graph of a dumbbell.
pub(super) fn network(dumbbell: &Dumbbell, hosts: &[HostConfig], cx: &Context<'_>) -> Option<Network> {
    let Some(bottleneck) = &cx.scenario.bottleneck else {
        let hint = "add [bottleneck] with rate and buffer, or another [topology]";
        cx.error("bottleneck", "a dumbbell needs a bottleneck", hint);
        return None;
    };
    let reverse = cx.scenario.reverse.as_ref().map(|Reverse(reverse)| reverse);
    refuse_places(cx);
    check_directions(dumbbell, cx);
    let there = bottleneck.delay.span();
    let like_there = if dumbbell.switches { there } else { Span::ZERO };
    let rtts = rtt::rests(there + reverse.map_or(like_there, |reverse| reverse.delay.span()), cx);
    warn_ambiguous_bdp(bottleneck, cx);
    let bdp_rtt = bottleneck.bdp_rtt.map(|rtt| rtt.span());
    let no_bdp = bdp_rtt.is_some_and(Span::is_zero);
    if no_bdp && cx.remarks.is_written("bottleneck.bdp_rtt") {
        cx.error("bottleneck.bdp_rtt", "a round-trip time of 0", "as in \"25 ms\"");
    }
    let shared = shared_link("bottleneck", bottleneck, bdp_rtt, cx);
    let reverse_link = reverse.map(|reverse| shared_link("reverse", reverse, bdp_rtt, cx));
    let access_rate = cx.remarks.checked_rate(dumbbell.access_rate, "topology.access_rate");
    check_hosts(dumbbell, hosts, cx);
    if no_bdp
        && [Some(bottleneck), reverse].into_iter().flatten().any(|plan| uses_bdp(&plan.aqm, plan.buffer))
    {
        // That round-trip time has been refused above; amounts measured in it would only be refused again.
        return None;
    }
    let access = match access_rate.ok()? {
        None => None,
        Some(rate) => {
            let port = port(("topology.access_aqm", "topology.access_buffer"), rate, bdp_rtt, cx);
            Some((rate, queue(&dumbbell.access_aqm, dumbbell.access_buffer, &port)?))
        }
    };

    let mut network = Network { bdp_rtt, ..Network::default() };
    let (left, right) = (network.switch("left"), network.switch("right"));
    let shared = Link { from: left, to: right, ..shared? };
    let back = match reverse_link {
        Some(reverse) => Some(Link { from: right, to: left, ..reverse? }),
        None if dumbbell.switches => {
            Some(Link { from: right, to: left, ..plain_back(bottleneck, &shared, bdp_rtt, cx)? })
        }
        None => None,
    };
    let forward = network.link(shared);
    let back = back.map(|back| network.link(back));
    let rtts = rtts?;
    let trunk = Trunk { left, right, forward, back, switches: dumbbell.switches };
    match access {
        None => hosts_without_links(&mut network, &trunk, dumbbell.hosts, hosts, &rtts, cx),
        Some((access_rate, queue)) => {
            let template = Link {
                rate: Some(access_rate),
                queue,
                monitored: false,
                schedule: Schedule::default(),
                impairments: None,
                ..network.links[0].clone()
            };
            host_links(&mut network, &trunk, &template, dumbbell.hosts, &rtts, cx);
        }
    }
    // The load of every group is a fraction of the rate of the link that its data share.
    let reference = |group: &FlowGroup| {
        let link = &network.links[trunk.towards(group.direction).forward.0 as usize];
        link.rate.map(|rate| Reference { rate, overhead_bytes: link.overhead_bytes })
    };
    let references: Vec<_> = cx.scenario.flows.iter().map(reference).collect();
    for (routes, reference) in network.routes.iter_mut().zip(references) {
        routes.reference = reference;
    }
    Some(network)
}

/// The link that the keys of `table` describe, without its ends. Whatever is wrong with them is reported.
fn shared_link(table: &str, plan: &Bottleneck, bdp_rtt: Option<Span>, cx: &Context<'_>) -> Option<Link> {
    let keys = cx.table(table);
    let overhead_bytes = checked_overhead(plan.overhead, &keys.at("overhead"), cx);
    let rate = cx.remarks.finite_rate(plan.rate, &keys.at("rate"))?;
    if bdp_rtt.is_some_and(Span::is_zero) && uses_bdp(&plan.aqm, plan.buffer) {
        // Amounts measured in a round-trip time of 0 would be refused one by one.
        return None;
    }
    let (aqm, buffer) = (keys.at("aqm"), keys.at("buffer"));
    let law = queue(&plan.aqm, plan.buffer, &port((&aqm, &buffer), rate, bdp_rtt, cx));
    let start = Start { rate: Some(rate), delay: plan.delay.span() };
    let schedule = schedule(plan.schedule.as_ref(), start, &keys, cx);
    check_shapers(law.as_ref(), &schedule, &keys);
    let impairments = impairments(plan.impairments.as_ref(), start.delay, &schedule, &keys);
    let name = table.to_owned();
    Some(Link {
        name,
        monitored: true,
        schedule,
        impairments,
        ..template(Some(rate), start.delay, overhead_bytes, law?)
    })
}

/// The link on which ACKs return between switches unless one is described: a plain FIFO of the same size, without its
/// ends.
fn plain_back(plan: &Bottleneck, shared: &Link, bdp_rtt: Option<Span>, cx: &Context<'_>) -> Option<Link> {
    let own = port(("bottleneck.aqm", "bottleneck.buffer"), shared.rate?, bdp_rtt, cx);
    let queue = queue(&Aqm::Fifo(Fifo {}), plan.buffer, &own)?;
    Some(Link {
        name: "bottleneck/back".to_owned(),
        ..template(shared.rate, shared.delay, shared.overhead_bytes, queue)
    })
}

fn check_directions(dumbbell: &Dumbbell, cx: &Context<'_>) {
    for (index, _) in directed(cx) {
        if cx.scenario.reverse.is_none() {
            let hint = "add [reverse] with rate and buffer, or remove direction";
            cx.group(index).error("direction", "there is no link for data in this direction", hint);
        } else if dumbbell.hosts.is_some() {
            let hint = "leave hosts out of [topology]: each group then has its own host pair";
            cx.group(index).error(
                "direction",
                "groups that share host pairs send in the same direction",
                hint,
            );
        }
    }
}

fn refuse_places(cx: &Context<'_>) {
    for (index, group) in cx.scenario.flows.iter().enumerate() {
        let places =
            [("from", &group.from), ("to", &group.to), ("via", &group.via), ("via_back", &group.via_back)];
        for (key, present) in places.map(|(key, nodes)| (key, nodes.is_some())) {
            if present {
                let hint = "remove it, or use a star or graph as [topology]";
                cx.group(index).error(key, format!("a dumbbell does not use `{key}`"), hint);
            }
        }
    }
}

fn warn_ambiguous_bdp(bottleneck: &Bottleneck, cx: &Context<'_>) {
    let written = cx.remarks.is_written("bottleneck.bdp_rtt");
    let Some(first) = first_rtt(cx) else { return };
    let other = cx.scenario.flows.iter().position(|group| !always(group, first));
    if let Some(index) = other.filter(|_| !written && uses_bdp(&bottleneck.aqm, bottleneck.buffer)) {
        let uniform = cx.scenario.flows[index].rtt.as_ref().is_none_or(Rtt::is_uniform);
        let message = if uniform {
            format!("the unit BDP takes the rtt of the first group, {first}; this group has another one")
        } else {
            format!("the unit BDP takes the rtt of the first flow, {first}; flows of this group have others")
        };
        cx.group(index).warning(
            "rtt",
            message,
            format!("state which one is meant: bottleneck.bdp_rtt = \"{first}\""),
        );
    }
}

fn first_rtt(cx: &Context<'_>) -> Option<Duration> {
    cx.scenario.flows.first()?.rtt.as_ref()?.first()
}

/// Whether all flows of the group have this rtt; groups without one are reported elsewhere.
fn always(group: &FlowGroup, rtt: Duration) -> bool {
    let own = group.rtt.as_ref();
    own.is_none_or(|own| own.is_uniform() && own.first().is_some_and(|first| first.span() == rtt.span()))
}

fn check_hosts(dumbbell: &Dumbbell, hosts: &[HostConfig], cx: &Context<'_>) {
    const MAX_HOSTS: u32 = 100_000;
    let unlimited = dumbbell.access_rate.rate().is_none();
    let cards = hosts.iter().any(HostConfig::has_card);
    if dumbbell.hosts.is_some()
        && cards
        && let Some(index) = hosts.iter().position(|host| *host != hosts[0])
    {
        let hint = "leave hosts out of [topology]: each flow then has hosts of its own";
        cx.group(index).error("host", "groups that share host pairs need the same host", hint);
    }
    if dumbbell.switches && unlimited {
        let hint = "add access_rate, as in \"1 Gbit/s\"";
        cx.error("topology.switches", "switches need host links with a rate", hint);
    }
    match dumbbell.hosts {
        Some(0) => cx.error("topology.hosts", "there are no hosts", "write at least 1, or leave hosts out"),
        Some(hosts) if hosts > MAX_HOSTS => {
            cx.error(
                "topology.hosts",
                format!("{hosts} host pairs are too many"),
                format!("at most {MAX_HOSTS}"),
            );
        }
        Some(_) if unlimited && !cards => {
            let hint = "add access_rate, or leave hosts out";
            cx.remarks.warning(
                "topology.hosts",
                "host pairs make no difference as long as their links are pure delays",
                hint,
            );
        }
        Some(_) => {
            let Some(first) = first_rtt(cx) else { return };
            if let Some(index) = cx.scenario.flows.iter().position(|group| !always(group, first)) {
                let hint = "leave hosts out: each group then has its own host pair";
                cx.group(index).error("rtt", "groups that share host pairs need the same rtt", hint);
            }
        }
        None => {}
    }
}

/// Links that all hosts share.
#[derive(Clone, Copy)]
struct Trunk {
    left: NodeId,
    right: NodeId,
    forward: LinkId,
    /// Link of the ACKs, if they share one.
    back: Option<LinkId>,
    /// Whether host links have a queue in both directions.
    switches: bool,
}

impl Trunk {
    /// What flows of a direction meet: those of the opposite one begin on the right.
    fn towards(self, direction: Option<Direction>) -> Self {
        match (direction, self.back) {
            (Some(Direction::Reverse), Some(back)) => {
                Self { left: self.right, right: self.left, forward: back, back: Some(self.forward), ..self }
            }
            _ => self,
        }
    }
}

/// For each group, or each rtt in it: the bottleneck followed by a pure delay; a pure delay for ACKs. Hosts that have a
/// card are pairs of their own: one for each flow, or `pairs` for all flows.
fn hosts_without_links(
    network: &mut Network,
    trunk: &Trunk,
    pairs: Option<u32>,
    hosts: &[HostConfig],
    rtts: &[Vec<Rest>],
    cx: &Context<'_>,
) {
    let mut before = 0;
    let shared = pairs.zip(hosts.first()).filter(|(_, host)| host.has_card());
    let shared: Option<Arc<[(u32, u32)]>> = shared.map(|(pairs, host)| {
        let names = (1..=pairs).map(|number| format!("host{number}"));
        names.map(|name| card_pair(network, *trunk, host, &name, &rtts[0][0])).collect()
    });
    for ((group, rests), host) in cx.scenario.flows.iter().zip(rtts).zip(hosts) {
        let count = group.count.unwrap_or(1) as usize;
        let trunk = trunk.towards(group.direction);
        let pairs = match &shared {
            Some(pairs) => pairs.clone(),
            None if host.has_card() => {
                let name = group.name.as_deref().unwrap_or_default();
                let rest = |number: usize| &rests[number % rests.len()];
                let pair = |number: usize| {
                    card_pair(network, trunk, host, &format!("{name}/{}", number + 1), rest(number))
                };
                (0..count).map(pair).collect()
            }
            None => for_each_rtt(group, rests, |name, rest| pure_delays(network, trunk, name, rest)),
        };
        let first = if shared.is_some() { before % pairs.len() } else { 0 };
        network.routes.push(Routes { pairs, first, ..Routes::default() });
        before += count;
    }
}

/// Paths of hosts that are nothing but endpoints.
fn pure_delays(network: &mut Network, trunk: Trunk, name: &str, rest: &Rest) -> (u32, u32) {
    let host = network.node(format!("{name}/receiver"));
    let there = network.pure_delay(format!("{name}/forward"), trunk.right, host, rest.forward);
    let back_to = if trunk.back.is_some() { trunk.right } else { trunk.left };
    let back = network.pure_delay(format!("{name}/back"), host, back_to, rest.backward);
    let backward = [back].into_iter().chain(trunk.back).collect();
    (network.path(vec![trunk.forward, there]), network.path(backward))
}

/// The way of ACKs from a host behind the trunk to a sender with links of its own; `delay` lies before what they share.
fn pure_back(
    network: &mut Network,
    trunk: Trunk,
    name: &str,
    (receiver, sender): (NodeId, NodeId),
    delay: Span,
) -> Vec<LinkId> {
    match trunk.back {
        Some(shared) => {
            let first = network.pure_delay(format!("{name}/back"), receiver, trunk.right, delay);
            vec![first, shared, network.pure_delay(format!("{name}/return"), trunk.left, sender, Span::ZERO)]
        }
        None => vec![network.pure_delay(format!("{name}/back"), receiver, sender, delay)],
    }
}

/// Paths of a pair of hosts with cards. The card of the sender is a link with an unlimited queue; ACKs are too few to
/// wait in that of the receiver.
fn card_pair(network: &mut Network, trunk: Trunk, host: &HostConfig, name: &str, rest: &Rest) -> (u32, u32) {
    let sender = network.node(format!("{name}/sender"));
    let receiver = network.node(format!("{name}/receiver"));
    let card = host.nic_rate.map(|rate| {
        let name = format!("{name}/card");
        let overhead_bytes = network.links[trunk.forward.0 as usize].overhead_bytes;
        let template = template(Some(rate), Span::ZERO, overhead_bytes, ENDLESS);
        network.link(Link { name, from: sender, to: trunk.left, ..template })
    });
    let there = network.pure_delay(format!("{name}/forward"), trunk.right, receiver, rest.forward);
    let back = pure_back(network, trunk, name, (receiver, sender), rest.backward);
    let forward = card.into_iter().chain([trunk.forward, there]).collect();
    (network.path(forward), network.path(back))
}

/// The paths of a group, of which `build` makes one pair for each different rtt: one entry for all flows, or
/// one for each flow.
fn for_each_rtt(
    group: &FlowGroup,
    rests: &[Rest],
    mut build: impl FnMut(&str, &Rest) -> (u32, u32),
) -> Arc<[(u32, u32)]> {
    let name = group.name.as_deref().unwrap_or_default();
    let alike = rests.iter().all(|rest| *rest == rests[0]);
    let mut known: BTreeMap<Rest, (u32, u32)> = BTreeMap::new();
    let mut pair = |rest: &Rest| {
        if let Some(pair) = known.get(rest) {
            return *pair;
        }
        let number = known.len() + 1;
        let pair = if alike { build(name, rest) } else { build(&format!("{name}/{number}"), rest) };
        known.insert(*rest, pair);
        pair
    };
    rests.iter().map(&mut pair).collect()
}

/// Pairs of hosts with links of their own.
fn host_links(
    network: &mut Network,
    trunk: &Trunk,
    template: &Link,
    hosts: Option<u32>,
    rtts: &[Vec<Rest>],
    cx: &Context<'_>,
) {
    let groups = &cx.scenario.flows;
    let Some(hosts) = hosts else {
        for (group, rests) in groups.iter().zip(rtts) {
            let trunk = trunk.towards(group.direction);
            let pairs =
                for_each_rtt(group, rests, |name, rest| host_pair(network, trunk, template, name, rest));
            network.routes.push(Routes { pairs, first: 0, ..Routes::default() });
        }
        return;
    };
    let pairs: Arc<[(u32, u32)]> = (1..=hosts)
        .map(|number| host_pair(network, *trunk, template, &format!("host{number}"), &rtts[0][0]))
        .collect();
    let mut before = 0usize;
    for group in groups {
        network.routes.push(Routes {
            pairs: pairs.clone(),
            first: before % pairs.len(),
            ..Routes::default()
        });
        before += group.count.unwrap_or(1) as usize;
    }
}

fn host_pair(network: &mut Network, trunk: Trunk, template: &Link, name: &str, rest: &Rest) -> (u32, u32) {
    let (sender, receiver) =
        (network.node(format!("{name}/sender")), network.node(format!("{name}/receiver")));
    let wire = |name: String, from: NodeId, to: NodeId, delay: Span| Link {
        name,
        from,
        to,
        delay,
        ..template.clone()
    };
    let near = rest.forward / 2;
    let access = network.link(wire(format!("{name}/access"), sender, trunk.left, near));
    let egress_delay = rest.forward.saturating_sub(near);
    let egress_name = format!("{name}/egress");
    let (egress, back) = match trunk.back.filter(|_| trunk.switches) {
        Some(back) => {
            let near = rest.backward / 2;
            let egress = network.link(wire(egress_name, trunk.right, receiver, egress_delay));
            let first = network.link(wire(format!("{name}/access/back"), receiver, trunk.right, near));
            let last_delay = rest.backward.saturating_sub(near);
            let last = network.link(wire(format!("{name}/egress/back"), trunk.left, sender, last_delay));
            (egress, vec![first, back, last])
        }
        None => {
            let egress = network.pure_delay(egress_name, trunk.right, receiver, egress_delay);
            (egress, pure_back(network, trunk, name, (receiver, sender), rest.backward))
        }
    };
    (network.path(vec![access, trunk.forward, egress]), network.path(back))
}
