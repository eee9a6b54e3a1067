//! Fills in defaults that depend on other keys. Afterwards every key that has a value has it written down.

use shoal_cc::Preset;
use shoal_tcp::{EcnSetting, Profile};

use crate::field::suggest;
use crate::quantity::{Duration, PacketCount};
use crate::remarks::{Remarks, Table};
use crate::schema::{
    self, Aqm, FlowGroup, GraphLink, Pairing, Rtt, Scenario, Start, Stop, Topology, TransferSize, Transfers,
    Workload,
};

/// Fills in `scenario`.
pub(crate) fn defaults(scenario: &mut Scenario, remarks: Remarks<'_>) {
    if scenario.warmup.is_none() {
        scenario.warmup = default_warmup(scenario.duration);
    }
    scenario.laws.fill(remarks);
    for (index, group) in scenario.flows.iter_mut().enumerate() {
        fill_group(group, &Table { path: format!("flows[{index}]"), remarks });
    }
    if let Some(bottleneck) = &mut scenario.bottleneck {
        if bottleneck.bdp_rtt.is_none() {
            bottleneck.bdp_rtt = scenario.flows.first().and_then(|group| group.rtt.as_ref()?.first());
        }
        fill_aqm(&mut bottleneck.aqm);
    }
    if let Some(schema::Reverse(reverse)) = &mut scenario.reverse {
        fill_aqm(&mut reverse.aqm);
    }
    match &mut scenario.topology {
        Topology::Dumbbell(dumbbell) => fill_aqm(&mut dumbbell.access_aqm),
        Topology::Star(star) => fill_aqm(&mut star.aqm),
        Topology::LeafSpine(plan) => {
            fill_aqm(&mut plan.aqm);
            plan.fabric_aqm.iter_mut().for_each(fill_aqm);
        }
        Topology::FatTree(plan) => {
            fill_aqm(&mut plan.aqm);
            plan.fabric_aqm.iter_mut().for_each(fill_aqm);
        }
        Topology::ParkingLot(lot) => fill_aqm(&mut lot.aqm),
        Topology::Graph(graph) => graph.links.iter_mut().for_each(fill_link),
    }
}

/// Default warm-up: a tenth of the duration, at most 30 s, by which time the start-up in Kühlewind et al.
/// 2014 is over.
fn default_warmup(duration: Duration) -> Option<Duration> {
    let longest = Duration::parse("30 s").ok()?;
    let tenth = duration.tenth()?;
    Some(if tenth.span() > longest.span() { longest } else { tenth })
}

fn fill_group(group: &mut FlowGroup, keys: &Table<'_>) {
    if group.name.is_none() {
        group.name = Some(group.cc.clone());
    }
    let config = schema::cc_config(group, keys);
    if let Some(config) = config {
        if !matches!(group.app, Workload::Unresponsive(_)) {
            group.cc_options = Some(schema::CcOptions(Some(config)));
        }
        let wants_ecn =
            Preset::by_name(&group.cc).map_or_else(|| config.ecn_use().is_scalable(), |preset| preset.ecn);
        group.ecn.get_or_insert(if wants_ecn { EcnSetting::On } else { EcnSetting::Off });
    }
    if let Some(profile) = known_stack(&group.stack, keys) {
        let asked = config.and_then(|config| config.initial_window_packets());
        group.initial_window.get_or_insert(PacketCount::of(asked.unwrap_or(profile.initial_window)));
    }
    if let Some(stack) = group.receiver.as_ref().and_then(|receiver| receiver.stack.as_deref()) {
        known_stack(stack, &keys.table("receiver"));
    }
    if matches!(group.start, Start::Listed(_))
        && group.app == Workload::Bulk
        && let Ok(every) = Duration::parse("0 s")
    {
        group.app = Workload::Transfers(Transfers {
            transfer: TransferSize::Listed,
            rounds: 1,
            every,
            barrier: false,
        });
    }
    if group.start.determines_count() {
        return;
    }
    if let Workload::Pages(pages) = &group.app {
        group.count.get_or_insert(pages.connections.max(1));
    }
    let listed = match (&group.start, &group.rtt, &group.stop) {
        (Start::List(times), ..) => times.len(),
        (_, Some(Rtt::List(rtts)), _) => rtts.len(),
        (_, _, Some(Stop::List(times))) => times.len(),
        _ if group.pairing == Pairing::Permutation => {
            group.from.as_ref().map_or(1, |from| from.names().len())
        }
        _ => 1,
    };
    group.count.get_or_insert(u32::try_from(listed).unwrap_or(u32::MAX));
}

/// The stack called `name`, which the key `stack` of the table gives.
fn known_stack(name: &str, keys: &Table<'_>) -> Option<Profile> {
    let profile = Profile::by_name(name);
    if profile.is_none() {
        let known: Vec<&str> = Profile::ALL.iter().map(|profile| profile.name).collect();
        keys.error("stack", format!("unknown stack \"{name}\""), suggest(name, &known));
    }
    profile
}

fn fill_link(link: &mut GraphLink) {
    fill_aqm(&mut link.aqm);
    if link.name.is_none() {
        link.name = Some(format!("{}->{}", link.from, link.to));
    }
    link.monitored.get_or_insert(!matches!(link.aqm, Aqm::Fifo(_)));
}

/// Fills in defaults that follow from another key's value; all other defaults are declared with their keys.
fn fill_aqm(aqm: &mut Aqm) {
    match aqm {
        Aqm::Coupled(law) => fill_slope(law.reno_slope, &mut law.dctcp_slope, 1),
        Aqm::DualCoupled(law) => {
            fill_slope(law.reno_slope, &mut law.dctcp_slope, 3);
            if let Some(protection) = &mut law.protection {
                protection.fill(None, None, None);
            }
        }
        Aqm::DualPi2(law) => law.fill(),
        Aqm::Classes(law) => law.queues.iter_mut().for_each(|queue| fill_aqm(&mut queue.aqm.0)),
        Aqm::LinuxRed(law) if law.max.is_none() => law.max = law.min.times(3),
        _ => {}
    }
}

/// Fills in the slope of ECT packets. `more`: how many bits it is above the slope of other packets.
fn fill_slope(reno: Option<u16>, dctcp: &mut Option<u16>, more: u16) {
    if let Some(reno) = reno {
        dctcp.get_or_insert(reno.saturating_add(more));
    }
}
