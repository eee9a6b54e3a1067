//! Flows that arrive as a Poisson process.

use shoal_units::{Rate, Span, Stream, Time};

use super::Context;
use super::flows::{GroupPlan, Routes, StartPlan};
use super::limits::MAX_FLOWS;
use crate::schema::Start;

/// The capacity of which the load of a group is a fraction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    pub rate: Rate,
    pub overhead_bytes: u16,
}

/// A Poisson process of arrivals from `from` (included) to `until` (excluded).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    /// Mean rate; `None` for a process given by its load until the network is known.
    pub per_second: Option<f64>,
    pub from: Time,
    pub until: Time,
}

impl Arrivals {
    /// The process of group `index`.
    pub fn of(start: &Start, index: usize, duration: Span, cx: &mut Context<'_>) -> Option<Self> {
        let (per_second, from, until) = match start {
            Start::Poisson(poisson) => (Some(poisson.poisson.per_second()), poisson.from, poisson.until),
            Start::Load(load) => (None, load.from, load.until),
            _ => return None,
        };
        let group = &cx.scenario.flows[index];
        let path = format!("flows[{index}]");
        if group.count.is_some() {
            let hint = "remove count: it follows from the rate, the time and the seed";
            cx.error(&format!("{path}.count"), "random arrivals have no fixed number of flows", hint);
        }
        if per_second.is_some_and(|rate| rate <= 0.0) {
            cx.error(
                &format!("{path}.start.poisson"),
                "the rate of arrivals is 0: no flow would ever arrive",
                "as in { poisson = \"200 per s\" }",
            );
        }
        if let Start::Load(load) = start
            && !(load.load > 0.0 && load.load <= 10.0)
        {
            let hint = "write a number above 0, as in { load = 0.6 }; a load above 10 is not accepted";
            cx.error(&format!("{path}.start.load"), format!("the load is {}", load.load), hint);
        }
        let end = Time::ZERO + duration;
        let stop = group.stop.map_or(end, |stop| Time::ZERO + stop.span());
        let from = Time::ZERO + from.span();
        let until = until.map_or(stop.min(end), |until| Time::ZERO + until.span());
        if until <= from {
            let hint = "write a later until, or an earlier from";
            cx.error(&format!("{path}.start.until"), "the arrivals end before they begin", hint);
        } else if until > end {
            let hint = format!("the duration is {}", cx.scenario.duration);
            cx.error(&format!("{path}.start.until"), "flows would arrive after the end of the run", hint);
        }
        Some(Self { per_second, from, until: until.min(end) })
    }

    /// Times of all arrivals of the group `name`.
    pub fn times(&self, seed: u64, name: &str) -> Vec<Time> {
        let Some(per_second) = self.per_second.filter(|rate| *rate > 0.0) else { return Vec::new() };
        let mean_ps = 1e12 / per_second;
        let mut stream = Stream::new(seed, &format!("arrivals/{name}"));
        let mut times = Vec::new();
        let mut now = self.from;
        loop {
            // `1 - u` is never zero, so the gap is finite: at most 37 times the mean.
            let gap_ps = -libm::log(1.0 - stream.uniform_f64()) * mean_ps;
            now = now.saturating_add(Span::from_picos(gap_ps as u64));
            if now >= self.until {
                return times;
            }
            times.push(now);
        }
    }

    /// A bound on the number of arrivals that is exceeded with a probability below 1e-20: the mean plus ten
    /// standard deviations.
    fn at_most(&self) -> Option<u64> {
        let mean = self.per_second? * self.until.since(self.from).as_secs_f64();
        Some((mean + 10.0 * libm::sqrt(mean) + 10.0) as u64)
    }
}

/// Turns loads into rates, which needs the network, and bounds the number of flows.
pub(super) fn settle(groups: &mut [Option<GroupPlan>], routes: &[Routes], cx: &mut Context<'_>) {
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
        let path = format!("flows[{index}].start");
        if let Start::Load(_) = &cx.scenario.flows[index].start {
            if wanted.is_none() && routes.get(index).is_some() {
                let hint =
                    "write app = { transfer = ... } and links with a rate, or { poisson = \"200 per s\" }";
                cx.error(&path, "a load needs transfers of known size and a link of known rate", hint);
            }
            arrivals.per_second = wanted;
        }
        let Some(most) = arrivals.at_most() else { continue };
        total = total.saturating_add(most);
        if total > MAX_FLOWS {
            let hint =
                format!("at most {MAX_FLOWS} in all groups together: lower the rate, or shorten the time");
            cx.error(&path, format!("up to {most} flows would arrive: too many"), hint);
            return;
        }
    }
}
