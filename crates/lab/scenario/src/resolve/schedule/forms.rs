//! Schedules other than lists of changes: rates and delays at given times, and sines.

use std::f64::consts::TAU;

use shoal_bottleneck::DelayChange;
use shoal_units::{Rate, RateChange, Span, Time};

use super::{MAX_CHANGES, Start, is_zero, rounded, whole};
use crate::experiment::{OpportunitySchedule, Schedule};
use crate::remarks::Table;
use crate::resolve::Context;
use crate::schema::LinkSchedule;

/// Shortest interval over which opportunities have a mean rate: several of most traces.
const SHORTEST_MEAN: Span = Span::from_millis(100);
/// Most such intervals of a run: a result lists them.
const MOST_MEANS: u64 = 1000;

/// The schedule of a plan without changes; `None` if it is refused.
pub(super) fn schedule(
    plan: &LinkSchedule,
    start: Start,
    duration: Span,
    keys: &Table<'_>,
    cx: &Context<'_>,
) -> Option<Schedule> {
    let refused = [
        mixed(plan, keys),
        not_read(plan, keys),
        needs_a_rate(plan, start, keys),
        bad_rates(plan, keys, cx),
        bad_times(plan, keys),
        bad_sines(plan, keys),
        bad_repeat(plan, keys),
    ];
    if refused.contains(&true) {
        return None;
    }
    let expanded = expand(plan, duration);
    if expanded.is_none() {
        let message = format!("the link changes more than {MAX_CHANGES} times");
        keys.refuse(message, "write a longer step or a longer repeat");
    }
    expanded
}

/// Reports a mistake if there is one.
fn refuse(wrong: bool, keys: &Table<'_>, key: &str, message: &str, hint: &str) -> bool {
    if wrong {
        keys.error(key, message, hint);
    }
    wrong
}

fn mixed(plan: &LinkSchedule, keys: &Table<'_>) -> bool {
    let two_rates = plan.rates.is_some() && plan.rate_sine.is_some();
    let has_rates = plan.rates.is_some() || plan.rate_sine.is_some();
    let opportunities = if plan.opportunities.is_some() { "opportunities" } else { "opportunity_gaps" };
    let has_opportunities = plan.opportunities.is_some() || plan.opportunity_gaps.is_some();
    let two_delays = plan.delays.is_some() && plan.delay_sine.is_some();
    refuse(two_rates, keys, "rate_sine", "the rate follows a list already", "remove rates or rate_sine")
        | refuse(
            has_rates && has_opportunities,
            keys,
            opportunities,
            "a link with opportunities to send has no other rates",
            "remove the opportunities, or rates, rate_sine and the rates of the trace",
        )
        | refuse(
            two_delays,
            keys,
            "delay_sine",
            "the delay follows a list already",
            "remove delays or delay_sine",
        )
}

fn not_read(plan: &LinkSchedule, keys: &Table<'_>) -> bool {
    let hint = "files are read with scenario files: let `shoal`, or Scenario.from_file in Python, read the file in \
                which the key is, or write rates and delays instead";
    let unread = plan.trace.is_some() && plan.rates.is_none() && plan.delays.is_none();
    let gaps_hint = "files are read with scenario files: let `shoal`, or Scenario.from_file in Python, read the file \
                     in which the key is, or write opportunity_gaps instead";
    let unread_opportunities = plan.opportunities.is_some() && plan.opportunity_gaps.is_none();
    refuse(unread, keys, "trace", "the file of the trace has not been read", hint)
        | refuse(
            unread_opportunities,
            keys,
            "opportunities",
            "the file of the opportunities has not been read",
            gaps_hint,
        )
}

fn needs_a_rate(plan: &LinkSchedule, start: Start, keys: &Table<'_>) -> bool {
    let hint = "give the link a rate, or change its delay only";
    let wrong = |given: bool| given && start.rate.is_none();
    refuse(wrong(plan.rates.is_some()), keys, "rates", "the link is a pure delay", hint)
        | refuse(wrong(plan.rate_sine.is_some()), keys, "rate_sine", "the link is a pure delay", hint)
        | refuse(
            wrong(plan.opportunity_gaps.is_some()),
            keys,
            "opportunity_gaps",
            "the link is a pure delay",
            "give the link a rate, to which amounts in BDP and in time refer",
        )
}

fn bad_rates(plan: &LinkSchedule, keys: &Table<'_>, cx: &Context<'_>) -> bool {
    let mut refused = false;
    let rates = plan.rates.as_deref().unwrap_or_default();
    for (index, point) in rates.iter().enumerate() {
        let key = format!("rates[{index}]");
        let Some(rate) = point.rate else { continue };
        if is_zero(rate) {
            let hint = "write \"down\" for a time without a link";
            refused |= refuse(true, keys, &key, "the rate is 0: no packet would ever leave", hint);
        } else {
            refused |= cx.remarks.finite_rate(rate, &keys.at(&key)).is_none();
        }
    }
    let stays_down = plan.repeat.is_none() && rates.last().is_some_and(|last| last.rate.is_none());
    let last = format!("rates[{}]", rates.len().saturating_sub(1));
    refused | refuse(stays_down, keys, &last, "the link stays down", "end with a rate, or write repeat")
}

fn bad_times(plan: &LinkSchedule, keys: &Table<'_>) -> bool {
    let rates = plan.rates.as_ref().map(|points| points.iter().map(|point| point.at).collect::<Vec<_>>());
    let delays = plan.delays.as_ref().map(|points| points.iter().map(|point| point.at).collect::<Vec<_>>());
    let lists = [("rates", rates), ("delays", delays)];
    let mut refused = false;
    for (key, times) in lists.into_iter().filter_map(|(key, times)| Some((key, times?))) {
        refused |= refuse(
            times.is_empty(),
            keys,
            key,
            "the list is empty",
            "as in [[\"0 s\", ...], [\"1 s\", ...]]",
        );
        for (index, pair) in times.windows(2).enumerate().filter(|(_, pair)| pair[1].span() <= pair[0].span())
        {
            let message = format!("the time {} is not later than {}, the one before it", pair[1], pair[0]);
            keys.error(
                &format!("{key}[{}]", index + 1),
                message,
                "sort the list by time, and give each time once",
            );
            refused = true;
        }
        if let (Some(repeat), Some(last)) = (plan.repeat, times.last()) {
            let hint = "write a longer repeat: the list begins again after it";
            refused |= refuse(
                repeat.span() <= last.span(),
                keys,
                "repeat",
                "the list begins again before its end",
                hint,
            );
        }
    }
    refused
}

fn bad_sines(plan: &LinkSchedule, keys: &Table<'_>) -> bool {
    let rate = plan.rate_sine.as_ref().is_some_and(|sine| {
        let (mean, amplitude) = (sine.mean.rate(), sine.amplitude.rate());
        let stays_up = matches!((mean, amplitude), (Some(mean), Some(amplitude)) if amplitude < mean);
        let hint = "write an amplitude below the mean";
        bad_steps("rate_sine.step", sine.period.span(), sine.step.span(), keys)
            | refuse(!stays_up, keys, "rate_sine.amplitude", "the rate would fall to 0", hint)
    });
    let delay = plan.delay_sine.as_ref().is_some_and(|sine| {
        let negative = sine.amplitude.span() > sine.mean.span();
        let hint = "write an amplitude up to the mean";
        bad_steps("delay_sine.step", sine.period.span(), sine.step.span(), keys)
            | refuse(negative, keys, "delay_sine.amplitude", "the delay would fall below 0", hint)
    });
    rate | delay
}

fn bad_steps(key: &str, period: Span, step: Span, keys: &Table<'_>) -> bool {
    // With fewer than eight steps a period is hardly a sine, and its extremes are missed by a thirteenth of the
    // amplitude.
    let coarse = step.saturating_mul(8) > period;
    let hint = "write a step of at most an eighth of the period";
    refuse(step.is_zero(), keys, key, "the steps have no length", "as in \"10 ms\"")
        || refuse(coarse, keys, key, "the steps are too long for the period", hint)
}

fn bad_repeat(plan: &LinkSchedule, keys: &Table<'_>) -> bool {
    let nothing = plan.repeat.is_some() && plan.rates.is_none() && plan.delays.is_none();
    let hint = "remove repeat: sines and opportunities go on until the end of the run";
    refuse(nothing, keys, "repeat", "there is no list to repeat", hint)
}

/// All changes of a run of this duration; `None` if there are too many.
fn expand(plan: &LinkSchedule, duration: Span) -> Option<Schedule> {
    let repeat = plan.repeat.map(|repeat| repeat.span());
    let rates: Vec<RateChange> = match (&plan.rates, &plan.rate_sine) {
        (Some(points), _) => {
            // An outage has the rate 0.
            let value =
                |index: usize| points[index].rate.and_then(|rate| rate.rate()).unwrap_or(Rate::from_bps(0));
            let times: Vec<Span> = points.iter().map(|point| point.at.span()).collect();
            let found = laps(&times, repeat, duration)?.into_iter();
            found.map(|(at, index)| RateChange { at, rate: value(index) }).collect()
        }
        (None, Some(sine)) => {
            let bps = |rate: crate::quantity::DataRate| rate.rate().map_or(0.0, |rate| rate.as_bps() as f64);
            let (mean, amplitude) = (bps(sine.mean), bps(sine.amplitude));
            let waves = waves(sine.period.span(), sine.step.span(), duration)?;
            let steps = rounded(waves.map(|(step, wave)| (step, mean + amplitude * wave)));
            let change =
                |(after, bps)| RateChange { at: Time::ZERO + whole(after), rate: Rate::from_bps(bps) };
            steps.map(change).collect()
        }
        (None, None) => Vec::new(),
    };
    let delays: Vec<DelayChange> = match (&plan.delays, &plan.delay_sine) {
        (Some(points), _) => {
            let times: Vec<Span> = points.iter().map(|point| point.at.span()).collect();
            let found = laps(&times, repeat, duration)?.into_iter();
            found.map(|(at, index)| DelayChange { at, delay: whole(points[index].delay.span()) }).collect()
        }
        (None, Some(sine)) => {
            let (mean, amplitude) =
                (sine.mean.span().as_nanos() as f64, sine.amplitude.span().as_nanos() as f64);
            let waves = waves(sine.period.span(), sine.step.span(), duration)?;
            let steps = rounded(waves.map(|(step, wave)| (step, (mean + amplitude * wave).max(0.0))));
            let change =
                |(after, ns)| DelayChange { at: Time::ZERO + whole(after), delay: Span::from_nanos(ns) };
            steps.map(change).collect()
        }
        (None, None) => Vec::new(),
    };
    let opportunities = plan.opportunity_gaps.as_ref().map(|gaps| OpportunitySchedule {
        opportunities: gaps.opportunities().clone(),
        mean_over: SHORTEST_MEAN.max(whole(duration / MOST_MEANS)),
    });
    Some(Schedule { rate: rates.into(), delay: delays.into(), opportunities })
}

/// When each entry of a list happens before `duration`, if the list is repeated: times and positions in the list.
fn laps(times: &[Span], repeat: Option<Span>, duration: Span) -> Option<Vec<(Time, usize)>> {
    let mut found = Vec::new();
    let mut offset = Span::ZERO;
    loop {
        for (index, time) in times.iter().enumerate() {
            if offset + *time >= duration {
                return Some(found);
            }
            if found.len() as u64 >= MAX_CHANGES {
                return None;
            }
            found.push((Time::ZERO + whole(offset + *time), index));
        }
        match repeat {
            Some(repeat) => offset += repeat,
            None => return Some(found),
        }
    }
}

/// Steps of a sine from the start on: when each begins and how long it lasts, and the mean of the sine over it. `None`
/// if there are too many.
fn waves(period: Span, step: Span, duration: Span) -> Option<impl Iterator<Item = ((Span, Span), f64)>> {
    if duration.as_picos() / step.as_picos() >= MAX_CHANGES {
        return None;
    }
    let steps = duration.as_picos().div_ceil(step.as_picos());
    // The mean of a sine over an interval is its value in the middle, times this quotient.
    let half = TAU / 2.0 * step.as_picos() as f64 / period.as_picos() as f64;
    let quotient = libm::sin(half) / half;
    let mean = move |number: u64| {
        let middle = (2 * u128::from(number) + 1) * u128::from(step.as_picos());
        let phase = (middle % (2 * u128::from(period.as_picos()))) as f64 / (2.0 * period.as_picos() as f64);
        quotient * libm::sin(TAU * phase)
    };
    Some((0..steps).map(move |number| ((step.saturating_mul(number), step), mean(number))))
}
