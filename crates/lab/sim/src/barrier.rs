//! Rounds of a group that wait for its slowest flow.

use crate::exchanges::thinking;
use shoal_measure::WaitMeter;
use shoal_scenario::{App, Experiment};
use shoal_units::cast::count_u32;
use shoal_units::{Span, Stream, Time};
use std::ops::Range;

/// The rounds of one group.
pub(crate) struct Barrier {
    /// Numbers of the group's flows.
    pub(crate) flows: Range<u32>,
    /// Number of flows that have not yet delivered the present round.
    missing: u32,
    done: u32,
    first_at: Time,
    /// Time from which no round begins; `None` if there is no such time.
    stop: Option<Time>,
    random: Stream,
    pub(crate) meter: WaitMeter,
}

impl Barrier {
    /// The barrier of group `index`, if its flows wait for each other.
    pub(crate) fn of(experiment: &Experiment, index: u32) -> Option<Box<Self>> {
        let flows = experiment.flows.of_group(index);
        let own = || experiment.flows.numbered(flows.clone()).map(|(_, flow)| flow);
        let first = own().next().filter(|flow| flow.app.has_barrier())?;
        let first_at = own().map(|flow| flow.start).min()?;
        let mut meter = WaitMeter::new(Time::ZERO + experiment.warmup);
        meter.on_begin(first_at);
        let name = format!("think/{}", experiment.groups[index as usize].name);
        Some(Box::new(Self {
            missing: count_u32(flows.len()),
            flows,
            done: 0,
            first_at,
            stop: first.stop,
            random: Stream::new(experiment.seed, &name),
            meter,
        }))
    }

    /// Notes that a flow has delivered its part. When all have, returns how long the round took.
    pub(crate) fn arrive(&mut self, now: Time) -> Option<Span> {
        self.missing -= 1;
        if self.missing > 0 {
            return None;
        }
        self.missing = count_u32(self.flows.len());
        self.done += 1;
        Some(self.meter.on_end(now))
    }

    /// Called after a round: the time at which the next one begins, if there is one.
    pub(crate) fn next(&mut self, app: &App, now: Time) -> Option<Time> {
        let next = match *app {
            App::Transfers { rounds, interval, .. } if self.done < rounds => {
                self.first_at.saturating_add(interval.saturating_mul(u64::from(self.done))).max(now)
            }
            App::Requests { rounds, think, .. } if rounds.is_none_or(|rounds| self.done < rounds) => {
                now.saturating_add(thinking(think, &mut self.random))
            }
            _ => return None,
        };
        if self.stop.is_some_and(|stop| next >= stop) {
            return None;
        }
        self.meter.on_begin(next);
        Some(next)
    }
}
