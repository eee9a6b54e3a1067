//! How flows come into slots and leave them, and what remains of them.
//!
//! A flow that transfers and is done has a slot from its start until nothing of it is left in the network: no packet,
//! and no timer that runs. From then on nothing can change what it has measured. All other flows are residents: they
//! have slots of their own during the whole run.

use super::{Simulation, feedback};
use crate::app::Application;
use crate::cards::Cards;
use crate::events::Timer;
use crate::flow::{FlowState, NO_PARTNER, Place, ReceiverSlot, SenderSlot};
use crate::network::{Network, TO_PEER, TO_RECEIVER, TO_SENDER, TO_SINK};
use crate::queued_routes::QueuedRoutes;
use crate::slots::{Slots, Whereabouts};
use shoal_measure::{
    AppMeter, Collector, EndedTransfer, FeedbackCounters, FinishedFlow, FlowCounters, FlowMeter, FlowResult,
    FlowResults, Totals,
};
use shoal_packet::FlowId;
use shoal_scenario::{App, Experiment, Flow};
use shoal_units::cast::{count_u32, fit_u32};
use shoal_units::{Span, Stream, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// Which flows have a slot during the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keeping {
    /// All of them: what looks at all flows, or divides the run, finds each at its number.
    All,
    /// The flows that are not known to end have one; others until they have ended.
    Living,
}

/// How flows come into slots, and what remains of those that have ended.
pub(crate) struct Population {
    /// Whether the measurement has begun.
    pub(super) is_measuring: bool,
    /// Whether the flows of each group are residents.
    resident: Vec<bool>,
    routes: Routes,
    /// Number of flows of each group that the result lists.
    listed: Vec<u64>,
    /// Results of flows that have ended, of which more remains than a completion time.
    results: BTreeMap<u32, FlowResult>,
    /// Counts of all other flows that have ended, by group.
    totals: Vec<Totals>,
}

/// Flows share paths, so there is one route for each path and end.
struct Routes {
    /// Route over each path, by the end of the routes; there are none to an end that no flow has.
    to: BTreeMap<u32, Vec<u32>>,
    queued: QueuedRoutes,
}

impl Population {
    pub(crate) fn new(
        experiment: &Experiment,
        network: &mut Network,
        cards: &Cards,
        keeping: Keeping,
    ) -> Self {
        let mut lay = |end: u32| -> Vec<u32> {
            let paths = experiment.paths.iter().enumerate();
            paths
                .map(|(number, path)| {
                    let card = cards.at_end(experiment, number);
                    network.add_route(path.iter().map(|link| link.0), card, end)
                })
                .collect()
        };
        let ends: BTreeSet<u32> = experiment.flows.patterns().map(|flow| end(&flow.app)).collect();
        let to = ends.into_iter().chain([TO_SENDER]).map(|end| (end, lay(end))).collect();
        let keeps_all = keeping == Keeping::All || !experiment.may_forget();
        let mut resident = vec![keeps_all; experiment.groups.len()];
        for flow in experiment.flows.patterns() {
            resident[flow.group as usize] |= !experiment.ends(flow.group as usize, &flow.app);
        }
        let zero = Totals { data_packets: Some(0), acks_sent: Some(0), ..Totals::default() };
        Self {
            is_measuring: false,
            resident,
            routes: Routes { to, queued: QueuedRoutes::default() },
            listed: FlowResults::listed(experiment),
            results: BTreeMap::new(),
            totals: vec![zero; experiment.groups.len()],
        }
    }
}

/// Where the routes of data end. The data of a connection that carries requests end as the answers do.
fn end(app: &App) -> u32 {
    match app {
        App::Unresponsive { .. } => TO_SINK,
        App::Requests { .. } | App::Page { .. } => TO_PEER,
        _ => TO_RECEIVER,
    }
}

impl<E: Deref<Target = Experiment>> Simulation<E> {
    /// Gives all residents their slots: in the order of their numbers, and behind them those connections that carry
    /// requests.
    ///
    /// # Panics
    /// If there are more than have timers of their own.
    pub(super) fn settle_residents(&mut self) {
        let resident = |population: &Population, flow: &Flow| population.resident[flow.group as usize];
        let numbered = || (0u32..).zip(&self.experiment.flows);
        let count = numbered().filter(|(_, flow)| resident(&self.population, flow)).count();
        let asking: Vec<u32> = self.experiment.asking_flows().collect();
        assert!(count + asking.len() < Timer::SLOTS_MAX as usize, "too many flows");
        self.senders.reserve_exact(count + asking.len());
        self.receivers.reserve_exact(count + asking.len());
        let mut requests = count..;
        let flows = self.experiment.flows.len();
        for number in 0..count_u32(flows) {
            let plan = self.experiment.flows.of(number);
            if resident(&self.population, &plan) {
                let application = Application::of(&self.experiment, number, &plan, &mut requests);
                self.occupy(number, &plan, application);
            }
        }
        for (number, flow) in (count_u32(flows)..).zip(asking) {
            let plan = self.experiment.flows.of(flow);
            self.occupy(number, &plan, Application::Asking(self.slots.of(flow)));
        }
    }

    /// The slot of a flow that starts.
    pub(super) fn slot_for(&mut self, number: u32) -> usize {
        if let Whereabouts::Slot(slot) = self.slots.whereabouts(number) {
            return slot as usize;
        }
        if let Some(finished) = self.slots.take_finished() {
            self.clear_out(finished);
        }
        let plan = self.experiment.flows.of(number);
        self.occupy(number, &plan, Application::Stream)
    }

    /// Gives a connection a slot.
    ///
    /// # Panics
    /// If there are more than have timers of their own.
    fn occupy(&mut self, number: u32, plan: &Flow, application: Application) -> usize {
        let is_asking = matches!(application, Application::Asking(_));
        let (there, back) = self.places(plan, is_asking);
        let config = &self.experiment.endpoints[plan.endpoint as usize];
        let window_start = Time::ZERO + self.experiment.warmup;
        let mut meter = FlowMeter::new(window_start);
        meter.is_traced = self.network.recorder.collector.traces(number);
        let mut sender = SenderSlot::new(config, FlowId(number), there, meter);
        if config.cc.needs_rate_samples() {
            let draws = Stream::new(self.experiment.seed, &format!("flow/{number}")).uniform_u64();
            sender.sender.set_seed(draws);
        }
        let mut receiver = ReceiverSlot::new(config, FlowId(number), back);
        let partner = match &application {
            Application::Exchanges(exchanges) => count_u32(exchanges.requests),
            Application::Asking(flow) => count_u32(*flow),
            _ => NO_PARTNER,
        };
        (sender.partner, receiver.partner) = (partner, partner);
        let state = FlowState::new(number, plan, application);
        let slot = if let Some(free) = self.slots.take() {
            let slot = free as usize;
            (self.senders[slot], self.receivers[slot], self.flows[slot]) = (sender, receiver, state);
            slot
        } else {
            assert!(self.flows.len() < Timer::SLOTS_MAX as usize, "too many flows at the same time");
            self.senders.push(sender);
            self.receivers.push(receiver);
            self.flows.push(state);
            self.flows.len() - 1
        };
        self.slots.set(number, Whereabouts::Slot(count_u32(slot)));
        slot
    }

    /// Where both ends of a connection are; one that carries requests is on the paths of its flow in the opposite
    /// direction.
    fn places(&mut self, plan: &Flow, is_asking: bool) -> (Place, Place) {
        let Self { network, cards, experiment, population, .. } = self;
        let Routes { to, queued } = &mut population.routes;
        let mut place = |path: u32, end: u32| {
            let route = queued.route(network, (experiment, cards), plan, path, end);
            Place { route: route.unwrap_or_else(|| to[&end][path as usize]), endpoint: plan.endpoint }
        };
        let (there, back) =
            if is_asking { (plan.backward, plan.forward) } else { (plan.forward, plan.backward) };
        (place(there, end(&plan.app)), place(back, TO_SENDER))
    }

    /// A flow has finished.
    pub(super) fn on_finished(&mut self, slot: usize) {
        let state = &self.flows[slot];
        let is_complete = matches!(state.app, App::Transfers { rounds, .. }
            if state.writer.completions.len() == rounds as usize);
        if is_complete && !self.population.resident[state.group as usize] {
            self.slots.finish(count_u32(slot));
        }
    }

    /// Frees the slots of those finished flows of which nothing is left in the network.
    #[inline(never)]
    fn clear_out(&mut self, mut finished: Vec<u32>) {
        finished.retain(|slot| {
            let is_quiet = self.is_quiet(*slot as usize);
            if is_quiet {
                self.release(*slot);
            }
            !is_quiet
        });
        self.slots.keep_finished(finished);
    }

    /// Whether a flow that has finished has no packets in the network and no timers that run: nothing can happen to it
    /// any more.
    fn is_quiet(&self, slot: usize) -> bool {
        let (sender, receiver, state) = (&self.senders[slot], &self.receivers[slot], &self.flows[slot]);
        let lost = self.network.recorder.collector.lost(state.number);
        let stops = self.experiment.flows.of(state.number).stop.is_some();
        sender.packets.wrapping_add(receiver.packets) == lost
            && sender.sender.deadline() == Time::NEVER
            && receiver.receiver.deadline() == Time::NEVER
            && (state.writer.is_stopped() || !stops)
    }

    /// Keeps what the result needs of a flow, and frees its slot.
    fn release(&mut self, slot: u32) {
        let place = slot as usize;
        let (number, group) = (self.flows[place].number, self.flows[place].group);
        let starts_before = self.experiment.flows.of(number).start < Time::ZERO + self.experiment.warmup;
        let before_window = !self.population.is_measuring;
        if before_window && starts_before {
            // What it has counted is no part of the measurement, which begins without it.
            self.begin_window(place);
        }
        let result = self.result_of(place);
        let is_listed = u64::from(number - self.experiment.flows.of_group(group).start)
            < self.population.listed[group as usize];
        let whereabouts = match (&self.flows[place].writer.completions[..], self.flows[place].app) {
            // All that it has measured follows from this.
            ([fct], App::Transfers { bytes, .. })
                if !is_listed
                    && starts_before == before_window
                    && result.delivered_bytes == if before_window { 0 } else { bytes } =>
            {
                self.population.totals[group as usize].add(&Totals::of(&result));
                Whereabouts::Transferred { fct: *fct, before_window }
            }
            _ => {
                self.population.results.insert(number, result);
                Whereabouts::Ended
            }
        };
        self.slots.set(number, whereabouts);
        self.flows[place].is_in_use = false;
        self.slots.give_back(slot);
    }

    fn result_of(&self, slot: usize) -> FlowResult {
        let (sender, receiver, state) = (&self.senders[slot], &self.receivers[slot], &self.flows[slot]);
        let finished = finished(sender, receiver, state, self.counters(slot));
        FlowResults::result_of(&self.experiment, state.number, finished)
    }

    /// Memory of a flow that has a slot in bytes: both ends with their queues, on average.
    pub(super) fn flow_bytes(&self) -> u64 {
        let ends = self.senders.iter().zip(&self.receivers);
        let heap: usize =
            ends.map(|(sender, receiver)| sender.sender.heap_bytes() + receiver.receiver.heap_bytes()).sum();
        let fixed = size_of::<SenderSlot>() + size_of::<ReceiverSlot>() + size_of::<FlowState>();
        let asking =
            self.flows.iter().filter(|state| matches!(state.application, Application::Asking(_))).count();
        let flows = self.flows.len() - asking;
        fixed as u64 + heap as u64 / flows.max(1) as u64
    }

    pub(super) fn counters(&self, slot: usize) -> FlowCounters {
        let collector = &self.network.recorder.collector;
        counters(collector, &self.senders[slot], &self.receivers[slot], &self.flows[slot])
    }
}

/// The slots at the end of the run.
pub(super) struct Occupied<'a> {
    pub(super) slots: &'a Slots,
    pub(super) senders: &'a [SenderSlot],
    pub(super) receivers: &'a [ReceiverSlot],
    pub(super) flows: &'a [FlowState],
}

/// The results of all flows at the end of the run.
pub(super) fn results<'a>(
    experiment: &'a Experiment,
    occupied: &Occupied<'a>,
    mut population: Population,
    collector: &Collector,
) -> FlowResults<'a> {
    let mut results = FlowResults::new(experiment);
    for (group, totals) in population.totals.iter().enumerate() {
        results.add_totals(group, totals);
    }
    for (number, plan) in (0u32..).zip(&experiment.flows) {
        match occupied.slots.whereabouts(number) {
            Whereabouts::Slot(slot) => {
                let slot = slot as usize;
                let (sender, receiver) = (&occupied.senders[slot], &occupied.receivers[slot]);
                let state = &occupied.flows[slot];
                let counters = counters(collector, sender, receiver, state);
                results.push(number, finished(sender, receiver, state, counters));
            }
            Whereabouts::NotBegun => results.push(number, not_begun(experiment)),
            Whereabouts::Ended => {
                if let Some(result) = population.results.remove(&number) {
                    results.push_result(number, result);
                }
            }
            Whereabouts::Transferred { fct, before_window } => {
                let wire_bytes = collector.wire_bytes(number as usize);
                results.push_ended(number, &ended(&plan, fct, wire_bytes, before_window));
            }
        }
    }
    results
}

/// What a flow that has ended after one transfer has measured.
fn ended(plan: &Flow, fct: Span, wire_bytes: u64, before_window: bool) -> EndedTransfer {
    match plan.app {
        App::Transfers { bytes, .. } if !before_window => {
            EndedTransfer { fct, wire_bytes, delivered_bytes: bytes }
        }
        _ => EndedTransfer { fct, wire_bytes: 0, delivered_bytes: 0 },
    }
}

/// The results of a flow that never had a slot.
fn not_begun<'a>(experiment: &Experiment) -> FinishedFlow<'a> {
    FinishedFlow {
        meter: FlowMeter::new(Time::ZERO + experiment.warmup),
        counters: FlowCounters::default(),
        feedback: FeedbackCounters::default(),
        feedback_at_start: FeedbackCounters::default(),
        finished: None,
        // There is no window to be divided by it.
        quantum: 1,
        fct_s: Vec::new(),
        transfers_begun: 0,
        app: AppMeter::None,
    }
}

/// The results of a flow in a slot.
fn finished<'a>(
    sender: &SenderSlot,
    receiver: &ReceiverSlot,
    state: &'a FlowState,
    counters: FlowCounters,
) -> FinishedFlow<'a> {
    FinishedFlow {
        meter: sender.meter.clone(),
        counters,
        feedback: feedback(&receiver.receiver),
        feedback_at_start: state.feedback_at_start,
        finished: state.finished,
        quantum: sender.sender.window().quantum,
        fct_s: state.writer.completions.iter().map(|fct| fct.as_secs_f64()).collect(),
        transfers_begun: state.writer.transfers_begun(),
        app: state.application.meter(),
    }
}

/// What a connection has counted so far.
fn counters(
    collector: &Collector,
    sender: &SenderSlot,
    receiver: &ReceiverSlot,
    state: &FlowState,
) -> FlowCounters {
    let wire_bytes = collector.wire_bytes(state.number as usize);
    if let Application::Datagrams(datagrams) = &state.application {
        return FlowCounters {
            delivered_bytes: datagrams.meter.delivered_bytes(),
            wire_bytes,
            marks_seen: fit_u32(datagrams.meter.marks_seen()),
            ..FlowCounters::default()
        };
    }
    let (sender, receiver) = (&sender.sender, &receiver.receiver);
    let counters = sender.counters();
    FlowCounters {
        delivered_bytes: receiver.delivered_bytes(),
        wire_bytes,
        marks_seen: fit_u32(receiver.marks_seen()),
        losses: fit_u32(sender.losses()),
        retransmissions: counters.retransmissions,
        timeouts: counters.timeouts,
        reductions: counters.cwr_reductions + counters.fast_recoveries + counters.timeouts,
    }
}
