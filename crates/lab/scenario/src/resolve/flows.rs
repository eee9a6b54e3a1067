//! Start times of flows, and what their applications send.

use std::sync::Arc;

use shoal_units::{Span, Stream, Time};

use super::Context;
use super::arrivals::{Arrivals, Intensity};
use super::hosts::Paths;
use super::interactive;
use super::limits::MAX_FLOWS;
use super::network::Routes;
use super::sizes::{Sizes, named};
use crate::experiment::{App, Experiment, Flow};
use crate::flow_list::FlowList;
use crate::quantity::{DataRate, Duration};
use crate::remarks::Table;
use crate::schema::{
    Arrivals as ArrivalLaw, ConstantRate, FlowGroup, Pages, Start, Stop, Topology, TransferSize, Transfers,
    Unresponsive, Workload,
};
use crate::size_distribution::SizeDistribution;

/// A checked flow group, ready to be expanded into flows.
#[derive(Clone, Debug)]
pub(crate) struct GroupPlan {
    count: u32,
    pub(super) start: StartPlan,
    stop: Option<Stop>,
    pub(super) app: App,
    /// Distribution from which each flow draws its transfer size, which `app` then leaves open.
    sizes: Option<SizeDistribution>,
    /// Pairs of forward and backward paths, which the flows use in turn.
    pub routes: Routes,
}

#[derive(Clone, Debug)]
pub(super) enum StartPlan {
    At(Time),
    /// [`Time::NEVER`] for a flow that does not start.
    List(Vec<Time>),
    Uniform(Time, Span),
    Every(Time, Span),
    Arrivals(Arrivals),
    Listed(Arc<FlowList>),
}

/// Checks group `index`.
pub(super) fn group_plan(index: usize, duration: Span, sizes: &Sizes, cx: &Context<'_>) -> Option<GroupPlan> {
    let group = &cx.scenario.flows[index];
    let keys = cx.group(index);
    let list = cx.list_of(index);
    let count = group.count.unwrap_or_else(|| list.map_or(1, |list| list.count()));
    let start = start_plan(&group.start, count, index, duration, cx);
    let (first, last) = match &start {
        StartPlan::At(time) => (*time, *time),
        StartPlan::List(times) => {
            let planned = || times.iter().copied().filter(|time| *time < Time::NEVER);
            (planned().min().unwrap_or_default(), planned().max().unwrap_or_default())
        }
        StartPlan::Uniform(from, width) => (*from, from.saturating_add(*width)),
        StartPlan::Every(from, gap) => {
            (*from, from.saturating_add(gap.saturating_mul(u64::from(count.saturating_sub(1)))))
        }
        StartPlan::Listed(list) => list.span(),
        // The last arrival comes before that time.
        StartPlan::Arrivals(arrivals) => {
            (arrivals.from, Time::from_picos(arrivals.until.as_picos().saturating_sub(1)))
        }
    };
    if first.since(Time::ZERO) >= duration && !duration.is_zero() {
        keys.error(
            "start",
            "the group starts after the end of the run",
            format!("the duration is {}", cx.scenario.duration),
        );
    } else if last.since(Time::ZERO) >= duration && !duration.is_zero() {
        keys.warning(
            "start",
            "some flows start after the end of the run",
            format!("the duration is {}", cx.scenario.duration),
        );
    }
    if let Some(stop) = &group.stop {
        check_stop(stop, (&start, last), count, &keys);
    }
    check_listed(group, &keys);
    if matches!(cx.scenario.topology, Topology::Dumbbell(_))
        && list.is_some_and(|list| list.hosts().is_some())
    {
        let hint = "remove its columns of hosts, or write a topology that has them";
        keys.warning("start.list", "the hosts of the list are not used: a dumbbell has none", hint);
    }
    let drawn = drawn_sizes(&group.app, sizes, &keys.table("app"));
    let app = app(&group.app, &keys.table("app"))?;
    if app.has_barrier() && matches!(start, StartPlan::Arrivals(_)) {
        let hint = "write start = \"0 s\" and count, or leave barrier out";
        keys.error("app.barrier", "flows that arrive at random cannot wait for each other", hint);
    }
    if app.has_barrier() && matches!(&start, StartPlan::List(times) if times.contains(&Time::NEVER)) {
        let hint = "give each flow a time, or leave barrier out";
        keys.error("start", "flows that wait for each other would wait for one that never starts", hint);
    }
    if app.has_barrier() && matches!(group.stop, Some(Stop::List(_))) {
        keys.error("stop", "flows that wait for each other stop together", ONE_STOP);
    }
    if let App::Page { connections, .. } = app {
        if matches!(start, StartPlan::Arrivals(_)) {
            let hint = "write start = \"0 s\", and think for random times between pages";
            keys.error("start", "the connections of a browser do not arrive at random", hint);
        } else if !count.is_multiple_of(connections) {
            let message =
                format!("{count} flows are no whole number of browsers with {connections} connections each");
            keys.error("count", message, "write a multiple of app.connections");
        }
    }
    let stop = group.stop.clone();
    Some(GroupPlan { count, start, stop, app, sizes: drawn?, routes: Routes::default() })
}

impl GroupPlan {
    /// Number of flows that do not depend on random arrivals.
    pub(super) fn fixed_count(&self) -> u32 {
        if matches!(self.start, StartPlan::Arrivals(_)) { 0 } else { self.count }
    }

    /// Distribution of the objects of pages, if their sizes are drawn.
    pub(super) fn object_sizes(&self) -> Option<SizeDistribution> {
        self.sizes.clone().filter(|_| matches!(self.app, App::Page { .. }))
    }

    /// The most flows that the group has, up to what is very unlikely.
    pub(super) fn most(&self) -> u64 {
        match &self.start {
            StartPlan::Arrivals(arrivals) => arrivals.at_most().unwrap_or_default(),
            _ => self.count.into(),
        }
    }

    /// Mean bytes on the wire of the data of one flow of group `index`, if its transfers are bounded.
    pub(super) fn mean_wire_bytes(&self, index: usize, overhead_bytes: u16, cx: &Context<'_>) -> Option<f64> {
        let group = &cx.scenario.flows[index];
        let mss = group.mtu.bytes()?.checked_sub(u64::from(group.header_bytes)).filter(|mss| *mss > 0)?;
        let headers = f64::from(group.header_bytes) + f64::from(overhead_bytes);
        let App::Transfers { bytes, rounds, .. } = self.app else { return None };
        let (bytes, segments) = match &self.sizes {
            Some(sizes) => (sizes.mean_bytes(), sizes.mean_segments(mss)),
            None => (bytes as f64, bytes.div_ceil(mss) as f64),
        };
        Some(f64::from(rounds) * (bytes + segments * headers))
    }
}

/// Checks that nothing contradicts the list of a group that has one, and that no other group asks for one.
fn check_listed(group: &FlowGroup, keys: &Table<'_>) {
    let sizes = match &group.app {
        Workload::Transfers(transfers) if transfers.transfer == TransferSize::Listed => Some(transfers),
        _ => None,
    };
    if !matches!(group.start, Start::Listed(_)) {
        if sizes.is_some() {
            let hint = "write start = { list = \"flows.csv\" }, or a size";
            keys.error("app.transfer", "the sizes are those of a list, and there is none", hint);
        }
        return;
    }
    if group.count.is_some() {
        let hint = "remove count (and lists of rtt): each row of the list is a flow";
        keys.error("count", "a list has its own number of flows", hint);
    }
    if sizes.is_none_or(|transfers| transfers.rounds > 1 || transfers.barrier) {
        let hint = "remove app, or write app = { transfer = \"listed\" }";
        keys.error("app", "the list says what its flows transfer, each once", hint);
    }
    if matches!(group.stop, Some(Stop::List(_))) {
        keys.error("stop", "flows of a list have no list of stop times", ONE_STOP);
    }
}

const ONE_STOP: &str = "write one time for all flows";

/// Checks when the flows of a group stop against their starts, the latest of which is `last`.
fn check_stop(stop: &Stop, (start, last): (&StartPlan, Time), count: u32, keys: &Table<'_>) {
    let too_early = "flows would stop before they start";
    match stop {
        Stop::At(time) if Time::ZERO + time.span() <= last => {
            keys.error("stop", too_early, "write a time after the last start");
        }
        Stop::At(_) => {}
        // Refused with the other keys that contradict a list.
        Stop::List(_) if matches!(start, StartPlan::Listed(_)) => {}
        Stop::List(_) if matches!(start, StartPlan::Arrivals(_)) => {
            keys.error("stop", "flows that arrive at random have no list of stop times", ONE_STOP);
        }
        Stop::List(times) if times.len() != count as usize => {
            let message = format!("{} stop times for {count} flows", times.len());
            keys.error("stop", message, "give one time or \"never\" for each flow");
        }
        Stop::List(_) => {
            // Starts that are drawn may all be as late as the latest.
            let start_of = |number| start.of_flow(number).unwrap_or(last);
            if (0..count).any(|number| stop.of_flow(number).is_some_and(|stop| stop <= start_of(number))) {
                let hint = "write times after the starts of the same flows, or \"never\"";
                keys.error("stop", too_early, hint);
            }
        }
    }
}

/// Distribution of the transfer sizes, if they are drawn; the outer `None` is an error.
#[allow(clippy::option_option, reason = "whether it was right, and whether sizes are drawn")]
fn drawn_sizes(workload: &Workload, sizes: &Sizes, keys: &Table<'_>) -> Option<Option<SizeDistribution>> {
    if let Workload::Pages(Pages { object: TransferSize::Drawn(name), .. }) = workload {
        return named(name, sizes, "object.distribution", keys).map(Some);
    }
    let Workload::Transfers(Transfers { transfer: TransferSize::Drawn(name), rounds, .. }) = workload else {
        return Some(None);
    };
    if *rounds > 1 {
        let hint = "a flow draws one size; write more flows instead of rounds";
        keys.error("rounds", "several rounds of a drawn size", hint);
    }
    named(name, sizes, "transfer.distribution", keys).map(Some)
}

fn start_plan(start: &Start, count: u32, index: usize, duration: Span, cx: &Context<'_>) -> StartPlan {
    let keys = cx.group(index);
    let at = |duration: &Duration| Time::ZERO + duration.span();
    match start {
        Start::At(time) => StartPlan::At(at(time)),
        Start::List(times) => {
            if times.len() != count as usize {
                let message = format!("{} start times for {count} flows", times.len());
                keys.error("start", message, "give one time for each flow, or leave out count");
            }
            StartPlan::List(times.iter().map(|time| time.time().unwrap_or(Time::NEVER)).collect())
        }
        Start::Uniform { from, to } => {
            if to.span() < from.span() {
                keys.error(
                    "start",
                    "the latest start is before the earliest",
                    "as in { uniform = [\"0 s\", \"1 s\"] }",
                );
            }
            StartPlan::Uniform(at(from), to.span().saturating_sub(from.span()))
        }
        Start::Every(staggered) if staggered.every.is_zero() && count > 1 => {
            let hint = format!("write a time above 0, or start = \"{}\": all at once", staggered.first);
            keys.error("start", "the time between the starts is 0", hint);
            StartPlan::At(at(&staggered.first))
        }
        Start::Every(staggered) => StartPlan::Every(at(&staggered.first), staggered.every.span()),
        Start::Poisson(start) => {
            let intensity = Intensity::PerSecond(start.poisson.per_second());
            StartPlan::Arrivals(Arrivals::of(intensity, (start.from, start.until), index, duration, cx))
        }
        Start::Listed(listed) => match cx.list_of(index) {
            Some(list) => StartPlan::Listed(Arc::clone(list)),
            None => {
                let message = format!("the list of flows `{}` has not been read", listed.list);
                let hint = "the command line and the Python package read the file that start = { list = ... } of a \
                            scenario file names; a page in a browser and --set do not";
                keys.error("start.list", message, hint);
                StartPlan::At(Time::ZERO)
            }
        },
        Start::Load(start) => {
            let intensity = Intensity::Load(start.load);
            StartPlan::Arrivals(Arrivals::of(intensity, (start.from, start.until), index, duration, cx))
        }
    }
}

/// The application as planned; `keys` are those of `app`.
fn app(workload: &Workload, keys: &Table<'_>) -> Option<App> {
    match workload {
        Workload::Bulk => Some(App::Bulk),
        Workload::Transfers(transfers) => {
            let bytes = match &transfers.transfer {
                TransferSize::Fixed(size) => size.bytes().filter(|bytes| *bytes > 0),
                // Each flow replaces it by its own size.
                TransferSize::Drawn(_) | TransferSize::Listed => Some(0),
            };
            if bytes.is_none() {
                keys.error(
                    "transfer",
                    "a transfer needs a size above 0",
                    "as in \"800 kB\"; endless is app = \"bulk\"",
                );
            }
            if transfers.rounds == 0 {
                keys.error("rounds", "the number of rounds is 0", "write at least 1");
            }
            Some(App::Transfers {
                bytes: bytes?,
                rounds: transfers.rounds,
                interval: transfers.every.span(),
                barrier: transfers.barrier,
            })
        }
        Workload::ConstantRate(plan) => constant_rate(plan, keys),
        Workload::OnOff(periods) => {
            if periods.on.is_zero() || periods.off.is_zero() {
                let key = if periods.on.is_zero() { "on" } else { "off" };
                keys.error(
                    key,
                    "the period is 0",
                    "as in { on = \"1 s\", off = \"1 s\" }; always on is app = \"bulk\"",
                );
            }
            Some(App::OnOff { on: periods.on.span(), off: periods.off.span() })
        }
        Workload::Requests(plan) => interactive::requests(plan, keys),
        Workload::Pages(plan) => interactive::pages(plan, keys),
        Workload::Frames(plan) => interactive::frames(plan, keys),
        Workload::Unresponsive(plan) => unresponsive(plan, keys),
    }
}

fn constant_rate(plan: &ConstantRate, keys: &Table<'_>) -> Option<App> {
    let chunk = plan.packet.bytes().and_then(|bytes| u32::try_from(bytes).ok()).filter(|bytes| *bytes > 0);
    if chunk.is_none() {
        keys.error("packet", "a write needs a size above 0 B and below 4 GiB", "as in \"1448 B\"");
    }
    let pace = Pace { key: "constant_rate", what: "writes", shortest: (Span::from_picos(1), "picosecond") };
    let interval = pace.interval(plan.constant_rate, chunk, keys)?;
    Some(App::ConstantRate { chunk_bytes: chunk?, interval })
}

fn unresponsive(plan: &Unresponsive, keys: &Table<'_>) -> Option<App> {
    // IPv4 and UDP headers take 28 of these bytes.
    let packet = plan.packet.bytes().and_then(|bytes| u16::try_from(bytes).ok()).filter(|bytes| *bytes > 28);
    if packet.is_none() {
        keys.error("packet", "an IP packet with data has from 29 to 65535 B", "as in \"1500 B\"");
    }
    let pace =
        Pace { key: "unresponsive", what: "packets", shortest: (Span::from_picos(1000), "nanosecond") };
    let interval = pace.interval(plan.unresponsive, packet.map(u32::from), keys)?;
    let at_random = plan.arrivals == ArrivalLaw::Poisson;
    Some(App::Unresponsive { packet_bytes: packet?, interval, at_random, codepoint: plan.ecn })
}

/// Equal pieces of data at a rate.
struct Pace {
    /// Key of the rate.
    key: &'static str,
    /// What the pieces are.
    what: &'static str,
    /// Shortest time between two of them, and its unit.
    shortest: (Span, &'static str),
}

impl Pace {
    /// Time between pieces of `bytes`; `None` if there are none, or if the rate was refused.
    fn interval(&self, rate: DataRate, bytes: Option<u32>, keys: &Table<'_>) -> Option<Span> {
        let Self { key, what, shortest: (shortest, unit) } = *self;
        let rate = rate.rate().filter(|rate| rate.as_bps() > 0);
        if rate.is_none() {
            keys.error(key, "the rate must be above 0 and limited", "as in \"1 Mbit/s\"");
        }
        // In picoseconds; needs more than 64 bits at the lowest rates.
        let interval = u128::from(bytes?) * 8_000_000_000_000 / u128::from(rate?.as_bps());
        let interval = Span::from_picos(u64::try_from(interval).unwrap_or(u64::MAX));
        if interval > Duration::MAX {
            let hint = "write a higher rate or a smaller packet";
            keys.error(key, format!("the {what} are more than 1000000 s apart"), hint);
        } else if interval < shortest {
            keys.error(key, format!("the {what} follow each other within a {unit}"), "write a lower rate");
        }
        Some(interval)
    }
}

/// Turns loads into rates, which needs the network, and bounds the number of flows.
pub(super) fn settle(groups: &mut [Option<GroupPlan>], routes: &[Routes], cx: &Context<'_>) {
    let mut total: u64 = groups.iter().flatten().map(|group| u64::from(group.fixed_count())).sum();
    for (index, group) in groups.iter_mut().enumerate() {
        let Some(group) = group else { continue };
        let mean_wire = |overhead| group.mean_wire_bytes(index, overhead, cx);
        let wanted = match &cx.scenario.flows[index].start {
            Start::Load(load) => routes.get(index).and_then(|routes| {
                let reference = routes.reference?;
                let bytes = mean_wire(reference.overhead_bytes)?;
                Some(load.load * reference.rate.as_bps() as f64 / (8.0 * bytes))
            }),
            _ => None,
        };
        let StartPlan::Arrivals(arrivals) = &mut group.start else { continue };
        let keys = cx.group(index);
        if let Start::Load(_) = &cx.scenario.flows[index].start {
            if wanted.is_none() && routes.get(index).is_some() {
                let hint =
                    "write app = { transfer = ... } and links with a rate, or { poisson = \"200 per s\" }";
                keys.error("start", "a load needs transfers of known size and a link of known rate", hint);
            }
            arrivals.per_second = wanted;
        }
        let Some(most) = arrivals.at_most() else { continue };
        total = total.saturating_add(most);
        if total > MAX_FLOWS {
            let hint =
                format!("at most {MAX_FLOWS} in all groups together: lower the rate, or shorten the time");
            keys.error("start", format!("up to {most} flows would arrive: too many"), hint);
            return;
        }
    }
}

/// Adds all flows, in group order, and the paths that they need. Either all groups have hosts whose paths are found
/// here, or none.
pub(super) fn expand(plans: &[GroupPlan], mut hosts: Paths, experiment: &mut Experiment) {
    let seed = experiment.seed;
    for (index, plan) in (0u32..).zip(plans) {
        let group = experiment.groups[index as usize].name.clone();
        let most = plan.most() as usize;
        let mut pairs = plan.routes.ends.as_ref().map(|ends| ends.pairs(seed, &group));
        for (number, start) in (0u32..).zip(plan.start.times(seed, &group, plan.count)) {
            let (forward, backward) = match &mut pairs {
                Some(pairs) => hosts.of(pairs, number),
                None => plan.routes.pairs[(plan.routes.first + number as usize) % plan.routes.pairs.len()],
            };
            let flow = Flow {
                group: index,
                endpoint: index,
                forward,
                backward,
                start,
                stop: plan.stop.as_ref().and_then(|stop| stop.of_flow(number)),
                app: plan.app_of(seed, &group, number),
            };
            experiment.flows.push(flow, most.saturating_sub(number as usize + 1));
        }
    }
    experiment.paths.extend(hosts.all());
}

impl GroupPlan {
    fn app_of(&self, seed: u64, group: &str, number: u32) -> App {
        if let (StartPlan::Listed(list), App::Transfers { rounds, interval, barrier, .. }) =
            (&self.start, self.app)
        {
            return App::Transfers { bytes: list.bytes_of(number), rounds, interval, barrier };
        }
        match (&self.sizes, self.app) {
            (Some(sizes), App::Transfers { rounds, interval, barrier, .. }) => {
                // Each flow has its own stream: its size stays the same when other flows come or go.
                let bytes = sizes.draw(&mut Stream::new(seed, &format!("size/{group}/{number}")));
                App::Transfers { bytes, rounds, interval, barrier }
            }
            (_, app) => app,
        }
    }
}

impl StartPlan {
    /// Times at which the flows of a group of `count` begin; random arrivals are as many as come.
    fn times<'s>(&'s self, seed: u64, group: &'s str, count: u32) -> Box<dyn Iterator<Item = Time> + 's> {
        match self {
            Self::At(_) | Self::List(_) | Self::Every(..) | Self::Listed(_) => {
                Box::new((0..count).filter_map(|number| self.of_flow(number)))
            }
            Self::Uniform(from, width) => {
                // A stream for each flow: its start stays when the group grows.
                let offset = move |number: u32| {
                    let draw = Stream::new(seed, &format!("start/{group}/{number}")).uniform_u64();
                    (u128::from(draw) * u128::from(width.as_picos())) >> 64
                };
                Box::new((0..count).map(move |number| *from + Span::from_picos(offset(number) as u64)))
            }
            Self::Arrivals(arrivals) => Box::new(arrivals.times(seed, group)),
        }
    }

    /// When flow `number` of the group begins, if that is not drawn.
    fn of_flow(&self, number: u32) -> Option<Time> {
        match self {
            Self::At(time) => Some(*time),
            Self::List(times) => times.get(number as usize).copied(),
            Self::Every(first, gap) => Some(first.saturating_add(gap.saturating_mul(u64::from(number)))),
            Self::Listed(list) => list.start_of(number),
            Self::Uniform(..) | Self::Arrivals(_) => None,
        }
    }
}
