//! What links do to packets behind their transmitters.

use shoal_netem::{Chance, Jitter, Loss, Reorder, Slot};
use shoal_units::Span;

use super::Context;
use crate::experiment::{Link, Note, Schedule};
use crate::remarks::Table;
use crate::schema::{FourStates, GilbertElliott, Impairments, PathLoss, PathReorder, PathSlot};

/// Longest jitter: the kernel's has 31 bits, in ns.
const MAX_JITTER_NS: u64 = i32::MAX as u64;
const FROM_0_TO_1: &str = "write a number from 0 to 1, as in 0.01 for one packet in a hundred";

/// The impairments of a link, of which `link` is the table; none if one of its keys is refused.
pub(super) fn impairments(
    plan: Option<&Impairments>,
    delay: Span,
    schedule: &Schedule,
    link: &Table<'_>,
) -> Option<Box<shoal_netem::Impairments>> {
    let plan = plan?;
    let keys = link.table("impairments");
    let shortest = schedule.delay.iter().map(|change| change.delay).fold(delay, Span::min);
    // Collected before any is unwrapped, so that every key reports its own problems.
    let jitter = jitter(plan, shortest, &keys);
    let loss = loss(plan, &keys);
    let duplicate = chance(plan.duplicate, "duplicate", &keys);
    let corrupt = chance(plan.corrupt, "corrupt", &keys);
    let reorder = plan.reorder.as_ref().and_then(|plan| reorder(plan, shortest, &keys));
    let slot = plan.slot.as_ref().and_then(|plan| slot(plan, &keys.table("slot")));
    if reorder.is_some() != plan.reorder.is_some() || slot.is_some() != plan.slot.is_some() {
        return None;
    }
    let impairments = shoal_netem::Impairments {
        jitter: jitter?,
        keep_order: plan.keep_order,
        loss: loss?,
        duplicate: duplicate?,
        corrupt: corrupt?,
        reorder,
        slot,
        clears_ecn: plan.clear_ecn,
    };
    let nothing = shoal_netem::Impairments { keep_order: plan.keep_order, ..shoal_netem::Impairments::NONE };
    if impairments == nothing {
        keys.refuse(
            "nothing is impaired",
            "write jitter, loss, duplicate, corrupt, reorder, slot or clear_ecn, or remove the table",
        );
        return None;
    }
    Some(Box::new(impairments))
}

fn chance(probability: f64, key: &str, keys: &Table<'_>) -> Option<Chance> {
    let valid = (0.0..=1.0).contains(&probability);
    if !valid {
        keys.error(key, format!("{probability} is not a probability"), FROM_0_TO_1);
    }
    valid.then(|| Chance::of(probability))
}

fn correlation(value: f64, key: &str, keys: &Table<'_>) -> Option<Chance> {
    let valid = (0.0..=1.0).contains(&value);
    if !valid {
        keys.error(key, format!("{value} is not a correlation"), "write a number from 0 to 1");
    }
    valid.then(|| Chance::of(value))
}

fn jitter(plan: &Impairments, shortest: Span, keys: &Table<'_>) -> Option<Jitter> {
    let correlation = correlation(plan.jitter_correlation, "jitter_correlation", keys)?;
    let span = plan.jitter.map_or(Span::ZERO, |jitter| jitter.span());
    if span.is_zero() && correlation.is_possible() {
        keys.error("jitter_correlation", "there is no jitter to correlate", "write jitter = \"2 ms\"");
        return None;
    }
    if span.as_nanos() > MAX_JITTER_NS {
        keys.error("jitter", "the jitter is longer than 2.147483647 s", "write a shorter jitter");
        return None;
    }
    if plan.keep_order && span > shortest {
        let message = format!(
            "jitter larger than the delay with reordering off: {span} more or less than {shortest} would be before \
             the packet was sent"
        );
        let hint = "give the link a delay of at least the jitter, or write keep_order = false: such packets then \
                    arrive at once";
        keys.error("jitter", message, hint);
        return None;
    }
    Some(Jitter { ns: span.as_nanos() as u32, distribution: plan.jitter_distribution, correlation })
}

fn loss(plan: &Impairments, keys: &Table<'_>) -> Option<Loss> {
    let correlation = correlation(plan.loss_correlation, "loss_correlation", keys)?;
    if correlation.is_possible() && !matches!(plan.loss, Some(PathLoss::Random(_))) {
        let hint = "write loss = 0.01, or remove loss_correlation";
        keys.error("loss_correlation", "only a loss given as a probability can be correlated", hint);
        return None;
    }
    let within = keys.table("loss");
    match &plan.loss {
        None => Some(Loss::NONE),
        Some(PathLoss::Random(probability)) => {
            let probability = chance(*probability, "loss", keys)?;
            if correlation.is_possible() {
                let message =
                    "a correlated loss is rarer than its probability: the draws gather around their mean";
                let hint =
                    "for losses in bursts write loss = { p = 0.01, r = 0.2 }, of which p / (p + r) are lost";
                keys.warning("loss_correlation", message, hint);
            }
            Some(Loss::Random { probability, correlation })
        }
        Some(PathLoss::GilbertElliott(model)) => gilbert_elliott(model, &within),
        Some(PathLoss::FourStates(model)) => four_states(model, &within),
    }
}

fn gilbert_elliott(model: &GilbertElliott, keys: &Table<'_>) -> Option<Loss> {
    let GilbertElliott { p, r, loss_in_bad, loss_in_good } = *model;
    let named = [(p, "p"), (r, "r"), (loss_in_bad, "loss_in_bad"), (loss_in_good, "loss_in_good")];
    let [p, r, loss_in_bad, loss_in_good] = named.map(|(value, key)| chance(value, key, keys));
    Some(Loss::GilbertElliott { p: p?, r: r?, loss_in_bad: loss_in_bad?, loss_in_good: loss_in_good? })
}

fn four_states(model: &FourStates, keys: &Table<'_>) -> Option<Loss> {
    let FourStates { p13, p31, p32, p23, p14 } = *model;
    let named = [(p13, "p13"), (p31, "p31"), (p32, "p32"), (p23, "p23"), (p14, "p14")];
    let chances = named.map(|(value, key)| chance(value, key, keys));
    let [Some(one), Some(two), Some(three), Some(four), Some(five)] = chances else { return None };
    for (sum, key, message) in [
        (p13 + p14, "p13", "p13 and p14 add up to more than 1"),
        (p31 + p32, "p31", "p31 and p32 add up to more than 1"),
    ] {
        if sum > 1.0 {
            keys.error(key, message, "both lead out of the same state: make them smaller");
            return None;
        }
    }
    Some(Loss::FourState { p13: one, p31: two, p32: three, p23: four, p14: five })
}

fn reorder(plan: &PathReorder, shortest: Span, keys: &Table<'_>) -> Option<Reorder> {
    let own = keys.table("reorder");
    let probability = chance(plan.probability, "probability", &own)?;
    if plan.gap == 0 {
        own.error("gap", "a gap of no packets", "write at least 1: every packet may then be sent ahead");
        return None;
    }
    if shortest.is_zero() {
        let hint = "give the link a delay: packets are sent ahead of those that are delayed";
        keys.error("reorder", "reordering needs a delay", hint);
        return None;
    }
    Some(Reorder { probability, gap: plan.gap })
}

fn slot(plan: &PathSlot, keys: &Table<'_>) -> Option<Slot> {
    const MOST: u64 = i32::MAX as u64;
    let (min, max) = (plan.min.span(), plan.max.unwrap_or(plan.min).span());
    let bytes = plan.bytes.map(|size| size.bytes());
    let checks = [
        (
            max < min,
            "max",
            "the longest time to a slot is shorter than the shortest",
            "write max at or above min",
        ),
        (
            max.is_zero(),
            "min",
            "the slots follow each other without any time between them",
            "as in min = \"1 ms\"",
        ),
        (
            plan.packets.is_none() && plan.bytes.is_none(),
            "",
            "the slot has no limit, so that nothing ever waits for the next one",
            "write packets = 16 or bytes = \"32 kB\"",
        ),
        (plan.packets == Some(0), "packets", "a slot of no packets", "write at least 1, or remove packets"),
        (bytes == Some(Some(0)), "bytes", "a slot of no bytes", "write at least 1 B, or remove bytes"),
        (
            plan.packets.is_some_and(|packets| u64::from(packets) > MOST)
                || bytes.is_some_and(|bytes| bytes.is_none_or(|bytes| bytes > MOST)),
            "",
            "the slot holds more than netem can count",
            "write less than 2147483648, or remove the limit",
        ),
    ];
    let mut valid = true;
    for (wrong, key, message, hint) in checks {
        if wrong && key.is_empty() {
            keys.refuse(message, hint);
        } else if wrong {
            keys.error(key, message, hint);
        }
        valid &= !wrong;
    }
    let whole = |span: Span| Span::from_nanos(span.as_nanos());
    valid.then(|| Slot {
        min: whole(min),
        max: whole(max),
        packets: plan.packets.unwrap_or(0),
        bytes: bytes.flatten().unwrap_or(0) as u32,
    })
}

/// Notes links that impair: packets are lost or late there although no queue drops or holds them.
pub(super) fn impaired_links(links: &[Link], cx: &mut Context<'_>) {
    let impaired: Vec<&Link> = links.iter().filter(|link| link.impairments.is_some()).collect();
    let Some(first) = impaired.first() else { return };
    let Some(impairments) = &first.impairments else { return };
    let text = format!(
        "the link {} impairs packets behind its queue ({}): what it loses counts under paths, and not as drops of a \
         queue",
        first.name,
        in_words(impairments)
    );
    // A dumbbell's links are named after their tables.
    let own = format!("{}.impairments", first.name);
    let path = if cx.scenario.bottleneck.is_some() { own.as_str() } else { "topology.links" };
    let names = impaired.iter().map(|link| link.name.clone()).collect();
    let note = Note { kind: "impaired-link", text, groups: Vec::new(), links: names };
    cx.note(path, note, "remove impairments for a path that delivers every packet in order");
}

/// Width of the jitter's draws in multiples of the number by which they are divided, from which on remainders keep no
/// correlation: that of neighbours is at most the inverse of pi times it, three hundredths.
const WASHED_OUT: f64 = 10.0;

/// Notes correlations of jitter that have no effect. A draw differs from the one before, as far as the correlation
/// leaves it, by anything from 0 to (1 - correlation) 2^32; the delay is the remainder of its division by twice the
/// jitter in ns, or by the size of a table.
pub(super) fn lost_correlations(links: &[Link], cx: &mut Context<'_>) {
    let is_lost = |jitter: &Jitter| {
        let divisor = match jitter.distribution.entries() {
            Some(entries) => f64::from(entries),
            None => 2.0 * f64::from(jitter.ns),
        };
        let width = (1.0 - jitter.correlation.as_f64()) * 2f64.powi(32);
        jitter.correlation.is_possible() && width >= WASHED_OUT * divisor
    };
    let lost = links
        .iter()
        .filter(|link| link.impairments.as_ref().is_some_and(|impairments| is_lost(&impairments.jitter)));
    let names: Vec<String> = lost.map(|link| link.name.clone()).collect();
    let Some(first) = names.first() else { return };
    let text = format!(
        "jitter_correlation of the link {first} has no effect, as in the kernel: a delay is the remainder of a \
         correlated number of 32 bits by a much smaller one, and remainders of neighbours have nothing in common"
    );
    let key = format!("{first}.impairments.jitter_correlation");
    let path = if cx.scenario.bottleneck.is_some() { key.as_str() } else { "topology.links" };
    let note = Note { kind: "jitter-correlation", text, groups: Vec::new(), links: names };
    cx.note(
        path,
        note,
        "for delays that change slowly write a schedule (delays, or a trace); without it, remove the key",
    );
}

fn in_words(impairments: &shoal_netem::Impairments) -> String {
    let shoal_netem::Impairments { jitter, keep_order, loss, duplicate, corrupt, reorder, slot, clears_ecn } =
        impairments;
    let percent = |chance: &Chance| format!("{} %", (1e6 * chance.as_f64()).round() / 1e4);
    let loss = match loss {
        Loss::Random { probability, .. } if !probability.is_possible() => None,
        Loss::Random { probability, .. } => Some(format!("loss {}", percent(probability))),
        Loss::GilbertElliott { .. } => Some("loss in bursts (Gilbert, Elliott)".to_owned()),
        Loss::FourState { .. } => Some("loss in bursts (four states)".to_owned()),
    };
    let order = if *keep_order { "" } else { ", which reorders" };
    let words = [
        (jitter.ns > 0).then(|| format!("jitter {}{order}", Span::from_nanos(jitter.ns.into()))),
        loss,
        duplicate.is_possible().then(|| format!("duplicates {}", percent(duplicate))),
        corrupt.is_possible().then(|| format!("corrupts {}", percent(corrupt))),
        reorder.map(|reorder| {
            format!("reorders {} of one packet in {}", percent(&reorder.probability), reorder.gap)
        }),
        slot.map(|slot| format!("slots {} to {} apart", slot.min, slot.max)),
        clears_ecn.then(|| "clears the ECN field".to_owned()),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
