//! A bottleneck between two interfaces, for `shoal box`.

use crate::errors::{OutputError, ScenarioError, not_written};
use crate::exclusive::Exclusive;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use shoal_bottleneck::LinkConfig;
use shoal_box::{Carrier, Change, Direction, FlowCount, FlowKey, Lateness, Port, PortError, Record, Stop};
use shoal_measure::Histogram;
use shoal_netem::Chance;
use shoal_packet::Class;
use shoal_scenario::{Document, Experiment, Laws};
use shoal_trace::pcapng::{FrameReader, ReadError};
use shoal_units::Span;
use std::path::Path;
use std::time::Duration;

/// A box: two interfaces, and what is between them.
#[pyclass(module = "shoal._native")]
pub struct Box {
    carrier: Exclusive<std::boxed::Box<Carrier>>,
    changes: Changes,
    /// How long packets waited that the caller knows of, by class.
    told: [Histogram; 2],
}

impl Box {
    /// A box between interfaces, in a network namespace if one is given; a record comes to `pcap` if that is given, and
    /// says `about` of itself.
    pub(crate) fn of(
        ways: [Direction; 2],
        changes: Changes,
        namespace: Option<&Path>,
        interfaces: [&str; 2],
        pcap: Option<(&Path, &str)>,
    ) -> PyResult<Self> {
        let open = |interface| match namespace {
            Some(namespace) => Port::open_in(namespace, interface),
            None => Port::open(interface),
        };
        let [inside, outside] = interfaces;
        let ports = [open(inside).map_err(|e| refused(&e))?, open(outside).map_err(|e| refused(&e))?];
        let link_type = ports[0].link_type();
        let record = pcap.map(|(path, about)| Record::create(path, link_type, interfaces, about)).transpose();
        let record = record.map_err(|error| not_written(&error))?;
        let carrier = Exclusive::new(std::boxed::Box::new(Carrier::new(ports, ways, record)));
        Ok(Self { carrier, changes, told: Default::default() })
    }
}

/// What changes of a box mean: keys of its scenario with values, in words as `--set` has them.
pub(crate) struct Changes(Document);

impl Changes {
    /// Changes of a box with this scenario.
    pub(crate) fn of(scenario: Document) -> Self {
        Self(scenario)
    }

    /// The change that is meant, and what later ones refer to. The rate to which a law refers stays that with which
    /// the box began, as in a schedule.
    fn read(&self, words: &str) -> Result<(Change, Option<Document>), String> {
        let (key, value) = words.split_once('=').ok_or_else(|| format!("`{words}` is no change of a key"))?;
        let changed = [(key.to_owned(), value.to_owned())];
        let changed = self.0.overridden(&changed, Laws::default()).map_err(|errors| errors.to_string())?;
        let experiment = changed.resolve(None).map_err(|errors| errors.to_string())?;
        let link = experiment.link_config(None)?;
        match key {
            "bottleneck.rate" => {
                let rate = link.rate.ok_or("the bottleneck has no rate")?;
                Ok((Change::Rate(rate), None))
            }
            "flows[0].rtt" => Ok((Change::DelayBack(rest_of_round_trip(&experiment, &link)), None)),
            _ if key.starts_with("bottleneck.aqm.") => {
                Ok((Change::Law(std::boxed::Box::new(link.queue)), Some(changed)))
            }
            _ => Err(format!("`{key}` cannot change while a box runs")),
        }
    }
}

/// The delay of the way back: what is left of the round trip of the scenario's first flow.
fn rest_of_round_trip(experiment: &Experiment, there: &LinkConfig) -> Span {
    let group = (!experiment.groups.is_empty()).then(|| experiment.flows.of_group(0));
    let first = group.and_then(|of| experiment.flows.numbered(of).map(|(_, flow)| flow).next());
    first.map_or(Span::ZERO, |flow| experiment.base_rtt(&flow)).saturating_sub(there.delay)
}

/// The ways of a box: through the scenario's bottleneck, and back for the rest of a round trip.
pub(crate) fn ways(experiment: &Experiment) -> PyResult<[Direction; 2]> {
    let there = experiment.link_config(None).map_err(ScenarioError::new_err)?;
    if there.impairments.as_ref().is_some_and(|all| all.duplicate != Chance::NEVER) {
        return Err(ScenarioError::new_err("a box sends no packet twice\nhint: leave `duplicate` out"));
    }
    if there.impairments.as_ref().is_some_and(|all| all.clears_ecn) {
        return Err(ScenarioError::new_err("a box clears no codepoint\nhint: leave `clear_ecn` out"));
    }
    let rest = rest_of_round_trip(experiment, &there);
    let back = LinkConfig { name: format!("{}/back", there.name), ..LinkConfig::pure_delay(rest) };
    let way = |link: &LinkConfig| {
        Direction::new(link, experiment.seed).map_err(|error| ScenarioError::new_err(error.to_string()))
    };
    Ok([way(&there)?, way(&back)?])
}

/// What the record of a box says of itself: its scenario, as JSON.
#[pyfunction]
pub(crate) fn box_record(path: &str) -> PyResult<String> {
    FrameReader::open(Path::new(path)).map(|record| record.comment().to_owned()).map_err(|e| unreadable(&e))
}

/// How many frames are compared; the first that differs: its number, what is recorded, what is decided; and where a
/// record breaks off: the time in seconds, and the number of frames that were inside.
pub(crate) type Compared = (u64, Option<(u64, String, String)>, Option<(f64, u64)>);

/// Takes the decisions of a record again.
pub(crate) fn replayed(path: &str, mut ways: [Direction; 2], mut changes: Changes) -> PyResult<Compared> {
    let record = FrameReader::open(Path::new(path)).map_err(|error| unreadable(&error))?;
    let replayed = shoal_box::replay(record, &mut ways, |words| {
        let (change, later) = changes.read(words)?;
        if let Some(later) = later {
            changes.0 = later;
        }
        Ok(change)
    });
    let replayed = replayed.map_err(|error| unreadable(&error))?;
    let difference = replayed.difference.map(|first| (first.number, first.recorded, first.decided));
    let cut = replayed.cut.map(|cut| (cut.at.as_secs_f64(), cut.inside));
    Ok((replayed.frames, difference, cut))
}

fn unreadable(error: &ReadError) -> PyErr {
    OutputError::new_err(error.to_string())
}

#[pymethods]
impl Box {
    /// Carries frames for so many seconds.
    fn run_for(&mut self, seconds: f64) -> PyResult<()> {
        self.carrier.get().run_for(Duration::from_secs_f64(seconds)).map_err(|stop| stopped(&stop))
    }

    /// Changes the box as a key and a value of its scenario say.
    fn change(&mut self, words: &str) -> PyResult<()> {
        let (change, later) = self.changes.read(words).map_err(ScenarioError::new_err)?;
        self.carrier.get().change(&change, words).map_err(|stop| stopped(&stop))?;
        if let Some(later) = later {
            self.changes.0 = later;
        }
        Ok(())
    }

    /// How long packets have waited in the queue whose transmission has begun since the last call: of ECN-capable
    /// packets and of all others, three numbers for each range, from seconds, to seconds, packets.
    fn waits(&mut self) -> [Vec<f64>; 2] {
        [Class::Ect, Class::NotEct].map(|class| {
            let now = self.carrier.get().ways_mut()[0].waits(class);
            let told = &mut self.told[class as usize];
            let numbers = now
                .gained(told)
                .flat_map(|one| [one.low as f64 / 1e12, one.high as f64 / 1e12, one.weight as f64])
                .collect();
            *told = now.clone();
            numbers
        })
    }

    /// Ends the record, if one is kept.
    fn end_record(&mut self) -> PyResult<()> {
        self.carrier.get().end_record().map_err(|error| not_written(&error))
    }

    /// What has come and gone so far, as JSON.
    fn counts(&mut self) -> String {
        let carrier = self.carrier.get();
        let (now, lateness) = (carrier.now(), carrier.lateness().clone());
        let ways: Vec<Value> =
            carrier.ways_mut().iter().zip(lateness).map(|(way, late)| counted(way, &late)).collect();
        json!({ "at_s": now.as_secs_f64(), "ways": ways }).to_string()
    }
}

fn stopped(stop: &Stop) -> PyErr {
    let kind = match stop {
        Stop::Merged { .. } => "merged",
        Stop::Down(_) => "down",
        Stop::System { .. } => "system",
        Stop::Record(error) => return not_written(error),
        Stop::Refused(error) => return ScenarioError::new_err(error.to_string()),
    };
    PyOSError::new_err((kind, stop.to_string()))
}

fn counted(way: &Direction, lateness: &Lateness) -> Value {
    let (all, waiting) = (way.counters(), way.backlog());
    let (forgotten, them) = way.forgotten();
    let flows: Vec<Value> = way
        .flows()
        .filter(|flow| flow.left + flow.dropped > 0)
        .map(|flow| count(flow, "flow", named(&flow.flow).into()))
        .collect();
    let late_us = |permille| lateness.late.quantile_permille(permille).map(|ns| ns / 1000.0);
    let most_us = lateness.late.max().map(|ns| ns as f64 / 1000.0);
    json!({
        "arrived": way.arrived(),
        "marked": all.marked,
        "dropped": all.dropped,
        "lost": all.lost,
        "left": all.delivered,
        "left_bytes": all.delivered_bytes,
        "inside": way.inside(),
        "waiting_packets": waiting.packets,
        "waiting_bytes": waiting.bytes,
        "flows": flows,
        "forgotten": count(them, "flows", forgotten.into()),
        "late_us": { "p50": late_us(500), "p99": late_us(990), "max": most_us },
        "refused": lateness.refused,
        "missed": lateness.missed,
        "unreadable": lateness.unreadable,
    })
}

fn count(flow: &FlowCount, key: &str, value: Value) -> Value {
    json!({
        key: value,
        "packets": flow.left,
        "bytes": flow.left_bytes,
        "marked": flow.marked,
        "dropped": flow.dropped,
    })
}

fn named(flow: &FlowKey) -> String {
    let Some((from, to)) = flow.addresses else { return "no IP, or beyond 4096 active flows".to_owned() };
    let (source, destination) = flow.ports;
    match (flow.protocol, source, destination) {
        (protocol, 0, 0) => format!("{from} > {to}, protocol {protocol}"),
        (6, ..) => format!("{from}:{source} > {to}:{destination}, TCP"),
        (17, ..) => format!("{from}:{source} > {to}:{destination}, UDP"),
        (protocol, ..) => format!("{from}:{source} > {to}:{destination}, protocol {protocol}"),
    }
}

fn refused(error: &PortError) -> PyErr {
    let kind = match error {
        PortError::Absent(_) => "absent",
        PortError::Privilege { capability: "CAP_NET_ADMIN", .. } => "tun-privilege",
        PortError::Privilege { .. } => "privilege",
        PortError::Taken(_) | PortError::Attached(_) => "taken",
        PortError::NoEthernet(_) => "no-ethernet",
        PortError::NoTunName(_) => "tun-name",
        PortError::NoTun(_) => "no-tun",
        PortError::System { .. } => "system",
    };
    PyOSError::new_err((kind, error.to_string()))
}
