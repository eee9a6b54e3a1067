//! smoltcp's TCP with CUBIC over DualPI2, in virtual time, beside what the simulator says of CUBIC there.

use shoal_bottleneck::{End, LinkConfig, Path};
use shoal_scenario::Document;
use shoal_stacks::simulated_goodput;
use shoal_stacks::tcp::Tcp;
use shoal_units::{Span, Time};

const SCENARIO: &str = r#"
duration = "20 s"
warmup = "5 s"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "500 packets", aqm = { kind = "dualpi2" } }
flows = [{ cc = "cubic", rtt = "20 ms", ecn = "off" }]
"#;

#[test]
fn smoltcp_gets_of_dualpi2_what_cubic_gets_in_the_simulator() {
    let experiment = Document::parse(SCENARIO, "smoltcp").unwrap().resolve(None).unwrap();
    let link = experiment.link_config(None).unwrap();
    let back = LinkConfig::pure_delay(Span::from_millis(10));
    let mut path = Path::new(&link, &back, experiment.seed).unwrap();
    let [mut left, mut right] = Tcp::pair();
    path.run([&mut left, &mut right], Time::ZERO + Span::from_secs(5));
    let before = right.delivered;
    path.run([&mut left, &mut right], Time::ZERO + Span::from_secs(20));
    let goodput = (right.delivered - before) as f64 * 8.0 / 15.0;

    let dropped = path.link(End::Left).counters().dropped;
    let simulated = simulated_goodput(SCENARIO);
    println!("smoltcp {goodput:.0} bit/s with {dropped} drops, simulated CUBIC {simulated:.0} bit/s");
    assert!(dropped > 10, "{dropped} drops: the queue has a say");
    assert!((goodput / simulated - 1.0).abs() < 0.1, "{goodput} against {simulated} bit/s");
}
