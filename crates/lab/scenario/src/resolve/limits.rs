//! Bounds on times and on the number of flows.

use std::collections::BTreeMap;

use shoal_units::Span;

use super::Context;

pub(super) const MAX_FLOWS: u64 = 1_000_000;
/// Number of flows from which the memory that they need is mentioned.
const MANY_FLOWS: u64 = 100_000;
/// Memory of a flow in the simulator: at most 2 KiB.
const KIB_PER_FLOW: u64 = 2;

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
        if let Some(first) = seen.insert(name, index) {
            let hint = format!("flows[{first}] has this name too; give each group its own name");
            keys.error("name", format!("duplicate flow group name \"{name}\""), hint);
        }
        if group.count == Some(0) {
            let hint = "write at least 1, or remove the group";
            keys.error("count", format!("group \"{name}\" has no flows"), hint);
        }
    }
    let total: u64 = groups.iter().map(|group| u64::from(group.count.unwrap_or(1))).sum();
    let largest =
        groups.iter().enumerate().max_by_key(|(_, group)| group.count).map_or(0, |(index, _)| index);
    let keys = cx.group(largest);
    if total > MAX_FLOWS {
        keys.error(
            "count",
            format!("{total} flows are too many"),
            format!("at most {MAX_FLOWS} in all groups together"),
        );
    } else if total >= MANY_FLOWS {
        let mib = (total * KIB_PER_FLOW).div_ceil(1024);
        keys.warning(
            "count",
            format!("{total} flows take about {mib} MiB of memory"),
            "about 2 KiB a flow, and time in proportion to their packets",
        );
    }
}
