//! Round-trip times of the flows in a dumbbell.

use shoal_units::Span;

use super::Context;
use crate::schema::Rtt;

/// Most different values, since each one has links of its own.
const MAX_VALUES: u32 = 100_000;

/// What remains of each flow's rtt beyond the fixed delays. Each group has a list: one entry for all flows,
/// or one for each flow.
pub(super) fn rests(fixed: Span, cx: &Context<'_>) -> Option<Vec<Vec<Rest>>> {
    let mut rests = Vec::new();
    for (index, group) in cx.scenario.flows.iter().enumerate() {
        let path = format!("flows[{index}].rtt");
        let Some(rtt) = &group.rtt else {
            cx.error(&path, "missing key `rtt`", "add the two-way propagation delay, as in rtt = \"25 ms\"");
            continue;
        };
        if !check_count(rtt, group.count, &path, cx) {
            continue;
        }
        let spans = rtt.spans(group.count.unwrap_or(1));
        for (number, span) in spans.iter().enumerate() {
            let path = if let Rtt::List(_) = rtt { format!("{path}[{number}]") } else { path.clone() };
            check(*span, fixed, &path, cx);
        }
        rests.push(spans.into_iter().map(|span| Rest::of(span.saturating_sub(fixed))).collect());
    }
    (rests.len() == cx.scenario.flows.len() && !rests.is_empty()).then_some(rests)
}

/// Remaining delay of the forward path, and of the path of the ACKs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Rest {
    pub forward: Span,
    pub backward: Span,
}

impl Rest {
    fn of(both: Span) -> Self {
        let forward = both / 2;
        Self { forward, backward: both.saturating_sub(forward) }
    }
}

/// Checks that there is one time for each flow.
fn check_count(rtt: &Rtt, count: Option<u32>, path: &str, cx: &Context<'_>) -> bool {
    let (values, what) = match rtt {
        Rtt::Same(_) => return true,
        Rtt::List(rtts) => (rtts.len(), "a list"),
        Rtt::Range(_) => (count.unwrap_or(0) as usize, "a range"),
    };
    let Some(count) = count else {
        let message = format!("{what} of round-trip times for flows that arrive at random");
        cx.error(path, message, "write one time for all flows, as in rtt = \"25 ms\", or several groups");
        return false;
    };
    if count > MAX_VALUES {
        let hint = format!("at most {MAX_VALUES}, or one time for all flows, as in rtt = \"25 ms\"");
        cx.error(path, format!("{what} of {count} round-trip times is too long"), hint);
        return false;
    }
    match rtt {
        Rtt::List(_) if values != count as usize => {
            let flows = if count == 1 { "flow" } else { "flows" };
            let message = format!("{values} round-trip times for {count} {flows}");
            cx.error(path, message, "give one time for each flow, or leave out count");
            false
        }
        Rtt::Range(range) if range.to.span() < range.from.span() => {
            let hint = format!("write {{ from = \"{}\", to = \"{}\" }}", range.to, range.from);
            cx.error(path, "the longest round-trip time is below the shortest", hint);
            false
        }
        Rtt::Range(_) if count == 1 => {
            let hint = "add count, as in count = 4, or write one time, as in rtt = \"25 ms\"";
            cx.error(path, "a range of round-trip times needs more than 1 flow", hint);
            false
        }
        _ => true,
    }
}

fn check(rtt: Span, fixed: Span, path: &str, cx: &Context<'_>) {
    if rtt.is_zero() {
        cx.error(path, "a round-trip time of 0", "write a time, as in \"25 ms\"");
    } else if rtt < fixed {
        let delays = if cx.scenario.reverse.is_some() {
            "the delays of [bottleneck] and [reverse]"
        } else {
            "bottleneck.delay"
        };
        let hint = format!("write at least \"{fixed}\", or lower {delays}");
        cx.error(path, format!("the rtt of {rtt} is shorter than the fixed delays of {fixed}"), hint);
    }
}
