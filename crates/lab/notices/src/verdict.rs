//! Who gets what and who waits, in one sentence: for reports and for the page.

use serde::{Deserialize, Serialize};

/// What flows behind one bottleneck get, and how long their packets wait.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Share {
    /// Flows that always have data, by what they have in common.
    pub kinds: Vec<Kind>,
    /// Whether something else sends, so that nobody has the link to itself.
    pub others_send: bool,
    /// Median queueing delay of packets with ECT, in s; `None` if there are none, or if it is of several links.
    pub ect_s: Option<f64>,
    /// Median queueing delay of packets without ECT, in s.
    pub not_ect_s: Option<f64>,
}

/// Flows that have something in common.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Kind {
    /// What they are called.
    pub name: String,
    /// Whether their packets have ECT.
    pub uses_ecn: bool,
    /// Mean rate of one of them on the wire, in bit/s.
    pub each_bps: f64,
}

/// The sentence, and what it says of waiting.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict {
    /// One sentence; empty if there is nothing to say.
    pub sentence: String,
    /// Who waits how long: one entry if all wait about as long, and otherwise the class with ECT first.
    pub waits: Vec<Wait>,
}

/// How long packets of some flows wait.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Wait {
    /// Names of the kinds; empty if all wait about as long.
    pub who: String,
    /// Whether the packets have ECT.
    pub is_ect: bool,
    /// Median queueing delay in s.
    pub median_s: f64,
}

/// Ratio of rates up to which two kinds get about the same.
const SAME: f64 = 1.5;
/// Ratio of rates from which on the smaller one is starved.
const STARVED: f64 = 10.0;
/// Ratio of delays above which both are told.
const OTHER_WAIT: f64 = 3.0;

/// The verdict on what flows get.
pub fn verdict(share: &Share) -> Verdict {
    let waits = waits(share);
    let sentence = match (rates(share), delays(&waits)) {
        (Some(rates), Some(delays)) => format!("{rates}; half of the packets {delays}."),
        (Some(rates), None) => format!("{rates}."),
        (None, Some(delays)) => format!("Half of the packets {delays}."),
        (None, None) => String::new(),
    };
    Verdict { sentence, waits }
}

fn rates(share: &Share) -> Option<String> {
    let by_rate = |a: &&Kind, b: &&Kind| a.each_bps.total_cmp(&b.each_bps);
    let (most, least) = (share.kinds.iter().max_by(by_rate)?, share.kinds.iter().min_by(by_rate)?);
    let (more, less) = (&most.name, &least.name);
    if share.kinds.len() == 1 {
        return Some(if share.others_send {
            format!("A flow of {more} gets {}", rate(most.each_bps))
        } else {
            format!("{more} has the link to itself")
        });
    }
    let ratio = most.each_bps / least.each_bps.max(1.0);
    Some(match share.kinds.len() {
        _ if ratio >= STARVED => format!(
            "{less} is starved: {} for a flow, where {more} gets {}",
            rate(least.each_bps),
            rate(most.each_bps)
        ),
        _ if ratio >= SAME => format!("A flow of {more} gets {ratio:.1} times as much as one of {less}"),
        2 => {
            format!("A flow of {} and one of {} get about the same", share.kinds[0].name, share.kinds[1].name)
        }
        kinds => format!("Flows of all {kinds} groups get about the same"),
    })
}

fn waits(share: &Share) -> Vec<Wait> {
    let wait = |who: String, is_ect, median_s| Wait { who, is_ect, median_s };
    match (share.ect_s, share.not_ect_s) {
        (Some(ect), Some(not_ect)) if ect.max(not_ect) > OTHER_WAIT * ect.min(not_ect) => {
            vec![wait(names(share, true), true, ect), wait(names(share, false), false, not_ect)]
        }
        (Some(ect), _) => vec![wait(String::new(), true, ect)],
        (None, Some(not_ect)) => vec![wait(String::new(), false, not_ect)],
        (None, None) => Vec::new(),
    }
}

fn names(share: &Share, uses_ecn: bool) -> String {
    let names = share.kinds.iter().filter(|kind| kind.uses_ecn == uses_ecn).map(|kind| kind.name.as_str());
    let names: Vec<&str> = names.collect();
    match (names.as_slice(), uses_ecn) {
        ([], true) => "flows with ECN".to_owned(),
        ([], false) => "flows without ECN".to_owned(),
        (names, _) => names.join(" and "),
    }
}

fn delays(waits: &[Wait]) -> Option<String> {
    match waits {
        [] => None,
        [all] => Some(format!("wait {} or less", delay(all.median_s))),
        [first, second, ..] => Some(format!(
            "of {} wait {} or less, of {} {}",
            first.who,
            delay(first.median_s),
            second.who,
            delay(second.median_s)
        )),
    }
}

/// A delay with its unit.
fn delay(seconds: f64) -> String {
    if seconds >= 1e-4 || seconds == 0.0 { short(1e3 * seconds, "ms") } else { short(1e6 * seconds, "µs") }
}

/// A rate with its unit.
fn rate(bps: f64) -> String {
    match bps {
        bps if bps >= 1e9 => short(bps / 1e9, "Gbit/s"),
        bps if bps >= 1e6 => short(bps / 1e6, "Mbit/s"),
        bps => short(bps / 1e3, "kbit/s"),
    }
}

/// A number with three digits and its unit.
fn short(value: f64, unit: &str) -> String {
    let digits = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, uses_ecn: bool, mbps: f64) -> Kind {
        Kind { name: name.to_owned(), uses_ecn, each_bps: 1e6 * mbps }
    }

    fn sentence(kinds: &[Kind], others_send: bool, ect_s: Option<f64>, not_ect_s: Option<f64>) -> String {
        verdict(&Share { kinds: kinds.to_vec(), others_send, ect_s, not_ect_s }).sentence
    }

    #[test]
    fn who_is_starved_and_who_waits() {
        let kinds = [kind("dctcp", true, 22.6), kind("cubic", false, 2.2)];
        assert_eq!(
            sentence(&kinds, false, Some(0.0012), Some(0.0153)),
            "cubic is starved: 2.20 Mbit/s for a flow, where dctcp gets 22.6 Mbit/s; half of the packets of dctcp \
             wait 1.20 ms or less, of cubic 15.3 ms."
        );
        let kinds = [kind("dctcp", true, 22.6), kind("cubic", false, 2.3)];
        assert_eq!(
            sentence(&kinds, false, Some(0.010), Some(0.012)),
            "A flow of dctcp gets 9.8 times as much as one of cubic; half of the packets wait 10.0 ms or less."
        );
    }

    #[test]
    fn alike_alone_and_nothing() {
        let kinds = [kind("reno", false, 4.0), kind("dctcp", true, 5.9)];
        assert_eq!(
            sentence(&kinds, false, None, None),
            "A flow of reno and one of dctcp get about the same."
        );
        let three = [kinds[0].clone(), kinds[1].clone(), kind("bic", false, 5.0)];
        assert_eq!(sentence(&three, true, None, None), "Flows of all 3 groups get about the same.");
        let alone = &kinds[..1];
        assert_eq!(
            sentence(alone, false, None, Some(0.000_02)),
            "reno has the link to itself; half of the packets wait 20.0 µs or less."
        );
        assert_eq!(sentence(alone, true, None, None), "A flow of reno gets 4.00 Mbit/s.");
        assert_eq!(sentence(&[], true, None, None), "");
        assert_eq!(sentence(&[], true, Some(0.0), None), "Half of the packets wait 0.00 ms or less.");
    }
}
