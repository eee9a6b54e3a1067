//! A bottleneck between two interfaces, for `shoal box`.

use crate::errors::{OutputError, ScenarioError, not_written};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use shoal_bottleneck::LinkConfig;
use shoal_box::{Carrier, Direction, FlowKey, Lateness, Port, PortError, Record, Stop};
use shoal_netem::Chance;
use shoal_scenario::Experiment;
use shoal_trace::pcapng::{FrameReader, ReadError};
use shoal_units::Span;
use std::path::Path;
use std::time::Duration;

/// A box: two interfaces, and what is between them.
#[pyclass(module = "shoal._native", unsendable)]
pub struct Box(std::boxed::Box<Carrier>);

impl Box {
    /// A box; a record comes to `pcap` if that is given, and says `about` of itself.
    pub(crate) fn of(
        ways: [Direction; 2],
        interfaces: [&str; 2],
        pcap: Option<(&Path, &str)>,
    ) -> PyResult<Self> {
        let [inside, outside] = interfaces;
        let ports =
            [Port::open(inside).map_err(|e| refused(&e))?, Port::open(outside).map_err(|e| refused(&e))?];
        let record = pcap.map(|(path, about)| Record::create(path, interfaces, about)).transpose();
        let record = record.map_err(|error| not_written(&error))?;
        Ok(Self(std::boxed::Box::new(Carrier::new(ports, ways, record))))
    }
}

/// The ways of a box: through the scenario's bottleneck, and back for the rest of a round trip.
pub(crate) fn ways(experiment: &Experiment, round_trip: Span) -> PyResult<[Direction; 2]> {
    let there = experiment.link_config(None).map_err(ScenarioError::new_err)?;
    if there.impairments.as_ref().is_some_and(|all| all.duplicate != Chance::NEVER) {
        return Err(ScenarioError::new_err("a box sends no packet twice\nhint: leave `duplicate` out"));
    }
    if there.impairments.as_ref().is_some_and(|all| all.clears_ecn) {
        return Err(ScenarioError::new_err("a box clears no codepoint\nhint: leave `clear_ecn` out"));
    }
    let rest = round_trip.saturating_sub(there.delay);
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

/// How many frames are compared, and the first that differs: its number, what is recorded, what is decided.
pub(crate) type Compared = (u64, Option<(u64, String, String)>);

/// Takes the decisions of a record again.
pub(crate) fn replayed(path: &str, mut ways: [Direction; 2]) -> PyResult<Compared> {
    let record = FrameReader::open(Path::new(path)).map_err(|error| unreadable(&error))?;
    let replayed = shoal_box::replay(record, &mut ways).map_err(|error| unreadable(&error))?;
    let difference = replayed.difference.map(|found| (found.number, found.recorded, found.decided));
    Ok((replayed.frames, difference))
}

fn unreadable(error: &ReadError) -> PyErr {
    OutputError::new_err(error.to_string())
}

#[pymethods]
impl Box {
    /// Carries frames for so many seconds.
    fn run_for(&mut self, seconds: f64) -> PyResult<()> {
        let stopped = self.0.run_for(Duration::from_secs_f64(seconds));
        stopped.map_err(|stop| {
            let kind = match &stop {
                Stop::Merged { .. } => "merged",
                Stop::Down(_) => "down",
                Stop::System { .. } => "system",
                Stop::Record(error) => return not_written(error),
            };
            PyOSError::new_err((kind, stop.to_string()))
        })
    }

    /// Ends the record, if one is kept.
    fn end_record(&mut self) -> PyResult<()> {
        self.0.end_record().map_err(|error| not_written(&error))
    }

    /// What has come and gone so far, as JSON.
    fn counts(&mut self) -> String {
        let (now, lateness) = (self.0.now(), self.0.lateness().clone());
        let ways: Vec<Value> =
            self.0.ways_mut().iter().zip(lateness).map(|(way, late)| counted(way, &late)).collect();
        json!({ "at_s": now.as_secs_f64(), "ways": ways }).to_string()
    }
}

fn counted(way: &Direction, lateness: &Lateness) -> Value {
    let (all, waiting) = (way.counters(), way.backlog());
    let flows: Vec<Value> = way
        .flows()
        .iter()
        .filter(|flow| flow.left + flow.dropped > 0)
        .map(|flow| {
            json!({
                "flow": named(&flow.flow),
                "packets": flow.left,
                "bytes": flow.left_bytes,
                "marked": flow.marked,
                "dropped": flow.dropped,
            })
        })
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
        "late_us": { "p50": late_us(500), "p99": late_us(990), "max": most_us },
        "refused": lateness.refused,
        "missed": lateness.missed,
        "unreadable": lateness.unreadable,
    })
}

fn named(flow: &FlowKey) -> String {
    let Some((from, to)) = flow.addresses else { return "no IP, or beyond 4096 flows".to_owned() };
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
        PortError::Privilege(_) => "privilege",
        PortError::Taken(_) => "taken",
        PortError::System { .. } => "system",
    };
    PyOSError::new_err((kind, error.to_string()))
}
