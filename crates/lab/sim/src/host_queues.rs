//! The queue disciplines of hosts that have one (`fq`), in front of their cards.
//!
//! A route of such a host begins with a number beyond those of the links, which stands for its discipline. A host gives
//! its card a segment when the card has sent the one before; a host that is no node of its own has no card, and sends
//! at once.

use shoal_host::{Fq, Quanta};
use shoal_packet::{FlowId, Packet};
use shoal_units::Time;
use std::collections::VecDeque;

/// The discipline of a host, and what its card is sending.
pub(crate) struct HostQueue {
    pub(crate) fq: Fq,
    /// First link of the paths behind it.
    pub(crate) first: u32,
    /// Link that is the card of the host.
    pub(crate) card: Option<u32>,
    /// Packets of the segment that TCP is handing over.
    pub(crate) forming: Vec<Packet>,
    /// When that segment may leave; `None` between segments.
    pub(crate) departure: Option<Time>,
    /// Connection whose segment the card is sending, if TCP counts it.
    pub(crate) on_card: Option<FlowId>,
    /// Time at which the card has sent all that it was given.
    pub(crate) card_free: Time,
    /// Connections of the segments that have left, and whose senders do not know it yet.
    pub(crate) left: VecDeque<FlowId>,
    /// Time of its event; [`Time::NEVER`] if it has none. Any other event of the queue is out of date.
    pub(crate) expected: Time,
}

impl HostQueue {
    pub(crate) fn new(quanta: Quanta, first: u32, card: Option<u32>) -> Self {
        Self {
            fq: Fq::new(quanta),
            first,
            card,
            forming: Vec::new(),
            departure: None,
            on_card: None,
            card_free: Time::ZERO,
            left: VecDeque::new(),
            expected: Time::NEVER,
        }
    }

    /// Hands what has come to the discipline: as one segment, which TCP counts if it has said when it may leave.
    pub(crate) fn hand_over(&mut self, now: Time) {
        let departure = self.departure.take();
        self.fq.enqueue(&self.forming, departure.unwrap_or(now), departure.is_some(), now);
        self.forming.clear();
    }

    /// Takes the next segment that may leave now, whose packets are put into `leaving`. The card has sent the one
    /// before.
    pub(crate) fn next(&mut self, now: Time, leaving: &mut Vec<Packet>) -> bool {
        if self.card_free > now {
            return false;
        }
        self.left.extend(self.on_card.take());
        let Some(segment) = self.fq.dequeue(now, leaving) else { return false };
        let counted = segment.is_counted.then_some(segment.flow);
        if self.card.is_some() {
            self.on_card = counted;
        } else {
            self.left.extend(counted);
        }
        true
    }

    /// Number of segments of a connection that have left and whose sender learns of it now.
    pub(crate) fn take_left(&mut self, flow: FlowId) -> u32 {
        let mut taken = 0;
        self.left.retain(|left| {
            taken += u32::from(*left == flow);
            *left != flow
        });
        taken
    }

    /// Time at which the queue must be examined again.
    pub(crate) fn next_event(&self, now: Time) -> Time {
        if !self.left.is_empty() {
            now
        } else if self.card_free > now && (self.on_card.is_some() || self.fq.packets() > 0) {
            self.card_free
        } else {
            self.fq.deadline()
        }
    }

    /// Number of packets inside.
    pub(crate) fn held(&self) -> u64 {
        (self.forming.len() + self.fq.packets()) as u64
    }
}
