//! Links that impair packets, in whole runs. The draws themselves are tested in `core/netem`, against the kernel in
//! `tests/linux/test_netem.py`.

use proptest::prelude::*;
use shoal_netem::{Chance, Distribution, Impairments, Jitter, Loss, Prandom, Reorder, Slot};
use shoal_scenario::Document;
use shoal_sim::Outcome;
use shoal_tests::{Bytes, check_conservation, experiment, json, monitor_all_links, random_scenario, run};
use shoal_units::Span;

/// 1250 B every 10 ms for 100 s over a link with a delay of 5 ms, with these impairments.
fn stream(impairments: &str) -> String {
    format!(
        "duration = \"101 s\"\nwarmup = \"1 s\"\n[bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"50 \
         packets\"\n\
         impairments = {{ {impairments} }}\n[[flows]]\ncc = \"none\"\nrtt = \"20 ms\"\n\
         app = {{ unresponsive = \"1 Mbit/s\", packet = \"1250 B\" }}\n"
    )
}

/// The path's lost, duplicated, corrupted and reordered packets.
fn path(outcome: &Outcome) -> [u64; 4] {
    let path = &outcome.paths[0];
    [path.lost, path.duplicated, path.corrupted, path.reordered]
        .map(|count| count.expect("the simulator counts"))
}

#[test]
fn what_a_path_loses_does_not_arrive_and_no_queue_drops_it() {
    let outcome = run(&experiment(&stream("loss = 0.1, corrupt = 0.05")));
    let datagrams = outcome.groups[0].flows[0].datagrams.as_deref().expect("an unresponsive flow");
    let [lost, duplicated, corrupted, _] = path(&outcome);
    assert_eq!((outcome.bottlenecks[0].dropped, duplicated), (0, 0));
    // One packet may be on its way at each end of the window.
    assert!(
        (datagrams.sent - datagrams.received).abs_diff(lost + corrupted) <= 1,
        "{datagrams:?} {lost} {corrupted}"
    );
    // 10 % of 10000 packets, with a standard deviation of 30; 5 % of the others, with one of 21.
    assert!(lost.abs_diff(1000) < 120 && corrupted.abs_diff(450) < 84, "{lost} {corrupted}");
}

#[test]
fn copies_arrive_and_count_once() {
    let outcome = run(&experiment(&stream("duplicate = 0.2")));
    let datagrams = outcome.groups[0].flows[0].datagrams.as_deref().expect("an unresponsive flow");
    let [lost, duplicated, ..] = path(&outcome);
    assert!(duplicated.abs_diff(2000) < 160, "{duplicated}");
    assert!(datagrams.sent - datagrams.received <= 2 && datagrams.lost == 0 && lost == 0, "{datagrams:?}");
    check_conservation(&{
        let mut all = experiment(&stream("duplicate = 0.2"));
        monitor_all_links(&mut all);
        run(&all)
    });
}

/// The delay of each packet is that of the generator: 1 ms of transmission, 7.5 ms of propagation elsewhere, 5 ms less
/// 2 ms here, and the draw.
#[test]
fn delays_are_drawn_by_the_links_own_generator() {
    let experiment = experiment(&stream("jitter = \"2 ms\", keep_order = false"));
    let (seed, _) = experiment.links[0].impairment_seed(experiment.seed);
    let mut random = Prandom::new(seed);
    // The first 100 packets come before the window.
    let delays: Vec<f64> =
        (0..10_100).map(|_| f64::from(random.draw() % 4_000_000) * 1e-9 + 0.0115).collect();
    let (inside, n) = (&delays[100..], 10_000.0);
    let outcome = run(&experiment);
    let measured = outcome.groups[0].flows[0].datagrams.as_deref().expect("an unresponsive flow").delay_s;
    let mean = inside.iter().sum::<f64>() / n;
    // The last packet of the window may not have arrived.
    assert!((measured.mean.unwrap() - mean).abs() < 1e-6, "{measured:?} {mean}");
    let largest = inside.iter().copied().fold(0.0, f64::max);
    assert!((measured.max.unwrap() - largest).abs() < 1e-9, "{measured:?} {largest}");
}

/// Slots of 16 packets: what arrives at one instant is at most 16 packets, and a TCP flow still fills most of the link.
#[test]
fn slots_delay_packets_and_lose_none() {
    let text = "duration = \"20 s\"\nwarmup = \"2 s\"\n[bottleneck]\nrate = \"20 Mbit/s\"\nbuffer = \"100 packets\"\n\
                impairments.slot = { min = \"800 us\", max = \"5 ms\", packets = 16 }\n[[flows]]\ncc = \"cubic\"\nrtt \
                = \"20 ms\"\n";
    let outcome = run(&experiment(text));
    assert_eq!(path(&outcome), [0; 4]);
    let flow = &outcome.groups[0].flows[0];
    // Drops just before the window are repaired in it.
    assert!(flow.retransmissions.abs_diff(outcome.bottlenecks[0].dropped) <= 2);
    // A slot of 2.9 ms on average takes 16 packets: 66 Mbit/s, more than the link has. Packets wait 1.5 ms and more for
    // it.
    assert!(outcome.bottlenecks[0].utilisation.unwrap() > 0.95);
    assert!(outcome.paths[0].link == "bottleneck");
}

#[test]
fn two_runs_give_the_same_bytes_and_another_seed_does_not() {
    let text = stream(
        "loss = { p = 0.05, r = 0.3 }, jitter = \"1 ms\", slot = { min = \"1 ms\", max = \"3 ms\", packets = 2 }",
    );
    assert_eq!(json(&text, 1), json(&text, 1));
    let paths = |seed| {
        let document = Document::parse(&text, "test.toml").unwrap();
        run(&document.resolve(Some(seed)).unwrap()).paths.clone()
    };
    assert_ne!(paths(1), paths(2));
}

/// The two directions of a link of a graph are impaired, each with its own draws.
#[test]
fn both_directions_of_a_link_draw_for_themselves() {
    let experiment = experiment(
        "duration = \"20 s\"\nwarmup = \"1 s\"\n[topology]\nkind = \"graph\"\nnodes = [\"a\", \"b\"]\n\
         links = [{ from = \"a\", to = \"b\", rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"50 packets\", \
         monitored = true, \
         impairments = { loss = 0.02 } }]\n[[flows]]\ncc = \"reno\"\nfrom = \"a\"\nto = \"b\"\n",
    );
    let outcome = run(&experiment);
    let names: Vec<&str> = outcome.paths.iter().map(|path| path.link.as_str()).collect();
    assert_eq!(names, ["a->b", "a->b/back"]);
    assert!(outcome.paths.iter().all(|path| path.lost.unwrap() > 5), "{:?}", outcome.paths);
    let seeds = |n: usize| experiment.links[n].impairment_seed(1).0;
    assert_ne!(seeds(0), seeds(1));
}

/// Everything that may be set, as the bytes say.
fn impairments(bytes: &mut Bytes<'_>) -> Impairments {
    let chance = |bytes: &mut Bytes<'_>| Chance::of(f64::from(bytes.pick(&[0u8, 0, 1, 5, 30])) / 100.0);
    let loss = match bytes.byte() % 3 {
        0 => Loss::Random { probability: chance(bytes), correlation: chance(bytes) },
        1 => Loss::GilbertElliott {
            p: chance(bytes),
            r: Chance::of(0.4),
            loss_in_bad: Chance::ALWAYS,
            loss_in_good: chance(bytes),
        },
        _ => {
            let half = Chance::of(0.5);
            Loss::FourState {
                p13: chance(bytes),
                p31: half,
                p32: chance(bytes),
                p23: half,
                p14: chance(bytes),
            }
        }
    };
    let slot = Slot {
        min: Span::from_micros(300),
        max: Span::from_micros(u64::from(bytes.short()) + 400),
        packets: u32::from(bytes.byte() % 8),
        bytes: u32::from(bytes.short()),
    };
    let reorder = Reorder { probability: chance(bytes), gap: 1 + u32::from(bytes.byte() % 5) };
    Impairments {
        jitter: Jitter {
            ns: u32::from(bytes.short()) * 100,
            distribution: bytes.pick(&Distribution::NAMED).1,
            correlation: chance(bytes),
        },
        keep_order: bytes.flag(),
        loss,
        duplicate: chance(bytes),
        corrupt: chance(bytes),
        reorder: bytes.flag().then_some(reorder),
        slot: bytes.flag().then_some(slot),
        clears_ecn: bytes.flag(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(shoal_tests::cases(150)))]

    #[test]
    fn packets_are_conserved_on_impaired_links(bytes in prop::collection::vec(any::<u8>(), 60..140)) {
        let mut bytes = Bytes::new(&bytes);
        let text = random_scenario(&mut bytes);
        let Ok(document) = Document::parse(&text, "test.toml") else { return Ok(()) };
        let mut experiment = document.resolve(None).unwrap();
        monitor_all_links(&mut experiment);
        for link in &mut experiment.links {
            link.impairments = bytes.flag().then(|| Box::new(impairments(&mut bytes)));
        }
        let outcome = run(&experiment);
        check_conservation(&outcome);
        let lost: u64 = outcome.paths.iter().map(|path| path.lost.unwrap() + path.corrupted.unwrap()).sum();
        prop_assert_eq!(lost, outcome.conservation.lost);
    }
}

/// Guards the property above: paths lose, copy, corrupt and reorder in it.
#[test]
fn random_impairments_test_something() {
    let mut random = shoal_units::Stream::new(5, "bytes");
    let mut seen = [0; 4];
    for _ in 0..60 {
        let bytes: Vec<u8> = (0..140).map(|_| random.uniform_u32() as u8).collect();
        let mut bytes = Bytes::new(&bytes);
        let Ok(document) = Document::parse(&random_scenario(&mut bytes), "test.toml") else { continue };
        let mut experiment = document.resolve(None).unwrap();
        for link in &mut experiment.links {
            link.impairments = Some(Box::new(impairments(&mut bytes)));
        }
        let outcome = run(&experiment);
        for path in &outcome.paths {
            let counts = [path.lost, path.duplicated, path.corrupted, path.reordered];
            for (seen, count) in seen.iter_mut().zip(counts) {
                *seen += u32::from(count.unwrap() > 0);
            }
        }
    }
    assert!(seen.iter().all(|&paths| paths >= 10), "{seen:?}");
}

/// A wire with the machinery of impairments and none of them delivers what a plain one does, when it does, also while
/// its delay changes.
#[test]
fn a_wire_that_impairs_nothing_changes_nothing() {
    let flow = |rtt, cc| format!("[[flows]]\ncc = \"{cc}\"\nrtt = \"{rtt}\"\n");
    let text = format!(
        "duration = \"12 s\"\nwarmup = \"1 s\"\n[bottleneck]\nrate = \"9.73 Mbit/s\"\ndelay = \"6.1 ms\"\nbuffer = \
         \"37 packets\"\n\
         aqm = {{ kind = \"step\", threshold = \"9 packets\" }}\nschedule.changes = [{{ at = \"4 s\", delay = \"17 \
         ms\" }}, \
         {{ at = \"7 s\", rate = \"4.1 Mbit/s\", delay = \"2 ms\" }}]\n{}{}",
        flow("43.7 ms", "reno"),
        flow("29.3 ms", "dctcp"),
    );
    let mut experiment = experiment(&text);
    let plain = run(&experiment);
    experiment.links[0].impairments = Some(Box::new(Impairments::NONE));
    let through = run(&experiment);
    assert_eq!(path(&through), [0; 4]);
    assert!(plain.bottlenecks[0].dropped > 0 && plain.bottlenecks[0].marked > 100);
    assert!(through.bottlenecks == plain.bottlenecks, "the queue differs");
    assert!(through.groups == plain.groups, "the flows differ");
}
