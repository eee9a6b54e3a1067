//! Applications: their instructions for linux/guest, and the random times that they use.

use crate::controllers::Control;
use crate::device::line;
use crate::refusal::Refusals;
use shoal_scenario::{App, Codepoint, Experiment, Flow, FrameSize};
use shoal_units::{Span, Stream};

/// Most random times that are drawn before the guest starts.
const MAX_GAPS: u64 = 20_000_000;
/// Random times in one instruction; the guest accepts 32 words a line.
const GAPS_A_LINE: usize = 24;
const NEVER: &str = "never";
/// Seconds that iperf3 is told beyond the end of the experiment, so that the guest ends first.
const IPERF3_BEYOND_S: u64 = 60;

/// The application of a flow in the words of the guest's configuration.
pub(crate) fn words(experiment: &Experiment, flow: &Flow) -> String {
    let barrier = if flow.app.has_barrier() { flow.group.to_string() } else { NEVER.to_owned() };
    match &flow.app {
        App::Bulk => "bulk".to_owned(),
        App::Transfers { bytes, rounds, interval, barrier: waits } => {
            // At a barrier, senders learn of the next round one propagation delay of the ACKs' path later.
            let news = if *waits { experiment.propagation(flow.backward) } else { Span::ZERO };
            format!("transfers {bytes} {rounds} {} {barrier} {}", interval.as_nanos(), news.as_nanos())
        }
        App::ConstantRate { chunk_bytes, interval } => format!("rate {chunk_bytes} {}", interval.as_nanos()),
        App::OnOff { on, off } => format!("on-off {} {}", on.as_nanos(), off.as_nanos()),
        App::Frames { size, interval, .. } => {
            let FrameSize { least_bytes, most_bytes, budget } = size;
            format!("frames {least_bytes} {most_bytes} {} {}", budget.as_nanos(), interval.as_nanos())
        }
        App::Requests { request_bytes, response_bytes, rounds, think, .. } => {
            let rounds = rounds.map_or(NEVER.to_owned(), |rounds| rounds.to_string());
            let think = think.mean.as_nanos();
            format!("requests {request_bytes} {response_bytes} {rounds} {think} {barrier}")
        }
        // Refused, see `check`.
        App::Page { objects, .. } => format!("page {objects}"),
        App::Unresponsive { packet_bytes, interval, codepoint, .. } => {
            // The ECN field ([RFC 3168, section 5](https://www.rfc-editor.org/rfc/rfc3168#section-5)).
            let ecn = match codepoint {
                Codepoint::None => 0b00,
                Codepoint::Ect1 => 0b01,
                Codepoint::Ect0 => 0b10,
            };
            format!("datagrams {packet_bytes} {} {ecn}", interval.as_nanos())
        }
    }
}

/// Arguments of iperf3: its duration, which exceeds that of the experiment.
pub(crate) fn iperf3(experiment: &Experiment) -> String {
    format!("iperf3 {}", experiment.duration.as_nanos() / 1_000_000_000 + IPERF3_BEYOND_S)
}

/// Refuses applications that iperf3 cannot generate.
pub(crate) fn check_iperf3(flow: &Flow, control: Option<&Control>, place: &str, refusals: &mut Refusals) {
    const HINT: &str = "leave out --generator: the guest's own sender does it";
    if !matches!(flow.app, App::Bulk) {
        refusals.add(
            format!("{place}: app"),
            "iperf3 drives bulk flows: it has no sizes with completion times, no pauses, no requests and no deadlines",
            HINT,
        );
    }
    if flow.stop.is_some() {
        refusals.add(
            format!("{place}: stop"),
            "iperf3 counts its time from the end of handshakes of its own, not from the start of the experiment",
            HINT,
        );
    }
    if control.is_some_and(|control| control.successor.is_some()) {
        let reason = "iperf3 keeps the controller with which it has begun";
        refusals.add(format!("{place}: replace"), reason, HINT);
    }
    if control.is_some_and(|control| control.connects_as != control.sender) {
        refusals.add(
            format!("{place}: receiver"),
            "iperf3 sets its controller before it connects, and Linux refuses ECN to the SYN of this one at a classic \
             listener",
            HINT,
        );
    }
}

/// The application of a flow in words, for `--explain`.
pub(crate) fn rule(experiment: &Experiment, flow: &Flow) -> String {
    let who = match flow.app {
        App::Requests { .. } => "; the receiver connects and asks",
        App::Transfers { barrier: true, .. } => "; times end where the data arrive",
        _ => "",
    };
    format!("{}{who}", words(experiment, flow))
}

/// Random times that a flow or a barrier uses, with their distribution.
struct Random {
    /// Name of the user in the guest's configuration.
    whose: String,
    /// Name of the random stream: the simulator's.
    stream: String,
    mean: Span,
    /// Shortest duration of one use, beyond the random time itself.
    rest: Span,
    until: Span,
}

/// Random times of flows and of barriers; a barrier is named after the first flow of its group.
fn random(experiment: &Experiment) -> impl Iterator<Item = Random> {
    (0u32..).zip(&experiment.flows).filter_map(move |(number, flow)| {
        let of = |whose: String, stream: String, mean: Span, rest: Span| {
            let until = experiment.duration.saturating_sub(flow.start.since(shoal_units::Time::ZERO));
            Some(Random { whose, stream, mean, rest, until })
        };
        match flow.app {
            App::Requests { think, barrier, .. } if think.at_random => {
                let rtt = experiment.base_rtt(&flow);
                if !barrier {
                    of(format!("flow {number}"), experiment.stream_name("think", number), think.mean, rtt)
                } else if experiment.flows.of_group(flow.group).start == number {
                    let stream = format!("think/{}", experiment.groups[flow.group as usize].name);
                    let own = experiment.flows.iter().filter(|other| other.group == flow.group);
                    // A round lasts at least as long as its longest exchange; the first round may begin with
                    // any of the flows.
                    let rtt = own.map(|other| experiment.base_rtt(&other)).max().unwrap_or(rtt);
                    of(format!("barrier {}", flow.group), stream, think.mean, rtt)
                } else {
                    None
                }
            }
            App::Unresponsive { interval, at_random: true, .. } => {
                let stream = experiment.stream_name("datagrams", number);
                of(format!("flow {number}"), stream, interval, Span::ZERO)
            }
            _ => None,
        }
    })
}

impl Random {
    /// Times that last for the whole run, in whole nanoseconds as the guest uses them.
    fn draw(&self, seed: u64) -> impl Iterator<Item = u64> {
        let mut stream = Stream::new(seed, &self.stream);
        // The guest rounds its start as well.
        let (mean, rest, until) = (self.mean, self.rest.as_nanos(), self.until.as_nanos() + 1);
        let mut passed = 0u64;
        let mut over = false;
        let mut rounded = 0;
        std::iter::from_fn(move || {
            if over {
                return None;
            }
            // The remainder is carried over, so that rounding errors do not accumulate.
            let picos = stream.exponential(mean).as_picos() + rounded;
            let gap = picos / 1000;
            rounded = picos % 1000;
            passed = passed.saturating_add(gap).saturating_add(rest);
            // The time that ends beyond the run is drawn too.
            over = passed > until;
            Some(gap)
        })
    }

    fn expected(&self) -> u64 {
        self.until.as_picos() / (self.mean + self.rest).as_picos().max(1)
    }
}

/// Writes the random times. The guest has no randomness of its own: it uses the times that the simulator
/// draws.
pub(crate) fn gaps(experiment: &Experiment, text: &mut String) {
    for random in random(experiment) {
        let drawn: Vec<String> = random.draw(experiment.seed).map(|gap| gap.to_string()).collect();
        for some in drawn.chunks(GAPS_A_LINE) {
            line!(text, "gaps {} {}", random.whose, some.join(" "));
        }
    }
}

/// Refuses scenarios that need more random times than can be drawn within a reasonable time.
pub(crate) fn check(experiment: &Experiment, refusals: &mut Refusals) {
    for (group, plan) in (0u32..).zip(&experiment.groups) {
        let first = experiment.flows.numbered(experiment.flows.of_group(group)).next();
        if first.is_some_and(|(_, flow)| matches!(flow.app, App::Page { .. })) {
            refusals.add(
                format!("flow group `{}`: app", plan.name),
                "the guest's clients ask on one connection each, and the connections of a browser share the objects of \
                 a page",
                "use requests (app = { request = ..., response = ... }), or run this on the simulator",
            );
        }
    }
    let expected: u64 = random(experiment).map(|random| random.expected()).sum();
    if expected > MAX_GAPS {
        refusals.add(
            "flows",
            format!(
                "about {expected} random times; they are drawn before the guest starts, {MAX_GAPS} at most"
            ),
            "write a shorter duration, constant times, or run this on the simulator",
        );
    }
}
