//! Values in base units: policies, queues, starts, applications.

use shoal_aqm::{
    DecideAt, DelayRampConfig, DualPi2Form, Extent, LinuxRedConfig, NativeMarking, ProtectionConfig,
    QueueConfig, StepConfig, Tunnels,
};
use shoal_cc::{AlphaUpdate, CcConfig, CutStyle, Gain, MarkCounting};
use shoal_scenario::{App, Document, Experiment, FrameSize, Think, TraceConfig, TracedTable};
use shoal_tcp::{CwrAck, EcnFeedback, EcnSetting, Pacing, ReceiverConfig};
use shoal_units::{Rate, Span, Time};
use std::f64::consts::TAU;

fn document(law: &str, group: &str, rest: &str) -> Document {
    let text = format!(
        "duration = \"10 s\"\n{rest}\nflows = [{{ rtt = \"8 ms\", {group} }}]\n\
         [bottleneck]\nrate = \"40 Mbit/s\"\nbuffer = \"1600 kB\"\n{law}\n"
    );
    Document::parse(&text, "test.toml").unwrap_or_else(|e| panic!("{e}"))
}

fn resolve(law: &str, group: &str) -> Experiment {
    document(law, group, "").resolve(None).unwrap()
}

#[test]
fn policies_go_over_the_preset() {
    let options = "cc_options = { alpha_update = \"per-ack\", gain = { per_window_in_flight = 4 }, counting = \
                   \"acks\", cut = \"per-mark\", initial_alpha_q10 = 512, floor_packets = 1, sends_cwr = false }";
    let experiment = resolve("", &format!("cc = \"dctcp\", {options}"));
    let (Some(CcConfig::Dctcp(preset)), CcConfig::Dctcp(config)) =
        (CcConfig::preset("dctcp"), experiment.endpoints[0].cc)
    else {
        panic!()
    };
    let expected = shoal_cc::DctcpConfig {
        alpha_update: AlphaUpdate::PerAck,
        gain: Gain::PerWindowInFlight(4),
        counting: MarkCounting::Acks,
        cut: CutStyle::PerMark,
        initial_alpha_q10: 512,
        floor_packets: 1,
        sends_cwr: false,
        ..preset
    };
    assert_eq!(config, expected);
    let experiment =
        resolve("", "cc = \"cubic\", cc_options = { hystart = false, arithmetic = \"rfc9438\" }");
    let CcConfig::Cubic(config) = experiment.endpoints[0].cc else { panic!() };
    assert!(!config.hystart && config.arithmetic == shoal_cc::CubicArithmetic::Rfc9438);
}

#[test]
fn each_rule_of_prague_is_a_key() {
    let options = "cc_options = { rtt_independence = \"off\", alpha_bits = 20, first_ce = \"as-any\", \
                   rate_mode_packets = 0, lowest_rate_kbps = 1000, classic_fallback = true, fallback_constants = \
                   \"of-20-bits\" }";
    let experiment = resolve("", &format!("cc = \"prague-0.7\", {options}"));
    let (Some(CcConfig::Prague(preset)), CcConfig::Prague(config)) =
        (CcConfig::preset("prague-0.7"), experiment.endpoints[0].cc)
    else {
        panic!()
    };
    let expected = shoal_cc::PragueConfig {
        rtt_independence: shoal_cc::RttIndependence::Off,
        alpha_bits: 20,
        first_ce: shoal_cc::FirstCe::AsAny,
        rate_mode_packets: 0,
        lowest_rate_kbps: 1000,
        classic_fallback: true,
        fallback_constants: shoal_cc::FallbackConstants::Of20Bits,
        ..preset
    };
    assert_eq!(config, expected);
}

#[test]
fn every_preset_is_written_in_full_and_read_back() {
    for preset in shoal_cc::PRESETS {
        let written = document("", &format!("cc = \"{}\"", preset.name), "");
        let again = Document::from_json(&written.to_json(), "json").unwrap_or_else(|e| panic!("{e}"));
        let endpoint = again.resolve(None).unwrap().endpoints[0];
        assert_eq!(endpoint.cc, preset.config, "{}", preset.name);
        let asks = ["dctcp", "ecn-", "prague-"].iter().any(|start| preset.name.starts_with(start));
        let ecn = if asks { EcnSetting::On } else { EcnSetting::Off };
        assert_eq!(endpoint.ecn, ecn, "{}", preset.name);
    }
}

/// Defaults stand beside what excludes them, when a scenario is written in full.
#[test]
fn a_selector_is_written_in_full_and_read_back() {
    let law = "aqm = { kind = \"fq-codel\", ce_threshold = \"1 ms\", ce_threshold_selector = \"0x1/0x3\" }";
    let written = document(law, "cc = \"reno\"", "");
    let again = Document::from_json(&written.to_json(), "json").unwrap_or_else(|e| panic!("{e}"));
    let queue = |document: &Document| format!("{:?}", document.resolve(None).unwrap().links[0].queue);
    assert_eq!(queue(&again), queue(&written));
    assert!(queue(&again).contains("Field"), "{}", queue(&again));
}

#[test]
fn red_of_dctth_as_tc_gets_it() {
    // De Schepper et al. 2015: limit 1600000 min 120000 max 360000 avpkt 1000 burst 220 ecn bandwidth 40Mbit.
    let law = "aqm = { kind = \"linux-red\", min = \"120 kB\", burst = \"220 packets\", ecn = true, bandwidth = \"40 \
               Mbit/s\" }";
    let expected = LinuxRedConfig {
        limit_bytes: 1_600_000,
        min_bytes: 120_000,
        max_bytes: 360_000,
        avpkt_bytes: 1_000,
        burst_packets: 220,
        probability: 0.02,
        bandwidth: Rate::from_bps(40_000_000),
        ecn: true,
        harddrop: false,
        nodrop: false,
        adaptive: false,
        legacy_probability: false,
    };
    assert_eq!(resolve(law, "cc = \"reno\"").links[0].queue, QueueConfig::LinuxRed(expected));
    // Without burst: (2 x 120000 + 360000) / (3 x 1000) = 200.
    let law = "aqm = { kind = \"linux-red\", min = \"120 kB\", kernel = \"3.2.18\" }";
    let QueueConfig::LinuxRed(red) = resolve(law, "cc = \"reno\"").links[0].queue else { panic!() };
    assert_eq!((red.burst_packets, red.legacy_probability), (200, true));
    for (kernel, legacy) in [("2.6.39", true), ("3.3", false), ("6.12", false)] {
        let law = format!("aqm = {{ kind = \"linux-red\", min = \"120 kB\", kernel = \"{kernel}\" }}");
        let QueueConfig::LinuxRed(red) = resolve(&law, "cc = \"reno\"").links[0].queue else { panic!() };
        assert_eq!(red.legacy_probability, legacy, "{kernel}");
    }
}

#[test]
fn thresholds_keep_their_kind() {
    let step = |threshold: &str| match &resolve(
        &format!(
            "aqm = {{ kind = \"step\", threshold = \"{threshold}\", decide = \"dequeue\", \
                                 drop_threshold = \"0.5 BDP\" }}"
        ),
        "cc = \"dctcp\"",
    )
    .links[0]
        .queue
    {
        QueueConfig::Step(step) => *step,
        other => panic!("{other:?}"),
    };
    // 40 Mbit/s x 8 ms = 40,000 B.
    let expected = StepConfig {
        threshold: Extent::Packets(5),
        decide: DecideAt::Dequeue,
        drop_threshold: Extent::Bytes(20_000),
        limit: Extent::Bytes(1_600_000),
    };
    assert_eq!(step("5 packets"), expected);
    assert_eq!(step("1 ms").threshold, Extent::Time(Span::from_millis(1)));
    assert_eq!(step("7.5 kB").threshold, Extent::Bytes(7_500));
    assert_eq!(step("0.00001 BDP").threshold, Extent::Bytes(0));
    assert_eq!(step("unlimited").threshold, Extent::Unlimited);
    // RED averages bytes: 10 packets of 1000 B, and 2 ms x 40 Mbit/s = 10,000 B.
    let law = "aqm = { kind = \"red\", min = \"10 packets\", max = \"30 ms\", mean_packet = \"1000 B\" }";
    let QueueConfig::Red(red) = resolve(law, "cc = \"reno\"").links[0].queue else { panic!() };
    assert_eq!(
        (red.parameters.min_bytes, red.parameters.max_bytes, red.mean_packet_bytes),
        (10_000.0, 150_000.0, 1_000)
    );
}

#[test]
fn round_trips_of_each_flow() {
    let resolve = |group: &str| {
        let text = format!(
            "duration = \"10 s\"\nflows = [{{ cc = \"reno\", {group} }}]\nbottleneck = {{ rate = \"40 Mbit/s\", \
             buffer = \"9 kB\" }}"
        );
        Document::parse(&text, "test.toml").unwrap_or_else(|e| panic!("{e}")).resolve(None).unwrap()
    };
    let rtts = |group: &str| -> Vec<u64> {
        let experiment = resolve(group);
        experiment.flows.iter().map(|flow| experiment.base_rtt(&flow).as_micros()).collect()
    };
    assert_eq!(rtts("rtt = [\"10 ms\", \"40 ms\", \"10 ms\"]"), [10_000, 40_000, 10_000]);
    assert_eq!(rtts("rtt = [\"10 ms\", \"11 us\"], start = [\"0 s\", \"1 s\"]"), [10_000, 11]);
    let range = "rtt = { from = \"10 ms\", to = \"40 ms\" }, count = 4";
    assert_eq!(rtts(range), [10_000, 20_000, 30_000, 40_000]);
    assert_eq!(rtts("rtt = { from = \"10 ms\", to = \"10 ms\" }, count = 3"), [10_000; 3]);
    // Flows with the same time share their links: the bottleneck's, and two for each of two times.
    let experiment = resolve("rtt = [\"10 ms\", \"40 ms\", \"10 ms\"]");
    assert_eq!((experiment.links.len(), experiment.paths.len()), (5, 4));
    let names: Vec<_> = experiment.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names[1..], ["reno/1/forward", "reno/1/back", "reno/2/forward", "reno/2/back"]);
    // Hosts with links of their own: one pair for each of two times.
    let text = r#"
        duration = "1 s"
        topology = { kind = "dumbbell", access_rate = "1 Gbit/s", switches = true }
        bottleneck = { rate = "10 Mbit/s", delay = "1 ms" }
        flows = [{ cc = "reno", rtt = ["10 ms", "40 ms", "10 ms"] }]
    "#;
    let experiment = Document::parse(text, "test.toml").unwrap().resolve(None).unwrap();
    let rtts: Vec<_> = experiment.flows.iter().map(|flow| experiment.base_rtt(&flow).as_millis()).collect();
    assert_eq!(rtts, [10, 40, 10]);
    assert_eq!(experiment.flows.of(0).forward, experiment.flows.of(2).forward);
    assert_ne!(experiment.flows.of(0).forward, experiment.flows.of(1).forward);
}

#[test]
fn applications_that_somebody_waits_for() {
    let app = |app: &str| resolve("", &format!("cc = \"reno\", app = {app}")).flows.of(0).app;
    let think = |ms, at_random| Think { mean: Span::from_millis(ms), at_random };
    let requests = App::Requests {
        request_bytes: 200,
        response_bytes: 20_000,
        rounds: None,
        think: think(0, false),
        barrier: false,
    };
    assert_eq!(app("{ request = \"200 B\", response = \"20 kB\" }"), requests);
    let more = "{ request = \"1 B\", response = \"2 B\", rounds = 3, think = { exponential = \"4 ms\" }, barrier = \
                true }";
    let barrier = App::Requests {
        request_bytes: 1,
        response_bytes: 2,
        rounds: Some(3),
        think: think(4, true),
        barrier: true,
    };
    assert_eq!(app(more), barrier);
    let frames =
        |size| App::Frames { size, interval: Span::from_millis(40), deadline: Span::from_millis(100) };
    let constant = app("{ frame = \"25 kB\", every = \"40 ms\", deadline = \"100 ms\" }");
    assert_eq!(constant, frames(FrameSize::constant(25_000)));
    let adaptive = |budget| {
        let encoder = format!("{{ min_rate = \"200 kbit/s\", max_rate = \"8 Mbit/s\"{budget} }}");
        app(&format!("{{ frame = {encoder}, every = \"40 ms\", deadline = \"100 ms\" }}"))
    };
    let size = |ms| FrameSize { least_bytes: 1000, most_bytes: 40_000, budget: Span::from_millis(ms) };
    assert_eq!(adaptive(""), frames(size(36)));
    assert_eq!(adaptive(", budget = \"20 ms\""), frames(size(20)));
    assert!(app("{ transfer = \"1 B\", rounds = 2, barrier = true }").has_barrier());
}

#[test]
fn stops() {
    let stops = |rest: &str| -> Vec<Option<u64>> {
        let experiment = resolve("", &format!("cc = \"reno\", {rest}"));
        experiment.flows.iter().map(|flow| Some(flow.stop?.since(Time::ZERO).as_millis())).collect()
    };
    assert_eq!(stops("count = 2"), [None, None]);
    assert_eq!(stops("stop = \"2 s\", count = 2"), [Some(2000), Some(2000)]);
    // The number of flows is that of the list, and the second one may start after the first has stopped.
    let turns = "start = [\"0 s\", \"1 s\", \"2 s\"], stop = [\"1 s\", \"1500 ms\", \"never\"]";
    assert_eq!(stops(turns), [Some(1000), Some(1500), None]);
    assert_eq!(stops("stop = [\"never\", \"1 s\"]"), [None, Some(1000)]);
}

#[test]
fn starts() {
    let starts = |start: &str, count: u32| -> Vec<u64> {
        let experiment = resolve("", &format!("cc = \"reno\", start = {start}, count = {count}"));
        experiment.flows.iter().map(|flow| flow.start.since(Time::ZERO).as_millis()).collect()
    };
    assert_eq!(starts("\"2 s\"", 2), [2000, 2000]);
    assert_eq!(starts("[\"3 s\", \"1 s\", \"2 s\"]", 3), [3000, 1000, 2000]);
    assert_eq!(starts("{ every = \"500 ms\" }", 3), [0, 500, 1000]);
    assert_eq!(starts("{ every = \"500 ms\", first = \"1 s\" }", 2), [1000, 1500]);
    // A draw belongs to a flow: growing the group leaves the others where they were.
    let uniform = "{ uniform = [\"1 s\", \"2 s\"] }";
    let (few, many) = (starts(uniform, 3), starts(uniform, 300));
    assert_eq!(few, many[..3]);
    assert!(many.iter().all(|ms| (1000..2000).contains(ms)));
    // 4 sigma of the mean of 300 uniforms over 1000 ms: 4 x 1000 / sqrt(12 x 300) = 67 ms.
    assert!((many.iter().sum::<u64>() / 300).abs_diff(1500) <= 67);
    let waiting = resolve("", "cc = \"reno\", start = [\"1 s\", \"never\"]").flows;
    assert_eq!((waiting.of(0).start.since(Time::ZERO).as_millis(), waiting.of(1).start), (1000, Time::NEVER));
    // Nothing else is odd about a group that only waits.
    assert_eq!(resolve("", "cc = \"reno\", start = [\"never\", \"never\"]").flows.len(), 2);
    // The number of start times is the number of flows.
    assert_eq!(resolve("", "cc = \"reno\", start = [\"0 s\", \"1 s\"]").flows.len(), 2);
}

#[test]
fn applications() {
    let app = |app: &str| resolve("", &format!("cc = \"reno\", app = {app}, stop = \"9 s\"")).flows.of(0);
    assert_eq!(app("\"bulk\"").app, App::Bulk);
    assert_eq!(app("\"bulk\"").stop, Some(Time::ZERO + Span::from_secs(9)));
    assert_eq!(
        app("{ transfer = \"800 kB\", rounds = 50, every = \"100 ms\" }").app,
        App::Transfers { bytes: 800_000, rounds: 50, interval: Span::from_millis(100), barrier: false }
    );
    assert_eq!(
        app("{ transfer = \"1 B\" }").app,
        App::Transfers { bytes: 1, rounds: 1, interval: Span::ZERO, barrier: false }
    );
    // 1448 B at 1 Mbit/s: 11.584 ms.
    assert_eq!(
        app("{ constant_rate = \"1 Mbit/s\" }").app,
        App::ConstantRate { chunk_bytes: 1448, interval: Span::from_micros(11_584) }
    );
    assert_eq!(
        app("{ on = \"1 s\", off = \"250 ms\" }").app,
        App::OnOff { on: Span::from_secs(1), off: Span::from_millis(250) }
    );
}

#[test]
fn defaults_that_depend_on_others() {
    let experiment = resolve("", "cc = \"reno\"");
    assert_eq!(experiment.warmup, Span::from_secs(1), "a tenth of the duration");
    assert_eq!(document("", "cc = \"reno\"", "").to_json()["warmup"], "1 s");
    let endpoint = experiment.endpoints[0];
    assert_eq!((endpoint.stack.name, endpoint.initial_window), ("linux-6", Some(10)));
    // RFC 7323 (https://www.rfc-editor.org/rfc/rfc7323): 65,535 << 14.
    assert_eq!((endpoint.receive_window_bytes, endpoint.cwnd_clamp_packets), (1_073_725_440, u32::MAX));
    let long = "duration = \"1000 s\"\nflows = [{ cc = \"reno\", rtt = \"8 ms\" }]\nbottleneck.rate = \"40 Mbit/s\"\n";
    assert_eq!(
        Document::parse(long, "long.toml").unwrap().resolve(None).unwrap().warmup,
        Span::from_secs(30)
    );
}

#[test]
fn traces() {
    let trace = |rest: &str| document("", "cc = \"reno\"", rest).resolve(None).unwrap().trace;
    // Half of the 8 ms is more than 10 s / 4000: 4 ms, rounded up.
    let default = TraceConfig { series_interval: Some(Span::from_millis(5)), ..TraceConfig::default() };
    assert_eq!(trace(""), default);
    assert_eq!(trace("trace.series = \"off\"").series_interval, None);
    assert_eq!(
        trace(
            "trace = { series = \"1 ms\", controller_flows = 3, segment_flows = 2, packets = true, pcap = true, flows \
             = \"all\" }"
        ),
        TraceConfig {
            series_interval: Some(Span::from_millis(1)),
            controller_flows: 3,
            segment_flows: 2,
            packets: true,
            pcap: true,
            flows: u32::MAX,
            ..TraceConfig::default()
        }
    );
    let windows = trace("trace = { series = \"off\", windows = \"1 s\", sample = \"20 ms\" }");
    assert_eq!((windows.window, windows.sample_interval), (Some(Span::from_secs(1)), Span::from_millis(20)));
    assert!(windows.records_distributions() && !windows.distributions);
    assert!(!trace("trace.series = \"off\"").records_distributions());
}

#[test]
fn the_bin_that_was_chosen_is_written_down() {
    let short = document("", "cc = \"reno\"", "");
    assert_eq!(short.to_json()["trace"]["series"], "5 ms");
    let again = Document::parse(&short.to_toml(), "again.toml").unwrap();
    assert_eq!((again.to_toml(), again.resolve(None).unwrap().trace), (short.to_toml(), trace_of(&short)));
    // "auto" may be written too, and what is given stays.
    assert_eq!(document("", "cc = \"reno\"", "trace.series = \"auto\"").to_json()["trace"]["series"], "5 ms");
    assert_eq!(
        document("", "cc = \"reno\"", "trace.series = \"0.1 s\"").to_json()["trace"]["series"],
        "0.1 s"
    );
    // The shortest of all round trips counts, and the duration: 60 us / 2 < 0.2 s / 4000 = 50 us.
    let text = "duration = \"0.2 s\"\nflows = [{ cc = \"reno\", rtt = \"60 us\" }, { cc = \"reno\", name = \"far\", \
                rtt = \"8 ms\" }]\n\
                bottleneck.rate = \"10 Gbit/s\"\n";
    assert_eq!(Document::parse(text, "dc.toml").unwrap().to_json()["trace"]["series"], "50 us");
}

fn trace_of(document: &Document) -> TraceConfig {
    document.resolve(None).unwrap().trace
}

#[test]
fn every_group_has_a_traced_flow() {
    let text = "duration = \"1 s\"\nbottleneck.rate = \"1 Gbit/s\"\nflows = [{ name = \"incast\", cc = \"dctcp\", rtt \
                = \"60 us\", count = 64 },{ name = \"bulk\", cc = \"dctcp\", rtt = \"60 us\", count = 4 },{ name = \
                \"classic\", cc = \"cubic\", rtt = \"60 us\", count = 4 }]\n";
    let experiment = Document::parse(text, "tor.toml").unwrap().resolve(None).unwrap();
    let traced = |count| experiment.traced(count).numbers().to_vec();
    assert!(traced(0).is_empty());
    assert_eq!(traced(1), [0]);
    assert_eq!(traced(2), [0, 64], "the first groups, if there are not enough for all");
    assert_eq!(traced(3), [0, 64, 68]);
    // Eight are 3 + 3 + 2: at 0/3, 1/3 and 2/3 of 64 flows, 0/3, 1/3, 2/3 of four, 0/2 and 1/2 of four.
    assert_eq!(traced(8), [0, 21, 42, 64, 65, 66, 68, 70]);
    assert_eq!(traced(72), (0..72).collect::<Vec<_>>());
    assert_eq!(traced(u32::MAX), traced(72));
    let some = experiment.traced(8);
    assert_eq!((some.position(65), some.position(1), some.position(72)), (Some(4), None, None));
    assert!(some.contains(70) && !some.contains(71));
    assert_eq!(
        TracedTable::Events.coverage(&some, 72),
        "Marks, drops, retransmissions, timeouts and reductions of 8 of 72 flows only, number 0, 21, 42, 64-66, 68, \
         70. What happened to the others is not in this table; trace.controller_flows says how many are traced."
    );
    assert_eq!(
        TracedTable::Segments.coverage(&experiment.traced(72), 72),
        "Packets at both hosts of all 72 flows."
    );
}

#[test]
fn a_million_flows_are_accepted() {
    let document = document("", "cc = \"reno\", count = 1_000_000", "");
    assert_eq!(document.warnings().len(), 1);
    let experiment = document.resolve(None).unwrap();
    assert_eq!((experiment.flows.len(), experiment.paths.len()), (1_000_000, 2));
}

#[test]
fn what_tc_refuses_is_refused_with_its_reason() {
    // The CS244 study, K = 1: min = 1500, max = 3000, burst 2: no weight fits (the kernel refuses the Wlog of 27 that
    // tc finds).
    let text = "duration = \"10 s\"\n[bottleneck]\nrate = \"100 Mbit/s\"\nbuffer = \"1000 packets\"\n\
                aqm = { kind = \"linux-red\", min = \"1500 B\", max = \"3000 B\", avpkt = \"1500 B\", burst = \"2 \
                packets\", \
                probability = 1.0, ecn = true }\n[[flows]]\nname = \"a\"\ncc = \"dctcp\"\nrtt = \"8 ms\"\n";
    let errors = shoal_scenario::Document::parse(text, "cs.toml").map(|_| ()).expect_err("tc refuses K = 1");
    let message = errors.to_string();
    assert!(message.contains("tc cannot configure this queue"), "{message}");
    assert!(message.contains("cs.toml:5"), "{message}");
}

/// Every pairing of sender and receiver: by default the receiver is what the sender's side says.
#[test]
fn receivers() {
    let endpoint = |group: &str| resolve("", group).endpoints[0];
    let plain = endpoint("cc = \"dctcp-freebsd\", stack = \"freebsd-2015\"");
    assert_eq!(plain.receiver, ReceiverConfig::default());
    assert_eq!(plain.receiver_stack().name, "freebsd-2015");
    assert_eq!(
        (plain.ecn, plain.feedback(), plain.cwr_ack()),
        (EcnSetting::On, EcnFeedback::Dctcp, CwrAck::Delayed)
    );
    for (cc, own) in [("dctcp-freebsd", EcnFeedback::Dctcp), ("ecn-newreno", EcnFeedback::Classic)] {
        let with = |receiver: &str| endpoint(&format!("cc = \"{cc}\", receiver = {{ {receiver} }}"));
        assert_eq!(with("").feedback(), own);
        assert_eq!(with("feedback = \"dctcp\"").feedback(), EcnFeedback::Dctcp);
        assert_eq!(with("feedback = \"classic\"").feedback(), EcnFeedback::Classic);
        assert_eq!(with("stack = \"freebsd-14\"").receiver_stack().name, "freebsd-14");
        assert_eq!(with("stack = \"freebsd-14\"").stack.name, "linux-6");
        assert_eq!(with("delays_cwr_acks = true").cwr_ack(), CwrAck::Delayed);
        // Not delayed is what the stack does otherwise.
        assert_eq!(with("delays_cwr_acks = false").cwr_ack(), CwrAck::AtOnce);
        assert_eq!(with("stack = \"freebsd-14\", delays_cwr_acks = false").cwr_ack(), CwrAck::AtOnce);
        assert_eq!(with("stack = \"freebsd-2015\", delays_cwr_acks = false").cwr_ack(), CwrAck::AsUsual);
    }
    // ecn-reno and ecn-newreno ask for ECN, reno does not.
    for (cc, ecn) in
        [("ecn-reno", EcnSetting::On), ("ecn-newreno", EcnSetting::On), ("reno", EcnSetting::Off)]
    {
        assert_eq!(endpoint(&format!("cc = \"{cc}\"")).ecn, ecn, "{cc}");
    }
    assert_eq!(endpoint("cc = \"ecn-reno\", ecn = \"off\"").ecn, EcnSetting::Off);
}

#[test]
fn a_seed_given_to_a_run_has_the_range_of_one_in_the_file() {
    let document = document("", "cc = \"reno\"", "");
    let largest = shoal_scenario::schema::Seed::MAX;
    assert_eq!(document.resolve(Some(largest)).unwrap().seed, largest);
    let refused = document.resolve(Some(largest + 1)).unwrap_err().to_string();
    assert!(refused.contains("9223372036854775808 is not a seed"), "{refused}");
}

/// Times in milliseconds, and what is true from then on.
type Steps = Vec<(f64, f64)>;

/// The changes of the bottleneck's rate in Mbit/s and of its delay in milliseconds.
fn changes(schedule: &str) -> (Steps, Steps) {
    let law = format!("delay = \"1 ms\"\n[bottleneck.schedule]\n{schedule}");
    let experiment = resolve(&law, "cc = \"reno\"");
    let ms = |at: Time| at.as_micros() as f64 / 1e3;
    let schedule = &experiment.links[0].schedule;
    let others = &experiment.links[1..];
    assert!(others.iter().all(|link| link.schedule.is_empty()), "only the bottleneck changes");
    let rates = schedule.rate.iter().map(|change| (ms(change.at), change.rate.as_bps() as f64 / 1e6));
    let delays = schedule.delay.iter().map(|change| (ms(change.at), change.delay.as_micros() as f64 / 1e3));
    (rates.collect(), delays.collect())
}

#[test]
fn schedules_become_steps() {
    let (rates, delays) = changes("changes = [{ at = \"2 s\", rate = \"10 Mbit/s\", delay = \"3 ms\" }]");
    assert_eq!((rates, delays), (vec![(2000.0, 10.0)], vec![(2000.0, 3.0)]));
    // After an outage the link has the rate that it had before, or the new one.
    let (rates, _) = changes(
        "changes = [{ at = \"1 s\", outage = \"5 ms\" }, { at = \"2 s\", rate = \"8 Mbit/s\", outage = \"1 s\" }]",
    );
    assert_eq!(rates, [(1000.0, 0.0), (1005.0, 40.0), (2000.0, 0.0), (3000.0, 8.0)]);
    // 40 to 10 Mbit/s in 25 ms: two whole steps and a half one, each with the mean over its time, at 5, 15 and 22.5 ms;
    // 1.2 Mbit/s and 0.12 ms less each millisecond. The delay rises from 1 to 4 ms.
    let (rates, delays) =
        changes("changes = [{ at = \"1 s\", rate = \"10 Mbit/s\", delay = \"4 ms\", over = \"25 ms\" }]");
    assert_eq!(rates, [(1000.0, 34.0), (1010.0, 22.0), (1020.0, 13.0), (1025.0, 10.0)]);
    assert_eq!(delays, [(1000.0, 1.6), (1010.0, 2.8), (1020.0, 3.7), (1025.0, 4.0)]);
}

/// The mean rate of the link between two times in seconds, in bit/s.
fn mean_bps(schedule: &str, from_s: f64, to_s: f64) -> f64 {
    let experiment = resolve(&format!("[bottleneck.schedule]\n{schedule}"), "cc = \"reno\"");
    let at = |s: f64| Time::from_picos((s * 1e12) as u64);
    experiment.links[0].mean_rate_bps(at(from_s), at(to_s)).unwrap()
}

/// A ramp carries the bits of its line, and a sine those of its integral, to less than one.
#[test]
fn bits_of_ramps_and_sines_are_those_of_the_integral() {
    // Rates that no step divides, and steps that the time is no multiple of.
    for (to_bps, over_s, step) in
        [(9_999_999.0, 1.0, "10 ms"), (123_457.0, 0.7777, "9 ms"), (39_999_999.0, 0.5, "7 ms")]
    {
        let change = format!(
            "changes = [{{ at = \"2 s\", rate = \"{to_bps} bit/s\", over = \"{over_s} s\", step = \"{step}\" }}]"
        );
        let bits = over_s * mean_bps(&change, 2.0, 2.0 + over_s);
        assert!((bits - over_s * (40e6 + to_bps) / 2.0).abs() < 1.0, "{change}: {bits}");
        assert_eq!(mean_bps(&change, 2.0 + over_s, 9.0), to_bps);
    }
    // Quarters of a period of 2.4 s have 240 / 7 steps each, 30 ms of 1.2 s are eight of them.
    let sine = "rate_sine = { mean = \"30 Mbit/s\", amplitude = \"9.999999 Mbit/s\", period = \"2.4 s\", \
                step = \"30 ms\" }";
    for (from_s, to_s) in [(0.0, 0.6), (0.6, 1.2), (0.0, 2.4), (0.3, 0.33), (1.2, 6.0)] {
        let integral = |t: f64| 30e6 * t + 9_999_999.0 * 2.4 / TAU * (1.0 - (TAU * t / 2.4).cos());
        let bits = (to_s - from_s) * mean_bps(sine, from_s, to_s);
        assert!((bits - (integral(to_s) - integral(from_s))).abs() < 1.0, "{from_s} to {to_s}: {bits}");
    }
}

#[test]
fn schedules_repeat_until_the_end() {
    // The run lasts 10 s.
    let (rates, _) = changes(
        "repeat = \"4 s\"\nchanges = [{ at = \"1 s\", rate = \"10 Mbit/s\" }, { at = \"3 s\", rate = \"40 Mbit/s\" }]",
    );
    let expected = [(1000.0, 10.0), (3000.0, 40.0), (5000.0, 10.0), (7000.0, 40.0), (9000.0, 10.0)];
    assert_eq!(rates, expected);
}

#[test]
fn lists_become_steps_and_repeat() {
    let (rates, delays) = changes(
        "rates = [[\"0 s\", \"30 Mbit/s\"], [\"1 s\", \"down\"], [\"1.5 s\", \"20 Mbit/s\"]]\ndelays = [[\"2 s\", \"4 \
         ms\"]]",
    );
    assert_eq!(rates, [(0.0, 30.0), (1000.0, 0.0), (1500.0, 20.0)]);
    assert_eq!(delays, [(2000.0, 4.0)]);
    // The run lasts 10 s.
    let (rates, _) =
        changes("repeat = \"6 s\"\nrates = [[\"1 s\", \"30 Mbit/s\"], [\"3 s\", \"20 Mbit/s\"]]");
    assert_eq!(rates, [(1000.0, 30.0), (3000.0, 20.0), (7000.0, 30.0), (9000.0, 20.0)]);
}

#[test]
fn sines_become_steps_with_their_means() {
    let (rates, delays) = changes(
        "rate_sine = { mean = \"30 Mbit/s\", amplitude = \"10 Mbit/s\", period = \"8 s\", step = \"1 s\" }\n\
         delay_sine = { mean = \"5 ms\", amplitude = \"5 ms\", period = \"40 ms\", step = \"5 ms\" }",
    );
    // From 0 to 45 degrees, from 45 to 90, ...: differences of cosines over pi / 4: (1 - 0.707107) / 0.785398 and
    // 0.707107 / 0.785398.
    let waves = [
        0.372_923, 0.900_316, 0.900_316, 0.372_923, -0.372_923, -0.900_316, -0.900_316, -0.372_923,
        0.372_923, 0.900_316,
    ];
    assert_eq!(rates.len(), 10);
    for (number, ((at, rate), wave)) in rates.iter().zip(waves).enumerate() {
        assert_eq!(*at, 1000.0 * number as f64);
        assert!((rate - (30.0 + 10.0 * wave)).abs() < 1e-5, "{number}: {rate}");
    }
    assert_eq!(delays.len(), 2000);
    let mean = delays.iter().map(|(_, delay)| delay).sum::<f64>() / 2000.0;
    // Whole microseconds are cut off.
    assert!((mean - 5.0).abs() < 1e-3, "{mean}");
    assert!((delays[1].1 - (5.0 + 5.0 * 0.900_316)).abs() < 2e-3, "{:?}", delays[1]);
}

/// 20 packets of RED are 30 kB with its mean packet of 1500 B, and 180 kB with one of 9000 B, whatever flows send.
#[test]
fn thresholds_of_red_in_packets_count_mean_packets() {
    let min_bytes = |mean_packet: &str, mtu: &str| {
        let law =
            format!("aqm = {{ kind = \"red\", min = \"20 packets\", max = \"60 packets\" {mean_packet} }}");
        let experiment = resolve(&law, &format!("cc = \"reno\" {mtu}"));
        let QueueConfig::Red(red) = &experiment.links[0].queue else { panic!() };
        let kinds: Vec<&str> = experiment.notes.iter().map(|note| note.kind).collect();
        (red.parameters.min_bytes, kinds)
    };
    assert_eq!(min_bytes("", ""), (30_000.0, vec![]));
    assert_eq!(min_bytes("", ", mtu = \"9000 B\""), (30_000.0, vec!["packets-of-mean-size"]));
    assert_eq!(min_bytes(", mean_packet = \"9000 B\"", ", mtu = \"9000 B\""), (180_000.0, vec![]));
}

/// Prague sets its own pace whatever its host does; a host paces others only if it says so.
#[test]
fn prague_paces_itself_on_every_host() {
    let pacing = |cc: &str, host: &str| {
        let experiment = resolve("", &format!("cc = \"{cc}\", host = {host}"));
        experiment.endpoints[0].offload.map(|offload| (offload.pacing, offload.gso_max_segs))
    };
    let segments = "\"linux-6-gso\"";
    assert_eq!(pacing("prague-0.7", "\"ideal\""), Some((Pacing::Internal, 1)));
    assert_eq!(pacing("dctcp", "\"ideal\""), None);
    assert_eq!(pacing("prague-0.7", segments), Some((Pacing::Internal, 65535)));
    assert_eq!(pacing("dctcp", segments), Some((Pacing::Off, 65535)));
    let fq = "{ preset = \"linux-6-gso\", pacing = \"fq\" }";
    assert_eq!(pacing("prague-0.7", fq), Some((Pacing::Fq, 65535)));
}

/// The form names the defaults of the keys that differ; what is written goes before it.
#[test]
fn the_l4s_teams_form_has_its_own_defaults() {
    let config = |keys: &str| {
        let law = format!("aqm = {{ kind = \"dualpi2\"{keys} }}");
        let QueueConfig::DualPi2(config) = resolve(&law, "cc = \"reno\"").links[0].queue else { panic!() };
        let NativeMarking::Step { min_packets, .. } = config.native else { panic!() };
        (config.form, config.first_update, min_packets)
    };
    let ms = Span::from_millis;
    assert_eq!(config(""), (DualPi2Form::Mainline, ms(16), 0));
    assert_eq!(config(", tupdate = \"20 ms\""), (DualPi2Form::Mainline, ms(20), 0));
    let team = ", form = \"l4steam\"";
    assert_eq!(config(team), (DualPi2Form::L4sTeam, ms(500), 2));
    let own = format!("{team}, first_update = \"1 ms\", min_qlen_step = 0");
    assert_eq!(config(&own), (DualPi2Form::L4sTeam, ms(1), 0));
}

/// Without keys, queue protection is that of the RFC, in every dual queue; beside DOCSIS' ramp it counts by that one.
#[test]
fn queue_protection_is_the_rfcs_or_counts_by_the_queues_ramp() {
    let of = |law: &str| match resolve(&format!("aqm = {{ {law} }}"), "cc = \"reno\"").links[0].queue {
        QueueConfig::DualPi2(config) => config.protection,
        QueueConfig::DualCoupled(config) => config.protection,
        ref other => panic!("{other:?}"),
    };
    assert_eq!(of("kind = \"dualpi2\""), None);
    assert_eq!(of("kind = \"dualpi2\", protection = {}"), Some(ProtectionConfig::RFC_9957));
    let coupled = "kind = \"dualq-coupled\", saturation = \"100 ms\", protection = {}";
    assert_eq!(of(coupled), Some(ProtectionConfig::RFC_9957));
    let ramp = "kind = \"dualpi2\", decide = \"enqueue\", native = \"docsis-ramp\", docsis_max = \"2 ms\"";
    let ms = Span::from_millis;
    let longer = DelayRampConfig { max: ms(2), ..DelayRampConfig::RFC_9957 };
    let expected = ProtectionConfig { ramp: longer, ..ProtectionConfig::RFC_9957 };
    assert_eq!(of(&format!("{ramp}, protection = {{}}")), Some(expected));
    let own = "protection = { ramp_max = \"3 ms\", critical_delay = \"4 ms\", lg_aging = 20, attempts = 3 }";
    let expected = ProtectionConfig {
        ramp: DelayRampConfig { max: ms(3), ..longer },
        critical_delay: Some(ms(4)),
        lg_aging: 20,
        attempts: 3,
        ..expected
    };
    assert_eq!(of(&format!("{ramp}, {own}")), Some(expected));
}

/// Flows of a tunnel are seen as its first one, whatever group they are in, and so are the connections of their
/// requests.
#[test]
fn a_tunnel_is_seen_as_its_first_flow() {
    let group = |name: &str, rest: &str| {
        format!("{{ name = \"{name}\", cc = \"reno\", rtt = \"8 ms\", count = 2{rest} }}")
    };
    let tunnels = |of: [&str; 3]| {
        let request = ", app = { request = \"1 kB\", response = \"10 kB\" }";
        let groups: Vec<_> = (0..3)
            .map(|n| {
                let tunnel =
                    if of[n].is_empty() { String::new() } else { format!(", tunnel = \"{}\"", of[n]) };
                group(["a", "b", "c"][n], &format!("{tunnel}{}", if n == 2 { request } else { "" }))
            })
            .collect();
        let text = format!(
            "duration = \"10 s\"\nbottleneck = {{ rate = \"40 Mbit/s\", aqm = {{ kind = \"fq-codel\" }} }}\nflows = \
             [{}]\n",
            groups.join(", ")
        );
        Document::parse(&text, "test.toml").unwrap_or_else(|e| panic!("{e}")).resolve(None).unwrap().tunnels()
    };
    assert_eq!(tunnels(["", "", ""]), None);
    // Flows 0 and 1, 2 and 3, 4 and 5, and 6 and 7 for the requests of 4 and 5.
    let seen_as = |flows: [u32; 8]| Some(Tunnels::new(flows.into()));
    assert_eq!(tunnels(["", "vpn", "vpn"]), seen_as([0, 1, 2, 2, 2, 2, 2, 2]));
    assert_eq!(tunnels(["x", "y", "x"]), seen_as([0, 0, 2, 2, 0, 0, 0, 0]));
}
