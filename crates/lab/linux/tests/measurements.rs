//! Hand-made records as results.

mod common;

use common::{CE, ECT, OVERFLOW, QUEUED, STARTED, Sample, end, kernel, line};
use shoal_linux::{Plan, RecordError, measure, ran_on};
use shoal_measure::{Measured, Plane};

fn run(lines: &[Vec<u8>], flows: &[Vec<u8>]) -> Result<Measured, RecordError> {
    let experiment = common::experiment(&common::scenario("100 ms"));
    measure(&experiment, &lines.concat(), &flows.concat())
}

fn finished() -> Vec<Vec<u8>> {
    let mut flows: Vec<Vec<u8>> = (1..=100)
        .map(|ms| {
            let (cwnd, ssthresh) = if ms < 75 { (10, i32::MAX as u32) } else { (30, 20) };
            Sample { time_ms: ms * 10, cwnd, ssthresh, received: ms * 1000, ..Sample::default() }.bytes()
        })
        .collect();
    flows.push(end());
    flows
}

#[test]
fn packets_become_delays_marks_and_utilisation() {
    // Three packets at 600 ms; each takes 1 ms. The third is marked and a fourth finds no room.
    let lines = [
        line(600_000, 600_000, QUEUED, (ECT, ECT), 1),
        line(600_000, 600_000, STARTED, (ECT, ECT), 0),
        line(600_000, 600_000, QUEUED, (ECT, ECT), 1),
        line(600_000, 600_000, QUEUED, (ECT, CE), 2),
        line(600_500, 600_500, OVERFLOW, (ECT, ECT), 2),
        line(601_000, 600_000, STARTED, (ECT, ECT), 1),
        line(602_000, 600_000, STARTED, (CE, CE), 0),
    ];
    let measured = run(&lines, &finished()).unwrap();
    let link = &measured.bottlenecks[0];
    assert_eq!((link.arrived, link.marked, link.dropped, link.departed), (4, 1, 1, 3));
    assert_eq!((link.marked_by.threshold, link.dropped_by.buffer), (1, 1));
    // 3 ms of 500 ms, to the last digit.
    assert_eq!(link.utilisation, Some(0.006));
    // Waiting: 2 packets for 1 ms, 1 for 1 ms, of 500 ms.
    assert!((link.queue_packets.mean.unwrap() - 0.006).abs() < 1e-12);
    // Delays 0, 1 and 2 ms.
    assert!((link.delay_s.ect.mean.unwrap() - 0.001).abs() < 1e-12);
    let flow = &measured.groups[0].flows[0];
    assert_eq!((flow.marks_seen, flow.losses), (1, 1));
    // 3 packets of 1500 B in half a second.
    assert_eq!(flow.wire_bps, Some(72_000.0));
}

#[test]
fn a_threshold_in_packets_is_one_in_bytes_where_packets_are_small() {
    let kinds = |size: u16| {
        let leaves = line(600_000, 600_000, QUEUED, (ECT, ECT), 1);
        let sized = [leaves, line(600_000, 600_000, STARTED, (ECT, ECT), 0)].map(|mut record| {
            record[32..34].copy_from_slice(&size.to_ne_bytes());
            record
        });
        let notices = run(&sized, &finished()).unwrap().notices;
        notices.into_iter().map(|notice| (notice.kind, notice.links.join(" "))).collect::<Vec<_>>()
    };
    let said = ("threshold-in-bytes".to_owned(), "bottleneck".to_owned());
    assert!(kinds(1400).contains(&said));
    assert!(!kinds(1500).contains(&said));
}

#[test]
fn packets_and_acks_count_from_the_start_of_the_window() {
    // From 50 to 100 kB in the window.
    let flow = &run(&[], &finished()).unwrap().groups[0].flows[0];
    assert_eq!((flow.data_packets, flow.acks_sent), (Some(100), Some(25)));
    assert_eq!(flow.acks_per_packet, Some(0.25));
}

#[test]
fn nothing_of_a_flow_that_finished_before_the_window_counts() {
    let mut flows: Vec<Vec<u8>> = finished().into_iter().take(30).collect();
    let mut last = flows[29].clone();
    last[12] = 3; // FlowKind::Finished
    flows.extend([last, end()]);
    let lines = [line(200_000, 200_000, QUEUED, (ECT, CE), 1), line(200_000, 200_000, STARTED, (CE, CE), 0)];
    let flow = &run(&lines, &flows).unwrap().groups[0].flows[0];
    assert_eq!((flow.delivered_bytes, flow.wire_bps, flow.marks_seen), (0, Some(0.0), 0));
    assert_eq!((flow.data_packets, flow.acks_sent, flow.retransmissions), (Some(0), Some(0), 0));
}

#[test]
fn marks_of_acks_are_not_those_that_the_receiver_of_data_sees() {
    let mut ack = line(600_000, 600_000, QUEUED, (ECT, CE), 1);
    ack[34..36].copy_from_slice(&0_u16.to_ne_bytes());
    let mut leaves = line(600_000, 600_000, STARTED, (CE, CE), 0);
    leaves[34..36].copy_from_slice(&0_u16.to_ne_bytes());
    let measured = run(&[ack, leaves], &finished()).unwrap();
    assert_eq!((measured.bottlenecks[0].marked, measured.groups[0].flows[0].marks_seen), (1, 0));
}

#[test]
fn transmission_recorded_late_counts_from_its_own_time() {
    // The second packet starts at 601 ms; the timer is late and an arrival at 601.1 ms is recorded before it.
    let lines = [
        line(600_000, 600_000, QUEUED, (ECT, ECT), 1),
        line(600_000, 600_000, STARTED, (ECT, ECT), 0),
        line(600_000, 600_000, QUEUED, (ECT, ECT), 1),
        line(601_100, 601_100, QUEUED, (ECT, ECT), 2),
        line(601_000, 600_000, STARTED, (ECT, ECT), 1),
        line(602_000, 601_100, STARTED, (ECT, ECT), 0),
    ];
    let link = &run(&lines, &finished()).unwrap().bottlenecks[0];
    assert_eq!((link.queue_packets.max, link.utilisation), (Some(1.0), Some(0.006)));
    // One packet waits for 1 ms, another for 0.9 ms, of 500 ms.
    assert!((link.queue_packets.mean.unwrap() - 0.0038).abs() < 1e-12);
}

#[test]
fn samples_become_windows_and_goodput() {
    let measured = run(&[], &finished()).unwrap();
    let flow = &measured.groups[0].flows[0];
    // 50 kB of the 100 kB came before the window opened.
    assert_eq!((flow.delivered_bytes, flow.goodput_bps), (50_000, Some(800_000.0)));
    // 10 packets up to 750 ms, 30 from then on.
    assert_eq!(flow.cwnd_packets.mean, Some(20.0));
    assert_eq!(flow.alpha.mean, Some(0.5));
    assert_eq!(flow.srtt_s.mean, Some(0.01));
    let rows = measured.tables.iter().find(|table| table.spec().name == "flows").unwrap();
    assert_eq!(rows.len(), 10);
}

#[test]
fn results_say_which_kernel_they_come_from() {
    let experiment = common::experiment(&common::scenario("100 ms"));
    let plan = Plan::new(&experiment, &kernel(), false).unwrap();
    let linux = ran_on(&experiment, &plan, &kernel(), "s0\tsysctl\tnet.ipv4.tcp_ecn = 1\n");
    assert_eq!((linux.kernel.as_str(), linux.mode.as_str(), linux.sample_s), ("7.3.4-shoal", "ptrace", 0.01));
    let shown = ["s0", "sysctl", "net.ipv4.tcp_ecn = 1"].map(str::to_owned);
    assert_eq!(linux.shown, [<(String, String, String)>::from(shown)]);
    let measured = run(&[], &finished()).unwrap();
    let result = measured.result(serde_json::Value::Null, "0.0.0", Plane::Linux(linux.clone()));
    assert_eq!((result.on.as_str(), result.events, result.linux), ("linux", None, Some(linux)));
}

#[test]
fn reductions_are_announced_by_senders_with_ecn_and_seen_in_samples_without() {
    let with_flags = |flags: u8, event: u8| {
        let mut packet = line(600_000, 600_000, event, (ECT, ECT), 1);
        packet[38] = flags;
        packet
    };
    // CWR and ACK; the same packet when it leaves; CWR of a SYN.
    let lines = [with_flags(0x90, QUEUED), with_flags(0x90, STARTED), with_flags(0xc2, QUEUED)];
    let measured = run(&lines, &finished()).unwrap();
    assert_eq!(measured.groups[0].flows[0].reductions, 1);
    // Open, Recovery, Recovery, Loss, Open, Loss: two episodes.
    let mut flows = finished();
    for (at, state) in [(60, 3), (61, 3), (62, 4), (64, 4)] {
        flows[at][13] = state;
    }
    for record in &mut flows {
        record[15] = 0;
    }
    let measured = run(&[], &flows).unwrap();
    assert_eq!(measured.groups[0].flows[0].reductions, 2);
}

#[test]
fn files_of_unfinished_runs_are_refused() {
    let mut unfinished = finished();
    unfinished.pop();
    assert_eq!(run(&[], &unfinished).unwrap_err(), RecordError::Unfinished);
    assert_eq!(run(&[], &[]).unwrap_err(), RecordError::Unfinished);
    let mut torn = finished();
    torn[3].pop();
    assert_eq!(run(&[], &torn).unwrap_err(), RecordError::Torn);
    assert_eq!(run(&[line(1, 1, 9, (ECT, ECT), 1)], &finished()).unwrap_err(), RecordError::Unknown);
}

/// A table of a run with two groups, three and two flows, of which three are traced.
fn traced_flows(measured: &Measured, table: &str) -> (Vec<u32>, Option<String>) {
    let table = measured.tables.iter().find(|own| own.spec().name == table).unwrap();
    let Some(shoal_trace::Column::U32(flows)) = table.column("flow") else { panic!("flow") };
    let mut flows = flows.clone();
    flows.sort_unstable();
    flows.dedup();
    (flows, table.coverage().map(str::to_owned))
}

#[test]
fn traced_flows_are_those_that_the_simulator_chooses() {
    let text = common::scenario("100 ms")
        .replace(
            "rtt = \"10 ms\" }",
            "rtt = \"10 ms\", count = 3 }, { cc = \"dctcp\", name = \"others\", rtt = \"10 ms\", count = 2 }",
        )
        .replace("\"100 ms\"", "\"off\", controller_flows = 3");
    let experiment = common::experiment(&text);
    let of_flow = |number: u8| {
        let ports = u32::from(number) + 10_000;
        let mut drop = line(600_000, 600_000, OVERFLOW, (ECT, ECT), 2);
        drop[16..20].copy_from_slice(&(ports << 16 | ports).to_ne_bytes());
        let cwnd = 5 + u32::from(number);
        let sample = Sample { time_ms: 610, cwnd, ssthresh: 3, received: 1000, ..Sample::default() };
        let mut sample = sample.bytes();
        sample[8..12].copy_from_slice(&u32::from(number).to_ne_bytes());
        (drop, sample)
    };
    let (lines, mut flows): (Vec<_>, Vec<_>) = (0..5).map(of_flow).unzip();
    flows.push(end());
    let measured = measure(&experiment, &lines.concat(), &flows.concat()).unwrap();
    assert_eq!(measured.bottlenecks[0].dropped, 5);
    // Two of the first group, one of the second: flows 0, 3/2 = 1 and 3.
    for table in ["controller", "events"] {
        let (flows, coverage) = traced_flows(&measured, table);
        assert_eq!(flows, [0, 1, 3], "{table}");
        assert!(coverage.unwrap().contains("3 of 5 flows only, number 0-1, 3."), "{table}");
    }
}
