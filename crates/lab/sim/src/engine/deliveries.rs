//! Deliveries: what follows when the application at the receiving end has received what it waits for.

use super::Simulation;
use crate::app::Application;
use crate::events::Timer;
use crate::flow::FlowState;
use crate::pages::Next;
use shoal_scenario::{App, Experiment};
use shoal_trace::DeliveryKind;
use shoal_units::{Span, Time};
use std::ops::Deref;

impl<E: Deref<Target = Experiment>> Simulation<E> {
    /// Handles the delivery of what the receiver's application waits for.
    #[cold]
    #[inline(never)]
    pub(super) fn on_delivered(&mut self, slot: usize, now: Time) {
        self.receivers[slot].milestone = u64::MAX;
        let state = &mut self.flows[slot];
        if let Application::Asking(flow) = state.application {
            return self.answer(flow, now);
        }
        match state.app {
            App::Requests { barrier, .. } => self.on_answer(slot, barrier, now),
            App::Page { .. } => self.on_object(slot, now),
            App::Frames { .. } => self.on_frames(slot, now),
            _ => {
                state.writer.on_delivered(now);
                self.arrive(slot, now);
            }
        }
    }

    /// Updates what the receiver waits for, after the application of a flow has written.
    pub(super) fn await_delivery(&mut self, slot: usize, now: Time) {
        let state = &mut self.flows[slot];
        self.receivers[slot].milestone = match &mut state.application {
            Application::Frames(frames) => {
                if !state.writer.is_stopped() {
                    frames.on_written(self.senders[slot].sender.written_bytes(), now);
                }
                frames.awaited_bytes()
            }
            _ => state.writer.awaited_bytes(&state.app),
        };
    }

    /// Sends the request of a flow's client; the first request opens both connections.
    pub(super) fn ask(&mut self, flow: usize, now: Time) {
        let FlowState { number, group, app, application, .. } = &mut self.flows[flow];
        let Application::Exchanges(exchanges) = application else { return };
        if let App::Page { .. } = app {
            if exchanges.is_stopped() {
                return;
            }
            let object = self.browsers.of_flow(*group, *number).and_then(|browser| browser.take(now));
            let Some(bytes) = object else { return };
            exchanges.expect(bytes);
        }
        let (first, requests) = (exchanges.is_first(), exchanges.requests);
        let Some(bytes) = exchanges.ask(now) else { return };
        let (asked, answered) = (exchanges.asked_bytes(), exchanges.answered_bytes());
        if first {
            self.with_sender(flow, now, |sender, config, out| sender.connect(config, now, out));
            self.with_sender(requests, now, |sender, config, out| sender.connect(config, now, out));
        }
        self.receivers[requests].milestone = asked;
        self.receivers[flow].milestone = answered;
        self.with_sender(requests, now, |sender, config, out| sender.write(config, bytes, now, out));
    }

    /// Handles a complete request at the server.
    fn answer(&mut self, flow: usize, now: Time) {
        let Application::Exchanges(exchanges) = &self.flows[flow].application else { return };
        let bytes = exchanges.response_bytes();
        self.with_sender(flow, now, |sender, config, out| sender.write(config, bytes, now, out));
    }

    /// Handles a complete response at the client.
    fn on_answer(&mut self, flow: usize, barrier: bool, now: Time) {
        let Application::Exchanges(exchanges) = &mut self.flows[flow].application else { return };
        let (took, requests) = (exchanges.on_answer(now), exchanges.requests);
        let (over, think) = (exchanges.is_over(), if barrier { Span::ZERO } else { exchanges.think() });
        self.note(flow, DeliveryKind::Exchange, took, None, now);
        if over {
            self.close_both(flow, requests, now);
        }
        if barrier {
            self.arrive(flow, now);
        } else if !over {
            self.schedule(now.saturating_add(think), flow, Timer::Application);
        }
    }

    /// Closes both connections of a client.
    fn close_both(&mut self, flow: usize, requests: usize, now: Time) {
        self.close_flow(flow, now);
        self.with_sender(requests, now, |sender, config, out| sender.close(config, now, out));
    }

    /// Handles a complete object of a page.
    fn on_object(&mut self, flow: usize, now: Time) {
        let FlowState { number, group, application, .. } = &mut self.flows[flow];
        let Application::Exchanges(exchanges) = application else { return };
        let (took, requests) = (exchanges.on_answer(now), exchanges.requests);
        let is_stopped = exchanges.is_stopped();
        let Some(browser) = self.browsers.of_flow(*group, *number) else { return };
        let (next, flows) = (browser.on_object(now), browser.flows.clone());
        self.note(flow, DeliveryKind::Exchange, took, None, now);
        if is_stopped {
            self.close_both(flow, requests, now);
        }
        match next {
            Next::Wait => {}
            Next::Object => self.ask(flow, now),
            Next::Page(at) => {
                let has_started = |number: &u32| self.experiment.flows.of(*number).start <= now;
                for number in flows.filter(has_started).collect::<Vec<_>>() {
                    self.schedule(at, self.slots.of(number), Timer::Application);
                }
            }
            Next::End => {
                for number in flows {
                    self.leave(self.slots.of(number), now);
                }
            }
        }
    }

    /// A browser that loads no more pages gives up a connection, if it has used it.
    fn leave(&mut self, flow: usize, now: Time) {
        let Application::Exchanges(exchanges) = &mut self.flows[flow].application else { return };
        let (is_open, requests) = (!exchanges.is_first() && !exchanges.is_stopped(), exchanges.requests);
        exchanges.stop();
        if is_open {
            self.close_both(flow, requests, now);
        }
    }

    /// Handles the arrival of frames.
    fn on_frames(&mut self, flow: usize, now: Time) {
        let bytes = self.receivers[flow].receiver.delivered_bytes();
        while let Application::Frames(frames) = &mut self.flows[flow].application {
            let Some(arrival) = frames.on_delivered(bytes, now) else {
                self.receivers[flow].milestone = frames.awaited_bytes();
                return;
            };
            self.note(flow, DeliveryKind::Frame, arrival.took, Some(arrival.late), now);
        }
    }

    /// Notes that a flow has delivered its part of a round.
    fn arrive(&mut self, slot: usize, now: Time) {
        let (app, group) = (self.flows[slot].app, self.flows[slot].group);
        let Some(barrier) = &mut self.barriers[group as usize] else { return };
        let Some(took) = barrier.arrive(now) else { return };
        let (next, flows) = (barrier.next(&app, now), barrier.flows.clone());
        self.note(slot, DeliveryKind::Round, took, None, now);
        let Some(next) = next else { return };
        for flow in flows {
            // A client knows when to send the next request; other senders learn it one propagation delay later,
            // as from a message without size.
            let known = match app {
                App::Requests { .. } => next,
                _ => {
                    let path = self.experiment.flows.of(flow).backward;
                    next.saturating_add(self.experiment.propagation(path))
                }
            };
            let slot = self.slots.of(flow);
            self.schedule(known, slot, Timer::Application);
        }
    }

    fn note(&mut self, slot: usize, kind: DeliveryKind, took: Span, late: Option<Span>, now: Time) {
        let flow = self.flows[slot].number;
        self.network.recorder.collector.on_delivery(flow, kind, took, late, now);
    }
}
