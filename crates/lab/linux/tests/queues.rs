//! Every queue as a discipline: exact structures, the equivalent `tc` commands, and refusals of what the
//! kernel lacks.

mod common;

use common::kernel_with;
use shoal_linux::{Plan, Refusal};

/// The plan of a queue in front of a Reno and a DCTCP flow.
fn plan(aqm: &str) -> Result<Plan, Vec<Refusal>> {
    let text = format!(
        r#"
duration = "20 s"
bottleneck = {{ rate = "40 Mbit/s", buffer = "1000 packets", aqm = {{ {aqm} }} }}
flows = [{{ cc = "reno", rtt = "10 ms" }}, {{ cc = "dctcp", rtt = "10 ms" }}]
"#
    );
    Plan::new(
        &common::experiment(&text),
        &kernel_with(
            "cubic dctcp reno",
            "bfifo codel coupled dualpi2 dualq_coupled dualred ets fq_codel gred netem pfifo pie red",
        ),
        false,
    )
}

/// Place and reason of the only refusal.
fn refusal(aqm: &str) -> (String, String) {
    let refusals = plan(aqm).unwrap_err();
    assert_eq!(refusals.len(), 1, "{refusals:#?}");
    assert!(!refusals[0].hint.is_empty());
    (refusals[0].place.clone(), refusals[0].reason.clone())
}

/// Kind and options of the disciplines at the bottleneck, the line first.
fn disciplines(plan: &Plan) -> Vec<(String, Vec<u8>)> {
    let lines = plan.config.lines().filter(|line| line.starts_with("qdisc r1 b0 "));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let hex = words[6];
            let bytes =
                (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap());
            (words[5].to_owned(), bytes.collect())
        })
        .collect()
}

/// Attributes by number, without the flag for nested attributes.
fn attributes(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut found = Vec::new();
    while bytes.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
        let kind = u16::from_ne_bytes([bytes[2], bytes[3]]) & 0x7fff;
        found.push((kind, bytes[4..length].to_vec()));
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    found
}

/// Attributes that are numbers of one, four or eight bytes.
fn numbers(bytes: &[u8]) -> Vec<(u16, u64)> {
    let number = |value: Vec<u8>| match value.len() {
        1 => value[0].into(),
        4 => u32::from_ne_bytes(value.try_into().unwrap()).into(),
        8 => u64::from_ne_bytes(value.try_into().unwrap()),
        _ => u64::MAX,
    };
    attributes(bytes).into_iter().map(|(kind, value)| (kind, number(value))).collect()
}

/// The `tc` commands at the bottleneck.
fn typed(plan: &Plan) -> Vec<&str> {
    plan.rules
        .iter()
        .filter(|rule| rule.place == "bottleneck.aqm")
        .filter_map(|rule| rule.text.strip_prefix("r1: "))
        .collect()
}

#[test]
fn codel_has_the_numbers_of_tc() {
    let plan =
        plan(r#"kind = "codel", target = "2 ms", interval = "30 ms", ecn = true, ce_threshold = "1 ms""#)
            .unwrap();
    let found = disciplines(&plan);
    assert_eq!(found[1].0, "codel");
    assert_eq!(numbers(&found[1].1), [(1, 2000), (2, 1000), (3, 30_000), (4, 1), (5, 1000)]);
    assert_eq!(
        typed(&plan),
        ["tc qdisc add dev b0 parent 1:1 handle 10: codel limit 1000 target 2000us interval 30000us ecn \
             ce_threshold 1000us"]
    );
}

#[test]
fn fq_codel_with_a_hash_or_a_queue_for_each_flow() {
    let hashed = plan(r#"kind = "fq-codel""#).unwrap();
    let found = disciplines(&hashed);
    assert_eq!(
        numbers(&found[1].1),
        [(1, 5000), (2, 1000), (3, 100_000), (4, 1), (5, 1024), (6, 1500), (8, 64), (9, 33_554_432)]
    );
    // Attributes of the line without classes: rate, overhead, number.
    assert_eq!(numbers(&found[0].1).len(), 3);

    let each =
        plan(r#"kind = "fq-codel", classifier = "flow", ce_threshold = "1 ms", ce_threshold_for = "ect1""#)
            .unwrap();
    let found = disciplines(&each);
    assert!(numbers(&found[1].1).contains(&(5, 2)));
    // Selector 1 of mask 3.
    assert_eq!(numbers(&found[1].1)[8..], [(7, 1000), (10, 1), (11, 3)][..]);
    // In tc's own words it is the same.
    let selected =
        r#"kind = "fq-codel", classifier = "flow", ce_threshold = "1 ms", ce_threshold_selector = "1/0x3""#;
    assert_eq!(disciplines(&plan(selected).unwrap()), found);
    let ect0 = plan(&selected.replace("1/0x3", "0x2/0x3")).unwrap();
    assert!(typed(&ect0)[0].contains(" ce_threshold_selector 0x2/0x3 "));
    // Handle 10:, below which the classes are.
    assert_eq!(numbers(&found[0].1)[3], (5, 10 << 16));
    assert!(typed(&each)[0].contains(" ce_threshold 1000us ce_threshold_selector 0x1/0x3 "));
}

#[test]
fn pie_has_the_numbers_of_tc() {
    let plan = plan(r#"kind = "pie", ecn = true, dq_rate_estimator = true, alpha = 3"#).unwrap();
    assert_eq!(
        numbers(&disciplines(&plan)[1].1),
        [(1, 15_000), (2, 1000), (3, 15_000), (4, 3), (5, 20), (6, 1), (7, 0), (8, 1)]
    );
    assert_eq!(
        typed(&plan),
        [
            "tc qdisc add dev b0 parent 1:1 handle 10: pie limit 1000 target 15000us tupdate 15000us alpha 3 beta 20 \
             ecn nobytemode dq_rate_estimator"
        ]
    );
}

/// Bands of `ets`: strict ones first, then the weighted ones in the order of the file, with quanta of 1 and 3 packets
/// of 1500 B (`TCA_ETS_NBANDS` 1, `TCA_ETS_NSTRICT` 2, `TCA_ETS_QUANTA` 3 of `TCA_ETS_QUANTA_BAND` 4). Code point 46
/// (EF) is of the first band, 10 (AF11) of the third, all others of the second.
#[test]
fn classes_are_bands_of_ets_by_code_point() {
    let plan = plan(
        r#"kind = "classes", queues = [
            { name = "rest", aqm = { kind = "codel" } },
            { name = "scalable", dscp = ["af11"], weight = 3, aqm = { kind = "pie" } },
            { name = "urgent", dscp = ["ef"], priority = "strict" },
        ]"#,
    )
    .unwrap();
    let found = disciplines(&plan);
    let kinds: Vec<&str> = found.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["line", "ets", "pfifo", "codel", "pie"]);
    let ets = attributes(&found[1].1);
    assert_eq!(ets[..2], [(1, vec![3]), (2, vec![1])][..]);
    assert_eq!(ets[2].0, 3);
    assert_eq!(numbers(&ets[2].1), [(4, 1500), (4, 4500)]);
    let line = attributes(&found[0].1);
    let code_points = &line.iter().find(|(kind, _)| *kind == 10).expect("TCA_LINE_CODE_POINTS").1;
    assert_eq!(code_points.len(), 64);
    for (code_point, band) in code_points.iter().enumerate() {
        let expected = match code_point {
            10 => 3,
            46 => 1,
            _ => 2,
        };
        assert_eq!(*band, expected, "code point {code_point}");
    }
    assert_eq!(
        typed(&plan)[0],
        "tc qdisc add dev b0 parent 1:1 handle 10: ets bands 3 strict 1 quanta 1500 4500"
    );
}

#[test]
fn gred_is_a_table_and_its_virtual_queues() {
    let plan = plan(
        r#"kind = "gred", limit = "400 kB",
        not_ect = { min = "15 kB", max = "45 kB", avpkt = "1500 B", burst = "20 packets", probability = 0.1, prio = 2 },
        ect = { min = "30 kB", max = "90 kB", avpkt = "1500 B", burst = "40 packets", probability = 0.2, ecn = true,
                prio = 3 }"#,
    )
    .unwrap();
    let found = disciplines(&plan);
    assert_eq!(
        found.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(),
        ["line", "gred", "gred", "gred"]
    );
    // tc_index is 0 for packets that are not ECT and 1 for the other three codepoints: a byte each.
    assert_eq!(numbers(&found[0].1)[3], (4, 0x0101_0100));
    // Two virtual queues, of which 0 is the default, grio; the limit.
    let table = attributes(&found[1].1);
    assert_eq!((table[0].0, table[0].1[0], table[0].1[4], table[0].1[8]), (3, 2, 0, 1));
    assert_eq!(numbers(&found[1].1)[1], (5, 400_000));
    let ect = attributes(&found[3].1);
    let word = |at: usize| u32::from_ne_bytes(ect[0].1[at..at + 4].try_into().unwrap());
    assert_eq!((ect[0].0, word(0), word(4), word(8), word(12)), (1, 400_000, 30_000, 90_000, 1));
    // Wlog 5 as for RED with these numbers (see `linux_red_is_what_tc_computes`); the priority is the fourth byte.
    assert_eq!((ect[0].1[40], ect[0].1[43], ect[0].1.len()), (5, 3, 52));
    assert_eq!((ect[1].0, ect[1].1.len(), ect[2].0), (2, 256, 4));
    // A list with one entry: virtual queue 1, flags ECN.
    let entry = attributes(&attributes(&ect[3].1)[0].1);
    assert_eq!(entry, [(2, 1u32.to_ne_bytes().to_vec()), (12, 1u32.to_ne_bytes().to_vec())]);
    assert_eq!(
        typed(&plan)[1..],
        [
            "tc qdisc change dev b0 parent 1:1 handle 10: gred limit 400000 min 15000 max 45000 avpkt 1500 burst 20 \
             probability 0.1 bandwidth 10000000bit vq 0 prio 2",
            "tc qdisc change dev b0 parent 1:1 handle 10: gred limit 400000 min 30000 max 90000 avpkt 1500 burst 40 \
             probability 0.2 bandwidth 10000000bit vq 1 prio 3 ecn",
        ][..]
    );
}

#[test]
fn dualpi2_has_the_numbers_of_tc() {
    let plan = plan(
        r#"kind = "dualpi2", step_threshold = "5 packets", ecn_mask = "l4s-ect", overload = "overflow""#,
    )
    .unwrap();
    assert_eq!(
        numbers(&disciplines(&plan)[1].1),
        [
            (1, 1000),
            (2, u32::MAX.into()),
            (3, 15_000),
            (4, 16_000),
            (5, 41),
            (6, 819),
            (7, 5),
            (9, 0),
            (10, 2),
            (11, 0),
            (12, 0),
            (13, 10),
            (14, 1)
        ]
    );
    assert_eq!(
        typed(&plan),
        [
            "tc qdisc add dev b0 parent 1:1 handle 10: dualpi2 limit 1000 memlimit 4294967295 target 15000us tupdate \
             16000us alpha 0.16015625 beta 3.19921875 step_thresh 5packets min_qlen_step 0 coupling_factor 2 overflow \
             drop_dequeue l4s_ect classic_protection 10%"
        ]
    );
}

/// Without options it equals what `tc qdisc add ... dualpi2` makes
/// ([`sch_dualpi2.c`](https://elixir.bootlin.com/linux/v6.17/source/net/sched/sch_dualpi2.c),
/// dualpi2_reset_default): 15 ms, 16 ms, 41/256 and 819/256 Hz, a step of 1 ms for any queue length, k = 2,
/// drops on overload and at departure, 10 % for the classic queue, and mask 1. Only the limits differ: the
/// first is the buffer of the scenario.
#[test]
fn dualpi2_without_options_is_that_of_tc() {
    let plan = plan(r#"kind = "dualpi2""#).unwrap();
    let found = numbers(&disciplines(&plan)[1].1);
    let ours = [(1, 1000), (2, u32::MAX.into())];
    let tc = [
        (3, 15_000),
        (4, 16_000),
        (5, 41),
        (6, 819),
        (8, 1000),
        (9, 0),
        (10, 2),
        (11, 1),
        (12, 0),
        (13, 10),
        (14, 1),
    ];
    assert_eq!(found, [&ours[..], &tc[..]].concat());
    assert!(typed(&plan)[0].contains(" l4s_ect "), "{:?}", typed(&plan));
}

#[test]
fn priority_in_dualpi2_is_a_share_of_nothing() {
    let plan = plan(r#"kind = "dualpi2", scheduler = "priority", decide = "enqueue""#).unwrap();
    let found = numbers(&disciplines(&plan)[1].1);
    // A step by time: 1 ms.
    assert!(found.contains(&(8, 1000)) && found.contains(&(12, 1)) && found.contains(&(13, 0)), "{found:?}");
}

#[test]
fn coupled_queues_are_modules_of_ours() {
    let single = plan(r#"kind = "coupled", saturation = "200 ms", coupling = 1.63"#).unwrap();
    assert!(single.config.contains("module /sch_coupled.ko\n"));
    // 1.63 x 2^16 = 106823.68; 40 Mbit/s are 5,000,000 B/s.
    assert_eq!(
        numbers(&disciplines(&single)[1].1),
        [(2, 0), (3, 1000), (4, 5_000_000), (5, 0), (6, 0), (7, 0), (8, 200_000_000), (9, 106_824)]
    );
    let dual = plan(
        r#"kind = "dualq-coupled", reno_slope = 12, dctcp_slope = 15, slope_unit = "1 B",
        scheduler = "weighted""#,
    )
    .unwrap();
    assert!(dual.config.contains("module /sch_dualq_coupled.ko\n"));
    assert_eq!(
        numbers(&disciplines(&dual)[1].1)[3..],
        [
            (5, 1),
            (6, 1),
            (7, 1),
            (10, 12),
            (11, 15),
            (12, 1),
            (13, 5),
            (14, 2),
            (15, 0),
            (16, 1),
            (17, 10),
            (18, 0),
            (19, 1500)
        ][..]
    );
    assert_eq!(
        typed(&dual),
        [
            "tc qdisc add dev b0 parent 1:1 handle 10: dualq_coupled limit 1000 limit_bytes 0b rate 40000000bit \
             decide dequeue unit 1b reno_slope 12 dctcp_slope 15 threshold 5p input classic scheduler weighted \
             classic_percent 10 mtu 1500b"
        ]
    );
}

#[test]
fn what_the_modules_do_not_compute_with_is_refused() {
    let (place, reason) = refusal(r#"kind = "coupled", saturation = "200 ms", coupling = 0.0001"#);
    assert_eq!(place, "bottleneck.aqm");
    assert!(reason.contains("coupling is beyond"), "{reason}");
    assert!(refusal(r#"kind = "coupled", saturation = "2000000 GB""#).1.contains("saturation is beyond"));
    let longest = r#"kind = "dualq-coupled", saturation = "1000000 s",
        scheduler = "time-shifted", shift = "1000000 s""#;
    let longest = plan(longest).unwrap();
    assert!(numbers(&disciplines(&longest)[1].1).contains(&(18, 1_000_000_000_000_000)));
    // An unlimited threshold becomes the largest value that the module accepts.
    let never = plan(r#"kind = "dualq-coupled", saturation = "100 ms", threshold = "unlimited""#).unwrap();
    assert!(numbers(&disciplines(&never)[1].1).contains(&(13, 1_000_000_000_000_000)));
}

#[test]
fn published_red_is_dualred_where_it_computes_the_same() {
    let red = r#"kind = "red", min = "5 packets", max = "15 packets""#;
    let exact = plan(&format!(r#"{red}, ecn = true, spacing = "independent""#)).unwrap();
    assert_eq!(disciplines(&exact)[1].0, "dualred");
    assert!(exact.rules.iter().any(|rule| rule.text.contains("both instances of dualred alike")));
    let (place, reason) = refusal(&format!("{red}, ecn = true"));
    assert_eq!(place, "bottleneck.aqm");
    assert!(reason.contains("counts packets between decisions"), "{reason}");
    assert!(refusal(red).1.contains("without ecn drops ECT packets"));
}

/// The kernel starts the timer only for a flag of the structure, and takes all flags from one place: 1 is ecn, 4
/// adaptive.
#[test]
fn adaptive_red_has_its_flags_in_the_structure() {
    let red = r#"kind = "linux-red", min = "15 kB", max = "60 kB", avpkt = "1500 B", ecn = true"#;
    let flags = |keys: &str| {
        let found = disciplines(&plan(&format!("{red}{keys}")).unwrap());
        let all = attributes(&found[1].1);
        (all[0].1[15], all.iter().any(|(kind, _)| *kind == 4))
    };
    assert_eq!((flags(""), flags(", nodrop = true")), ((0, true), (0, true)));
    assert_eq!(flags(", adaptive = true"), (5, false));
    let (_, reason) = refusal(&format!("{red}, adaptive = true, nodrop = true"));
    assert!(reason.contains("timer of adaptive RED"), "{reason}");
}

/// Profiles of `wred` that decide on arrival are instances of `dualred` with weight 1, 2^32, and independent coins.
#[test]
fn profiles_of_wred_are_dualred_on_arrival() {
    let wred = r#"kind = "wred", decide = "enqueue""#;
    let slopes = r#"mark = { min = "40 kB", max = "80 kB", max_probability = 0.25 },
        drop = { min = "100 kB", max = "100 kB" }"#;
    let plan_of = |keys: &str| plan(&format!("{wred}, {keys}")).unwrap();
    let instances = |plan: &Plan| -> [Vec<(u16, u64)>; 2] {
        let found = disciplines(plan);
        assert_eq!(found[1].0, "dualred");
        let options = attributes(&found[1].1);
        [7, 8].map(|kind| numbers(&options.iter().find(|(number, _)| *number == kind).unwrap().1))
    };
    let instance =
        |min: u64, max: u64, max_p: u64| [(2, min), (3, max), (4, max_p), (5, 1 << 32), (6, 0), (7, 1)];
    // A slope to 1/4 for ECT packets, 2^30; a step at 100 kB for others is one from 99,999 B to 100,000 B.
    assert_eq!(
        instances(&plan_of(slopes)),
        [instance(99_999, 100_000, 1 << 32), instance(40_000, 80_000, 1 << 30)]
    );
    // Without a profile nothing is dropped below 4 GiB. 40 Mbit/s send 5000 B in 1 ms.
    let [not_ect, ect] = instances(&plan_of(r#"mark = { min = "1 ms", max = "2 ms" }"#));
    assert_eq!(ect, instance(5000, 10_000, 1 << 32));
    assert_eq!(not_ect, instance(u64::from(u32::MAX) - 2, u64::from(u32::MAX) - 1, 1 << 32));
    // Drops are decided on arrival in any case.
    let drops = plan(r#"kind = "wred", drop = { min = "100 kB", max = "200 kB" }"#).unwrap();
    assert_eq!(instances(&drops)[0], instance(100_000, 200_000, 1 << 32));
    assert!(drops.rules.iter().any(|rule| rule.text.contains("average nothing")));
}

#[test]
fn a_step_of_wred_in_time_on_departure_is_ce_threshold() {
    let plan = plan(r#"kind = "wred", mark = { min = "500 us", max = "500 us" }"#).unwrap();
    let found = disciplines(&plan);
    assert_eq!(found[1].0, "codel");
    // Target and interval of 1000 s, no ECN by CoDel's own law.
    assert_eq!(numbers(&found[1].1), [(1, 1_000_000_000), (2, 1000), (3, 1_000_000_000), (4, 0), (5, 500)]);
    assert!(plan.rules.iter().any(|rule| rule.text.contains("units of 1024 ns")));
}

#[test]
fn what_no_discipline_has_of_wred_is_refused() {
    let step = r#"{ min = "50 kB", max = "50 kB" }"#;
    let time = r#"{ min = "1 ms", max = "1 ms" }"#;
    for (keys, key, words) in [
        (format!("drop_ect = {step}"), "drop_ect", "drops others of them"),
        (
            format!(r#"mark = {step}, decide = "enqueue", weight = 3"#),
            "weight",
            "fade while the line is idle",
        ),
        (format!(r#"mark = {step}, decide = "enqueue", cell = "256 B""#), "cell", "counts cells"),
        (format!("mark = {step}"), "mark", "above a time only"),
        (r#"mark = { min = "1 ms", max = "2 ms" }"#.to_owned(), "mark", "from one threshold on"),
        (format!("mark = {time}, drop = {step}"), "drop", "no profile for drops"),
        (
            r#"mark = { min = "1500 ns", max = "1500 ns" }"#.to_owned(),
            "mark.min",
            "1.5 us is no whole number",
        ),
        (r#"drop = { min = "9 packets", max = "9 packets" }"#.to_owned(), "drop", "counts bytes"),
    ] {
        let (place, reason) = refusal(&format!(r#"kind = "wred", {keys}"#));
        assert_eq!(place, format!("bottleneck.aqm.{key}"), "{keys}");
        assert!(reason.contains(words), "{keys}: {reason}");
    }
}

#[test]
fn kernels_limits_are_packets() {
    for kind in ["codel", "fq-codel", "pie", "dualpi2"] {
        let (place, reason) = refusal(&format!(r#"kind = "{kind}", limit = "300 kB""#));
        assert_eq!(place, "bottleneck.aqm.limit");
        assert!(reason.contains("300000 B"), "{reason}");
    }
}

#[test]
fn keys_that_the_kernel_has_not_are_named() {
    for (aqm, place, words) in [
        (r#"kind = "dualpi2", native = "ramp""#, "native", "RFC 9332"),
        (r#"kind = "dualpi2", native = "docsis-ramp", decide = "enqueue""#, "native", "DOCSIS"),
        (r#"kind = "dualpi2", form = "l4steam""#, "form", "L4S team"),
        (r#"kind = "dualpi2", first_update = "500 ms""#, "first_update", "after tupdate"),
        (r#"kind = "dualpi2", protection = {}"#, "protection", "queue protection"),
        (
            r#"kind = "dualq-coupled", saturation = "100 ms", protection = {}"#,
            "protection",
            "queue protection",
        ),
        (r#"kind = "dualpi2", marking = "recur""#, "marking", "random numbers"),
        (r#"kind = "dualpi2", min_backlog = "100 B""#, "min_backlog", "two packets"),
        (r#"kind = "dualpi2", memory_limit = "100 kB""#, "memory_limit", "truesize"),
        (r#"kind = "dualpi2", scheduler = "time-shifted""#, "scheduler", "credit"),
        (r#"kind = "dualpi2", alpha = 0.0"#, "alpha", "gain of 0"),
        (r#"kind = "fq-codel", memory_limit = "100 kB""#, "memory_limit", "truesize"),
        (r#"kind = "pie", tupdate = "1500 us""#, "tupdate", "jiffies"),
        (r#"kind = "pie", ecn = true, ecn_threshold_percent = 100"#, "ecn_threshold_percent", "up to 10 %"),
    ] {
        let (at, reason) = refusal(aqm);
        assert_eq!(at, format!("bottleneck.aqm.{place}"), "{aqm}");
        assert!(reason.contains(words), "{aqm}: {reason}");
    }
}

#[test]
fn queues_that_no_kernel_has_are_refused() {
    assert!(refusal(r#"kind = "pi2""#).1.contains("never part of Linux"));
    assert!(refusal(r#"kind = "open-loop", mark = 0.01"#).1.contains("`open-loop`"));
}
