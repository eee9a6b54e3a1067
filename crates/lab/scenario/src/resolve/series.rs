//! Chooses the bin of the time series if the scenario leaves it open.

use crate::experiment::Experiment;
use crate::quantity::Duration;

/// Fewest bins of a run, as long as the round-trip times permit that many.
const WANTED_BINS: u64 = 200;
/// Most bins of a run.
const MOST_BINS: u64 = 4000;
/// Most rows of all flows and monitored links together.
const MOST_ROWS: u64 = 1_000_000;
/// Fewest bins of a run, even if they exceed the number of rows.
const FEWEST_BINS: u64 = 10;

/// The bin that suits the time scale of `experiment`; the key `trace.series` documents the rule.
pub(crate) fn fitting_bin(experiment: &Experiment) -> Duration {
    let round_trips = experiment.flows.iter().map(|flow| experiment.base_rtt(&flow).as_picos());
    let shortest = round_trips.filter(|picos| *picos > 0).min();
    let rows = experiment.flows.len() + experiment.monitored().count();
    duration(bin_picos(experiment.duration.as_picos(), shortest, rows as u64))
}

/// The bin in picoseconds. `shortest_rtt` is `None` if no path has a propagation delay.
fn bin_picos(run: u64, shortest_rtt: Option<u64>, rows: u64) -> u64 {
    let wanted = shortest_rtt.map_or(u64::MAX, |rtt| rtt / 2).min(run / WANTED_BINS);
    let bins = MOST_BINS.min(MOST_ROWS / rows.max(1)).max(1);
    let picos = wanted.max(run.div_ceil(bins));
    let longest = rounded(run / FEWEST_BINS).0;
    rounded(picos).1.min(longest)
}

/// The nearest values of the form 1, 2 or 5 times a power of ten below and above (inclusive); at least a
/// picosecond.
fn rounded(picos: u64) -> (u64, u64) {
    let picos = picos.max(1);
    let decade = 10u64.pow(picos.ilog10());
    // The largest candidates may exceed the range of time.
    let steps = || [1, 2, 5, 10].into_iter().filter_map(|factor| decade.checked_mul(factor));
    let below = steps().filter(|step| *step <= picos).max().unwrap_or(decade);
    let above = steps().find(|step| *step >= picos).unwrap_or(below);
    (below, above)
}

fn duration(picos: u64) -> Duration {
    let units = [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1000, "ns")];
    let unit = units.into_iter().find(|(size, _)| picos.is_multiple_of(*size));
    let text = unit.map_or_else(|| "1 ns".to_owned(), |(size, unit)| format!("{} {unit}", picos / size));
    Duration::parse(&text).expect("a whole number of a unit of time is a time")
}

#[cfg(test)]
mod tests {
    use super::{bin_picos, duration, rounded};
    use shoal_units::Span;

    fn bin(run: Span, rtt: Option<Span>, rows: u64) -> String {
        duration(bin_picos(run.as_picos(), rtt.map(Span::as_picos), rows)).to_string()
    }

    #[test]
    fn bins_follow_the_time_scale_of_the_run() {
        let (ms, us) = (Span::from_millis, Span::from_micros);
        // Half of 25 ms is less than 10 s / 200 = 50 ms and more than 10 s / 4000 = 2.5 ms: 12.5 ms, rounded up.
        assert_eq!(bin(ms(10_000), Some(ms(25)), 3), "20 ms");
        // Half of 25 ms would be 24,000 bins; 300 s / 4000 = 75 ms.
        assert_eq!(bin(ms(300_000), Some(ms(25)), 3), "100 ms");
        // Data centre: half of 60 us is less than 200 ms / 4000 = 50 us.
        assert_eq!(bin(ms(200), Some(us(60)), 73), "50 us");
        // A run of few round trips has 200 bins or a little fewer: 200 ms / 200 = 1 ms.
        assert_eq!(bin(ms(200), Some(ms(100)), 3), "1 ms");
        assert_eq!(bin(ms(200), None, 3), "1 ms");
        // 100 rows a bin for each of 10,001 flows and links make a million: 10 s / 99 = 101 ms.
        assert_eq!(bin(ms(10_000), Some(ms(25)), 10_001), "200 ms");
        // Ten bins remain with any number of flows.
        assert_eq!(bin(ms(10_000), Some(ms(25)), 1_000_001), "1 s");
    }

    #[test]
    fn bins_are_round_and_exist_for_every_run() {
        assert_eq!(
            [1, 2, 3, 5, 6, 10, 11, 49].map(rounded),
            [(1, 1), (2, 2), (2, 5), (5, 5), (5, 10), (10, 10), (10, 20), (20, 50)]
        );
        assert_eq!(rounded(u64::MAX).0, 10_000_000_000_000_000_000);
        for run in [1, 9, 1000, 123_456, u64::MAX / 2, u64::MAX] {
            for rtt in [None, Some(1), Some(run)] {
                for rows in [0, 1, 5_000_000] {
                    let picos = bin_picos(run, rtt, rows);
                    assert!(picos > 0 && (picos <= run / 4 || run < 10), "{run} {rtt:?} {rows}: {picos}");
                }
            }
        }
    }
}
