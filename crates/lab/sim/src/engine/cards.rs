//! Packets at the cards of receiving hosts, and the segments that they become.

use super::Simulation;
use crate::events::{Key, Timer};
use crate::network::{TO_PEER, TO_RECEIVER, TO_SENDER};
use shoal_packet::Packet;
use shoal_scenario::Experiment;
use shoal_units::Time;
use std::ops::Deref;

impl<E: Deref<Target = Experiment>> Simulation<E> {
    /// A packet reaches the card of its host.
    #[cold]
    #[inline(never)]
    pub(super) fn at_card(&mut self, packet: Packet, now: Time) {
        let number = self.network.card_at(&packet);
        if self.cards.slots[number as usize].card.deadline() <= now {
            // An interrupt at this very instant comes first, whichever of both events the queue has first.
            self.run_card(number, now);
        }
        self.cards.slots[number as usize].card.arrive(packet, now);
        self.run_card(number, now);
    }

    /// The timer of a card. Timers are re-armed lazily, as those of senders are.
    #[cold]
    #[inline(never)]
    pub(super) fn on_card_timer(&mut self, number: u32, now: Time) {
        let slot = &mut self.cards.slots[number as usize];
        if slot.armed == now {
            slot.armed = Time::NEVER;
            self.run_card(number, now);
        }
    }

    /// Hands over what is due, and arms the timer of the card.
    fn run_card(&mut self, number: u32, now: Time) {
        let mut segments = std::mem::take(&mut self.cards.segments);
        while self.cards.slots[number as usize].card.deadline() <= now {
            let card = &mut self.cards.slots[number as usize].card;
            card.on_timer(now, &mut segments);
            let while_reading = card.came_while_reading();
            for segment in &segments {
                self.hand_over(segment, while_reading, now);
            }
            for segment in segments.drain(..) {
                self.read(&segment, now);
            }
        }
        self.cards.segments = segments;
        let slot = &mut self.cards.slots[number as usize];
        let deadline = slot.card.deadline();
        if deadline < slot.armed {
            slot.armed = deadline;
            self.timers.push(Key::timer(deadline, Timer::Card(number), number));
        }
    }

    /// Hands over what a card has made of packets that arrived together.
    fn hand_over(&mut self, merged: &Packet, while_reading: bool, now: Time) {
        match self.network.behind_card(merged) {
            end @ (TO_RECEIVER | TO_PEER) => {
                let number = self.slots.of(merged.flow.0);
                if end == TO_PEER {
                    self.read_ack(number, merged, now);
                }
                self.with_receiver(number, now, |receiver, config, out| {
                    receiver.on_merged(config, merged, while_reading, now, out);
                });
            }
            TO_SENDER => self.at_sender(merged, now),
            _ => self.at_sink(merged, now),
        }
    }

    /// The application reads what arrived together.
    fn read(&mut self, merged: &Packet, now: Time) {
        if matches!(self.network.behind_card(merged), TO_RECEIVER | TO_PEER) {
            self.with_receiver(self.slots.of(merged.flow.0), now, |receiver, config, out| {
                receiver.on_read(config, merged, now, out);
            });
        }
    }
}
