//! `[bottleneck.schedule]` and `topology.links.schedule`

use serde_json::{Value as Json, json};

use super::opportunities::OpportunityGaps;
use crate::field::{Field, Section};
use crate::quantity::{DataRate, Duration};
use crate::report::Report;
use crate::tree::{Node, Value};

/// How a link changes during the run: by changes, or else its rate and its delay each by a list or a sine. Instead of a
/// rate it may have opportunities to send.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct LinkSchedule {
    /// Changes in the order of their times.
    #[key(default = [])]
    pub changes: Vec<LinkChange>,
    /// Rates of the link as [time, rate], each from its time on; the rate "down" is an outage until the next time.
    #[key(otherwise = "the rate does not follow a list")]
    pub rates: Option<Vec<RateAt>>,
    /// Propagation delays of the link as [time, delay], each from its time on. No packet overtakes another.
    #[key(otherwise = "the delay does not follow a list")]
    pub delays: Option<Vec<DelayAt>>,
    /// The rate follows a sine from the start of the run on.
    pub rate_sine: Option<RateSine>,
    /// The propagation delay follows a sine from the start of the run on.
    pub delay_sine: Option<DelaySine>,
    /// Table of rates and delays (CSV, JSON, Parquet), relative to the scenario file: a head with the columns `time_s`
    /// and `rate_mbit_s`, `delay_ms` or both (other words and units that the names say are read, too), and a row for
    /// each time; `down` instead of a rate is an outage. The resolved scenario holds what was read as `rates` and
    /// `delays`.
    pub trace: Option<String>,
    /// File of packet opportunities in the form of mahimahi, relative to the scenario file: a line for each opportunity
    /// to send 1504 bytes, with its time in whole milliseconds; the file is repeated after the last of them. What waits
    /// then is sent, a packet that is larger than the rest goes on at the next opportunity, and what is not used is
    /// lost. The resolved scenario holds what was read as `opportunity_gaps`.
    #[key(source = "mahimahi src/frontend/link_queue.cc")]
    pub opportunities: Option<String>,
    /// Such opportunities as a text: milliseconds from one to the next, the first from the start, with x and a number
    /// for several at once: "1" is one each millisecond, "3 1x2 2" are opportunities at 3, 4, 4, 6, 9, ... ms.
    #[key(otherwise = "the link sends at its rate, without a pause")]
    pub opportunity_gaps: Option<OpportunityGaps>,
    /// Time after which all changes or lists happen again, counted from the start of the run, as often as the run is
    /// long.
    #[key(otherwise = "they happen once")]
    pub repeat: Option<Duration>,
}

/// One change of a link. A packet in transmission keeps the rate with which it began; no packet overtakes another when
/// the delay falls.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct LinkChange {
    /// When it happens.
    pub at: Duration,
    /// New rate of the link.
    #[key(otherwise = "as before")]
    pub rate: Option<DataRate>,
    /// New propagation delay of the link.
    #[key(otherwise = "as before")]
    pub delay: Option<Duration>,
    /// Time for which no transmission begins; packets wait in the queue.
    #[key(otherwise = "none")]
    pub outage: Option<Duration>,
    /// Time over which the rate and the delay approach their new values, linearly in steps: each has the mean over its
    /// time, so that as many bits can be sent as at a rate that changes steadily.
    #[key(default = "0 s")]
    pub over: Duration,
    /// Length of such a step.
    #[key(default = "10 ms")]
    pub step: Duration,
}

/// A rate that follows a sine, in steps; it begins at its mean and rises.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct RateSine {
    /// Mean over a period.
    pub mean: DataRate,
    /// Largest distance from the mean.
    pub amplitude: DataRate,
    /// Time after which it repeats.
    pub period: Duration,
    /// Time for which the rate stays; it is the mean of the sine over that time.
    #[key(default = "10 ms")]
    pub step: Duration,
}

/// A propagation delay that follows a sine, in steps; it begins at its mean and rises.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct DelaySine {
    /// Mean over a period.
    pub mean: Duration,
    /// Largest distance from the mean.
    pub amplitude: Duration,
    /// Time after which it repeats.
    pub period: Duration,
    /// Time for which the delay stays; it is the mean of the sine over that time.
    #[key(default = "10 ms")]
    pub step: Duration,
}

/// A rate from some time on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateAt {
    /// From when on.
    pub at: Duration,
    /// The rate; `None` while the link is down.
    pub rate: Option<DataRate>,
}

/// A propagation delay from some time on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayAt {
    /// From when on.
    pub at: Duration,
    /// The delay.
    pub delay: Duration,
}

/// How a list says that the link is down.
const DOWN: &str = "down";

/// The two items of a point of a list.
fn point<'a>(node: &'a Node, hint: &str, report: &mut Report) -> Option<[&'a Node; 2]> {
    if let Value::Array(items) = &node.value
        && let [at, value] = items.as_slice()
    {
        return Some([at, value]);
    }
    report.error(&node.mark, "expected a time and a value", hint);
    None
}

impl Field for RateAt {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let [at, rate] = point(node, "as in [\"2 s\", \"20 Mbit/s\"] or [\"2 s\", \"down\"]", report)?;
        let at = Duration::read(at, report);
        let rate = match &rate.value {
            Value::Text(text) if text == DOWN => Some(None),
            _ => DataRate::read(rate, report).map(Some),
        };
        Some(Self { at: at?, rate: rate? })
    }
    fn write(&self) -> Option<Json> {
        Some(json!([self.at.to_string(), self.rate.map_or_else(|| DOWN.to_owned(), |rate| rate.to_string())]))
    }
    fn schema() -> Json {
        json!({ "type": "array", "minItems": 2, "maxItems": 2,
                "prefixItems": [Duration::schema(), { "anyOf": [DataRate::schema(), { "const": DOWN }] }] })
    }
}

impl Field for DelayAt {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let [at, delay] = point(node, "as in [\"2 s\", \"5 ms\"]", report)?;
        let (at, delay) = (Duration::read(at, report), Duration::read(delay, report));
        Some(Self { at: at?, delay: delay? })
    }
    fn write(&self) -> Option<Json> {
        Some(json!([self.at.to_string(), self.delay.to_string()]))
    }
    fn schema() -> Json {
        let pair = [Duration::schema(), Duration::schema()];
        json!({ "type": "array", "minItems": 2, "maxItems": 2, "prefixItems": pair })
    }
}
