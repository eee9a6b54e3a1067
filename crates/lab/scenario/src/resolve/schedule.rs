//! Changes of links during the run.

mod forms;

use shoal_bottleneck::DelayChange;
use shoal_units::{Rate, RateChange, Span, Time};

use super::Context;
use crate::experiment::{Link, Note, Schedule};
use crate::quantity::DataRate;
use crate::remarks::Table;
use crate::schema::{LinkChange, LinkSchedule};

/// Most changes of one link; more would take more memory than the packets.
const MAX_CHANGES: u64 = 1_000_000;

/// What a link is at the start: its rate, if it has one, and its propagation delay.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub rate: Option<Rate>,
    pub delay: Span,
}

/// The changes of a link, of which `link` is the table; none if one of them is refused.
pub(super) fn schedule(
    plan: Option<&LinkSchedule>,
    start: Start,
    link: &Table<'_>,
    cx: &Context<'_>,
) -> Schedule {
    let Some(plan) = plan else { return Schedule::default() };
    let keys = link.table("schedule");
    let duration = cx.scenario.duration.span();
    let lists = [
        plan.rates.is_some(),
        plan.delays.is_some(),
        plan.trace.is_some(),
        plan.opportunities.is_some(),
        plan.opportunity_gaps.is_some(),
    ];
    let others = lists.contains(&true) || plan.rate_sine.is_some() || plan.delay_sine.is_some();
    if plan.changes.is_empty() && others {
        return forms::schedule(plan, start, duration, &keys, cx).unwrap_or_default();
    }
    let mut refused = plan.changes.is_empty() || others;
    if others {
        let hint = "write the changes into lists, or remove them";
        keys.error("changes", "a schedule of changes has no lists, sines or traces", hint);
    } else if refused {
        let hint = "add a table with at and rate, delay or outage, or remove the schedule";
        keys.error("changes", "the schedule has no changes", hint);
    }
    for (index, change) in plan.changes.iter().enumerate() {
        let keys = keys.table(&format!("changes[{index}]"));
        if change.at.span() >= duration {
            let message = "the change comes after the end of the run";
            keys.warning("at", message, "write a longer duration, or remove the change");
        }
        let problems = problems(plan, index, start);
        refused |= !problems.is_empty();
        for (key, message, hint) in problems {
            match key {
                Some(key) => keys.error(key, message, hint),
                None => keys.refuse(message, hint),
            }
        }
        if let Some(rate) = change.rate.filter(|rate| !is_zero(*rate)) {
            refused |= cx.remarks.finite_rate(rate, &keys.at("rate")).is_none();
        }
    }
    let last = plan.changes.last().map_or(Span::ZERO, |change| change.at.span());
    if plan.repeat.is_some_and(|repeat| repeat.span() <= last) {
        let hint = "write a longer repeat: the first change happens again at its own time plus repeat";
        keys.error("repeat", "the changes begin again before the last of them", hint);
        refused = true;
    }
    if refused {
        return Schedule::default();
    }
    expand(plan, start, duration).unwrap_or_else(|| {
        let message = format!("the link changes more than {MAX_CHANGES} times");
        keys.refuse(message, "write a longer step or a longer repeat");
        Schedule::default()
    })
}

fn is_zero(rate: DataRate) -> bool {
    rate.rate().is_some_and(|rate| rate.as_bps() == 0)
}

/// What change `index` gets wrong by itself or next to its neighbours: the key, unless it is the whole change, the
/// message and the hint.
fn problems(
    plan: &LinkSchedule,
    index: usize,
    start: Start,
) -> Vec<(Option<&'static str>, &'static str, &'static str)> {
    let change = &plan.changes[index];
    let at = change.at.span();
    let before = index.checked_sub(1).map(|before| plan.changes[before].at.span());
    let next = match plan.changes.get(index + 1) {
        Some(next) => Some(next.at.span()),
        None => plan.repeat.map(|repeat| repeat.span() + plan.changes[0].at.span()),
    };
    let over = change.over.span();
    let outage = change.outage.map_or(Span::ZERO, |outage| outage.span());
    let has_rate = start.rate.is_some();
    let unfinished = next.is_some_and(|next| at < next && at + over.max(outage) > next);
    let checks = [
        (
            before.is_some_and(|before| at <= before),
            Some("at"),
            "the change is not later than the one before it",
            "sort the changes by at",
        ),
        (
            change.rate.is_none() && change.delay.is_none() && change.outage.is_none(),
            None,
            "nothing changes",
            "write a rate, a delay or an outage",
        ),
        (
            change.rate.is_some() && !has_rate,
            Some("rate"),
            "the link is a pure delay",
            "give the link a rate, or change its delay only",
        ),
        (
            change.rate.is_some_and(is_zero),
            Some("rate"),
            "the rate is 0: no packet would ever leave",
            "write outage = \"100 ms\" for a link that is down for that time",
        ),
        (
            change.outage.is_some() && outage.is_zero(),
            Some("outage"),
            "the outage has no length",
            "as in \"200 ms\"",
        ),
        (
            change.outage.is_some() && !has_rate,
            Some("outage"),
            "the link is a pure delay, in which no packet waits",
            "give the link a rate",
        ),
        (
            change.outage.is_some() && !over.is_zero(),
            Some("over"),
            "an outage has no gradual change",
            "write two changes",
        ),
        (change.step.span().is_zero(), Some("step"), "the steps have no length", "as in \"10 ms\""),
        (
            unfinished,
            if outage.is_zero() { Some("over") } else { Some("outage") },
            "the change is not over when the next one begins",
            "let it take less time, or write a later at into the next change or a longer repeat",
        ),
    ];
    checks
        .into_iter()
        .filter(|(wrong, ..)| *wrong)
        .map(|(_, key, message, hint)| (key, message, hint))
        .collect()
}

/// All changes of a run of this duration; `None` if there are too many.
fn expand(plan: &LinkSchedule, start: Start, duration: Span) -> Option<Schedule> {
    let mut line = Line { now: start, rate: Vec::new(), delay: Vec::new() };
    let mut offset = Span::ZERO;
    loop {
        for change in &plan.changes {
            let at = offset + change.at.span();
            if at >= duration {
                return Some(line.schedule());
            }
            line.apply(change, Time::ZERO + whole(at))?;
        }
        match plan.repeat {
            Some(repeat) => offset += repeat.span(),
            None => return Some(line.schedule()),
        }
    }
}

/// In whole nanoseconds, which is what the kernel counts in.
const fn whole(span: Span) -> Span {
    Span::from_nanos(span.as_nanos())
}

/// Whole values for steps, of which each is given as when it begins, how long it lasts, and the mean that it should
/// have. What rounding leaves over goes into the next step, so that the integral over all of them is exact to half a
/// unit over the last one.
fn rounded(means: impl Iterator<Item = ((Span, Span), f64)>) -> impl Iterator<Item = (Span, u64)> {
    let mut left = 0.0;
    means.map(move |((begin, length), mean)| {
        let length_s = length.as_secs_f64();
        // A rate stays above zero, at which the link would be down.
        let value = libm::round(mean + left / length_s).max(if mean > 0.0 { 1.0 } else { 0.0 });
        left += (mean - value) * length_s;
        (begin, value as u64)
    })
}

/// A link while its changes are listed.
struct Line {
    now: Start,
    rate: Vec<RateChange>,
    delay: Vec<DelayChange>,
}

impl Line {
    fn apply(&mut self, change: &LinkChange, at: Time) -> Option<()> {
        let from = self.now;
        let to = Start {
            rate: change.rate.and_then(|rate| rate.rate()).or(from.rate),
            delay: change.delay.map_or(from.delay, |delay| delay.span()),
        };
        let (over, step) = (change.over.span(), change.step.span());
        let steps = over.as_picos().div_ceil(step.as_picos());
        if steps + 1 + self.rate.len() as u64 + self.delay.len() as u64 > MAX_CHANGES {
            return None;
        }
        let spans: Vec<(Span, Span)> = (0..steps)
            .map(|number| (step.saturating_mul(number), step.saturating_mul(number + 1).min(over)))
            .collect();
        // Means over each step of a value that goes from `a` to `b` in a line.
        let line = |a: f64, b: f64| {
            let middle = |&(from, to): &(Span, Span)| from.as_secs_f64().midpoint(to.as_secs_f64());
            let means = spans.iter().map(move |span| a + (b - a) * middle(span) / over.as_secs_f64());
            rounded(spans.iter().map(|(from, to)| (*from, *to - *from)).zip(means))
        };
        if let (Some(_), Some(a), Some(b)) = (change.rate, from.rate, to.rate) {
            self.now.rate = Some(b);
            if change.outage.is_none() {
                let means = line(a.as_bps() as f64, b.as_bps() as f64);
                let rates = means.map(|(after, bps)| (after, Rate::from_bps(bps))).chain([(over, b)]);
                self.rate.extend(rates.map(|(after, rate)| RateChange { at: at + whole(after), rate }));
            }
        }
        if change.delay.is_some() {
            self.now.delay = whole(to.delay);
            let means = line(from.delay.as_nanos() as f64, to.delay.as_nanos() as f64);
            let delays =
                means.map(|(after, ns)| (after, Span::from_nanos(ns))).chain([(over, self.now.delay)]);
            self.delay.extend(delays.map(|(after, delay)| DelayChange { at: at + whole(after), delay }));
        }
        if let (Some(outage), Some(rate)) = (change.outage, self.now.rate) {
            self.rate.push(RateChange { at, rate: Rate::from_bps(0) });
            self.rate.push(RateChange { at: at + whole(outage.span()), rate });
        }
        Some(())
    }

    fn schedule(self) -> Schedule {
        Schedule { rate: self.rate.into(), delay: self.delay.into(), opportunities: None }
    }
}

/// Notes links that change: what is stated in units of a link's rate or delay means those at the start.
pub(super) fn moving_links(links: &[Link], cx: &mut Context<'_>) {
    let moving: Vec<String> =
        links.iter().filter(|link| !link.schedule.is_empty()).map(|link| link.name.clone()).collect();
    let Some(first) = moving.first() else { return };
    let own = links
        .iter()
        .find(|link| !link.schedule.is_empty())
        .and_then(|link| link.schedule.opportunities.as_ref());
    let (what, reference) = match own {
        Some(_) => ("sends at opportunities instead of at a rate", "the keys rate and delay of the link"),
        None => ("changes during the run", "its rate and delay at the start"),
    };
    let text = format!(
        "the link {first} {what}: the BDP, what is given in BDP, buffers and thresholds in time that stand for bytes, \
         and slowdowns refer to {reference}"
    );
    // A dumbbell's links are named after their tables.
    let path = if cx.scenario.bottleneck.is_some() {
        format!("{first}.schedule")
    } else {
        "topology.links".to_owned()
    };
    let note = Note { kind: "moving-link", text, groups: Vec::new(), links: moving };
    cx.note(&path, note, "give thresholds in packets or bytes to have them the same at every rate");
}
