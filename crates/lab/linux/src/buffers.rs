//! Memory: of sockets, which must never limit a window, and of what queues and wires can hold.

use crate::disciplines::limit_of;
use shoal_aqm::Extent;
use shoal_scenario::{Experiment, Flow};
use shoal_units::{Rate, Span};

/// A sender sets PSH once in half a window (`forced_push`), and the receiver answers that packet at once: the larger the
/// window, the rarer. Stock hosts have 6 to 32 MiB.
const LEAST: u32 = 64 << 20;
/// The largest window is 65535 << 14 B.
const MOST: u32 = 1 << 30;
/// A packet of 1500 B takes 2304 B of memory, one of 576 B more than twice its size: 3 for that, and 2 so that half of it
/// would do.
const PER_BYTE_IN_FLIGHT: f64 = 6.0;

/// `tcp_rmem` and `tcp_wmem` of all hosts, bytes: a power of two that is at least six times what the path of a flow holds
/// (bandwidth-delay product and full queues). A queue without limit counts nothing: no size would do.
pub(crate) fn socket_buffer(experiment: &Experiment) -> u32 {
    let mut ways: Vec<(u32, u32)> =
        experiment.flows.iter().map(|flow| (flow.forward, flow.backward)).collect();
    ways.sort_unstable();
    ways.dedup();
    let pipes = ways.into_iter().map(|way| pipe_bytes(experiment, way));
    let largest = pipes.filter(|bytes| bytes.is_finite()).fold(0.0, f64::max);
    // The cast saturates.
    ((PER_BYTE_IN_FLIGHT * largest) as u32).clamp(LEAST, MOST).next_power_of_two()
}

/// What a receive buffer holds of a window, bytes: payload takes 1448 B of 2304 B (`tcp_win_from_space`).
pub(crate) fn window_in(buffer: u32) -> f64 {
    f64::from(buffer) * 0.63
}

/// How `--explain` states the rule.
pub(crate) fn rule(socket_buffer: u32) -> String {
    format!(
        "buffers of {} MiB, at least {PER_BYTE_IN_FLIGHT} x (rate x RTT + buffer) of the largest path and {} MiB; receivers open their window at \
         once (rcv_ssthresh), so that no packet is acknowledged at once because a window grows",
        socket_buffer >> 20,
        LEAST >> 20,
    )
}

/// Bandwidth-delay product and full queues of a way there and back.
fn pipe_bytes(experiment: &Experiment, (forward, backward): (u32, u32)) -> f64 {
    let links = || experiment.links_of(forward).filter_map(|link| Some((link, link.rate?)));
    let queues: f64 = links().map(|(link, rate)| in_queue(limit_of(&link.queue), rate)).sum();
    let rtt = experiment.propagation(forward) + experiment.propagation(backward);
    match links().map(|(_, rate)| rate).min() {
        Some(slowest) => queues + bytes_in(slowest, rtt),
        None => f64::INFINITY,
    }
}

/// Bytes in queues and on wires, if all are full.
pub(crate) fn in_links(experiment: &Experiment) -> f64 {
    let pure = |path: u32| {
        let delays = experiment.links_of(path).filter(|link| link.rate.is_none()).map(|link| link.delay);
        delays.fold(Span::ZERO, |sum, delay| sum + delay)
    };
    // What a line sends may then be on a link of pure delay, forward or, as ACKs, backward.
    let on_both = |flow: &Flow| pure(flow.forward) + pure(flow.backward);
    let beyond = experiment.flows.iter().map(on_both).max().unwrap_or(Span::ZERO);
    let links = experiment.links.iter().filter_map(|link| Some((link, link.rate?)));
    links
        .map(|(link, rate)| in_queue(limit_of(&link.queue), rate) + bytes_in(rate, link.delay + beyond))
        .sum()
}

fn in_queue(limit: Extent, rate: Rate) -> f64 {
    const FULL_PACKET: f64 = 1500.0;
    match limit {
        Extent::Packets(packets) => f64::from(packets) * FULL_PACKET,
        Extent::Bytes(bytes) => bytes as f64,
        Extent::Time(span) => bytes_in(rate, span),
        Extent::Unlimited => f64::INFINITY,
    }
}

fn bytes_in(rate: Rate, span: Span) -> f64 {
    rate.as_bps() as f64 / 8.0 * span.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_states_the_factor_and_the_sizes_that_are_used() {
        let text = rule(128 << 20);
        assert!(text.starts_with("buffers of 128 MiB, at least 6 x (rate x RTT + buffer)"), "{text}");
        assert!(text.contains("and 64 MiB;"), "{text}");
    }
}
