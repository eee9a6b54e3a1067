//! Every packet at a link for a short while: what the page shows in slow motion.

use shoal_packet::{Packet, Reason};
use shoal_sim::PacketSink;
use shoal_trace::{PacketEvent, PacketRow};
use shoal_units::{Span, Time};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Most events of one look: a link of 1 Gbit/s has as many in about 60 ms.
const EVENTS_MAX: usize = 20_000;

/// What happened at the first link that the result reports, from one moment on for a while. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lens(Arc<Mutex<Watch>>);

#[derive(Debug, Default)]
struct Watch {
    /// Packets that wait now: flow, sequence number, and 1 if it has CE.
    waiting: VecDeque<[f64; 3]>,
    look: Option<Look>,
}

/// One look through the lens.
#[derive(Debug)]
struct Look {
    /// Its first moment, known with the first event.
    from: Option<Time>,
    span: Span,
    waiting: Vec<f64>,
    events: Vec<f64>,
    is_complete: bool,
}

impl Lens {
    fn watch<T>(&self, look: impl FnOnce(&mut Watch) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins to look, for `span` from the next event on.
    pub(crate) fn begin(&self, span: Span) {
        self.watch(|watch| {
            watch.look =
                Some(Look { from: None, span, waiting: Vec::new(), events: Vec::new(), is_complete: false });
        });
    }

    /// The look, once it is complete: the moment at which it begins in seconds and the number of packets that wait
    /// then; these packets, three numbers each (flow, sequence number, 1 for CE); and the events, five numbers each
    /// (time in seconds; 0 for an arrival, 1 for a mark, 2 for a drop, 3 for a departure; flow, sequence number, 1 for
    /// CE). A packet that arrives waits, unless a drop of it follows at once.
    pub(crate) fn take(&self) -> Option<Vec<f64>> {
        self.watch(|watch| {
            let look = watch.look.take_if(|look| look.is_complete)?;
            let from = look.from.unwrap_or_default().as_secs_f64();
            let mut numbers = vec![from, (look.waiting.len() / 3) as f64];
            numbers.extend(look.waiting);
            numbers.extend(look.events);
            Some(numbers)
        })
    }
}

impl PacketSink for Lens {
    fn on_event(&mut self, row: PacketRow, _packet: &Packet, _reason: Option<Reason>) {
        if row.link.0 != 0 {
            return;
        }
        let packet = [f64::from(row.flow), f64::from(row.seq), f64::from(u8::from(row.ecn.is_ce()))];
        self.watch(|watch| {
            watch.note(Time::from_picos(row.time_ps), row.event, packet);
        });
    }
}

impl Watch {
    fn note(&mut self, now: Time, event: PacketEvent, packet: [f64; 3]) {
        if let Some(look) = self.look.as_mut().filter(|look| !look.is_complete) {
            if look.from.is_none() {
                look.from = Some(now);
                look.waiting = self.waiting.iter().flatten().copied().collect();
            }
            let over = look.from.is_some_and(|from| now > from.saturating_add(look.span));
            if over || look.events.len() >= 5 * EVENTS_MAX {
                look.is_complete = true;
            } else {
                look.events.extend([
                    now.as_secs_f64(),
                    f64::from(event as u8),
                    packet[0],
                    packet[1],
                    packet[2],
                ]);
            }
        }
        let is_it = |other: &[f64; 3]| other[..2] == packet[..2];
        match event {
            PacketEvent::Arrive => self.waiting.push_back(packet),
            PacketEvent::Mark => {
                if let Some(other) = self.waiting.iter_mut().rev().find(|other| is_it(other)) {
                    other[2] = packet[2];
                }
            }
            PacketEvent::Drop | PacketEvent::Depart => {
                // Most leave in front; what is dropped on arrival has come last.
                let from_behind = event == PacketEvent::Drop;
                let place = if from_behind {
                    self.waiting.iter().rposition(is_it)
                } else {
                    self.waiting.iter().position(is_it)
                };
                if let Some(place) = place {
                    self.waiting.remove(place);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
