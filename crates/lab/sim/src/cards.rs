//! The receiving cards of all hosts that have one.

use shoal_host::Card;
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
            let receive = &experiment.host_of(flow).receive;
            if receive.is_immediate() {
                continue;
            }
            for path in [flow.forward, flow.backward] {
                let Some(node) = experiment.end_of(path) else { continue };
                let next = count_u32(cards.slots.len());
                if *cards.of_node.entry(node).or_insert(next) == next {
                    cards.slots.push(CardSlot { card: Card::new(receive), armed: Time::NEVER });
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
}
