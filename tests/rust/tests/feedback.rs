//! ACKs a data packet, against receivers counted by hand. One flow through a link that is never full; DCTCP's marks
//! come at even gaps.

use shoal_measure::FlowResult;
use shoal_sim::Outcome;
use shoal_tests::{experiment, run};

/// One flow with a mark on every `gap`-th packet, or none; a window of at most 40 packets, so that nothing is lost.
fn outcome(gap: Option<u32>, flow: &str) -> Outcome {
    let mark = gap.map_or(0.0, |gap| 1.0 / f64::from(gap));
    run(&experiment(&format!(
        "duration = \"20 s\"\nwarmup = \"2 s\"\n\
         [bottleneck]\nrate = \"1 Gbit/s\"\nbuffer = \"1000 packets\"\n\
         aqm = {{ kind = \"open-loop\", mark = {mark}, drop = 0.0, spacing = \"even\" }}\n\
         [[flows]]\nname = \"flow\"\nrtt = \"20 ms\"\ncwnd_clamp = \"40 packets\"\n{flow}"
    )))
}

fn counts(outcome: &Outcome) -> (u64, u64, &FlowResult) {
    let flow = &outcome.groups[0].flows[0];
    (flow.acks_sent.unwrap(), flow.data_packets.unwrap(), flow)
}

/// `acks` ACKs for every `packets` packets, but for one cycle at each end of the window and a reception that a change
/// of the window moves.
fn assert_ratio(outcome: &Outcome, acks: u64, packets: u64) {
    let (sent, arrived, flow) = counts(outcome);
    assert!(arrived > 2_000, "{arrived} packets");
    let off = (sent * packets).abs_diff(arrived * acks);
    assert!(off <= 2 * packets * acks, "{sent} ACKs for {arrived} packets, not {acks} for {packets}");
    assert_eq!(flow.acks_per_packet, Some(sent as f64 / arrived as f64));
    // One flow: the group's numbers are its own.
    let group = &outcome.groups[0];
    assert_eq!((group.totals.acks_sent, group.totals.data_packets), (Some(sent), Some(arrived)));
    assert_eq!(group.acks_per_packet, flow.acks_per_packet);
}

/// Every second packet, or every packet.
#[test]
fn delayed_acks_halve_the_acks_of_ordinary_tcp() {
    for stack in ["linux-3.18", "linux-6", "freebsd-2015"] {
        let flow = format!("cc = \"reno\"\necn = \"off\"\nstack = \"{stack}\"\n");
        assert_ratio(&outcome(None, &flow), 1, 2);
        assert_ratio(&outcome(None, &format!("{flow}delayed_ack = false\n")), 1, 1);
    }
}

/// DCTCP's receiver also acknowledges where CE changes. With a mark on packet 7 of 7, 3.18 flushes what waits: 7
/// (before 1), then 2, 4, and 6; 4 of 7. Linux 6 also acknowledges the packet that changed at once: 1, 3, 5, then 6
/// (before 7), 7: 5 of 7. With a mark on packet 8 of 8: 2, 4, 6, 7 (before 8), 8 (before 1); and 1, 3, 5, 7, 8: 5 of 8
/// both.
#[test]
fn changes_of_ce_add_acks() {
    for (preset, stack, gap, acks) in [
        ("dctcp-linux-3.18", "linux-3.18", 7, 4),
        ("dctcp", "linux-6", 7, 5),
        ("dctcp-linux-3.18", "linux-3.18", 8, 5),
        ("dctcp", "linux-6", 8, 5),
    ] {
        let flow = format!("cc = \"{preset}\"\nstack = \"{stack}\"\n");
        assert_ratio(&outcome(Some(gap), &flow), acks, gap.into());
        // Without delayed ACKs nothing waits that a change could flush.
        assert_ratio(&outcome(Some(gap), &format!("{flow}delayed_ack = false\n")), 1, 1);
    }
}

/// Nobody acknowledges datagrams, and a group with such flows has no ratio.
#[test]
fn unresponsive_traffic_has_no_acks() {
    let outcome = outcome(None, "cc = \"none\"\napp = { unresponsive = \"5 Mbit/s\" }\n");
    let group = &outcome.groups[0];
    let flow = &group.flows[0];
    assert_eq!((flow.acks_sent, flow.data_packets, flow.acks_per_packet), (None, None, None));
    assert_eq!(
        (group.totals.acks_sent, group.totals.data_packets, group.acks_per_packet),
        (None, None, None)
    );
}
