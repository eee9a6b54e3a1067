//! Laws that every result obeys on both planes. A result that violates one is wrong and is withheld.

use crate::{Bottleneck, TrafficClass};
use std::fmt;

/// A law that does not hold, with the numbers that show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrokenLaw {
    /// The link or flow concerned.
    pub place: String,
    /// The violated law, and the numbers.
    pub what: String,
}

impl fmt::Display for BrokenLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for BrokenLaw {}

/// The largest IP packet and its framing in bytes: one transmission may begin within the window and end after
/// it.
const LARGEST_PACKET: f64 = 65_535.0 + 65_535.0;
/// Tolerance for sums of fractions.
const ROUNDING: f64 = 1e-9;
/// A record's time is a whole nanosecond, at both edges of the window.
const CLOCK_S: f64 = 2e-9;

/// Checks the laws for the monitored links. `window_s` is the length of the measurement in seconds.
///
/// # Errors
/// The first law that is violated.
pub fn hold(bottlenecks: &[Bottleneck], window_s: f64) -> Result<(), BrokenLaw> {
    bottlenecks.iter().try_for_each(|link| match broken(link, window_s) {
        Some(what) => Err(BrokenLaw { place: format!("link `{}`", link.name), what }),
        None => Ok(()),
    })
}

fn broken(link: &Bottleneck, window_s: f64) -> Option<String> {
    let drops = &link.dropped_by;
    let marks = &link.marked_by;
    let sums = [
        ("packets that arrived", link.arrived, link.ect.arrived + link.not_ect.arrived),
        ("marks", link.marked, link.ect.marked + link.not_ect.marked),
        ("drops", link.dropped, link.ect.dropped + link.not_ect.dropped),
        ("drops by cause", link.dropped, drops.aqm + drops.buffer + drops.shared_buffer),
        (
            "drops by the law",
            drops.aqm,
            drops.threshold + drops.early + drops.forced + drops.coupled + drops.sojourn,
        ),
        (
            "marks by cause",
            link.marked,
            marks.threshold
                + marks.early
                + marks.forced
                + marks.coupled
                + marks.sojourn
                + marks.buffer
                + marks.shared_buffer,
        ),
    ];
    for (name, whole, parts) in sums {
        if whole != parts {
            return Some(format!("{name}: {whole} in all, {parts} in parts"));
        }
    }
    if !link.classes.is_empty() {
        let sum = |of: fn(&TrafficClass) -> u64| link.classes.iter().map(of).sum::<u64>();
        let sums = [
            ("packets that arrived", link.arrived, sum(|class| class.arrived)),
            ("marks", link.marked, sum(|class| class.marked)),
            ("redirected packets", link.redirected, sum(|class| class.redirected)),
            ("drops", link.dropped, sum(|class| class.dropped)),
            ("bytes that left", link.departed_bytes, sum(|class| class.departed_bytes)),
        ];
        for (name, whole, classes) in sums {
            if whole != classes {
                return Some(format!("{name}: {whole} in all, {classes} in the queues for traffic classes"));
            }
        }
    }
    if let Some(utilisation) = link.utilisation
        && !(0.0..=1.0 + ROUNDING + CLOCK_S / window_s).contains(&utilisation)
    {
        return Some(format!("the line was busy for {utilisation} of the time"));
    }
    // A packet keeps the rate with which it began, so that each change may add one.
    let (rate_bps, packets) = link
        .history
        .as_ref()
        .map_or((link.rate_bps, 1.0), |history| (history.mean_rate_bps, 1.0 + history.rate_changes as f64));
    let most = rate_bps * window_s / 8.0 * (1.0 + ROUNDING) + packets * LARGEST_PACKET;
    if link.departed_bytes as f64 > most {
        return Some(format!(
            "{} bytes left in {window_s} s, more than the line's {rate_bps} bit/s",
            link.departed_bytes
        ));
    }
    if link.delay_s.all.min.is_some_and(|least| least < 0.0) {
        return Some("a packet left before it came".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MeterPace, QueueMeter};
    use shoal_packet::{Class, Reason};
    use shoal_units::{Rate, Span, Time};

    /// One packet of 1250 B at 10 Mbit/s that was marked, and one that was dropped, in 10 ms.
    fn lawful() -> Bottleneck {
        let class = Class::Ect;
        let mut meter = QueueMeter::new(Time::ZERO, Rate::from_bps(10_000_000), MeterPace::default());
        meter.on_arrival(Time::ZERO, class);
        meter.on_mark(Time::ZERO, class, Reason::Threshold);
        meter.on_departure(Time::ZERO, class, Span::ZERO, 1250);
        meter.on_arrival(Time::ZERO, class);
        meter.on_drop(Time::ZERO, class, Reason::Early);
        meter.finish("l", Time::ZERO + Span::from_millis(10)).0
    }

    /// A link that rises to ten times its rate carries more than its first rate would.
    #[test]
    fn a_link_that_changes_carries_what_its_mean_rate_allows() {
        let history = |mean_rate_bps, rate_changes| crate::LinkHistory {
            rate: Vec::new(),
            delay: Vec::new(),
            rate_changes,
            delay_changes: 0,
            means_over_s: None,
            mean_rate_bps,
            down_s: 0.0,
            capacity_used: None,
            steps: Vec::new(),
        };
        // 100 Mbit/s for 0.1 s are 1,250,000 bytes; each of two changes may add a packet.
        let most = 1_250_000 + 2 * 131_070;
        let link = Bottleneck { departed_bytes: most - 1, history: Some(history(1e8, 1)), ..lawful() };
        assert_eq!(hold(std::slice::from_ref(&link), 0.1), Ok(()));
        let faster = Bottleneck { departed_bytes: most + 1, ..link.clone() };
        assert!(
            hold(&[faster], 0.1).unwrap_err().to_string().contains("more than the line's 100000000 bit/s")
        );
        assert!(
            hold(&[Bottleneck { history: None, ..link }], 0.1).is_err(),
            "without the change it is too much"
        );
    }

    #[test]
    fn a_line_may_be_busy_for_a_nanosecond_more_at_each_edge() {
        let busy = |seconds: f64| hold(&[Bottleneck { utilisation: Some(seconds / 0.01), ..lawful() }], 0.01);
        assert_eq!(busy(0.01 + 1.9e-9), Ok(()));
        assert!(busy(0.01 + 2.2e-9).is_err());
    }

    #[test]
    fn lawful_numbers_hold_and_every_corruption_is_named() {
        type Corruption = fn(&mut Bottleneck);
        assert_eq!(hold(&[lawful()], 0.01), Ok(()));
        let corruptions: [(Corruption, &str); 8] = [
            (|link| link.arrived += 1, "packets that arrived: 3 in all, 2 in parts"),
            (|link| link.ect.marked += 1, "marks: 1 in all, 2 in parts"),
            (|link| link.not_ect.dropped += 1, "drops: 1 in all, 2 in parts"),
            (|link| link.dropped_by.buffer += 1, "drops by cause: 1 in all, 2 in parts"),
            (|link| link.dropped_by.early = 0, "drops by the law: 1 in all, 0 in parts"),
            (|link| link.utilisation = Some(1.01), "busy for 1.01 of the time"),
            (
                |link| link.departed_bytes = 200_000,
                "200000 bytes left in 0.01 s, more than the line's 10000000 bit/s",
            ),
            (|link| link.delay_s.all.min = Some(-1e-9), "left before it came"),
        ];
        for (corrupt, words) in corruptions {
            let mut link = lawful();
            corrupt(&mut link);
            let law = hold(&[lawful(), link], 0.01).unwrap_err().to_string();
            assert!(law.starts_with("link `l`: ") && law.contains(words), "{law}");
        }
    }
}
