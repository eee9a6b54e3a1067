//! Deliveries: what follows when the application at the receiving end has received what it waits for.

use super::Simulation;
use crate::app::Application;
use crate::events::Timer;
use crate::flow::Egress;
use shoal_scenario::{App, Experiment};
use shoal_trace::DeliveryKind;
use shoal_units::{Span, Time};
use std::ops::Deref;

impl<E: Deref<Target = Experiment>> Simulation<E> {
    /// Handles the delivery of what the receiver's application waits for.
    #[cold]
    #[inline(never)]
    pub(super) fn on_delivered(&mut self, connection: u32, now: Time) {
        self.receivers[connection as usize].milestone = u64::MAX;
        if let Some(asking) = (connection as usize).checked_sub(self.flows.len()) {
            return self.answer(self.asking[asking], now);
        }
        match self.experiment.flows[connection as usize].app {
            App::Requests { barrier, .. } => self.on_answer(connection, barrier, now),
            App::Frames { .. } => self.on_frames(connection, now),
            _ => {
                self.flows[connection as usize].writer.on_delivered(now);
                self.arrive(connection, now);
            }
        }
    }

    /// Updates what the receiver waits for, after the application of a flow has written.
    pub(super) fn await_delivery(&mut self, flow: u32, now: Time) {
        let state = &mut self.flows[flow as usize];
        self.receivers[flow as usize].milestone = match &mut state.application {
            Application::Frames(frames) => {
                if !state.writer.is_stopped() {
                    frames.on_written(now);
                }
                frames.awaited_bytes()
            }
            _ => state.writer.awaited_bytes(&self.experiment.flows[flow as usize].app),
        };
    }

    /// Sends the request of a flow's client; the first request opens both connections.
    pub(super) fn ask(&mut self, flow: u32, now: Time) {
        let Application::Exchanges(exchanges) = &mut self.flows[flow as usize].application else { return };
        let (first, requests) = (exchanges.is_first(), exchanges.requests);
        let Some(bytes) = exchanges.ask(now) else { return };
        let (asked, answered) = (exchanges.asked_bytes(), exchanges.answered_bytes());
        if first {
            self.with_sender(flow, now, |sender, config, out| sender.connect(config, now, out));
            self.with_sender(requests, now, |sender, config, out| sender.connect(config, now, out));
        }
        self.receivers[requests as usize].milestone = asked;
        self.receivers[flow as usize].milestone = answered;
        self.send_pending_ack(flow, now);
        self.with_sender(requests, now, |sender, config, out| sender.write(config, bytes, now, out));
    }

    /// Handles a complete request at the server.
    fn answer(&mut self, flow: u32, now: Time) {
        let Application::Exchanges(exchanges) = &self.flows[flow as usize].application else { return };
        let (requests, bytes) = (exchanges.requests, exchanges.response_bytes());
        self.send_pending_ack(requests, now);
        self.with_sender(flow, now, |sender, config, out| sender.write(config, bytes, now, out));
    }

    /// Handles a complete response at the client.
    fn on_answer(&mut self, flow: u32, barrier: bool, now: Time) {
        let Application::Exchanges(exchanges) = &mut self.flows[flow as usize].application else { return };
        let (took, requests) = (exchanges.on_answer(now), exchanges.requests);
        let (over, think) = (exchanges.is_over(), if barrier { Span::ZERO } else { exchanges.think() });
        self.note(flow, DeliveryKind::Exchange, took, None, now);
        if over {
            self.close_flow(flow, now);
            self.with_sender(requests, now, |sender, config, out| sender.close(config, now, out));
        }
        if barrier {
            self.arrive(flow, now);
        } else if !over {
            self.schedule(now.saturating_add(think), Timer::Application(flow));
        }
    }

    /// Handles the arrival of frames.
    fn on_frames(&mut self, flow: u32, now: Time) {
        let bytes = self.receivers[flow as usize].receiver.delivered_bytes();
        while let Application::Frames(frames) = &mut self.flows[flow as usize].application {
            let Some(arrival) = frames.on_delivered(bytes, now) else {
                self.receivers[flow as usize].milestone = frames.awaited_bytes();
                return;
            };
            self.note(flow, DeliveryKind::Frame, arrival.took, Some(arrival.late), now);
        }
    }

    /// Notes that a flow has delivered its part of a round.
    fn arrive(&mut self, flow: u32, now: Time) {
        let plan = self.experiment.flows[flow as usize];
        let Some(barrier) = &mut self.barriers[plan.group as usize] else { return };
        let Some(took) = barrier.arrive(now) else { return };
        let (next, flows) = (barrier.next(&plan.app, now), barrier.flows.clone());
        self.note(flow, DeliveryKind::Round, took, None, now);
        let Some(next) = next else { return };
        for flow in flows {
            // A client knows when to send the next request; other senders learn it one propagation delay later,
            // as from a message without size.
            let known = match plan.app {
                App::Requests { .. } => next,
                _ => {
                    let path = self.experiment.flows[flow as usize].backward;
                    next.saturating_add(self.experiment.propagation(path))
                }
            };
            self.schedule(known, Timer::Application(flow));
        }
    }

    fn send_pending_ack(&mut self, connection: u32, now: Time) {
        let slot = &mut self.receivers[connection as usize];
        let config = &self.experiment.endpoints[slot.endpoint as usize];
        let mut out = Egress { network: &mut self.network, route: slot.route, now };
        slot.receiver.send_pending_ack(config, now, &mut out);
    }

    fn note(&mut self, flow: u32, kind: DeliveryKind, took: Span, late: Option<Span>, now: Time) {
        self.network.recorder.collector.on_delivery(flow, kind, took, late, now);
    }
}
