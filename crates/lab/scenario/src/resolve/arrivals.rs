//! Flows that arrive as a Poisson process.

use shoal_units::{Span, Stream, Time};

use super::Context;
use crate::quantity::Duration;
use crate::schema::Stop;

/// A Poisson process of arrivals from `from` (included) to `until` (excluded).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    /// Mean rate; `None` for a process given by its load until the network is known.
    pub per_second: Option<f64>,
    pub from: Time,
    pub until: Time,
}

/// How many flows arrive.
#[derive(Clone, Copy, Debug)]
pub(super) enum Intensity {
    /// Mean flows per second.
    PerSecond(f64),
    /// Fraction of the capacity of the senders' links.
    Load(f64),
}

impl Arrivals {
    /// The process of group `index`.
    pub(super) fn of(
        intensity: Intensity,
        (from, until): (Duration, Option<Duration>),
        index: usize,
        duration: Span,
        cx: &Context<'_>,
    ) -> Self {
        let group = &cx.scenario.flows[index];
        let keys = cx.group(index);
        if group.count.is_some() {
            let hint = "remove count: it follows from the rate, the time and the seed";
            keys.error("count", "random arrivals have no fixed number of flows", hint);
        }
        match intensity {
            Intensity::PerSecond(rate) if rate <= 0.0 => keys.error(
                "start.poisson",
                "the rate of arrivals is 0: no flow would ever arrive",
                "as in { poisson = \"200 per s\" }",
            ),
            Intensity::Load(load) if !(load > 0.0 && load <= 10.0) => {
                let hint = "write a number above 0, as in { load = 0.6 }; a load above 10 is not accepted";
                keys.error("start.load", format!("the load is {load}"), hint);
            }
            _ => {}
        }
        let end = Time::ZERO + duration;
        let stop = match &group.stop {
            Some(Stop::At(time)) => Time::ZERO + time.span(),
            // Arrivals with a list of stops are refused.
            Some(Stop::List(_)) | None => end,
        };
        let from = Time::ZERO + from.span();
        let until = until.map_or(stop.min(end), |until| Time::ZERO + until.span());
        if until <= from {
            let hint = "write a later until, or an earlier from";
            keys.error("start.until", "the arrivals end before they begin", hint);
        } else if until > end {
            let hint = format!("the duration is {}", cx.scenario.duration);
            keys.error("start.until", "flows would arrive after the end of the run", hint);
        }
        let per_second = match intensity {
            Intensity::PerSecond(rate) => Some(rate),
            Intensity::Load(_) => None,
        };
        Self { per_second, from, until: until.min(end) }
    }

    /// Times of all arrivals of the group `name`, in order.
    pub(super) fn times(&self, seed: u64, name: &str) -> impl Iterator<Item = Time> + use<> {
        let Self { per_second, from: mut now, until } = *self;
        let mut stream = Stream::new(seed, &format!("arrivals/{name}"));
        let mean_ps = per_second.filter(|rate| *rate > 0.0).map(|rate| 1e12 / rate);
        std::iter::from_fn(move || {
            // `1 - u` is never zero, so the gap is finite: at most 37 times the mean.
            let gap_ps = -libm::log(1.0 - stream.uniform_f64()) * mean_ps?;
            now = now.saturating_add(Span::from_picos(gap_ps as u64));
            (now < until).then_some(now)
        })
    }

    /// A bound on the number of arrivals that is exceeded with a probability below 1e-20: the mean plus ten
    /// standard deviations.
    pub(super) fn at_most(&self) -> Option<u64> {
        let mean = self.per_second? * self.until.since(self.from).as_secs_f64();
        Some((mean + 10.0 * libm::sqrt(mean) + 10.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps of a picosecond on average are cut to whole ones, so that many arrivals fall on the very end, which is
    /// excluded.
    #[test]
    fn nothing_arrives_at_the_end() {
        let until = Time::ZERO + Span::from_picos(1000);
        let arrivals = Arrivals { per_second: Some(1e12), from: Time::ZERO, until };
        for seed in 0..20 {
            let times: Vec<Time> = arrivals.times(seed, "web").collect();
            assert!(!times.is_empty() && times.iter().all(|time| *time < until), "{seed}: {times:?}");
        }
    }
}
