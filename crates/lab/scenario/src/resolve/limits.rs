//! Bounds on times and on the number of flows.

use std::collections::BTreeMap;

use shoal_units::Span;

use super::Context;
use super::flows::GroupPlan;
use crate::experiment::Experiment;
use crate::schema::Series;

/// Most flows of a scenario.
pub(super) const MAX_FLOWS: u64 = 20_000_000;
/// Most of those flows whose state is needed during the whole run ([`Experiment::may_forget`], [`Experiment::ends`]).
pub(crate) const MAX_LASTING: u64 = 1_000_000;
/// Number of such flows from which the memory that they need is mentioned.
const MANY_LASTING: u64 = 100_000;
/// Memory of a flow in the simulator as long as its state is needed: at most 2 KiB.
const LASTING_BYTES: u64 = 2048;
/// Memory of a flow that is not lasting, beyond its life.
const ENDED_BYTES: u64 = 64;

/// Checks duration and warm-up, and returns them.
pub(super) fn check_times(cx: &Context<'_>) -> (Span, Span) {
    let duration = cx.scenario.duration.span();
    let warmup = cx.scenario.warmup.map_or(Span::ZERO, |warmup| warmup.span());
    if duration.is_zero() {
        cx.error("duration", "the duration is 0", "write a time, as in \"300 s\"");
    } else if warmup >= duration {
        let hint = format!("write a time below \"{}\", or leave warmup out", cx.scenario.duration);
        cx.error("warmup", "the warm-up is not shorter than the duration: nothing would be measured", hint);
    }
    (duration, warmup)
}

/// Checks the names and the number of flows.
pub(super) fn check_flows(cx: &Context<'_>) {
    let groups = &cx.scenario.flows;
    if groups.is_empty() {
        cx.error("flows", "there are no flows", "add a group: [[flows]] with at least cc and rtt");
    }
    let mut seen = BTreeMap::new();
    for (index, group) in groups.iter().enumerate() {
        let name = group.name.as_deref().unwrap_or_default();
        let keys = cx.group(index);
        if name.is_empty() || name.chars().any(char::is_control) {
            keys.error("name", "a group needs a readable name", "as in name = \"reno\"");
        }
        if group.tunnel.as_deref().is_some_and(|name| name.is_empty() || name.chars().any(char::is_control)) {
            keys.error("tunnel", "a tunnel needs a readable name", "as in tunnel = \"vpn\"");
        }
        if let Some(first) = seen.insert(name, index) {
            let hint = format!("flows[{first}] has this name too; give each group its own name");
            keys.error("name", format!("duplicate flow group name \"{name}\""), hint);
        }
        if group.count == Some(0) {
            let hint = "write at least 1, or remove the group";
            keys.error("count", format!("group \"{name}\" has no flows"), hint);
        }
    }
    let count = |index: usize| groups[index].count.or_else(|| Some(cx.list_of(index)?.count()));
    let total: u64 = (0..groups.len()).map(|index| u64::from(count(index).unwrap_or(1))).sum();
    let largest = (0..groups.len()).max_by_key(|index| count(*index)).unwrap_or_default();
    if total > MAX_FLOWS {
        let key = if groups[largest].count.is_some() { "count" } else { "start" };
        let hint = format!("at most {MAX_FLOWS} in all groups together");
        cx.group(largest).error(key, format!("{total} flows are too many"), hint);
    }
}

/// Checks the number of flows whose state is needed during the whole run, and mentions the memory of many flows.
/// `experiment` has no flows yet.
pub(super) fn check_memory(experiment: &Experiment, plans: &[GroupPlan], cx: &Context<'_>) {
    let most: Vec<u64> = plans.iter().map(GroupPlan::most).collect();
    let total = most.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    // Series that are not chosen yet have rows about all flows, unless these are too many.
    let in_series = cx.scenario.trace.series == Series::Auto && total <= MAX_LASTING;
    let keeps_all = in_series || !experiment.may_forget();
    let of_group = |group: usize| {
        let is_lasting = keeps_all || !experiment.ends(group, &plans[group].app);
        if is_lasting { most[group] } else { 0 }
    };
    let lasting = (0..plans.len()).map(of_group).fold(0, u64::saturating_add);
    let Some(largest) = (0..plans.len()).max_by_key(|group| (of_group(*group), most[*group])) else { return };
    let keys = cx.group(largest);
    let key = if cx.scenario.flows[largest].count.is_some() { "count" } else { "start" };
    let is_random = key == "start" && cx.list_of(largest).is_none();
    // More are refused already.
    if total <= MAX_FLOWS && lasting > MAX_LASTING {
        let ends = plans.iter().enumerate().any(|(group, plan)| experiment.ends(group, &plan.app));
        let more = if ends {
            format!(
                ", or {MAX_FLOWS} that transfer on paths without impairments, with trace.series = \"off\""
            )
        } else {
            String::new()
        };
        let hint = format!("at most {MAX_LASTING} in all groups together{more}");
        keys.error(key, format!("{lasting} flows are too many"), hint);
    } else if total <= MAX_FLOWS && (total > MAX_LASTING || (lasting >= MANY_LASTING && !is_random)) {
        let mib = (lasting * LASTING_BYTES + (total - lasting) * ENDED_BYTES).div_ceil(1 << 20);
        let hint = if total > lasting {
            "64 B for each flow that ends and 2 KiB for one that runs, and time in proportion to their packets"
        } else {
            "about 2 KiB a flow, and time in proportion to their packets"
        };
        keys.warning(key, format!("{total} flows take about {mib} MiB of memory"), hint);
    }
}
