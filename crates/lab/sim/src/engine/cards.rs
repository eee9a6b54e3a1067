//! Packets at the cards of receiving hosts, and the segments that they become.

use super::Simulation;
use crate::events::Timer;
use crate::network::Arrival;
use shoal_packet::Packet;
use shoal_units::Time;

impl Simulation<'_> {
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
        self.cards.slots[number as usize].card.on_timer(now, &mut segments);
        for segment in segments.drain(..) {
            self.dispatch(self.network.behind_card(segment), now);
        }
        self.cards.segments = segments;
        let slot = &mut self.cards.slots[number as usize];
        let deadline = slot.card.deadline();
        if deadline < slot.armed {
            slot.armed = deadline;
            self.schedule(deadline, Timer::Card(number));
        }
    }

    /// Hands a packet to the endpoint that it has reached.
    #[inline]
    pub(super) fn dispatch(&mut self, arrival: Arrival, now: Time) {
        match arrival {
            Arrival::Receiver(packet) => self.at_receiver(&packet, now),
            Arrival::Sender(packet) => self.at_sender(&packet, now),
            Arrival::Sink(packet) => self.at_sink(&packet, now),
            Arrival::Card(packet) => self.at_card(packet, now),
        }
    }
}
