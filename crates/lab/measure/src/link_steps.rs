//! What followed each step of a link's rate, from the bins of its time series.

use crate::fields::described;
use crate::metrics::{RateStep, finite, rate_steps, reached_from, settling};
use serde::{Deserialize, Serialize};

described! {

/// A step of a link's rate, and what followed until the next one. Changes less than 100 ms apart are one step, and so
/// are an outage and its end. The queue's delay is the time that the waiting bytes take at the rate of the link; values
/// are means over the bins of the time series. What needs the time series is null without it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinkStep {
    /// When the last of the changes happens, in seconds after the start of the experiment.
    pub at_s: f64,
    /// Rate before the first of them in bit/s.
    pub from_bps: f64,
    /// Rate after the last of them in bit/s.
    pub to_bps: f64,
    /// When the next step begins, or the run ends.
    pub until_s: f64,
    /// Time from the step until the queue's delay stays in the range that it has in the second half of the time to the
    /// next step, widened by the time of one packet; null if it is still outside at the end of the first half.
    pub settling_s: Option<f64>,
    /// By how much the queue's delay exceeds, in the first half, the most of the second.
    pub overshoot_s: Option<f64>,
    /// By how much the queue's delay falls, in the first half, below the least of the second.
    pub undershoot_s: Option<f64>,
    /// The queue's longest delay until the next step.
    pub peak_s: Option<f64>,
    /// Time from the step until the queue's delay stays at or below the target for delays (`above_target.target_s`);
    /// null if it is above it in the last bin.
    pub below_target_s: Option<f64>,
    /// Time from the step to the first 100 ms in which the link carries 90 % of the new rate; null if there are none.
    pub recovery_s: Option<f64>,
    /// Part of the new rate that the link carried in the time that follows.
    pub utilisation: Option<f64>,
    /// That time: a minute, or what is left of it until the next step or the end of the run.
    pub utilisation_over_s: Option<f64>,
}
}

/// Part of the new rate that a link has to carry to count as recovered. Long-lived flows under an AQM leave less than a
/// tenth unused; a flow that halves its window behind a short buffer leaves a quarter on average, and still reaches it
/// in between.
const RECOVERED: f64 = 0.9;
/// Time in seconds over which the carried rate is averaged for that: the bursts of a slow start are shorter.
const SMOOTH_S: f64 = 0.1;
/// Time in seconds after a step over which utilisation is averaged at most.
const AFTER_S: f64 = 60.0;
/// Steps of one link that are listed: more are a signal, and not events that one looks at one by one.
const LISTED: usize = 100;

/// A bin of a link's time series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkBin {
    /// Its end in seconds.
    pub end_s: f64,
    /// Waiting bytes, mean over the bin.
    pub bytes: f64,
    /// Part of the bin in which the link transmitted.
    pub utilisation: f64,
}

/// What a bin means at the rate that the link has then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BinAtRate {
    /// Rate in the middle of the bin in bit/s; zero while the link is down.
    pub rate_bps: f64,
    /// Rate at which the link carried packets in bit/s.
    pub carried_bps: f64,
    /// Time in seconds that the waiting bytes take at the rate; during an outage, at the one that follows.
    pub delay_s: f64,
}

/// The bins of `bin_s` seconds of a link whose rates are given as times in seconds and bit/s, the first from the start
/// on.
pub fn at_rates(bins: &[LinkBin], bin_s: f64, rates: &[(f64, f64)]) -> Vec<BinAtRate> {
    let one = |bin: &LinkBin| {
        // The end of a bin may be the time of a change, its middle is less likely one.
        let middle_s = bin.end_s - bin_s / 2.0;
        let now = rates.partition_point(|(from_s, _)| *from_s <= middle_s).max(1) - 1;
        let (_, rate_bps) = rates[now];
        // During an outage that lasts until the end of the run it is the last rate that the link had.
        let is_up = |(_, rate_bps): &&(f64, f64)| *rate_bps > 0.0;
        let up = rates[now..].iter().find(is_up).or_else(|| rates[..now].iter().rfind(is_up));
        let delay_s = up.map_or(f64::NAN, |(_, up_bps)| 8.0 * bin.bytes / up_bps);
        BinAtRate { rate_bps, carried_bps: bin.utilisation * rate_bps, delay_s }
    };
    bins.iter().map(one).collect()
}

/// By what the queue after a step is judged.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    /// Size of the largest packet in bytes: a queue of whole packets is not known closer than one of them.
    pub packet_bytes: u32,
    /// Target for the queue's delay in seconds.
    pub target_s: f64,
}

/// The steps from `from_s` to `end_s` of a link with these rates. `bins` are those of its time series, of `bin_s`
/// seconds each, or empty.
pub(crate) fn link_steps(
    rates: &[(f64, f64)],
    (from_s, end_s): (f64, f64),
    bins: &[LinkBin],
    bin_s: f64,
    measures: Measures,
) -> Vec<LinkStep> {
    let values = at_rates(bins, bin_s, rates);
    let steps = rate_steps(rates, end_s).into_iter().filter(|step| step.at_s >= from_s).take(LISTED);
    steps.map(|step| answer(step, bins, bin_s, &values, measures)).collect()
}

fn answer(
    step: RateStep,
    bins: &[LinkBin],
    bin_s: f64,
    values: &[BinAtRate],
    measures: Measures,
) -> LinkStep {
    // Only whole bins between this step and the next; times are sums of fractions.
    let edge = 1e-6 * bin_s;
    let first = bins.partition_point(|bin| bin.end_s - bin_s < step.at_s - edge);
    let last = bins.partition_point(|bin| bin.end_s <= step.until_s + edge).max(first);
    let values = &values[first..last];
    let delays: Vec<f64> = values.iter().map(|value| value.delay_s).collect();
    let carried: Vec<f64> = values.iter().map(|value| value.carried_bps).collect();
    // From the step to the beginning of a bin.
    let since_s = |index: usize| (bins[first + index].end_s - bin_s - step.at_s).max(0.0);
    let settled = settling(&delays, 8.0 * f64::from(measures.packet_bytes) / step.to_bps);
    let last_above = delays.iter().rposition(|delay_s| *delay_s > measures.target_s);
    let below = last_above.map_or(0, |index| index + 1);
    let width = (SMOOTH_S / bin_s).round().max(1.0) as usize;
    let after = bins[first..last].iter().take_while(|bin| bin.end_s <= step.at_s + AFTER_S + edge).count();
    let mean_bps = finite(carried[..after].iter().sum::<f64>() / after as f64);
    LinkStep {
        at_s: step.at_s,
        from_bps: step.from_bps,
        to_bps: step.to_bps,
        until_s: step.until_s,
        settling_s: settled.and_then(|found| found.settled).map(since_s),
        overshoot_s: settled.map(|found| found.overshoot),
        undershoot_s: settled.map(|found| found.undershoot),
        peak_s: delays.iter().copied().reduce(f64::max),
        below_target_s: (below < delays.len()).then(|| since_s(below)),
        recovery_s: reached_from(&carried, RECOVERED * step.to_bps, width).map(since_s),
        utilisation: mean_bps.map(|bps| bps / step.to_bps),
        utilisation_over_s: (after > 0).then_some(after as f64 * bin_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 Mbit/s, from 2 s on 5 Mbit/s, down from 6 s to 7 s, then 5 Mbit/s again.
    const RATES: [(f64, f64); 4] = [(0.0, 10e6), (2.0, 5e6), (6.0, 0.0), (7.0, 5e6)];

    const MEASURES: Measures = Measures { packet_bytes: 1500, target_s: 0.03 };

    /// Bins of 100 ms until 10 s.
    fn bins(of: impl Fn(f64) -> (f64, f64)) -> Vec<LinkBin> {
        let bin = |number: u32| {
            let end_s = f64::from(number) / 10.0;
            let (bytes, utilisation) = of(end_s);
            LinkBin { end_s, bytes, utilisation }
        };
        (1..=100).map(bin).collect()
    }

    #[test]
    fn the_queue_is_a_time_at_the_rate_that_serves_it() {
        // 12,500 B are 100,000 bit.
        let found = at_rates(&bins(|_| (12_500.0, 0.5)), 0.1, &RATES);
        let at = |number: usize| {
            (found[number].rate_bps / 1e6, found[number].carried_bps / 1e6, found[number].delay_s)
        };
        assert_eq!(at(0), (10.0, 5.0, 0.01));
        // The bin that ends at 2 s is before the change, and the next one after it.
        assert_eq!(at(19), (10.0, 5.0, 0.01));
        assert_eq!(at(20), (5.0, 2.5, 0.02));
        assert_eq!(at(65), (0.0, 0.0, 0.02), "during the outage the rate that follows");
        let down = at_rates(&bins(|_| (12_500.0, 0.0)), 0.1, &RATES[..3]);
        assert_eq!(down[99].delay_s, 0.02, "the last rate if none follows");
    }

    #[test]
    fn what_followed_a_step() {
        // After the first step 62,500 B, which are 100 ms at 5 Mbit/s, for 0.5 s, and 6250 B (10 ms) from then on; the
        // link carries 80 % for 1 s and all of its rate from then on.
        let bins = bins(|end_s| {
            (if end_s <= 2.55 { 62_500.0 } else { 6250.0 }, if end_s <= 3.05 { 0.8 } else { 1.0 })
        });
        let found = link_steps(&RATES, (1.0, 10.0), &bins, 0.1, MEASURES);
        assert_eq!(found.len(), 2, "{found:?}");
        let is = |value: Option<f64>, expected: f64| {
            assert!((value.unwrap() - expected).abs() < 1e-9, "{value:?} {expected}");
        };
        let first = found[0];
        assert_eq!((first.at_s, first.from_bps, first.to_bps, first.until_s), (2.0, 10e6, 5e6, 6.0));
        is(first.settling_s, 0.5);
        is(first.overshoot_s, 0.09);
        is(first.undershoot_s, 0.0);
        is(first.peak_s, 0.1);
        is(first.below_target_s, 0.5);
        is(first.recovery_s, 1.0);
        // 1 s of 80 % and 3 s of 100 % until the outage begins.
        is(first.utilisation, 0.95);
        is(first.utilisation_over_s, 4.0);
        let outage = found[1];
        assert_eq!((outage.at_s, outage.from_bps, outage.to_bps, outage.until_s), (7.0, 5e6, 5e6, 10.0));
        is(outage.settling_s, 0.0);
        // With a target of 5 ms the queue of 10 ms is above it until the end.
        let strict = Measures { target_s: 0.005, ..MEASURES };
        assert_eq!(link_steps(&RATES, (1.0, 10.0), &bins, 0.1, strict)[0].below_target_s, None);
        // Steps before the measurement do not count.
        assert_eq!(link_steps(&RATES, (2.5, 10.0), &bins, 0.1, MEASURES), [outage]);
    }

    #[test]
    fn without_a_time_series_only_the_steps_are_known() {
        let found = link_steps(&RATES, (0.0, 10.0), &[], 0.0, MEASURES);
        assert_eq!(found.len(), 2);
        let known = [found[0].settling_s, found[0].peak_s, found[0].recovery_s, found[0].utilisation];
        assert_eq!((known, found[0].utilisation_over_s), ([None; 4], None));
    }
}
