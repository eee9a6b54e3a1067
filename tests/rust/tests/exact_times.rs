//! Transfer times to the picosecond, with the arithmetic in comments.

use shoal_tests::{experiment, run};
use shoal_trace::Column;

/// Completion time of the only transfer in picoseconds. Seconds as floating point keep them: 10^11 ps need 37 bits.
fn completion_ps(text: &str) -> u64 {
    let outcome = run(&experiment(text));
    let flow = &outcome.groups[0].flows[0];
    assert_eq!((flow.fct_s.len(), flow.retransmissions), (1, 0));
    (flow.fct_s[0] * 1e12).round() as u64
}

/// 10 Mbit/s: SYN (60 B) takes 48 us, a full packet (1448 + 52 B) 1.2 ms. 20 ms are halved: data there, ACKs back,
/// without serialisation on the way back.
fn one_transfer(bytes: u64) -> u64 {
    completion_ps(&format!(
        r#"
        duration = "2 s"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "unlimited"
        [[flows]]
        cc = "reno"
        stack = "linux-6"
        rtt = "20 ms"
        app = {{ transfer = "{bytes} B" }}
        "#
    ))
}

#[test]
fn transfer_within_the_initial_window() {
    // SYN 0.048 + 10, SYN/ACK 10, ACK 0.0416: the first segment starts at 20.0896 ms. The last of n ends n x 1.2 ms
    // later, arrives after 10 ms, and its FIN is acknowledged at once.
    for segments in 1..=10 {
        assert_eq!(one_transfer(1448 * segments), 40_089_600_000 + segments * 1_200_000_000, "{segments}");
    }
}

#[test]
fn each_flow_has_its_own_round_trip() {
    // One segment each, long after the one before: two round trips, a SYN, the ACK of the handshake and the segment.
    let text = |rtt: &str| {
        format!(
            r#"
            duration = "10 s"
            bottleneck = {{ rate = "10 Mbit/s", buffer = "unlimited" }}
            flows = [{{ cc = "reno", rtt = {rtt}, count = 3, start = {{ every = "1 s" }},
                app = {{ transfer = "1448 B" }} }}]
            "#
        )
    };
    for rtt in [r#"["20 ms", "300 ms", "50 ms"]"#, r#"{ from = "10 ms", to = "30 ms" }"#] {
        let outcome = run(&experiment(&text(rtt)));
        let flows = &outcome.groups[0].flows;
        let expected = if rtt.contains("from") { [0.01, 0.02, 0.03] } else { [0.02, 0.3, 0.05] };
        assert_eq!(flows.iter().map(|flow| flow.base_rtt_s.unwrap()).collect::<Vec<_>>(), expected);
        for (flow, rtt) in flows.iter().zip(expected) {
            assert!((flow.fct_s[0] - 2.0 * rtt - 0.001_289_6).abs() < 1e-12, "{:?}", flow.fct_s);
        }
    }
}

#[test]
fn transfer_that_needs_growth() {
    // The first ACK comes at 20.0896 + 1.2 + 20 = 41.2896 ms; the line has been idle since 32.0896 ms. From then on
    // each ACK releases at least as much as the line sends between two ACKs (slow start: two packets for one, every
    // 1.2 ms), and the ten ACKs of the first flight release 20 packets = 24 ms, more than the 21.2 ms until the next
    // flight's ACKs: the line never falls idle again. Segment n > 10 leaves it at 41.2896 + (n - 10) 1.2 ms.
    for segments in [11, 12, 20, 30, 31, 100] {
        let expected = 41_289_600_000 + (segments - 10) * 1_200_000_000 + 20_000_000_000;
        assert_eq!(one_transfer(1448 * segments), expected, "{segments}");
    }
}

#[test]
fn short_last_segment() {
    // 100 + 52 B take 121.6 us and follow the first ACK.
    assert_eq!(one_transfer(1448 * 10 + 100), 41_289_600_000 + 121_600_000 + 20_000_000_000);
}

#[test]
fn one_segment_through_store_and_forward() {
    // Rates that do not divide 8 x 10^12: each hop rounds down to a picosecond.
    let hops: [(u64, u64, u64); 3] =
        [(7_000_000, 1_000_333_000, 38), (3_000_000_000, 1_000_000, 0), (11_000_000, 250_000, 4)];
    let links: String = hops
        .iter()
        .enumerate()
        .map(|(n, (rate, delay_ps, overhead))| {
            format!(
                "[[topology.links]]\nfrom = \"n{n}\"\nto = \"n{}\"\nrate = \"{rate} bit/s\"\ndelay = \"{} \
                 ns\"\noverhead = \"{overhead} B\"\n",
                n + 1,
                delay_ps / 1000
            )
        })
        .collect();
    let text = format!(
        r#"
        duration = "2 s"
        [topology]
        kind = "graph"
        nodes = ["n0", "n1", "n2", "n3"]
        {links}
        [[flows]]
        cc = "dctcp"
        app = {{ transfer = "1448 B" }}
        from = "n0"
        to = "n3"
        "#
    );
    let crossing = |bytes: u64| -> u64 {
        let hop = |&(rate, delay, overhead)| (bytes + overhead) * 8_000_000_000_000 / rate + delay;
        hops.iter().map(hop).sum()
    };
    // SYN, SYN/ACK, data with FIN behind the ACK of the handshake, of which only the first hop is slow, ACK.
    let (rate, _, overhead) = hops[0];
    let behind = (52 + overhead) * 8_000_000_000_000 / rate;
    assert_eq!(completion_ps(&text), crossing(60) + crossing(60) + behind + crossing(1500) + crossing(52));
}

/// What both hosts see of a transfer of one segment.
#[test]
fn segments_at_both_hosts() {
    let outcome = run(&experiment(
        r#"
        duration = "1 s"
        trace = { series = "off", segment_flows = 1 }
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "unlimited"
        [[flows]]
        cc = "reno"
        stack = "linux-6"
        rtt = "20 ms"
        app = { transfer = "1000 B" }
        "#,
    ));
    let table = outcome.tables.iter().find(|table| table.spec().name == "segments").expect("recorded");
    let column = |name: &str| -> Vec<u64> {
        let position = table.spec().columns.iter().position(|column| column.name == name).expect("declared");
        match &table.columns()[position] {
            Column::U64(values) => values.clone(),
            Column::U32(values) => values.iter().copied().map(u64::from).collect(),
            Column::Text { codes, .. } => codes.iter().copied().map(u64::from).collect(),
            Column::F64(_) => panic!("{name} has no whole numbers"),
        }
    };
    let (times, ends, events, payloads, flags) =
        (column("time_ps"), column("end"), column("event"), column("payload"), column("flags"));
    let rows: Vec<_> = (0..times.len())
        .map(|n| (times[n] / 1_000_000, (ends[n], events[n]), payloads[n], flags[n]))
        .collect();
    let (sent, arrived, answered, returned) = ((0, 0), (1, 1), (1, 0), (0, 1));
    let (fin, syn, ack) = (1, 2, 16);
    // In microseconds: 60 B take 48, 52 B 41.6, 1052 B 841.6; 10 ms each way. The data follow the ACK of the handshake.
    assert_eq!(
        rows,
        [
            (0, sent, 0, syn),
            (10_048, arrived, 0, syn),
            (10_048, answered, 0, syn | ack),
            (20_048, returned, 0, syn | ack),
            (20_048, sent, 0, ack),
            (20_048, sent, 1000, ack | fin),
            (30_089, arrived, 0, ack),
            (30_931, arrived, 1000, ack | fin),
            (30_931, answered, 0, ack),
            (40_931, returned, 0, ack),
        ]
    );
}
