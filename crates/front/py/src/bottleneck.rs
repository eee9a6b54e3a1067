//! A link alone, for `shoal.Bottleneck`.

use crate::errors::ScenarioError;
use crate::exclusive::Exclusive;
use pyo3::prelude::*;
use shoal_aqm::Verdict;
use shoal_bottleneck::{LinkError, Next};
use shoal_packet::Ecn;
use shoal_scenario::Experiment;
use shoal_units::{Rate, Span, Time};

/// A link with its queue. In a box, since Python's objects are not aligned as a port wants to be.
#[pyclass(module = "shoal._native")]
pub struct Bottleneck(Exclusive<Box<shoal_bottleneck::Bottleneck>>);

/// What happened, as `shoal.bottleneck` words it: kind (0 nothing, 1 ask again, 2 packet, 3 lost), time, handle, flow,
/// size, ECN field, whether the queue marked it, reason of a loss.
type Told = (u8, u64, u64, u32, u16, u8, bool, Option<&'static str>);

impl Bottleneck {
    pub(crate) fn of(experiment: &Experiment, link: Option<&str>) -> PyResult<Self> {
        let link = experiment.link_config(link).map_err(ScenarioError::new_err)?;
        let bottleneck = shoal_bottleneck::Bottleneck::new(&link, experiment.seed);
        bottleneck.map(|all| Self(Exclusive::new(Box::new(all)))).map_err(|error| refused(&error))
    }
}

#[pymethods]
impl Bottleneck {
    /// A packet comes: the word of its verdict, and the reason.
    #[pyo3(signature = (now_ps, size, ecn, flow, handle))]
    fn enqueue(
        &mut self,
        now_ps: u64,
        size: u16,
        ecn: u8,
        flow: u32,
        handle: u64,
    ) -> (&'static str, Option<&'static str>) {
        let codepoint = Ecn::from_bits(ecn);
        match self.0.get().enqueue(Time::from_picos(now_ps), size, codepoint, flow, handle) {
            Verdict::Queued { mark: None } => ("queued", None),
            Verdict::Queued { mark: Some(reason) } => ("marked", Some(reason.as_str())),
            Verdict::Displaced => ("displaced", None),
            Verdict::Dropped(reason) => ("dropped", Some(reason.as_str())),
        }
    }

    /// What has happened by now and was not told yet.
    fn next(&mut self, now_ps: u64) -> Told {
        match self.0.get().next(Time::from_picos(now_ps)) {
            Next::Nothing => (0, 0, 0, 0, 0, 0, false, None),
            Next::At(at) => (1, at.as_picos(), 0, 0, 0, 0, false, None),
            Next::Packet(packet) => (
                2,
                packet.at.as_picos(),
                packet.handle,
                packet.flow,
                packet.bytes,
                packet.ecn.bits(),
                packet.is_marked,
                None,
            ),
            Next::Lost(lost) => (
                3,
                lost.at.as_picos(),
                lost.handle,
                0,
                0,
                0,
                false,
                lost.reason.map(|reason| reason.as_str()),
            ),
        }
    }

    /// The link has another rate from now on.
    fn set_rate(&mut self, now_ps: u64, rate_bps: u64) -> PyResult<()> {
        let done = self.0.get().set_rate(Time::from_picos(now_ps), Rate::from_bps(rate_bps));
        done.map_err(|error| refused(&error))
    }

    /// The link has another propagation delay from now on.
    fn set_delay(&mut self, now_ps: u64, delay_ps: u64) -> PyResult<()> {
        let done = self.0.get().set_delay(Time::from_picos(now_ps), Span::from_picos(delay_ps));
        done.map_err(|error| refused(&error))
    }

    /// Packets that arrived, were marked, were dropped, were lost on the wire and were delivered, bytes that were
    /// delivered, and packets and bytes that wait.
    #[getter]
    fn counters(&mut self) -> [u64; 8] {
        let link = self.0.get();
        let (all, waiting) = (link.counters(), link.backlog());
        [
            all.arrived,
            all.marked,
            all.dropped,
            all.lost,
            all.delivered,
            all.delivered_bytes,
            waiting.packets.into(),
            waiting.bytes,
        ]
    }
}

fn refused(error: &LinkError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}
