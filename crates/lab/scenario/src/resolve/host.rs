//! The hosts of a flow group.

use std::collections::BTreeMap;

use shoal_host::CpuCost;
use shoal_tcp::Offload;
use shoal_units::Span;

use super::Context;
use super::ends::Ends;
use crate::experiment::{Node, NodeId};
use crate::host::HostConfig;
use crate::remarks::Table;
use crate::schema::HostOptions;

/// Largest segment that any driver takes in bytes (`8 x GSO_MAX_SIZE`, mlx5 and veth).
const LARGEST_SEGMENT_BYTES: u64 = 524_280;
/// Most packets that a setting of a card may name; beyond that nobody has memory for a ring.
const MOST_PACKETS: u32 = 1 << 20;

/// The hosts of all groups; problems go into the report.
pub(super) fn hosts(cx: &Context<'_>) -> Option<Vec<HostConfig>> {
    let hosts: Vec<Option<HostConfig>> = (0..cx.scenario.flows.len()).map(|index| host(index, cx)).collect();
    hosts.into_iter().collect()
}

/// The hosts of all groups as if only presets were written.
pub(super) fn presets(cx: &Context<'_>) -> Vec<HostConfig> {
    cx.scenario.flows.iter().map(|group| group.host.preset.config()).collect()
}

/// The hosts of group `index`.
fn host(index: usize, cx: &Context<'_>) -> Option<HostConfig> {
    let group = &cx.scenario.flows[index];
    let keys = cx.group(index);
    let mut host = group.host.preset.config();
    check_stack(index, cx);
    let Some(options) = group.host.options.as_deref() else { return Some(host) };
    let keys = keys.table("host");
    match &mut host.offload {
        Some(preset) => *preset = offload(preset, options, group.mtu.bytes().unwrap_or(1500), &keys)?,
        None => {
            if let Some(key) = options.offload_keys().first() {
                let message = format!("the host {} has no segmentation offload", host.preset.name());
                keys.error(key, message, "write preset = \"linux-6-gso\", or remove the key");
            }
        }
    }
    if let Some(rate) = options.nic_rate {
        host.nic_rate = keys.remarks.checked_rate(rate, &keys.at("nic_rate")).ok()?;
    }
    let receive = &mut host.receive;
    receive.coalescing = options.coalescing.unwrap_or(receive.coalescing);
    receive.coalesced_packets =
        packets(options.coalesced_packets, "coalesced_packets", 1, receive.coalesced_packets, &keys)?;
    receive.interrupt_delay =
        time(options.interrupt_delay, "interrupt_delay", receive.interrupt_delay, &keys)?;
    receive.interrupt_packets =
        packets(options.interrupt_packets, "interrupt_packets", 0, receive.interrupt_packets, &keys)?;
    receive.poll_packets = packets(options.poll_packets, "poll_packets", 1, receive.poll_packets, &keys)?;
    receive.ring_packets = packets(options.ring_packets, "ring_packets", 0, receive.ring_packets, &keys)?;
    receive.cpu = CpuCost {
        packet: time(options.cpu_per_packet, "cpu_per_packet", receive.cpu.packet, &keys)?,
        segment: time(options.cpu_per_segment, "cpu_per_segment", receive.cpu.segment, &keys)?,
        byte: time(options.cpu_per_kilobyte, "cpu_per_kilobyte", receive.cpu.byte * 1000, &keys)? / 1000,
    };
    if receive.ring_packets > 0 && receive.interrupt_packets > receive.ring_packets {
        let hint = format!("at most ring_packets = {}", receive.ring_packets);
        keys.error("interrupt_packets", "more packets than the ring holds", hint);
    }
    Some(host)
}

/// Refuses groups whose hosts receive in different ways at the same node.
pub(super) fn check_shared(hosts: &[HostConfig], ends: &[Ends], nodes: &[Node], cx: &Context<'_>) {
    let mut first: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (index, ends) in ends.iter().enumerate() {
        for node in ends.from.iter().chain(&ends.to) {
            let other = *first.entry(*node).or_insert(index);
            if hosts[other].receive != hosts[index].receive {
                let name = &nodes[node.0 as usize].name;
                let message = format!("{name} receives in another way for flows[{other}]");
                cx.group(index).error("host", message, "write the same host for all groups of a node");
                return;
            }
        }
    }
}

/// Warns of a host that belongs to another kernel than its stack.
fn check_stack(index: usize, cx: &Context<'_>) {
    let group = &cx.scenario.flows[index];
    let preset = group.host.preset;
    if let Some(family) = preset.stacks()
        && !group.stack.starts_with(family)
    {
        cx.group(index).warning(
            "host",
            format!("{} is a host of {family}, but the stack is {}", preset.name(), group.stack),
            "how TCP sizes its segments is the stack's; write a stack and a host that belong together",
        );
    }
}

fn offload(preset: &Offload, options: &HostOptions, mtu_bytes: u64, keys: &Table<'_>) -> Option<Offload> {
    let sizes = mtu_bytes + u64::from(Offload::HEADROOM_BYTES)..=LARGEST_SEGMENT_BYTES;
    let gso_max_size = match options.gso_max_size.map(|size| size.bytes()) {
        None => u64::from(preset.gso_max_size_bytes),
        Some(Some(bytes)) if sizes.contains(&bytes) => bytes,
        Some(_) => {
            let hint = format!(
                "from {} B (one packet of the mtu and room for headers) to {LARGEST_SEGMENT_BYTES} B",
                sizes.start()
            );
            keys.error("gso_max_size", "no device takes segments of this size", hint);
            return None;
        }
    };
    let rtt_log = options.tso_rtt_log.unwrap_or(preset.tso_rtt_log.into());
    let Some(tso_rtt_log) = u8::try_from(rtt_log).ok().filter(|log| *log < 32) else {
        keys.error("tso_rtt_log", format!("{rtt_log} is out of range"), "a whole number from 0 to 31");
        return None;
    };
    let limit_output =
        options.limit_output.map_or(Some(preset.limit_output_bytes.into()), |size| size.bytes());
    Some(Offload {
        gso_max_size_bytes: gso_max_size as u32,
        gso_max_segs: packets(options.gso_max_segs, "gso_max_segs", 1, preset.gso_max_segs, keys)?,
        min_tso_segs: packets(options.min_tso_segs, "min_tso_segs", 1, preset.min_tso_segs, keys)?,
        tso_rtt_log,
        tso_win_divisor: options.tso_win_divisor.unwrap_or(preset.tso_win_divisor),
        limit_output_bytes: limit_output.map_or(u32::MAX, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
        pacing: options.pacing.unwrap_or(preset.pacing),
        ..*preset
    })
}

/// A number of packets, at least `least`.
fn packets(written: Option<u32>, key: &str, least: u32, preset: u32, keys: &Table<'_>) -> Option<u32> {
    let packets = written.unwrap_or(preset);
    if (least..=MOST_PACKETS).contains(&packets) {
        return Some(packets);
    }
    keys.error(
        key,
        format!("{packets} is out of range"),
        format!("a whole number from {least} to {MOST_PACKETS}"),
    );
    None
}

/// A time of the receiving host, which must be shorter than a second.
fn time(
    written: Option<crate::quantity::Duration>,
    key: &str,
    preset: Span,
    keys: &Table<'_>,
) -> Option<Span> {
    let span = written.map_or(preset, |written| written.span());
    if span < Span::from_secs(1) {
        return Some(span);
    }
    keys.error(key, "a second or more in the host", "write a time in us, as in \"50 us\"");
    None
}
