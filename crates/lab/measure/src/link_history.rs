//! What a result says of a link that changes during the run.

use crate::fields::described;
use crate::link_steps::{Measures, link_steps};
use crate::metrics::finite;
use crate::{LinkBin, LinkStep};
use serde::{Deserialize, Serialize};
use shoal_scenario::{Link, Piece};
use shoal_units::{Rate, Span, Time};

described! {

/// How a link changes during the run. Times are seconds since the start of the experiment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinkHistory {
    /// The rates of the whole run, in the order of their times, the first at zero. Of opportunities to send they are
    /// means over `means_over_s`.
    pub rate: Vec<RateFrom>,
    /// The propagation delays of the whole run, in the order of their times, the first at zero.
    pub delay: Vec<DelayFrom>,
    /// Changes of the rate in the whole run, beginnings and ends of outages included.
    pub rate_changes: u64,
    /// Changes of the propagation delay in the whole run.
    pub delay_changes: u64,
    /// Length of the intervals of which a list with more than 1000 changes, or a list of opportunities to send, holds
    /// means instead; null if both lists hold every change.
    pub means_over_s: Option<f64>,
    /// Mean rate in the measurement window in bit/s; while the link is down it is zero. Of opportunities to send it is
    /// that of all of their bytes, used or lost.
    pub mean_rate_bps: f64,
    /// Time in the measurement window in which the link was down; pauses between opportunities to send do not count.
    pub down_s: f64,
    /// Bytes that left in the measurement window over those that the link could have carried: what its rates allow, and
    /// what transmissions carry that go on after the rate has fallen or an outage has begun. A transmission counts when
    /// it begins.
    pub capacity_used: Option<f64>,
    /// The steps of the rate in the measurement window, at most the first 100, and what followed each. Opportunities to
    /// send have none.
    pub steps: Vec<LinkStep>,
}

/// What left a link after waiting longer than a target for the queueing delay.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct AboveTarget {
    /// The target in seconds (`trace.delay_target`).
    pub target_s: f64,
    /// Packets in the measurement window that waited longer.
    pub packets: u64,
    /// Bytes of those on the wire, framing included.
    pub bytes: u64,
}

/// The rate of a link from some time on.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct RateFrom {
    /// From when on.
    pub from_s: f64,
    /// Rate in bit/s; zero while the link is down.
    pub rate_bps: f64,
}

/// The propagation delay of a link from some time on.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct DelayFrom {
    /// From when on.
    pub from_s: f64,
    /// Propagation delay in seconds.
    pub delay_s: f64,
}
}

/// Changes that a list holds one by one; a longer one would be larger than the rest of the result.
const LISTED: usize = 1000;

impl LinkHistory {
    /// The history of a link in a run that is measured from `window_start` to its end; `None` if it never changes.
    ///
    /// `departed_bytes` left it in the measurement window, `excess_bits` of them beyond its rates. `bins` are those of
    /// its time series, each as long as `bin`; there are none if none is recorded.
    pub fn of(
        link: &Link,
        (window_start, end): (Time, Time),
        (departed_bytes, excess_bits): (u64, u64),
        measures: Measures,
        (bins, bin): (&[LinkBin], Span),
    ) -> Option<Self> {
        if link.schedule.is_empty() {
            return None;
        }
        let mean_rate_bps = link.mean_rate_bps(window_start, end)?;
        let opportunities = link.schedule.opportunities.as_ref();
        let rates = link.rates(Time::ZERO, end).map(|piece| number(piece, |rate: Rate| rate.as_bps() as f64));
        let delays = link.delays(Time::ZERO, end).map(|piece| number(piece, Span::as_secs_f64));
        let (rates, delays) = (rates.collect::<Vec<_>>(), delays.collect::<Vec<_>>());
        let changes =
            |pieces: &[Piece<f64>]| pieces.windows(2).filter(|two| two[0].value != two[1].value).count();
        let is_long = |pieces: &[Piece<f64>]| pieces.len() > LISTED + 1;
        let from: Vec<(f64, f64)> =
            rates.iter().map(|piece| (piece.from.as_secs_f64(), piece.value)).collect();
        let window_s = (window_start.as_secs_f64(), end.as_secs_f64());
        let bits = mean_rate_bps * (end - window_start).as_secs_f64() + excess_bits as f64;
        Some(Self {
            rate_changes: changes(&rates) as u64,
            delay_changes: changes(&delays) as u64,
            means_over_s: if is_long(&rates) || is_long(&delays) {
                Some((end - Time::ZERO).as_secs_f64() / LISTED as f64)
            } else {
                opportunities.map(|own| own.mean_over.as_secs_f64())
            },
            rate: listed(rates, end).map(|(from_s, rate_bps)| RateFrom { from_s, rate_bps }).collect(),
            delay: listed(delays, end).map(|(from_s, delay_s)| DelayFrom { from_s, delay_s }).collect(),
            mean_rate_bps,
            down_s: link.down(window_start, end).as_secs_f64(),
            // A transmission that began in the window may end behind it.
            capacity_used: finite(8.0 * departed_bytes as f64 / bits).map(|used| used.min(1.0)),
            steps: match opportunities {
                Some(_) => Vec::new(),
                None => link_steps(&from, window_s, bins, bin.as_secs_f64(), measures),
            },
        })
    }
}

fn number<V>(piece: Piece<V>, value: impl FnOnce(V) -> f64) -> Piece<f64> {
    Piece { from: piece.from, to: piece.to, value: value(piece.value) }
}

/// The pieces of a whole run, or means over equal intervals if there are too many: when they begin, and values.
fn listed(pieces: Vec<Piece<f64>>, end: Time) -> impl Iterator<Item = (f64, f64)> {
    let pieces = if pieces.len() > LISTED + 1 { means(&pieces, end) } else { pieces };
    pieces.into_iter().map(|piece| (piece.from.as_secs_f64(), piece.value))
}

/// Means over [`LISTED`] equal intervals of pieces that follow each other from zero to `end`.
fn means(pieces: &[Piece<f64>], end: Time) -> Vec<Piece<f64>> {
    let edge = |number: usize| {
        let picos = u128::from(end.as_picos()) * number as u128 / LISTED as u128;
        Time::from_picos(u64::try_from(picos).unwrap_or(u64::MAX))
    };
    let mut first = 0;
    let mean = |number: usize| {
        let (from, to) = (edge(number), edge(number + 1));
        first += pieces[first..].iter().take_while(|piece| piece.to <= from).count();
        let inside = pieces[first..].iter().take_while(|piece| piece.from < to);
        let area = inside.map(|piece| piece.value * (piece.to.min(to) - piece.from.max(from)).as_secs_f64());
        Piece { from, to, value: area.sum::<f64>() / (to - from).as_secs_f64() }
    };
    (0..LISTED).map(mean).collect()
}
