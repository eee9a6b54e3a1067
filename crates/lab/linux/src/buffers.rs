//! Memory: of sockets, which must never limit a window, and of what queues and links can hold.

use shoal_aqm::Extent;
use shoal_scenario::{Experiment, Flow, Link};
use shoal_units::{Rate, Span};

/// Smallest socket buffer in bytes. A sender sets PSH once in half a window (`forced_push`), and the receiver
/// acknowledges that packet immediately: the larger the window, the rarer. Stock hosts have 6 to 32 MiB.
const LEAST: u32 = 64 << 20;
/// Largest socket buffer in bytes: the largest window of TCP is 65535 << 14 B.
const MOST: u32 = 1 << 30;
/// Buffer bytes for each byte in flight. A packet of 1500 B takes 2304 B of memory, and one of 576 B more
/// than twice its size; a factor of 3 covers that, and a factor of 2 on top means that half of the buffer
/// would suffice.
const PER_BYTE_IN_FLIGHT: f64 = 6.0;

/// `tcp_rmem` and `tcp_wmem` of all hosts in bytes: a power of two that is at least six times what the path
/// of a flow holds (bandwidth-delay product and full queues). An unlimited queue counts as empty, since no
/// buffer would be large enough.
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

/// Window in bytes that fits into a receive buffer: 1448 B of payload take 2304 B (`tcp_win_from_space`).
pub(crate) fn window_in(buffer: u32) -> f64 {
    f64::from(buffer) * 0.63
}

/// The rule in words, for `--explain`.
pub(crate) fn rule(socket_buffer: u32) -> String {
    format!(
        "buffers of {} MiB, at least {PER_BYTE_IN_FLIGHT} x (rate x RTT + buffer) of the largest path and {} MiB; \
         receivers open their window at once (rcv_ssthresh), so that no packet is acknowledged at once because a \
         window grows",
        socket_buffer >> 20,
        LEAST >> 20,
    )
}

/// Bandwidth-delay product and full queues of both directions of a path, in bytes.
fn pipe_bytes(experiment: &Experiment, (forward, backward): (u32, u32)) -> f64 {
    let links = || experiment.links_of(forward).filter_map(|link| Some((link, link.highest_rate()?)));
    let queues: f64 = links().map(|(link, rate)| in_queue(link.queue.limit(), rate)).sum();
    let longest =
        |path: u32| experiment.links_of(path).fold(Span::ZERO, |sum, link| sum + link.longest_delay());
    let rtt = longest(forward) + longest(backward);
    match links().map(|(_, rate)| rate).min() {
        Some(slowest) => queues + bytes_in(slowest, rtt),
        None => f64::INFINITY,
    }
}

/// Bytes in queues and on links if all are full.
pub(crate) fn in_links(experiment: &Experiment) -> f64 {
    let pure = |path: u32| {
        let delays = experiment.links_of(path).filter(|link| link.rate.is_none()).map(Link::longest_delay);
        delays.fold(Span::ZERO, |sum, delay| sum + delay)
    };
    // What a link has sent may then be on a pure delay, of the data's path or, as ACKs, of the return path.
    let on_both = |flow: Flow| pure(flow.forward) + pure(flow.backward);
    let beyond = experiment.flows.iter().map(on_both).max().unwrap_or(Span::ZERO);
    let mut small = vec![f64::INFINITY; experiment.links.len()];
    for flow in &experiment.flows {
        // TCP small queues bound what waits in the card of a host that segments; ACKs take less than what they
        // acknowledge.
        let Some(offload) = experiment.host_of(&flow).offload else { continue };
        let firsts =
            [flow.forward, flow.backward].map(|path| experiment.paths[path as usize].first().copied());
        for first in firsts.into_iter().flatten() {
            if !experiment.is_card(&experiment.links[first.0 as usize]) {
                continue;
            }
            let bytes = &mut small[first.0 as usize];
            *bytes = if bytes.is_finite() { *bytes } else { 0.0 } + f64::from(offload.limit_output_bytes);
        }
    }
    let of_link = |(link, rate): (&Link, Rate), small: f64| {
        in_queue(link.queue.limit(), rate).min(small) + bytes_in(rate, link.longest_delay() + beyond)
    };
    let links = experiment.links.iter().zip(small);
    links.filter_map(|(link, small)| Some(of_link((link, link.highest_rate()?), small))).sum()
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
