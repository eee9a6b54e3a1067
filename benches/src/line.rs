//! What one run of one case prints, here and in a peer: a line of `key=value`.

use std::fmt;
use std::str::FromStr;

/// One run of one case.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Line {
    pub case: String,
    /// Data packets that left the bottleneck, or reached the receivers of a fabric.
    pub packets: u64,
    /// CPU seconds of the run alone.
    pub cpu_s: f64,
    pub setup_s: f64,
    /// Largest resident memory of the process.
    pub rss_kb: Option<u64>,
    pub events: Option<u64>,
}

impl Line {
    pub(crate) fn million_per_s(&self) -> f64 {
        self.packets as f64 / self.cpu_s / 1e6
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, packets, cpu_s, setup_s, rss_kb, events } = self;
        write!(f, "case={case} packets={packets} cpu_s={cpu_s:.6} setup_s={setup_s:.6}")?;
        rss_kb.map_or(Ok(()), |kb| write!(f, " rss_kb={kb}"))?;
        events.map_or(Ok(()), |events| write!(f, " events={events}"))
    }
}

/// Keys in any order; those of a later version are left alone.
impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.lines().count() != 1 {
            return Err("is not one line".to_owned());
        }
        let values = text
            .split_whitespace()
            .map(|word| word.split_once('=').ok_or_else(|| format!("has no `=` in `{word}`")))
            .collect::<Result<Vec<_>, _>>()?;
        let find = |key: &str| values.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
        let need = |key: &str| find(key).ok_or_else(|| format!("has no {key}"));
        let line = Self {
            case: need("case")?.to_owned(),
            packets: number("packets", need("packets")?)?,
            cpu_s: number("cpu_s", need("cpu_s")?)?,
            setup_s: number("setup_s", need("setup_s")?)?,
            rss_kb: find("rss_kb").map(|kb| number("rss_kb", kb)).transpose()?,
            events: find("events").map(|events| number("events", events)).transpose()?,
        };
        if line.packets == 0 || !line.cpu_s.is_finite() || line.cpu_s <= 0.0 {
            return Err("needs packets and cpu_s above zero".to_owned());
        }
        Ok(line)
    }
}

fn number<T: FromStr>(key: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("has no number in {key}={text}"))
}

#[cfg(test)]
mod tests {
    use super::Line;

    const LINE: &str =
        "case=scale:40 packets=416555 cpu_s=0.125000 setup_s=0.000500 rss_kb=3184 events=2000000";

    #[test]
    fn what_is_printed_is_read() {
        let line: Line = LINE.parse().unwrap();
        assert_eq!((line.case.as_str(), line.packets), ("scale:40", 416_555));
        assert_eq!((line.cpu_s, line.setup_s), (0.125, 0.000_5));
        assert_eq!((line.rss_kb, line.events), (Some(3184), Some(2_000_000)));
        assert_eq!(line.to_string(), LINE);
        assert_eq!(line.million_per_s(), 3.332_44);
    }

    #[test]
    fn what_not_everybody_can_tell_may_be_left_out() {
        let text = "events_by_kind=3,4 setup_s=0.000000 cpu_s=2.000000 packets=7 case=S1\n";
        let line: Line = text.parse().unwrap();
        assert_eq!((line.rss_kb, line.events), (None, None));
        assert_eq!(line.to_string(), "case=S1 packets=7 cpu_s=2.000000 setup_s=0.000000");
    }

    #[test]
    fn a_line_that_means_nothing_is_refused_with_the_reason() {
        for (from, to, reason) in [
            ("packets=416555 ", "", "has no packets"),
            ("case=scale:40 ", "", "has no case"),
            ("cpu_s=0.125000", "cpu_s=fast", "has no number in cpu_s=fast"),
            ("rss_kb=3184", "rss_kb=-1", "has no number in rss_kb=-1"),
            ("cpu_s=0.125000", "cpu_s=0", "needs packets and cpu_s above zero"),
            ("cpu_s=0.125000", "cpu_s=NaN", "needs packets and cpu_s above zero"),
            ("packets=416555", "packets=0", "needs packets and cpu_s above zero"),
            ("case=", "warning: case=", "has no `=` in `warning:`"),
            ("case=", "case=S1\ncase=", "is not one line"),
        ] {
            assert_eq!(LINE.replace(from, to).parse::<Line>(), Err(reason.to_owned()));
        }
        assert_eq!("".parse::<Line>(), Err("is not one line".to_owned()));
    }
}
