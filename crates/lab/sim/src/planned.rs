//! What is planned for flows, in the order of time: the next of it is known, and the rest takes next to no memory.

use crate::events::Key;
use shoal_scenario::{Experiment, Flow};
use shoal_units::Time;
use shoal_units::cast::count_u32;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// What is planned and still to come. At equal times it comes in the order of the flows, and for a flow in that of
/// [`Plan::ALL`].
#[derive(Default)]
pub(crate) struct Planned {
    series: Vec<Series>,
    /// The next of each series.
    next: BinaryHeap<Reverse<(Key, u32)>>,
}

/// What is planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Plan {
    Start,
    Stop,
    /// Another controller takes over.
    Replace,
}

impl Plan {
    const ALL: [Self; 3] = [Self::Start, Self::Stop, Self::Replace];

    fn time(self, experiment: &Experiment, flow: &Flow) -> Time {
        match self {
            Self::Start => flow.start,
            Self::Stop => flow.stop.unwrap_or(Time::NEVER),
            Self::Replace => {
                let replacement = experiment.groups[flow.group as usize].replacement.as_ref();
                replacement.map_or(Time::NEVER, |replacement| flow.start.saturating_add(replacement.after))
            }
        }
    }
}

/// What is planned of a kind for the flows of a group.
struct Series {
    plan: Plan,
    order: Order,
    /// Number of those that have been taken.
    place: u32,
}

/// Flows in the order of their times, and at equal times in that of their numbers.
enum Order {
    /// Their numbers follow each other.
    Range(Range<u32>),
    List(Vec<u32>),
}

impl Order {
    fn get(&self, place: u32) -> Option<u32> {
        match self {
            Self::Range(range) => (place < count_u32(range.len())).then(|| range.start + place),
            Self::List(numbers) => numbers.get(place as usize).copied(),
        }
    }
}

impl Planned {
    /// Plans what comes at `from` or later, of those flows whose sender `is_here`.
    pub(crate) fn new(experiment: &Experiment, from: Time, is_here: impl Fn(&Flow) -> bool) -> Self {
        let mut planned = Self::default();
        for group in 0..count_u32(experiment.groups.len()) {
            for plan in Plan::ALL {
                let comes =
                    |flow: &Flow| is_here(flow) && (from..Time::NEVER).contains(&plan.time(experiment, flow));
                let Some(order) = order(experiment, group, plan, comes) else { continue };
                planned.series.push(Series { plan, order, place: 0 });
                planned.advance(planned.series.len() - 1, experiment);
            }
        }
        planned
    }

    /// What comes next.
    pub(crate) fn next(&self) -> Option<Key> {
        self.next.peek().map(|Reverse((key, _))| *key)
    }

    /// Takes what comes next, and returns the number of its flow and what it is.
    pub(crate) fn take(&mut self, experiment: &Experiment) -> Option<(u32, Plan)> {
        let Reverse((key, series)) = self.next.pop()?;
        self.advance(series as usize, experiment);
        Some((key.planned_flow(), self.series[series as usize].plan))
    }

    fn advance(&mut self, number: usize, experiment: &Experiment) {
        let series = &mut self.series[number];
        let Some(flow) = series.order.get(series.place) else { return };
        series.place += 1;
        let time = series.plan.time(experiment, &experiment.flows.of(flow));
        let key = Key::planned(time, flow, series.plan as u32);
        self.next.push(Reverse((key, count_u32(number))));
    }
}

/// The flows of a group that have something planned that `comes`, in the order of its times; `None` without such flows.
fn order(experiment: &Experiment, group: u32, plan: Plan, comes: impl Fn(&Flow) -> bool) -> Option<Order> {
    let numbers = experiment.flows.of_group(group);
    let flows = || experiment.flows.numbered(numbers.clone());
    let mut last = Time::ZERO;
    let is_sorted = flows().all(|(_, flow)| {
        let time = plan.time(experiment, &flow);
        comes(&flow) && std::mem::replace(&mut last, time) <= time
    });
    if is_sorted {
        return (!numbers.is_empty()).then_some(Order::Range(numbers));
    }
    let mut coming: Vec<u32> = flows().filter(|(_, flow)| comes(flow)).map(|(number, _)| number).collect();
    coming.sort_by_cached_key(|number| plan.time(experiment, &experiment.flows.of(*number)));
    (!coming.is_empty()).then_some(Order::List(coming))
}
