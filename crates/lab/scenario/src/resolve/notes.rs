//! Notes: effects of a valid scenario that its author may not expect.

use std::collections::{BTreeMap, BTreeSet};

use shoal_aqm::{Extent, QueueConfig};
use shoal_cc::EcnUse;
use shoal_tcp::{EcnSetting, EndpointConfig};

use super::Context;
use crate::experiment::{Link, NodeId, Note};
use crate::report::Effect;
use crate::schema::{Replace, Workload};

/// The bit of the ECN field that ECT(0) sets: its codepoint is binary 10 ([RFC 3168, section
/// 5](https://www.rfc-editor.org/rfc/rfc3168#section-5)).
const ECT0: u8 = 0b10;

/// Notes scalable flows in the classic queue: DCTCP sends ECT(0), which Linux's dualpi2 treats as classic
/// traffic unless its mask says otherwise. A scalable controller that meets the squared probabilities of the
/// classic queue is probably not what the user wants to see.
pub(super) fn scalable_flows_in_the_classic_queue(
    links: &[Link],
    endpoints: &[EndpointConfig],
    cx: &mut Context<'_>,
) {
    let is_classic =
        |link: &&Link| matches!(&link.queue, QueueConfig::DualPi2(dual) if dual.ecn_mask & ECT0 == 0);
    let classic: Vec<String> = links.iter().filter(is_classic).map(|link| link.name.clone()).collect();
    if classic.is_empty() {
        return;
    }
    for (index, (group, endpoint)) in cx.scenario.flows.iter().zip(endpoints).enumerate() {
        if endpoint.cc.ecn_use() != EcnUse::Dctcp || group.ecn == Some(EcnSetting::Off) {
            continue;
        }
        let text = format!(
            "{} sends ECT(0), which dualpi2 with ecn_mask = \"l4s-ect\" (mask 1, Linux's default) puts into the \
             classic queue",
            group.cc
        );
        let note = Note {
            kind: "dctcp-in-classic-queue",
            text,
            groups: group.name.iter().cloned().collect(),
            links: classic.clone(),
        };
        let hint = "for DCTCP in the low-latency queue write ecn_mask = \"any-ect\" (mask 3) into the section of the \
                    queue";
        cx.note(&format!("flows[{index}].cc"), note, hint);
    }
}

/// Notes controllers that give way to Reno, since negotiation leaves them without the feedback that they need.
pub(super) fn replaced_controllers(endpoints: &[EndpointConfig], cx: &mut Context<'_>) {
    for (index, (group, endpoint)) in cx.scenario.flows.iter().zip(endpoints).enumerate() {
        if endpoint.negotiated_cc() == endpoint.cc {
            continue;
        }
        let (key, what, hint) = match endpoint.ecn {
            EcnSetting::Off => {
                ("ecn", "Reno without ECN: ecn is off, and it needs ECN", "write ecn = \"on\"")
            }
            EcnSetting::On => (
                "receiver.feedback",
                "Reno with classic ECN: its receiver grants no accurate ECN, and it needs that",
                "write feedback = \"accurate\", or leave it out",
            ),
        };
        let note = Note {
            kind: "runs-as-reno",
            text: format!("{} runs as {what}", group.cc),
            groups: group.name.iter().cloned().collect(),
            links: Vec::new(),
        };
        cx.note(&format!("flows[{index}].{key}"), note, hint);
    }
}

/// Notes groups whose controller gives way to another one, since results name them by the first.
pub(super) fn succeeded_controllers(cx: &mut Context<'_>) {
    for (index, group) in cx.scenario.flows.iter().enumerate() {
        let comes = |replace: &&Replace| replace.after.span() < cx.scenario.duration.span();
        let Some(replace) = group.replace.as_ref().filter(comes) else { continue };
        let note = Note {
            kind: "controller-replaced",
            text: format!(
                "{} gives way to {} {} after the start of a flow",
                group.cc, replace.cc, replace.after
            ),
            groups: group.name.iter().cloned().collect(),
            links: Vec::new(),
        };
        let hint = "a warm-up that is as long measures only what follows";
        cx.note(&format!("flows[{index}].replace"), note, hint);
    }
}

/// Warns of tunnels that change nothing, because no queue keeps flows apart.
pub(super) fn idle_tunnels(links: &[Link], cx: &Context<'_>) {
    if links.iter().any(|link| keeps_flows_apart(&link.queue)) {
        return;
    }
    for (index, group) in cx.scenario.flows.iter().enumerate() {
        if group.tunnel.is_some() {
            let hint =
                "queues of kind \"fq-codel\" do, and dual queues with protection; or remove the tunnel";
            cx.group(index).warning("tunnel", "no queue keeps flows apart: a tunnel changes nothing", hint);
        }
    }
}

fn keeps_flows_apart(queue: &QueueConfig) -> bool {
    match queue {
        QueueConfig::FqCodel(_) => true,
        QueueConfig::Classes(classes) => classes.queues.iter().any(|queue| keeps_flows_apart(&queue.law)),
        law => law.has_protection(),
    }
}

/// Notes what laws have to say about their keys.
pub(super) fn effects_of_laws(links: &[Link], cx: &mut Context<'_>) {
    let effects = cx.remarks.report.borrow_mut().take_effects();
    for Effect { kind, path, text, hint } in effects {
        // A dumbbell's links are named after their tables.
        let table = path.split('.').next().unwrap_or_default();
        let links = links.iter().filter(|link| link.name == table).map(|link| link.name.clone()).collect();
        cx.note(&path, Note { kind, text, groups: Vec::new(), links }, &hint);
    }
}

/// Notes queues in hosts: if a host's link is no faster than the bottleneck and its buffer never fills, a
/// flow that has the bottleneck to itself queues in its own host, where nothing marks or drops, and grows
/// until another flow takes part of the bottleneck.
pub(super) fn queues_in_hosts(links: &[Link], cx: &mut Context<'_>) {
    if !cx.scenario.flows.iter().any(|group| group.app == Workload::Bulk) {
        return;
    }
    // A host has one neighbour, a switch several. In a dumbbell the path of the ACKs is a pure delay that
    // bypasses all switches.
    let mut neighbours: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    for link in links.iter().filter(|link| link.rate.is_some()) {
        neighbours.entry(link.to).or_default().insert(link.from);
        neighbours.entry(link.from).or_default().insert(link.to);
    }
    let endless =
        |link: &Link| matches!(&link.queue, QueueConfig::Fifo(fifo) if fifo.limit == Extent::Unlimited);
    let mut feeds: BTreeMap<NodeId, Vec<&Link>> = BTreeMap::new();
    for link in links.iter().filter(|link| link.rate.is_some() && !link.monitored && endless(link)) {
        if neighbours[&link.from].len() == 1 {
            feeds.entry(link.to).or_default().push(link);
        }
    }
    for bottleneck in links.iter().filter(|link| link.monitored) {
        let Some(feeds) = feeds.get(&bottleneck.from) else { continue };
        let Some(rate) = bottleneck.rate else { continue };
        let slow = feeds.iter().filter(|link| link.rate.is_some_and(|own| own <= rate));
        let hosts: Vec<String> = slow.map(|link| link.name.clone()).collect();
        let Some(first) = hosts.first() else { continue };
        let text = format!(
            "the host links ({first}{}) are no faster than the link {} and have an unlimited buffer: while one host \
             sends alone, its packets wait in the host itself, where nothing marks or drops them, so its flow grows \
             without a signal, and a second flow gets next to nothing until that queue has drained",
            if hosts.len() > 1 { ", ..." } else { "" },
            bottleneck.name,
        );
        let (path, buffer) = match cx.scenario.bottleneck {
            Some(_) => ("topology.access_rate", "access_buffer, or a higher access_rate"),
            None => ("topology.host_buffer", "host_buffer"),
        };
        let note = Note { kind: "queue-in-hosts", text, groups: Vec::new(), links: hosts };
        cx.note(path, note, &format!("give hosts a limit as real ones have: {buffer}"));
        // All bottlenecks of a symmetric topology would give the same note.
        return;
    }
}
