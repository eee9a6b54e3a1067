//! quinn-proto's QUIC with CUBIC over DualPI2, in virtual time, beside what the simulator says of CUBIC there.

use quinn_proto::congestion::CubicConfig;
use quinn_proto::{TransportConfig, VarInt};
use shoal_bottleneck::{End, LinkConfig, Path};
use shoal_scenario::Document;
use shoal_stacks::quic::Quic;
use shoal_stacks::simulated_goodput;
use shoal_units::{Span, Time};
use std::sync::Arc;

const SCENARIO: &str = r#"
duration = "20 s"
warmup = "5 s"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "500 packets", aqm = { kind = "dualpi2" } }
flows = [{ cc = "cubic", rtt = "20 ms", ecn = "on" }]
"#;

fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(CubicConfig::default()));
    transport.receive_window(VarInt::from_u32(4 << 20)).stream_receive_window(VarInt::from_u32(4 << 20));
    transport.send_window(4 << 20).enable_segmentation_offload(false);
    transport
}

#[test]
fn quinn_gets_of_dualpi2_what_cubic_gets_in_the_simulator() {
    let experiment = Document::parse(SCENARIO, "quinn").unwrap().resolve(None).unwrap();
    let link = experiment.link_config(None).unwrap();
    let back = LinkConfig::pure_delay(Span::from_millis(10));
    let mut path = Path::new(&link, &back, experiment.seed).unwrap();
    let [mut left, mut right] = Quic::pair(transport());
    path.run([&mut left, &mut right], Time::ZERO + Span::from_secs(5));
    let before = right.delivered;
    path.run([&mut left, &mut right], Time::ZERO + Span::from_secs(20));
    let goodput = (right.delivered - before) as f64 * 8.0 / 15.0;

    let marked = path.link(End::Left).counters().marked;
    let simulated = simulated_goodput(SCENARIO);
    println!("quinn {goodput:.0} bit/s with {marked} marks, simulated CUBIC {simulated:.0} bit/s");
    assert!(marked > 10, "{marked} marks: the queue has a say");
    assert!((goodput / simulated - 1.0).abs() < 0.1, "{goodput} against {simulated} bit/s");
}
