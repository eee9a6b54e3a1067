//! A wire that loses, delays, copies or reorders packets.
//!
//! Everything happens at its own time: what a packet meets depends on when others are asked for, so nothing is computed
//! ahead as on other wires. Such a link therefore costs two events a packet and more.

use crate::moving_delay::MovingDelay;
use crate::{DelayChange, LinkConfig, Observer};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use shoal_netem::{Counts, Impairments, Netem};
use shoal_packet::{Packet, Ring};
use shoal_units::{Span, Stream, Time};

/// The impairments of a link in operation.
pub(crate) struct Impaired {
    netem: Netem,
    /// What the kernel draws outside netem's own generator.
    outside: Stream,
    delay: MovingDelay,
    /// Packets whose last bit has not left the transmitter; `enqueued` is when it does.
    coming: VecDeque<Packet>,
}

impl Impaired {
    pub(crate) fn new(link: &LinkConfig, impairments: &Impairments, seed: u64) -> Self {
        let (seed, mut outside) = link.impairment_seed(seed);
        Self {
            netem: Netem::new(impairments, link.delay, seed, &mut outside),
            outside,
            delay: MovingDelay::new(link),
            coming: VecDeque::new(),
        }
    }

    pub(crate) fn replan(&mut self, changes: Arc<[DelayChange]>) {
        self.delay.replan(changes);
    }

    /// See [`MovingDelay::set`].
    pub(crate) fn set_delay(&mut self, at: Time, delay: Span) {
        self.delay.set(at, delay);
    }

    /// A packet comes, at the time that it carries.
    pub(crate) fn put(&mut self, packet: Packet) {
        self.coming.push_back(packet);
    }

    /// Carries out what happens by `now`; packets that reach the other end are appended to `arrived`, with the time.
    pub(crate) fn advance(&mut self, now: Time, arrived: &mut Ring<Packet>, observer: &mut impl Observer) {
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            // At equal times those come first that are due.
            let is_due = self.netem.next_event() == Some(at);
            if !is_due && let Some(packet) = self.coming.pop_front() {
                self.netem.set_delay(self.delay.at(at));
                if self.netem.enqueue(packet, at) == 0 {
                    observer.on_lost_on_wire(&packet, at);
                }
            }
            while let Some(packet) = self.netem.dequeue(at, &mut self.outside) {
                arrived.push_back(&packet).enqueued = at;
            }
        }
    }

    /// When something happens next.
    pub(crate) fn next_event(&self) -> Option<Time> {
        let comes = self.coming.front().map(|packet| packet.enqueued);
        [comes, self.netem.next_event()].into_iter().flatten().min()
    }

    /// Packets that will arrive, and those of which nothing has been decided.
    pub(crate) fn len(&self) -> usize {
        self.coming.len() + self.netem.len()
    }

    /// What has happened since the start of the run.
    pub(crate) fn counts(&self) -> Counts {
        self.netem.counts()
    }
}
