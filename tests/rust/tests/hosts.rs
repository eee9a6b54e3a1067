//! Real hosts in whole runs: segments of several packets, cards with a rate, coalescing, pacing.

use shoal_packet::Flags;
use shoal_scenario::Experiment;
use shoal_tests::{Seen, check_conservation, experiment, run, run_logged};
use shoal_trace::PacketEvent;

/// One flow over a bottleneck of 1 Gbit/s; packets of 1500 B and no framing.
fn one_flow(host: &str, more: &str) -> Experiment {
    experiment(&format!(
        r#"
duration = "300 ms"
warmup = "100 ms"
bottleneck = {{ rate = "1 Gbit/s", buffer = "400 packets", aqm = {{ kind = "step", threshold = "40 packets" }} }}
flows = [{{ cc = "dctcp", rtt = "200 us", host = {host}, {more} }}]
"#
    ))
}

/// Times at which data of full size arrive at the bottleneck, in microseconds, and whether each has PSH.
fn arrivals(log: &[Seen]) -> Vec<(f64, bool)> {
    let data = log.iter().filter(|seen| seen.row.event == PacketEvent::Arrive && seen.packet.payload == 1448);
    data.map(|seen| (seen.row.time_ps as f64 / 1e6, seen.packet.flags.has(Flags::PSH))).collect()
}

/// Lengths of the runs of packets that follow each other at most `gap_us` apart.
fn runs(arrivals: &[(f64, bool)], gap_us: f64) -> Vec<u32> {
    let mut runs = vec![1];
    for pair in arrivals.windows(2) {
        match runs.last_mut() {
            Some(run) if pair[1].0 - pair[0].0 <= gap_us + 1e-3 => *run += 1,
            _ => runs.push(1),
        }
    }
    runs
}

#[test]
fn a_result_counts_what_cards_did() {
    // A busy line of 1 Gbit/s brings a packet of 1500 B every 12 us, so that 5 come within 50 us of the first: the next
    // interrupt begins with the sixth, 60 us after it. In 200 ms that are 3333 interrupts.
    let experiment = one_flow("\"linux-6-10g\"", "");
    let outcome = run(&experiment);
    let [sender, receiver] = &outcome.cards[..] else { panic!("{:?}", outcome.cards) };
    let flow = &outcome.groups[0].flows[0];
    assert!(outcome.bottlenecks[0].utilisation.unwrap() > 0.999);
    assert!(receiver.interrupts.abs_diff(3333) <= 1, "{receiver:?}");
    assert!(receiver.packets.abs_diff(flow.data_packets.unwrap()) <= 5, "{receiver:?} {flow:?}");
    assert!(
        receiver.segments.unwrap() >= receiver.interrupts
            && receiver.segments.unwrap() < receiver.packets / 2
    );
    assert!(sender.packets.abs_diff(flow.acks_sent.unwrap()) <= 5, "{sender:?} {flow:?}");
    assert_eq!((sender.ring_drops, receiver.ring_drops), (0, 0));
    assert!(run(&one_flow("\"ideal\"", "")).cards.is_empty());
    // The ring has place for three of the five.
    let outcome = run(&one_flow("{ preset = \"linux-6-10g\", ring_packets = 3 }", ""));
    assert!(outcome.cards[1].ring_drops > 100, "{:?}", outcome.cards);
}

#[test]
fn a_card_sends_whole_segments_one_after_the_other() {
    // 1500 B at 10 Gbit/s are 1.2 us; an ideal host is not bound to that.
    let (_, log) = run_logged(&one_flow("\"linux-6-10g\"", ""));
    let found = arrivals(&log);
    assert!(found.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 1.2 - 1e-3), "never faster than the card");
    let runs_of_segments = runs(&found, 1.2);
    let longest = *runs_of_segments.iter().max().expect("packets");
    assert!(
        (20..=90).contains(&longest),
        "up to 45 packets a segment, two segments in slow start: {longest}"
    );
    let (_, log) = run_logged(&one_flow("\"ideal\"", ""));
    let longest = *runs(&arrivals(&log)[100..], 1.2).iter().max().expect("packets");
    assert!(longest <= 4, "two packets that an ACK frees, and those by which the window grows: {longest}");
}

#[test]
fn segments_end_with_a_push_and_are_as_large_as_the_rate_sends_in_a_millisecond() {
    // 10 ms of RTT are beyond what enlarges segments (8 ms and more halve 64 KiB to nothing): 1.2 x 100 Mbit/s of
    // payload over 1024 are 1.2 x 12.5e6 x 1448 / 1500 / 1024 = 14,141 B, nine packets; with the queue's 3.6 ms the
    // window is that of 13.6 ms, and the rate the same.
    let text = r#"
duration = "5 s"
warmup = "2 s"
bottleneck = { rate = "100 Mbit/s", buffer = "400 packets", aqm = { kind = "step", threshold = "30 packets" } }
flows = [{ cc = "dctcp", rtt = "20 ms", host = "linux-6-gso" }]
"#;
    let (_, log) = run_logged(&experiment(text));
    let late: Vec<_> = arrivals(&log).into_iter().filter(|(time, _)| *time > 2e6).collect();
    let found = runs(&late, 0.0);
    let usual = found.iter().filter(|run| (9..=10).contains(*run)).count();
    assert!(usual * 10 > found.len() * 7, "{usual} of {}", found.len());
    let pushes = late.iter().filter(|(_, push)| *push).count();
    assert!(pushes >= found.len() * 9 / 10, "each segment of several packets ends with PSH");
}

#[test]
fn a_host_that_merges_acknowledges_once_a_run() {
    let acks = |host: &str| {
        let outcome = run(&one_flow(host, ""));
        let flow = &outcome.groups[0].flows[0];
        let acks = flow.acks_per_packet.expect("data");
        assert!(outcome.bottlenecks[0].utilisation.expect("the run has a window") > 0.9, "{host}");
        acks
    };
    let (plain, merging) = (acks("\"linux-6-gso\""), acks("\"linux-6-10g\""));
    // One ACK for two packets, and one more for each change of the marks.
    assert!(plain > 0.45, "{plain}");
    // An interrupt 50 us after the first packet brings five of 12.3 us each, which have one ACK, or two if a segment
    // ends between them or the marks change.
    assert!((1.0 / 6.0..2.0 / 5.0).contains(&merging), "{merging}");
}

#[test]
fn a_packet_that_comes_with_the_interrupt_belongs_to_the_next_one() {
    // Datagrams every 50 us and an interrupt 100 us after the first: 0, 50 | 100 starts the next one, which takes 100,
    // 150. A datagram waits 100 or 50 us, and none waits for nothing.
    let text = r#"
duration = "1 s"
warmup = "100 ms"
bottleneck = { rate = "1 Gbit/s", buffer = "100 packets" }
flows = [{ cc = "none", rtt = "1 ms", host = { interrupt_delay = "100 us" },
    app = { unresponsive = "80 Mbit/s", packet = "500 B" } }]
"#;
    let outcome = run(&experiment(text));
    let delay = &outcome.groups[0].flows[0].datagrams.as_ref().expect("datagrams").delay_s;
    // Half of the rtt and 4 us of transmission come before.
    let waited = |quantile: Option<f64>| (quantile.expect("datagrams") - 0.000_504) * 1e6;
    let (least, most) = (waited(delay.min), waited(delay.max));
    assert!((least - 50.0).abs() < 1.0 && (most - 100.0).abs() < 1.0, "{least} {most}");
}

#[test]
fn small_queues_bound_what_waits_in_the_host() {
    // The card is the bottleneck: the window grows without a mark, but at most max(2 segments, 1/1024 s) wait in the
    // host, and one more that finds less than that.
    let text = |host: &str| {
        format!(
            r#"
duration = "2 s"
warmup = "1 s"
bottleneck = {{ rate = "1 Gbit/s", buffer = "unlimited" }}
flows = [{{ cc = "reno", rtt = "1 ms", host = {host} }}]
"#
        )
    };
    let rtt_s = |host: &str| {
        let outcome = run(&experiment(&text(host)));
        outcome.groups[0].flows[0].srtt_s.max.expect("samples")
    };
    let limited = rtt_s("{ preset = \"linux-6-gso\", nic_rate = \"100 Mbit/s\", gso_max_segs = 10 }");
    // In slow start cwnd is at most twice the flight, which is what 12.07 MB/s of payload need, and the pacing rate
    // twice cwnd: 1/1024 s of 48.3 MB/s are 47.1 kB, three segments of 15,760 B with their overhead but for 100 B. So
    // four of ten packets wait, and one is sent: 50 x 120 us = 6 ms.
    assert!(limited > 0.0015 && limited < 0.001 + 0.006, "{limited}");
    let free = rtt_s("{ preset = \"ideal\", nic_rate = \"100 Mbit/s\" }");
    assert!(free > 0.1, "without small queues the whole window waits in the host: {free}");
}

#[test]
fn pacing_spreads_what_the_window_allows() {
    let longest = |host: &str| {
        let text = format!(
            r#"
duration = "4 s"
warmup = "2 s"
bottleneck = {{ rate = "1 Gbit/s", buffer = "400 packets" }}
flows = [{{ cc = "reno", rtt = "20 ms", host = {host},
  app = {{ transfer = "145 kB", rounds = 30, every = "100 ms" }} }}]
"#
        );
        let (_, log) = run_logged(&experiment(&text));
        let late: Vec<_> = arrivals(&log).into_iter().filter(|(time, _)| *time > 2e6).collect();
        runs(&late, 0.0).iter().copied().max().expect("packets")
    };
    // A transfer is 101 packets, for which the window has room by then. Unpaced they leave at one instant, in whatever
    // segments. Paced, segment by segment: 200 % of 200 packets in 20 ms are 28.96 MB/s, of which 1/1024 s are 28,281
    // B, 19 packets.
    let free = longest("\"linux-6-gso\"");
    assert!(free >= 100, "{free}");
    for pacing in ["internal", "fq"] {
        let paced = longest(&format!("{{ pacing = \"{pacing}\" }}"));
        assert!(paced <= 20, "{pacing}: {paced}");
    }
}

#[test]
fn fq_spaces_segments_by_their_payload_over_the_rate() {
    // Every 100 ms 20 packets are written, as many as the window holds. The RTT is 20 ms, and 24 us more for two
    // packets at 1 Gbit/s: in slow start the rate is 2 x 20 x 1448 B / 20.024 ms = 2,892,529 B/s, of which 1/1024 s is
    // 2824 B, less than the least segment of two packets. So 2896 B leave every 1001.2 us; the first segment after the
    // pause is late, and its gap is the half, 500.6 us.
    let text = r#"
duration = "4 s"
warmup = "1 s"
bottleneck = { rate = "1 Gbit/s", buffer = "400 packets" }
flows = [{ cc = "reno", rtt = "20 ms", cwnd_clamp = "20 packets", host = { pacing = "fq" },
    app = { transfer = "28960 B", rounds = 40, every = "100 ms" } }]
"#;
    let (_, log) = run_logged(&experiment(text));
    let late: Vec<_> = arrivals(&log).into_iter().filter(|(time, _)| *time > 1.95e6).collect();
    let paced = runs(&late, 0.0);
    assert!(
        paced.len() > 150 && paced.iter().all(|run| *run == 2),
        "two packets at one instant, and never four"
    );
    let begins: Vec<f64> = late.iter().filter(|(_, push)| *push).map(|(time, _)| *time).collect();
    for round in begins.chunks_exact(10) {
        let gaps: Vec<f64> = round.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((gaps[0] - 500.6).abs() < 2.0, "{gaps:?}");
        assert!(gaps[1..].iter().all(|gap| (gap - 1001.2).abs() < 2.0), "{gaps:?}");
    }
}

#[test]
fn connections_of_a_host_share_its_card_segment_by_segment() {
    // Two connections from a host whose card of 1 Gbit/s is slower than the 10 Gbit/s behind it.
    let text = r#"
duration = "400 ms"
warmup = "100 ms"
[topology]
kind = "graph"
nodes = ["host", "switch", "far"]
[[topology.links]]
from = "host"
to = "switch"
rate = "1 Gbit/s"
delay = "200 us"
[[topology.links]]
from = "switch"
to = "far"
rate = "10 Gbit/s"
delay = "200 us"
buffer = "1000 packets"
monitored = true
[[flows]]
cc = "reno"
count = 2
from = "host"
to = "far"
host = { pacing = "fq" }
"#;
    let (outcome, log) = run_logged(&experiment(text));
    check_conservation(&outcome);
    let flows = &outcome.groups[0].flows;
    let shares: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps.expect("data") / 1e6).collect();
    // 1448 of 1500 bytes of 1 Gbit/s are 965 Mbit/s, and fair queueing gives each connection half.
    assert!((shares.iter().sum::<f64>() - 965.3).abs() < 2.0, "{shares:?}");
    assert!((shares[0] / shares[1] - 1.0).abs() < 0.01, "{shares:?}");
    // Small queues keep short what waits. Without losses both remain in slow start, where cwnd is at most twice the
    // flight and the rate twice cwnd: 1/1024 s of 4 x 60.3 MB/s are 236 kB, so that a fifth segment of 65,160 B is let
    // in. Five take 5 x 1.08 ms, and the path 0.8 ms.
    let srtt = flows[0].srtt_s.max.expect("samples");
    assert!(srtt < 0.0062, "{srtt}");
    // A segment is not interrupted: the connection changes after the last packet of a segment, which has PSH.
    let data: Vec<_> = log
        .iter()
        .filter(|seen| seen.row.event == PacketEvent::Arrive && seen.packet.payload == 1448)
        .collect();
    let changes: Vec<_> = data.windows(2).filter(|pair| pair[0].packet.flow != pair[1].packet.flow).collect();
    assert!(changes.len() > 200, "{}", changes.len());
    assert!(changes.iter().all(|pair| pair[0].packet.flags.has(Flags::PSH)));
}

#[test]
fn hosts_that_are_not_modelled_are_refused_with_group_and_remedy() {
    let older = "name = \"paced\", stack = \"linux-3.18\"";
    let refused = one_flow("{ pacing = \"fq\" }", older);
    let texts: Vec<String> =
        shoal_sim::check(&refused).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "error: flow group `paced`: host.pacing: the simulator has fq as of current Linux, and not for the stack \
             linux-3.18\nhint: write stack = \"linux-6\", or leave pacing out, or run this on the real kernel (--on \
             linux), whose stack it is then"
        ]
    );
    let all: Vec<bool> = ["linux-3.2", "freebsd-14", "linux-6"]
        .iter()
        .map(|stack| {
            shoal_sim::check(&one_flow("{ pacing = \"fq\" }", &format!("stack = \"{stack}\""))).is_ok()
        })
        .collect();
    assert_eq!(all, [false, false, true]);
    assert_eq!(shoal_sim::check(&one_flow("\"ideal\"", "")), Ok(()));
}

#[test]
#[should_panic(expected = "has no such experiment")]
fn whoever_runs_them_nevertheless_gets_no_result() {
    let refused = one_flow("{ pacing = \"fq\" }", "stack = \"linux-3.18\"");
    let _ = shoal_sim::run(&refused, shoal_sim::Options::default());
}
