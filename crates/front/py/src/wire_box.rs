//! A bottleneck between two interfaces, for `shoal box`.

use crate::errors::ScenarioError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use shoal_bottleneck::LinkConfig;
use shoal_box::{Carrier, Direction, FlowKey, Lateness, Port, PortError, Stop};
use shoal_netem::Chance;
use shoal_scenario::Experiment;
use shoal_units::Span;
use std::time::Duration;

/// A box: two interfaces, and what is between them.
#[pyclass(module = "shoal._native", unsendable)]
pub struct Box(std::boxed::Box<Carrier>);

impl Box {
    pub(crate) fn of(
        experiment: &Experiment,
        link: Option<&str>,
        interfaces: [&str; 2],
        round_trip: Span,
    ) -> PyResult<Self> {
        let there = experiment.link_config(link).map_err(ScenarioError::new_err)?;
        if there.impairments.as_ref().is_some_and(|all| all.duplicate != Chance::NEVER) {
            return Err(ScenarioError::new_err("a box sends no packet twice\nhint: leave `duplicate` out"));
        }
        let rest = round_trip.saturating_sub(there.delay);
        let back = LinkConfig { name: format!("{}/back", there.name), ..LinkConfig::pure_delay(rest) };
        let way = |link: &LinkConfig| {
            Direction::new(link, experiment.seed).map_err(|error| ScenarioError::new_err(error.to_string()))
        };
        let ways = [way(&there)?, way(&back)?];
        let [inside, outside] = interfaces;
        let ports =
            [Port::open(inside).map_err(|e| refused(&e))?, Port::open(outside).map_err(|e| refused(&e))?];
        Ok(Self(std::boxed::Box::new(Carrier::new(ports, ways))))
    }
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
            };
            PyOSError::new_err((kind, stop.to_string()))
        })
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
        "arrived": all.arrived,
        "marked": all.marked,
        "dropped": all.dropped,
        "lost": all.lost,
        "left": all.delivered,
        "left_bytes": all.delivered_bytes,
        "waiting_packets": waiting.packets,
        "waiting_bytes": waiting.bytes,
        "flows": flows,
        "late_us": { "p50": late_us(500), "p99": late_us(990), "max": most_us },
        "refused": lateness.refused,
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
