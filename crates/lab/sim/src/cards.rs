//! The receiving cards of all hosts that have one.

use shoal_host::{Card, CardCounters, Receive};
use shoal_measure::CardResult;
use shoal_packet::Packet;
use shoal_scenario::{Experiment, NodeId};
use shoal_units::Time;
use shoal_units::cast::count_u32;
use std::collections::BTreeMap;

/// A card with its entry in the event queue.
pub(crate) struct CardSlot {
    pub(crate) card: Card,
    /// Time of its entry in the event queue; [`Time::NEVER`] if there is none.
    pub(crate) armed: Time,
    host: NodeId,
    before_window: CardCounters,
}

impl CardSlot {
    fn of(receive: &Receive, host: NodeId) -> Self {
        let card = Card::new(receive);
        Self { card, armed: Time::NEVER, host, before_window: CardCounters::default() }
    }

    /// What the card has done since the measurement began.
    fn result(&self, experiment: &Experiment) -> CardResult {
        let (now, before) = (self.card.counters(), &self.before_window);
        CardResult {
            host: experiment.nodes[self.host.0 as usize].name.clone(),
            packets: now.packets - before.packets,
            interrupts: now.interrupts - before.interrupts,
            segments: Some(now.segments - before.segments),
            ring_drops: now.ring_drops - before.ring_drops,
        }
    }
}

/// The cards, and the segments that one of them hands over: room that all use in turn.
pub(crate) struct Cards {
    pub(crate) slots: Vec<CardSlot>,
    pub(crate) segments: Vec<Packet>,
    of_node: BTreeMap<NodeId, u32>,
}

impl Cards {
    /// One card for each node at which a path of a flow ends whose hosts collect what they receive.
    pub(crate) fn of(experiment: &Experiment) -> Self {
        let mut cards = Self { slots: Vec::new(), segments: Vec::new(), of_node: BTreeMap::new() };
        for flow in &experiment.flows {
            let receive = &experiment.host_of(&flow).receive;
            if receive.is_immediate() {
                continue;
            }
            for path in [flow.forward, flow.backward] {
                let Some(node) = experiment.end_of(path) else { continue };
                let next = count_u32(cards.slots.len());
                if *cards.of_node.entry(node).or_insert(next) == next {
                    cards.slots.push(CardSlot::of(receive, node));
                }
            }
        }
        cards
    }

    /// Card of the node at which a path ends.
    pub(crate) fn at_end(&self, experiment: &Experiment, path: usize) -> Option<u32> {
        let node = experiment.end_of(count_u32(path))?;
        self.of_node.get(&node).copied()
    }

    /// Swaps the cards of some hosts with those of another part of the network.
    pub(crate) fn swap(&mut self, other: &mut Self, is_of_part: impl Fn(NodeId) -> bool) {
        for (one, other) in self.slots.iter_mut().zip(&mut other.slots) {
            if is_of_part(one.host) {
                std::mem::swap(one, other);
            }
        }
    }

    /// The measurement begins.
    pub(crate) fn open_window(&mut self) {
        for slot in &mut self.slots {
            slot.before_window = *slot.card.counters();
        }
    }

    /// What each card did inside the measurement window, in the order of the hosts.
    pub(crate) fn results(&self, experiment: &Experiment) -> Vec<CardResult> {
        self.of_node.values().map(|card| self.slots[*card as usize].result(experiment)).collect()
    }
}
