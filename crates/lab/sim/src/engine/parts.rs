//! The simulation as one of several parts.

use super::{Keeping, Simulation};
use crate::events::Key;
use crate::parts::{Division, Message};
use shoal_scenario::Experiment;
use shoal_units::Time;
use std::sync::Arc;

impl<'e> Simulation<&'e Experiment> {
    /// The part `part` of a divided experiment, ready to begin.
    pub(crate) fn part(experiment: &'e Experiment, division: &Arc<Division>, part: u32) -> Self {
        let mut simulation = Self::new(experiment, None, Keeping::All);
        simulation.network.become_part(division, part);
        simulation.schedule_start(|flow| division.of_sender(experiment, flow) == part);
        simulation
    }

    /// Time of the next event of a link or a flow.
    pub(crate) fn next_time(&self) -> Time {
        let next = [self.network.next(), self.timers.next()].into_iter().flatten().min();
        next.map_or(Time::NEVER, Key::time)
    }

    /// The next event that concerns all links and flows, if there is one before the end of the run.
    pub(crate) fn next_global(&self) -> Option<Key> {
        self.globals.next().filter(|key| *key < self.behind_end())
    }

    /// What another part must be told, if there is anything.
    pub(crate) fn take_message(&mut self, part: usize) -> Option<Message> {
        self.network.take_message(part)
    }

    /// Takes over what other parts tell of.
    pub(crate) fn hear(&mut self, messages: &mut Vec<Message>) {
        self.network.hear(messages);
        messages.clear();
    }

    /// Carries out all events before `bound`. Returns when something happens next.
    pub(crate) fn window(&mut self, bound: Key) -> Time {
        self.run_until(bound, &mut None);
        let departure = self.network.tell(bound.time());
        self.next_time().min(departure)
    }

    /// Swaps with another part of the same experiment the state of everything that belongs to `part`. Pending events
    /// stay. All flows are kept, so that their slots have their numbers.
    pub(crate) fn swap(&mut self, other: &mut Self, division: &Division, part: u32) {
        let experiment = self.experiment;
        for (number, flow) in experiment.flows.iter().enumerate() {
            if division.of_sender(experiment, &flow) == part {
                std::mem::swap(&mut self.senders[number], &mut other.senders[number]);
                std::mem::swap(&mut self.flows[number], &mut other.flows[number]);
            }
            if division.of_receiver(experiment, &flow) == part {
                std::mem::swap(&mut self.receivers[number], &mut other.receivers[number]);
            }
        }
        let is_of_part = |link: u32| division.of_link(link) == part;
        self.network.swap(&mut other.network, is_of_part);
        self.cards.swap(&mut other.cards, |node| division.of_host(node) == part);
    }

    /// Adds what another part has counted.
    pub(crate) fn add_counts(&mut self, other: &Self) {
        self.events += other.events;
        self.network.sent += other.network.sent;
        self.network.delivered += other.network.delivered;
        self.network.uncounted += other.network.uncounted;
    }
}
