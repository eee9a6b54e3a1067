//! `wred`, where `dualred`, a module of this project, or CoDel's `ce_threshold` computes the same.

use super::{Express, PLACE, QueueMapping, Site};
use crate::refusal::Refusals;
use shoal_aqm::{
    AverageScope, CeThresholdFor, CodelConfig, CodelParameters, DecideAt, DualRedConfig, MarkSpacing,
    RedParameters, WredConfig, WredProfile, WredThresholds,
};
use shoal_packet::Reason;
use shoal_units::Span;

/// A target of CoDel that no packet waits for: half of what its clock can tell apart, 2^31 units of 1024 ns, is 2199 s.
const NEVER: Span = Span::from_secs(1000);

impl Express for WredConfig {
    const MARKS: Reason = Reason::Early;
    const DROPS: Reason = Reason::Early;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        check(self, refusals)?;
        match self.mark {
            Some(mark) if self.decide == DecideAt::Dequeue => codel(self, &mark, site, refusals),
            _ => dual_red(self, site, refusals),
        }
    }
}

/// What no discipline has.
fn check(wred: &WredConfig, refusals: &mut Refusals) -> Option<()> {
    let (key, reason, hint) = if wred.drop_ect.is_some() {
        (
            "drop_ect",
            "no discipline that marks ECT packets drops others of them by a profile",
            "leave drop_ect out, or run this on the simulator",
        )
    } else if wred.weight > 0 {
        (
            "weight",
            "averages of Linux disciplines fade while the line is idle, those of `wred` do not",
            "write weight = 0, or use kind = \"dual-red\", which is the same on both planes",
        )
    } else if wred.cell_bytes > 1 {
        ("cell", "no discipline counts cells", "leave cell out, or run this on the simulator")
    } else {
        return Some(());
    };
    refusals.add(format!("{PLACE}.{key}"), reason, hint);
    None
}

/// A step in time at departure is CoDel's `ce_threshold`
/// ([`codel_impl.h`](https://elixir.bootlin.com/linux/v6.12/source/include/net/codel_impl.h)), with a target so long
/// that its own law never acts.
fn codel(
    wred: &WredConfig,
    mark: &WredProfile,
    site: &Site<'_>,
    refusals: &mut Refusals,
) -> Option<QueueMapping> {
    let threshold = match mark.thresholds {
        WredThresholds::Time { min, max } if min == max => min,
        _ => {
            refusals.add(
                format!("{PLACE}.mark"),
                "on departure Linux marks above a time only, from one threshold on (CoDel's ce_threshold)",
                "write decide = \"enqueue\", or min = max as a time",
            );
            return None;
        }
    };
    if wred.drop.is_some() {
        refusals.add(
            format!("{PLACE}.drop"),
            "CoDel, which marks on departure from a threshold on, has no profile for drops",
            "leave drop out, or write decide = \"enqueue\"",
        );
        return None;
    }
    if threshold != Span::from_micros(threshold.as_micros()) {
        let reason = format!("{threshold} is no whole number of microseconds, in which tc has times");
        refusals.add(format!("{PLACE}.mark.min"), reason, "write whole microseconds");
        return None;
    }
    let law = CodelParameters {
        target: NEVER,
        interval: NEVER,
        ecn: false,
        ce_threshold: Some(threshold),
        ce_threshold_for: CeThresholdFor::Ect,
        mtu_bytes: site.mtu,
    };
    let mut mapping = CodelConfig { law, limit: wred.limit }.express(site, refusals)?;
    mapping.rules.push(format!(
        "wred: a step in time on departure is codel's ce_threshold, whose clock has units of 1024 ns: more than \
         {threshold}, rounded down, in place of at least"
    ));
    Some(mapping)
}

/// Decided on arrival by the queue itself, both profiles are RED with weight 1 and an independent coin for each packet.
fn dual_red(wred: &WredConfig, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
    let dual = DualRedConfig {
        not_ect: instance(wred.drop, "drop", site, refusals)?,
        ect: instance(wred.mark, "mark", site, refusals)?,
        average: AverageScope::Shared,
        limit: wred.limit,
        rate: site.rate,
        mean_packet_bytes: site.mtu,
    };
    let mut mapping = dual.express(site, refusals)?;
    mapping.rules.push(
        "wred: profiles are instances of dualred that average nothing; a step at K is the slope from K - 1 to K, \
         since a packet does not count itself"
            .to_owned(),
    );
    Some(mapping)
}

/// A profile as an instance of RED with weight 1. With min = max RED would count the arriving packet (a step); with one
/// byte between them its probability is 0 at the minimum and 1 at the maximum, and no queue lies between.
fn instance(
    profile: Option<WredProfile>,
    key: &str,
    site: &Site<'_>,
    refusals: &mut Refusals,
) -> Option<RedParameters> {
    let red = |min: u64, max: u64, max_probability| RedParameters {
        min_bytes: min as f64,
        max_bytes: max as f64,
        max_probability,
        weight: 1.0,
        gentle: false,
        spacing: MarkSpacing::Independent,
    };
    let Some(profile) = profile else {
        // More than any queue.
        return Some(red(u64::from(u32::MAX) - 2, u64::from(u32::MAX) - 1, 1.0));
    };
    match profile.thresholds.on_arrival(site.rate) {
        WredThresholds::Bytes { min, max } if min < max => Some(red(min, max, profile.max_probability)),
        WredThresholds::Bytes { max, .. } => Some(red(max.saturating_sub(1), max, 1.0)),
        WredThresholds::Packets { .. } | WredThresholds::Time { .. } => {
            refusals.add(
                format!("{PLACE}.{key}"),
                "`dualred`, the module that has two profiles, counts bytes",
                format!("write bytes: a packet has up to {} B", site.mtu),
            );
            None
        }
    }
}
