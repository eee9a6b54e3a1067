//! A run that goes on step by step, and whose plan may change on the way.
//!
//! A change of the plan is a whole experiment that differs from the one before only in what has not happened yet. What
//! a live run measures is therefore, byte for byte, what a run of the last experiment from its start measures.

use super::{Keeping, PROGRESS_EVENTS, Simulation};
use crate::events::Key;
use crate::outcome::Outcome;
use crate::recorder::PacketSink;
use shoal_measure::Histogram;
use shoal_packet::Class;
use shoal_scenario::{Experiment, Flow, Flows, Link, Schedule};
use shoal_trace::Table;
use shoal_units::{Span, Time};
use std::fmt;

/// A run in progress.
pub struct Live {
    simulation: Simulation<Box<Experiment>>,
    /// No event at this time or later has happened.
    reached: Time,
}

/// Why a run cannot go on as another experiment says. A run of that experiment from its start is possible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OtherPlan {
    /// It differs in more than in what may change on the way, which is named here.
    Other(&'static str),
    /// It differs in something that lies before [`Live::earliest_change`], which is named here.
    Past(&'static str),
    /// A link whose rate changes otherwise has outages.
    Outages,
}

impl fmt::Display for OtherPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(what) => write!(
                f,
                "{what}: of a run in progress, only starts and stops of flows, changes of rates and delays, and its \
                 end can be planned anew"
            ),
            Self::Past(what) => write!(f, "{what}: what has happened cannot be planned anew"),
            Self::Outages => write!(f, "the rate of a link with outages cannot be planned anew during a run"),
        }
    }
}

impl std::error::Error for OtherPlan {}

impl Live {
    /// A run that has not begun; `sink` gets its packets one by one.
    ///
    /// # Panics
    /// As [`super::run`] does.
    pub fn new(experiment: Box<Experiment>, sink: Option<Box<dyn PacketSink>>) -> Self {
        super::assert_possible(&experiment);
        let mut simulation = Simulation::new(experiment, sink, Keeping::All);
        simulation.schedule_start(|_| true);
        Self { simulation, reached: Time::ZERO }
    }

    /// What is carried out.
    pub fn experiment(&self) -> &Experiment {
        &self.simulation.experiment
    }

    /// Number of events so far.
    pub fn events(&self) -> u64 {
        self.simulation.events()
    }

    /// No event at this time or later has happened.
    pub const fn reached(&self) -> Time {
        self.reached
    }

    /// Whether everything has happened.
    pub fn is_over(&self) -> bool {
        self.reached > self.simulation.end
    }

    /// Carries out all events before `until`, or fewer: it stops behind about `events` of them, and at the end of the
    /// run. Returns [`Self::reached`].
    pub fn advance(&mut self, until: Time, events: u64) -> Time {
        let behind_end = self.simulation.behind_end();
        let bound = Key::first_at(until).min(behind_end);
        if bound.time() <= self.reached {
            return self.reached;
        }
        let mut left = events.div_ceil(PROGRESS_EVENTS);
        let mut last = self.reached;
        let mut watch = |now: Time| {
            left = left.saturating_sub(1);
            last = now;
            left > 0
        };
        let arrived = self.simulation.run_before(bound, &mut Some(&mut watch));
        // Behind the last event there may be others at the same time.
        self.reached = if arrived { bound.time() } else { self.reached.max(behind(last)) };
        // Departures are reported late; whoever looks now finds all of them.
        let before = Time::from_picos(self.reached.as_picos().saturating_sub(1));
        self.simulation.network.catch_up_monitored(before);
        self.simulation.network.recorder.collector.settle(before);
        self.reached
    }

    /// The earliest time at which anything may be planned otherwise: what has been reached, and later than that for a
    /// link in the middle of a transmission.
    pub fn earliest_change(&self) -> Time {
        let links = self.experiment().links.iter().enumerate();
        let changing = links.filter(|(_, link)| may_change(&link.schedule));
        let asked = changing.map(|(number, _)| behind(self.simulation.network.asked_until(number)));
        asked.fold(self.reached, Time::max)
    }

    /// Goes on as `experiment` says.
    ///
    /// # Errors
    /// Why that is not possible; the run is as before.
    ///
    /// # Panics
    /// If [`crate::check`] refuses the experiment.
    pub fn replace(&mut self, experiment: Box<Experiment>) -> Result<(), OtherPlan> {
        self.check(&experiment)?;
        super::assert_possible(&experiment);
        let simulation = &mut self.simulation;
        simulation.experiment = experiment;
        simulation.end = Time::ZERO + simulation.experiment.duration;
        simulation.network.replan(&simulation.experiment);
        if let Some(planned) = simulation.planned.next() {
            simulation.timers.remove(planned);
        }
        simulation.plan(self.reached, |_| true);
        Ok(())
    }

    /// The series so far.
    pub fn series(&self) -> impl Iterator<Item = &Table> {
        self.simulation.network.recorder.collector.series()
    }

    /// Removes the rows of the series so far, so that a long run does not grow; the tables of [`Self::finish`] lack
    /// them.
    pub fn forget_series(&mut self) {
        self.simulation.network.recorder.collector.forget_series();
    }

    /// Queueing delay in picoseconds of the packets of a class that have left the queue of a link since the warm-up;
    /// links are numbered as in [`Experiment::monitored`].
    pub fn delay(&self, link: u32, class: Class) -> &Histogram {
        self.simulation.network.recorder.collector.delay(link, class)
    }

    /// Waiting packets of a class at a link: over time since the warm-up, with picoseconds as weights, and now.
    pub fn class_queue(&self, link: u32, class: Class) -> (&Histogram, u32) {
        self.simulation.network.recorder.collector.class_queue(link, class)
    }

    /// Carries out what is left, and returns what a run of [`Self::experiment`] returns.
    pub fn finish(mut self) -> Outcome {
        self.simulation.run(&mut None);
        self.simulation.finish()
    }

    fn check(&self, new: &Experiment) -> Result<(), OtherPlan> {
        let old = self.experiment();
        // What happens at the end still belongs to the run.
        let over = |experiment: &Experiment| behind(Time::ZERO + experiment.duration);
        self.allow("the end of the run", (over(old), over(new)))?;
        if old.flows.len() != new.flows.len() {
            return Err(OtherPlan::Other("the number of flows"));
        }
        if old.links.len() != new.links.len() {
            return Err(OtherPlan::Other("the number of links"));
        }
        for (old, new) in old.flows.iter().zip(&new.flows) {
            self.check_flow(&old, &new)?;
        }
        for (number, (old, new)) in old.links.iter().zip(&new.links).enumerate() {
            self.check_link(number, old, new)?;
        }
        let rest = |experiment: &Experiment| Experiment {
            title: String::new(),
            duration: Span::ZERO,
            links: Vec::new(),
            flows: Flows::default(),
            notes: Vec::new(),
            ..experiment.clone()
        };
        if rest(old) != rest(new) {
            return Err(OtherPlan::Other("the hosts, the groups or what is measured"));
        }
        Ok(())
    }

    fn check_flow(&self, old: &Flow, new: &Flow) -> Result<(), OtherPlan> {
        if (Flow { start: old.start, stop: old.stop, ..*new }) != *old {
            return Err(OtherPlan::Other("a flow"));
        }
        if *old != *new && old.app.has_barrier() {
            return Err(OtherPlan::Other("the start or stop of flows that wait for each other"));
        }
        let stop = |flow: &Flow| flow.stop.unwrap_or(Time::NEVER);
        self.allow("the start of a flow", (old.start, new.start))?;
        self.allow("the stop of a flow", (stop(old), stop(new)))
    }

    fn check_link(&self, number: usize, old: &Link, new: &Link) -> Result<(), OtherPlan> {
        let schedule = |rate, delay| Schedule { rate, delay, ..new.schedule.clone() };
        let as_before = schedule(old.schedule.rate.clone(), old.schedule.delay.clone());
        if (Link { schedule: as_before, ..new.clone() }) != *old {
            return Err(OtherPlan::Other("a link"));
        }
        let (old, new) = (&old.schedule, &new.schedule);
        if old == new {
            return Ok(());
        }
        if !may_change(old) || !may_change(new) {
            return Err(OtherPlan::Outages);
        }
        // What is measured depends on whether a link ever changes.
        if old.rate.is_empty() != new.rate.is_empty() || old.delay.is_empty() != new.delay.is_empty() {
            return Err(OtherPlan::Other("a link that has not changed so far"));
        }
        let from = self.reached.max(behind(self.simulation.network.asked_until(number)));
        let is_past = |at: Time| at < from;
        let rates = |schedule: &Schedule| schedule.rate.iter().take_while(|one| is_past(one.at)).count();
        let delays = |schedule: &Schedule| schedule.delay.iter().take_while(|one| is_past(one.at)).count();
        if old.rate[..rates(old)] != new.rate[..rates(new)] {
            return Err(OtherPlan::Past("the rate of a link"));
        }
        if old.delay[..delays(old)] != new.delay[..delays(new)] {
            return Err(OtherPlan::Past("the delay of a link"));
        }
        Ok(())
    }

    /// Allows a time to be another one, if neither has been reached.
    fn allow(&self, what: &'static str, (old, new): (Time, Time)) -> Result<(), OtherPlan> {
        if old == new || old.min(new) >= self.reached { Ok(()) } else { Err(OtherPlan::Past(what)) }
    }
}

/// Whether the changes of a link can be planned anew: what waits for the end of an outage has been told when it ends.
fn may_change(schedule: &Schedule) -> bool {
    schedule.rate.iter().all(|change| change.rate.as_bps() > 0)
}

fn behind(time: Time) -> Time {
    time.saturating_add(Span::from_picos(1))
}
