//! Which questions a result raises, the first cause of each, and what to change.

use serde::Serialize;
use shoal_measure::Notice;

/// A question that a result raises, with the first cause that its numbers show. The evidence is the text of the notice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Explanation<'a> {
    /// Position of the notice that raises it.
    pub notice: usize,
    /// One sentence with a question mark.
    pub question: String,
    /// Stable name of the cause; `None` if it is not decided.
    pub cause: Option<&'a str>,
    /// What to change, one sentence without a full stop; `None` if there is nothing to advise.
    pub change: Option<&'static str>,
}

/// The questions of a result, in the order of its notices. Notices that say what a number means raise none.
pub fn explanations(notices: &[Notice]) -> Vec<Explanation<'_>> {
    notices.iter().enumerate().filter_map(|(position, notice)| explanation(position, notice)).collect()
}

fn explanation(position: usize, notice: &Notice) -> Option<Explanation<'_>> {
    let question = value_of(QUESTIONS, &notice.kind)?;
    let is_cause = ARE_CAUSES.contains(&notice.kind.as_str());
    let first = || notice.mechanisms.first().map(String::as_str);
    let cause = if is_cause { Some(notice.kind.as_str()) } else { first() };
    let question =
        question.replace("{groups}", &listed(&notice.groups)).replace("{links}", &listed(&notice.links));
    let change = cause.and_then(|cause| value_of(CHANGES, cause));
    Some(Explanation { notice: position, question, cause, change })
}

fn value_of(table: &'static [(&str, &str)], key: &str) -> Option<&'static str> {
    table.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
}

/// Names in a sentence, at most four.
fn listed(names: &[String]) -> String {
    match names {
        [] => "a group".to_owned(),
        [first, second, third, _, _, ..] => format!("{first} and {second} and {third} and others"),
        few => few.join(" and "),
    }
}

const LITTLE: &str = "Why does {groups} get so little?";
const LOSSY: &str = "Why does {links} drop so much?";
const LONGER: &str = "run it for longer";
const LARGER: &str = "a larger buffer or fewer flows";

macro_rules! separate {
    () => {
        "give packets with ECT a queue or a law of their own: dualpi2, fq-codel, dual-red, or classes"
    };
}
macro_rules! ecn_on {
    () => {
        "write ecn = \"on\" for the group, and on hosts net.ipv4.tcp_ecn = 1 (3 for accurate ECN) at both ends"
    };
}

/// Questions by the kind of notice.
#[rustfmt::skip]
const QUESTIONS: &[(&str, &str)] = &[
    ("runs-as-reno", "Why does {groups} behave like Reno?"),
    ("dctcp-in-classic-queue", "Why is {groups} not in the low-latency queue?"),
    ("queue-in-hosts", "Why may packets wait where nothing marks them?"),
    ("no-marks", "Why are there no marks?"),
    ("marks-not-seen", "Why do senders not answer the marks?"),
    ("link-not-full", "Why is {links} not full?"),
    ("starved", LITTLE),
    ("below-fair-share", LITTLE),
    ("below-half-share", LITTLE),
    ("unequal-shares", "Why do flows that are alike share unequally?"),
    ("retransmission-storm", LOSSY),
    ("heavy-loss", LOSSY),
    ("idle-despite-windows", "Why is {links} idle although windows would fill it?"),
    ("retransmissions-without-drops", "Why are packets sent again that no queue has dropped?"),
];

/// Kinds that are causes themselves.
const ARE_CAUSES: &[&str] = &["runs-as-reno", "dctcp-in-classic-queue", "queue-in-hosts"];

/// What to change, by cause.
#[rustfmt::skip]
const CHANGES: &[(&str, &str)] = &[
    ("runs-as-reno", concat!(ecn_on!(), "; Prague needs receiver.feedback = \"accurate\", or no such key")),
    ("controller-replaced", "leave replace out of the group, or measure from then on (warmup)"),
    ("dctcp-in-classic-queue", "write ecn_mask = \"any-ect\" (tc: any_ect) for the queue, or use prague-0.7"),
    ("queue-in-hosts", "give hosts a limit as real ones have, or a faster link: access_buffer, access_rate"),
    ("no-packet-with-ect", ecn_on!()),
    ("ecn-cleared", "stop the router from clearing the ECN field: a change of DSCP must leave its two lowest bits"),
    ("law-marks-nothing", "use a law that marks, such as step, dualpi2 or fq-codel, or write ecn = true for the law"),
    (
        "other-codepoint",
        "select the codepoint that these flows send: ce_threshold_selector, ecn_mask, or another sender",
    ),
    ("threshold-above-buffer", "a threshold below the buffer, or a larger buffer"),
    ("receive-window", "a larger receive_window (Linux: net.ipv4.tcp_rmem)"),
    ("window-clamp", "a larger cwnd_clamp"),
    (
        "narrower-elsewhere",
        "put the law where the narrowest link is, or a shaper slightly below its rate in front of it",
    ),
    ("application-limited", "traffic that fills the link, if its queue is what is to be seen"),
    ("queue-below-threshold", "a lower threshold, or more or longer flows"),
    (
        "segments-above-threshold",
        "a threshold above a segment, smaller segments (ip link: gso_max_size), or pacing (fq)",
    ),
    ("threshold-below-bdp", "a higher threshold"),
    ("buffer-below-bdp", "a larger buffer"),
    ("unresponsive-traffic", "a limit for that traffic, or a law with a queue for each flow (fq-codel)"),
    (
        "same-marks-other-answer",
        concat!(separate!(), ", which a classic sender then does not share with a scalable one"),
    ),
    ("red-lock-out", separate!()),
    ("dropped-where-others-are-marked", concat!(separate!(), "; or ecn = \"on\" for the group")),
    ("timeout-back-off", LARGER),
    ("smallest-window", LARGER),
    ("small-windows", LARGER),
    ("still-growing", LONGER),
    ("not-converged", LONGER),
    ("several-queues", "nothing, if flows through several queues are what is to be seen"),
    ("longer-round-trip", "a law with a queue for each flow (fq-codel), if round trips are to count for less"),
    ("different-round-trips", "a law with a queue for each flow (fq-codel), if round trips are to count for less"),
    ("without-ecn", "a first packet that is not lost: a larger buffer, or starts at different times"),
    ("uneven-marks", "smaller segments or pacing at the hosts, or a law with chance in it (dualpi2, red)"),
    ("uneven-losses", "a law with chance in it (pie, red), or starts at different times"),
    ("window-out-of-proportion", "a longer least timeout or another version of the stack"),
];

#[cfg(test)]
mod tests;
