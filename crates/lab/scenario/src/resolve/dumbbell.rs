//! Dumbbell: hosts on both sides of one bottleneck.
//!
//! The rtt of a flow is propagation only (as in Kühlewind et al. 2014, whose BDP is exactly 31250 B);
//! serialisation comes on top. What remains of it beyond the fixed delay of the bottleneck is split into
//! halves: one on the forward path, one on the path of the ACKs.

use std::collections::BTreeMap;
use std::sync::Arc;

use shoal_units::Span;

use super::Context;
use super::impairments::impairments;
use super::network::{ENDLESS, Network, Reference, Routes, checked_overhead, port, template};
use super::rtt::{self, Rest};
use super::schedule::{Start, schedule};
use crate::HostConfig;
use crate::aqm::{queue, uses_bdp};
use crate::experiment::{Link, LinkId, NodeId, Schedule};
use crate::quantity::Duration;
use crate::schema::{Aqm, Bottleneck, Dumbbell, Fifo, FlowGroup, Rtt};

/// The graph of a dumbbell.
pub(super) fn network(dumbbell: &Dumbbell, hosts: &[HostConfig], cx: &Context<'_>) -> Option<Network> {
    let Some(bottleneck) = &cx.scenario.bottleneck else {
        let hint = "add [bottleneck] with rate and buffer, or another [topology]";
        cx.error("bottleneck", "a dumbbell needs a bottleneck", hint);
        return None;
    };
    refuse_places(cx);
    let rtts = rtt::rests(bottleneck.delay.span().saturating_mul(if dumbbell.switches { 2 } else { 1 }), cx);
    warn_ambiguous_bdp(bottleneck, cx);
    let bdp_rtt = bottleneck.bdp_rtt.map(|rtt| rtt.span());
    if bdp_rtt.is_some_and(Span::is_zero) && cx.remarks.is_written("bottleneck.bdp_rtt") {
        cx.error("bottleneck.bdp_rtt", "a round-trip time of 0", "as in \"25 ms\"");
    }
    let overhead_bytes = checked_overhead(bottleneck.overhead, "bottleneck.overhead", cx);
    let rate = cx.remarks.finite_rate(bottleneck.rate, "bottleneck.rate");
    let access_rate = cx.remarks.checked_rate(dumbbell.access_rate, "topology.access_rate");
    check_hosts(dumbbell, hosts, cx);

    if bdp_rtt.is_some_and(Span::is_zero) && uses_bdp(&bottleneck.aqm, bottleneck.buffer) {
        // That round-trip time has been refused above; amounts measured in it would only be refused again.
        return None;
    }
    let rate = rate?;
    let own = port(("bottleneck.aqm", "bottleneck.buffer"), rate, bdp_rtt, cx);
    let law = queue(&bottleneck.aqm, bottleneck.buffer, &own);
    let access = match access_rate.ok()? {
        None => None,
        Some(rate) => {
            let port = port(("topology.access_aqm", "topology.access_buffer"), rate, bdp_rtt, cx);
            Some((rate, queue(&dumbbell.access_aqm, dumbbell.access_buffer, &port)?))
        }
    };
    // ACKs return through a plain FIFO of the same size.
    let back_queue = queue(&Aqm::Fifo(Fifo {}), bottleneck.buffer, &own);

    let start = Start { rate: Some(rate), delay: bottleneck.delay.span() };
    let keys = cx.table("bottleneck");
    let schedule = schedule(bottleneck.schedule.as_ref(), start, &keys, cx);
    let impairments = impairments(bottleneck.impairments.as_ref(), start.delay, &schedule, &keys);
    let mut network = Network { bdp_rtt, ..Network::default() };
    let (left, right) = (network.switch("left"), network.switch("right"));
    let shared = Link {
        name: "bottleneck".to_owned(),
        from: left,
        to: right,
        monitored: true,
        schedule,
        impairments,
        ..template(Some(rate), bottleneck.delay.span(), overhead_bytes, law?)
    };
    let back = Link {
        name: "bottleneck/back".to_owned(),
        from: right,
        to: left,
        queue: back_queue?,
        monitored: false,
        schedule: Schedule::default(),
        impairments: None,
        ..shared.clone()
    };
    let forward = network.link(shared);
    let rtts = rtts?;
    match access {
        None => {
            let access = Access { left, right, bottleneck: forward, overhead_bytes };
            hosts_without_links(&mut network, &access, dumbbell.hosts, hosts, &rtts, cx);
        }
        Some((access_rate, queue)) => {
            let back = dumbbell.switches.then(|| network.link(back));
            let template = Link {
                rate: Some(access_rate),
                queue,
                monitored: false,
                schedule: Schedule::default(),
                impairments: None,
                ..network.links[0].clone()
            };
            let trunk = Trunk { left, right, forward, back };
            host_links(&mut network, &trunk, &template, dumbbell.hosts, &rtts, cx);
        }
    }
    // The load of every group is a fraction of the bottleneck's rate.
    for routes in &mut network.routes {
        routes.reference = Some(Reference { rate, overhead_bytes });
    }
    Some(network)
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

/// What hosts without links of their own are connected to.
struct Access {
    left: NodeId,
    right: NodeId,
    bottleneck: LinkId,
    overhead_bytes: u16,
}

/// For each group, or each rtt in it: the bottleneck followed by a pure delay; a pure delay for ACKs. Hosts that have a card
/// are pairs of their own: one for each flow, or `pairs` for all flows.
fn hosts_without_links(
    network: &mut Network,
    access: &Access,
    pairs: Option<u32>,
    hosts: &[HostConfig],
    rtts: &[Vec<Rest>],
    cx: &Context<'_>,
) {
    let mut before = 0;
    let shared = pairs.zip(hosts.first()).filter(|(_, host)| host.has_card());
    let shared: Option<Arc<[(u32, u32)]>> = shared.map(|(pairs, host)| {
        let names = (1..=pairs).map(|number| format!("host{number}"));
        names.map(|name| card_pair(network, access, host, &name, &rtts[0][0])).collect()
    });
    for ((group, rests), host) in cx.scenario.flows.iter().zip(rtts).zip(hosts) {
        let count = group.count.unwrap_or(1) as usize;
        let pairs = match &shared {
            Some(pairs) => pairs.clone(),
            None if host.has_card() => {
                let name = group.name.as_deref().unwrap_or_default();
                let rest = |number: usize| &rests[number % rests.len()];
                let pair = |number: usize| {
                    card_pair(network, access, host, &format!("{name}/{}", number + 1), rest(number))
                };
                (0..count).map(pair).collect()
            }
            None => for_each_rtt(group, rests, |name, rest| pure_delays(network, access, name, rest)),
        };
        let first = if shared.is_some() { before % pairs.len() } else { 0 };
        network.routes.push(Routes { pairs, first, ..Routes::default() });
        before += count;
    }
}

/// Paths of hosts that are nothing but endpoints.
fn pure_delays(network: &mut Network, access: &Access, name: &str, rest: &Rest) -> (u32, u32) {
    let host = network.node(format!("{name}/receiver"));
    let there = network.pure_delay(format!("{name}/forward"), access.right, host, rest.forward);
    let back = network.pure_delay(format!("{name}/back"), host, access.left, rest.backward);
    (network.path(vec![access.bottleneck, there]), network.path(vec![back]))
}

/// Paths of a pair of hosts with cards. The card of the sender is a link with an unlimited queue; ACKs are too few to wait
/// in that of the receiver.
fn card_pair(
    network: &mut Network,
    access: &Access,
    host: &HostConfig,
    name: &str,
    rest: &Rest,
) -> (u32, u32) {
    let sender = network.node(format!("{name}/sender"));
    let receiver = network.node(format!("{name}/receiver"));
    let card = host.nic_rate.map(|rate| {
        let name = format!("{name}/card");
        let template = template(Some(rate), Span::ZERO, access.overhead_bytes, ENDLESS);
        network.link(Link { name, from: sender, to: access.left, ..template })
    });
    let there = network.pure_delay(format!("{name}/forward"), access.right, receiver, rest.forward);
    let back = network.pure_delay(format!("{name}/back"), receiver, sender, rest.backward);
    let forward = card.into_iter().chain([access.bottleneck, there]).collect();
    (network.path(forward), network.path(vec![back]))
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

/// Links that all hosts share.
struct Trunk {
    left: NodeId,
    right: NodeId,
    forward: LinkId,
    /// Link of the ACKs between the switches, if there are switches.
    back: Option<LinkId>,
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
            let pairs =
                for_each_rtt(group, rests, |name, rest| host_pair(network, trunk, template, name, rest));
            network.routes.push(Routes { pairs, first: 0, ..Routes::default() });
        }
        return;
    };
    let pairs: Arc<[(u32, u32)]> = (1..=hosts)
        .map(|number| host_pair(network, trunk, template, &format!("host{number}"), &rtts[0][0]))
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

fn host_pair(network: &mut Network, trunk: &Trunk, template: &Link, name: &str, rest: &Rest) -> (u32, u32) {
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
    let (egress, back) = match trunk.back {
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
            (egress, vec![network.pure_delay(format!("{name}/back"), receiver, sender, rest.backward)])
        }
    };
    (network.path(vec![access, trunk.forward, egress]), network.path(back))
}
