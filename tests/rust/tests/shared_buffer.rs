//! The switch with shared memory, recomputed from every packet event.

use proptest::prelude::*;
use shoal_aqm::{ClassesConfig, QueueConfig};
use shoal_packet::Reason;
use shoal_scenario::{Document, Experiment, PoolMember};
use shoal_tests::{Bytes, Seen, experiment, monitor_all_links, random_scenario, run, run_logged};
use shoal_trace::PacketEvent;

/// One port of a pool as an eager switch sees it: its events in order, and how far they have happened.
struct PortEvents<'a> {
    events: Vec<&'a Seen>,
    next: usize,
    members: Vec<PoolMember>,
    /// What each member holds.
    held: Vec<u64>,
    classes: Option<&'a ClassesConfig>,
}

impl PortEvents<'_> {
    /// The number of the member that a packet is of.
    fn member(&self, seen: &Seen) -> usize {
        match self.classes {
            Some(classes) if self.members.len() > 1 => usize::from(classes.queue_of(seen.row.flow)),
            _ => 0,
        }
    }

    /// What a member holds of the memory that all share.
    fn beyond(&self, member: usize, bytes: u64) -> u64 {
        bytes.saturating_sub(self.members[member].share.reserved_bytes)
    }

    /// Lets everything leave that leaves up to `now`, up to the next arrival.
    fn leave(&mut self, now: u64) {
        while let Some(seen) = self.events.get(self.next) {
            let leaves = matches!(seen.row.event, PacketEvent::Depart | PacketEvent::Drop);
            if seen.row.event == PacketEvent::Arrive || seen.row.time_ps > now {
                return;
            }
            let member = self.member(seen);
            self.held[member] -= if leaves { u64::from(seen.row.size) } else { 0 };
            self.next += 1;
        }
    }
}

/// Checks every admission of every pool; returns how many packets were refused and how many came while several ports
/// held something. The links must all be monitored.
fn check(experiment: &Experiment, seen: &[Seen]) -> (u64, u64) {
    let (mut refusals, mut contended) = (0, 0);
    let rated: Vec<_> = experiment.links.iter().filter(|link| link.rate.is_some()).collect();
    for (index, pool) in (0u32..).zip(&experiment.pools) {
        let of_pool = |seen: &&Seen| rated[seen.row.link.0 as usize].pool == Some(index);
        let mut ports: Vec<PortEvents<'_>> = (0..rated.len() as u32)
            .map(|link| {
                let events = seen.iter().filter(of_pool).filter(|seen| seen.row.link.0 == link).collect();
                let port = rated[link as usize];
                let members = if port.pool == Some(index) { pool.members(port) } else { Vec::new() };
                let classes = match &port.queue {
                    QueueConfig::Classes(classes) => Some(classes),
                    _ => None,
                };
                PortEvents { events, next: 0, held: vec![0; members.len()], members, classes }
            })
            .collect();
        let members = ports.iter().flat_map(|port| &port.members);
        let shared_size = pool.size_bytes - members.map(|member| member.share.reserved_bytes).sum::<u64>();
        // Arrivals are reported when they happen; only departures are late.
        for arrival in seen.iter().filter(of_pool).filter(|seen| seen.row.event == PacketEvent::Arrive) {
            for port in &mut ports {
                port.leave(arrival.row.time_ps);
            }
            let held = |port: &PortEvents<'_>| {
                (0..port.held.len()).map(|one| port.beyond(one, port.held[one])).sum::<u64>()
            };
            let used: u64 = ports.iter().map(held).sum();
            contended +=
                u64::from(ports.iter().flat_map(|port| &port.held).filter(|held| **held > 0).count() > 1);
            let port = &mut ports[arrival.row.link.0 as usize];
            assert!(std::ptr::eq(port.events[port.next], arrival), "arrivals out of order");
            let size = u64::from(arrival.row.size);
            let member = port.member(arrival);
            let held = port.held[member];
            let (before, after) = (port.beyond(member, held), port.beyond(member, held + size));
            let free = shared_size - used;
            let alpha = port.members[member].share.alpha;
            let fits = after == 0 || (after as f64 <= alpha * free as f64 && after - before <= free);
            port.held[member] += size;
            port.next += 1;
            let refused = port.events.get(port.next).is_some_and(|seen| {
                seen.reason == Some(Reason::SharedBuffer) && seen.packet.seq == arrival.packet.seq
            });
            assert_eq!(refused, !fits, "{arrival:?}: holds {before} beyond its own, {free} B are free");
            refusals += u64::from(refused);
            if refused {
                port.held[member] -= size;
                port.next += 1;
            }
        }
    }
    (refusals, contended)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(shoal_tests::cases(150)))]

    #[test]
    fn admissions_are_those_of_an_eager_switch(bytes in prop::collection::vec(any::<u8>(), 40..80)) {
        let text = random_scenario(&mut Bytes::new(&bytes));
        let Ok(document) = Document::parse(&text, "test.toml") else { return Ok(()) };
        let mut experiment = document.resolve(None).unwrap();
        if experiment.pools.is_empty() {
            return Ok(());
        }
        monitor_all_links(&mut experiment);
        let (_, seen) = run_logged(&experiment);
        check(&experiment, &seen);
    }
}

/// Two receivers, each with three greedy senders and no ECN, at one switch.
fn two_hot_ports(alpha: &str, reserved: &str) -> String {
    format!(
        r#"
        duration = "200 ms"
        [topology]
        kind = "star"
        hosts = 8
        rate = "1 Gbit/s"
        delay = "10 us"
        buffer = "unlimited"
        shared_buffer = {{ size = "600 kB", alpha = {alpha}, reserved = "{reserved}" }}
        [[flows]]
        name = "a"
        cc = "reno"
        from = "h1..h3"
        to = "h7"
        count = 6
        [[flows]]
        name = "b"
        cc = "reno"
        from = "h4..h6"
        to = "h8"
        count = 6
        start = "100 ms"
        "#
    )
}

#[test]
fn thresholds_hold_while_two_ports_compete() {
    for (alpha, reserved) in [("0.5", "0 B"), ("1.0", "0 B"), ("1.0", "20 kB"), ("4.0", "0 B")] {
        let mut experiment = experiment(&two_hot_ports(alpha, reserved));
        monitor_all_links(&mut experiment);
        let (outcome, seen) = run_logged(&experiment);
        let (refused, contended) = check(&experiment, &seen);
        assert!(refused > 20 && contended > 1000, "{refused} {contended}");
        let dropped: u64 = outcome.bottlenecks.iter().map(|link| link.dropped_by.shared_buffer).sum();
        assert_eq!(dropped, refused);
        assert_eq!(outcome.bottlenecks.iter().map(|link| link.dropped).sum::<u64>(), refused);
    }
}

/// Alone, a port fills until it holds alpha times what it leaves free: alpha B / (1 + alpha) (Choudhury and Hahne,
/// equation 3 with one active queue), plus what it has reserved.
#[test]
fn one_hot_port_holds_its_share_of_the_pool() {
    for (alpha, reserved, bytes) in [
        ("1.0", "0 B", 300_000.0),
        ("0.5", "0 B", 200_000.0),
        ("4.0", "0 B", 480_000.0),
        ("1.0", "30 kB", 210_000.0),
    ] {
        // With 30 kB for each of eight ports, 360 kB are shared: half of it and the port's own 30 kB.
        let mut experiment = experiment(
            &two_hot_ports(alpha, reserved)
                .replace("200 ms", "100 ms")
                .replace("start = \"100 ms\"", "start = \"99 ms\""),
        );
        experiment.links.iter_mut().for_each(|link| link.monitored = link.name == "switch->h7");
        let most = run(&experiment).bottlenecks[0].queue_bytes.max.unwrap();
        assert!((bytes - 1500.0..=bytes).contains(&most), "alpha {alpha}, reserved {reserved}: {most}");
    }
}

/// Each of two ports has a queue for each of two classes, the second with an alpha and a reserved part of its own; a
/// group of flows in each.
fn two_hot_ports_with_classes(keys: &str) -> String {
    let queues = format!(
        r#"aqm = {{ kind = "classes", queues = [
            {{ name = "bulk" }},
            {{ name = "short", dscp = ["af11"], {keys} }},
        ] }}
        shared_buffer"#
    );
    let flows = |name: &str, to: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\ncc = \"reno\"\nfrom = \"h1..h6\"\nto = \"{to}\"\ncount = 6\ndscp = \
             \"af11\"\n"
        )
    };
    two_hot_ports("1.0", "4 kB").replace("shared_buffer", &queues) + &flows("c", "h7") + &flows("d", "h8")
}

/// Queues of traffic classes take from the memory of the switch by themselves: each admission is that of four members
/// with their own alphas.
#[test]
fn queues_of_classes_take_from_the_memory_of_the_switch() {
    for keys in ["alpha = 0.125", "alpha = 4, reserved = \"30 kB\"", "weight = 3"] {
        let mut experiment = experiment(&two_hot_ports_with_classes(keys));
        monitor_all_links(&mut experiment);
        let (outcome, seen) = run_logged(&experiment);
        let (refused, contended) = check(&experiment, &seen);
        assert!(refused > 20 && contended > 1000, "{keys}: {refused} {contended}");
        let dropped: u64 = outcome.bottlenecks.iter().map(|link| link.dropped_by.shared_buffer).sum();
        assert_eq!(dropped, refused);
    }
}

/// Alone and with alpha 1, a port fills half of what it may: of 600 kB that are not headroom, 300 kB; a queue of its
/// own memory the same.
#[test]
fn headroom_is_taken_off_the_memory() {
    let of_switch =
        two_hot_ports("1.0", "0 B").replace("size = \"600 kB\"", "size = \"700 kB\", headroom = \"100 kB\"");
    let of_port = two_hot_ports("1.0", "0 B").replace(
        "shared_buffer = { size = \"600 kB\", alpha = 1.0, reserved = \"0 B\" }",
        "aqm = { kind = \"classes\", memory = \"700 kB\", headroom = \"100 kB\", queues = [{ name = \"all\" }] }",
    );
    for text in [of_switch, of_port] {
        let mut experiment =
            experiment(&text.replace("200 ms", "100 ms").replace("start = \"100 ms\"", "start = \"99 ms\""));
        experiment.links.iter_mut().for_each(|link| link.monitored = link.name == "switch->h7");
        let most = run(&experiment).bottlenecks[0].queue_bytes.max.unwrap();
        assert!((300_000.0 - 1500.0..=300_000.0).contains(&most), "{most}");
    }
}
