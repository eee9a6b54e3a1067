//! Values that are just allowed, beside the nearest ones that are not.

use shoal_aqm::{ClassesConfig, QueueConfig, Service};
use shoal_scenario::quantity::Decimal;
use shoal_scenario::{Document, Experiment};

const FLOWS: &str = "[[flows]]\ncc = \"reno\"\nrtt = \"25 ms\"";

/// A dumbbell of 10 Mbit/s with packets of 1500 B, with these keys of the bottleneck, of its flows and at the top.
fn read(bottleneck: &str, flows: &str, top: &str) -> Result<Document, String> {
    let text = format!(
        "duration = \"10 s\"\n{top}\n[bottleneck]\nrate = \"10 Mbit/s\"\n{bottleneck}\n{FLOWS}\n{flows}\n"
    );
    Document::parse(&text, "test.toml").map_err(|errors| errors.to_string())
}

fn resolve(bottleneck: &str, flows: &str, top: &str) -> Experiment {
    let document = read(bottleneck, flows, top).unwrap_or_else(|error| panic!("{error}"));
    assert!(document.warnings().is_empty(), "{:?}", document.warnings());
    document.resolve(None).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(bottleneck: &str, flows: &str, top: &str) -> String {
    read(bottleneck, flows, top).expect_err("refused")
}

fn classes(keys: &str) -> ClassesConfig {
    let law = format!("aqm = {{ kind = \"classes\", {keys} }}");
    let QueueConfig::Classes(classes) = resolve(&law, "", "").links[0].queue.clone() else { panic!() };
    classes
}

/// The length of an IP packet is a number of 16 bits: 2^16 - 1 = 65535.
#[test]
fn the_largest_packet() {
    let law = |bytes: u32| {
        format!(
            "aqm = {{ kind = \"red\", min = \"20 kB\", max = \"60 kB\", mean_packet = \"{bytes} B\" }}\n\
             buffer = \"1 MB\""
        )
    };
    let QueueConfig::Red(red) = &resolve(&law(65_535), "", "").links[0].queue else { panic!() };
    assert_eq!(red.mean_packet_bytes, 65_535);
    assert!(refusal(&law(65_536), "", "").contains("a packet has 1 to 65535 B"));
}

/// A turn of the least weight, 7, is a packet of 1500 B. 9 has 1500 x 9 / 7 = 1928.57 B, which is nearest to 1929; 8
/// has 1714.29, nearest to 1714.
#[test]
fn shares_are_rounded_to_the_nearest_byte() {
    let queue = |name: &str, dscp: u8, weight: u32| {
        format!("{{ name = \"{name}\", dscp = [{dscp}], weight = {weight} }}")
    };
    let listed = [queue("a", 10, 7), queue("b", 12, 9), queue("c", 14, 8)].join(", ");
    let law = format!(
        "aqm = {{ kind = \"classes\", queues = [{listed}, {{ name = \"rest\", priority = \"strict\" }}] }}"
    );
    let QueueConfig::Classes(classes) =
        &read(&law, "", "").unwrap().resolve(None).unwrap().links[0].queue.clone()
    else {
        panic!()
    };
    let services: Vec<_> = classes.queues.iter().map(|queue| queue.service).collect();
    let weighted = |quantum_bytes| Service::Weighted { quantum_bytes };
    assert_eq!(services, [weighted(1500), weighted(1929), weighted(1714), Service::Strict]);
}

/// A shaper may have the rate of the line and a bucket of one packet. Without `burst` the bucket holds ten: 15000 B.
#[test]
fn the_fastest_shaper_with_the_least_burst() {
    let shaper =
        |keys: &str| classes(&format!("queues = [{{ name = \"all\", {keys} }}]")).queues[0].shaper.unwrap();
    let narrow = shaper("shape = \"10 Mbit/s\", burst = \"1500 B\"");
    assert_eq!((narrow.rate.as_bps(), narrow.burst_bytes), (10_000_000, 1500));
    assert_eq!(shaper("shape = \"5 Mbit/s\"").burst_bytes, 15_000);
    let refused = |keys: &str| {
        let law = format!("aqm = {{ kind = \"classes\", queues = [{{ name = \"all\", {keys} }}] }}");
        refusal(&law, "", "")
    };
    assert!(refused("shape = \"10000001 bit/s\"").contains("above the link's rate"));
    assert!(refused("shape = \"5 Mbit/s\", burst = \"1499 B\"").contains("does not hold one packet"));
}

/// Two queues that reserve 60 kB each fill a memory of 120 kB, and one byte less does not hold them.
#[test]
fn all_of_a_memory_may_be_reserved() {
    let keys = |memory: &str| {
        format!(
            "memory = \"{memory}\", queues = [{{ name = \"low\", dscp = [0], reserved = \"60 kB\" }}, \
             {{ name = \"rest\", reserved = \"60 kB\" }}]"
        )
    };
    assert_eq!(classes(&keys("120 kB")).memory_bytes, Some(120_000));
    let law = format!("aqm = {{ kind = \"classes\", {} }}", keys("119999 B"));
    assert!(refusal(&law, "", "").contains("119999 B are less than what is reserved"));
}

#[test]
fn the_most_host_pairs() {
    let read = |hosts: u32| read("", "", &format!("topology = {{ kind = \"dumbbell\", hosts = {hosts} }}"));
    assert!(read(100_000).is_ok());
    assert!(read(100_001).expect_err("refused").contains("100001 host pairs are too many"));
}

/// A bottleneck of 25 ms leaves nothing of a round trip of 25 ms: flows of 25 ms are as short as can be.
#[test]
fn a_round_trip_may_be_all_bottleneck() {
    let experiment = resolve("delay = \"25 ms\"", "", "");
    assert_eq!(experiment.base_rtt(&experiment.flows.of(0)).as_micros(), 25_000);
    let refused = refusal("delay = \"25001 us\"", "", "");
    assert!(refused.contains("shorter than the fixed delays"), "{refused}");
}

/// Three flows, one a second from 0 s on, start at 0, 1 and 2 s: they may stop at 2.5 s and not at 2 s.
#[test]
fn staggered_flows_stop_after_the_last_start() {
    let flows = |stop: &str| format!("count = 3\nstart = {{ every = \"1 s\" }}\nstop = \"{stop}\"");
    assert_eq!(resolve("", &flows("2500 ms"), "").flows.len(), 3);
    assert!(refusal("", &flows("2 s"), "").contains("flows would stop before they start"));
}

#[test]
fn the_largest_load() {
    let flows = |load: &str| format!("start = {{ load = {load} }}\napp = {{ transfer = \"10 MB\" }}");
    // 10 x 10 Mbit/s for 10 s are 125 MB: about a dozen transfers.
    assert!(read("", &flows("10"), "").is_ok());
    assert!(refusal("", &flows("10.001"), "").contains("the load is 10.001"));
}

/// Numbers have up to 15 places.
#[test]
fn the_finest_number() {
    let finest = Decimal::parse("0.000000000000001").expect("15 places");
    assert_eq!((finest.numerator(), finest.denominator()), (1, 10u128.pow(15)));
    assert_eq!(Decimal::parse("0.0000000000000001"), None);
}

/// What follows from a round-trip time of 0 is not refused again: not the buffer of the hosts' links either.
#[test]
fn a_bdp_of_nothing_is_refused_once() {
    let text = refusal(
        "bdp_rtt = \"0 s\"\nbuffer = \"1 BDP\"",
        "",
        "topology = { kind = \"dumbbell\", access_rate = \"1 Gbit/s\", access_buffer = \"1 BDP\" }",
    );
    assert_eq!(text.matches("error:").count(), 1, "{text}");
    assert!(text.contains("a round-trip time of 0"));
}
