//! A stack of a hundred lines with the DCTCP of `shoal-cc`, over a step queue, beside the simulator's Linux with it.

use shoal_bottleneck::{Datagram, End, LinkConfig, Path};
use shoal_cc::{
    AckCounting, AckSample, AnyController, CcConfig, CongestionControl, GrowthRules, Reduction, Signal,
    SlowStartTest, Window,
};
use shoal_packet::Ecn;
use shoal_scenario::Document;
use shoal_units::{Span, Time};

const SCENARIO: &str = r#"
duration = "20 s"
warmup = "5 s"
[bottleneck]
rate = "100 Mbit/s"
delay = "1 ms"
buffer = "500 packets"
aqm = { kind = "step", threshold = "17 packets" }
[[flows]]
cc = "dctcp"
rtt = "2 ms"
delayed_ack = false
"#;

/// Payload of a packet of 1500 bytes.
const MSS: u32 = 1448;

/// A sender that always has data, on a path without reordering where each packet is acknowledged.
struct Sender {
    controller: AnyController,
    window: Window,
    /// Packets sent and acknowledged.
    sent: u64,
    acked: u64,
    /// Packets acknowledged that were marked.
    marked: u64,
    srtt: Span,
    /// While a reduction is in progress, the number of the packet that ends it.
    cwr_until: Option<u64>,
}

impl Sender {
    fn new() -> Self {
        let config = CcConfig::preset("dctcp").expect("a preset");
        let rules = GrowthRules {
            counting: AckCounting::PerPacket,
            slow_start_test: SlowStartTest::Below,
            slow_start_counting: AckCounting::PerPacket,
            is_paced: false,
        };
        let controller = AnyController::new(&config, rules);
        let window = Window::in_packets(10);
        Self { controller, window, sent: 0, acked: 0, marked: 0, srtt: Span::ZERO, cwr_until: None }
    }

    /// Whether one more packet may be sent.
    fn may_send(&self) -> bool {
        self.sent - self.acked < u64::from(self.window.cwnd)
    }

    fn on_sent(&mut self, now: Time) {
        self.sent += 1;
        self.controller.on_sent(now, 1, self.sent * u64::from(MSS));
    }

    /// An acknowledgement of one packet comes back `rtt` after it was sent; it says whether the packet was marked.
    fn on_ack(&mut self, now: Time, rtt: Span, is_marked: bool) {
        let in_flight = (self.sent - self.acked) as u32;
        self.acked += 1;
        self.marked += u64::from(is_marked);
        // RFC 6298, https://www.rfc-editor.org/rfc/rfc6298.
        let before = if self.srtt.is_zero() { rtt } else { self.srtt };
        self.srtt = Span::from_picos((7 * before.as_picos() + rtt.as_picos()) / 8);
        let sample = AckSample {
            now,
            acked_packets: 1,
            acked_bytes: MSS.into(),
            delivered_packets: 1,
            marked_packets: is_marked.into(),
            in_flight_before: in_flight,
            delivered: self.acked,
            delivered_ce: self.marked,
            snd_una: self.acked * u64::from(MSS),
            snd_nxt: self.sent * u64::from(MSS),
            mss: MSS,
            rtt: Some(rtt),
            srtt: self.srtt,
            ts_val: 0,
            ts_ecr: 0,
            ece: is_marked,
            duplicate: false,
            app_limited: false,
            in_cwr: self.cwr_until.is_some(),
        };
        let Self { controller, window, .. } = self;
        controller.on_ack(window, &sample);
        if self.cwr_until.is_some_and(|end| self.acked > end) {
            self.cwr_until = None;
            controller.on_exit(window, now);
        }
        match (is_marked, self.cwr_until) {
            (true, None) => {
                let signal =
                    Signal { now, in_flight, snd_una: sample.snd_una, snd_nxt: sample.snd_nxt, mss: MSS };
                if controller.on_ecn(window, &signal) == Reduction::Spread {
                    // Linux comes down over a round trip; this stack does so at once.
                    window.cwnd = window.ssthresh.max(2);
                }
                self.cwr_until = Some(self.sent);
            }
            (true, Some(_)) => controller.on_ece_in_cwr(window, &sample),
            (false, None) => controller.on_growth(window, &sample),
            (false, Some(_)) => {}
        }
    }
}

#[test]
fn a_stack_of_ones_own_with_dctcp_keeps_the_queue_that_the_simulator_says() {
    let experiment = Document::parse(SCENARIO, "dctcp").unwrap().resolve(None).unwrap();
    let link = experiment.link_config(None).unwrap();
    let back = LinkConfig::pure_delay(Span::from_millis(1));
    let mut path = Path::new(&link, &back, experiment.seed).unwrap();
    let mut sender = Sender::new();
    let (begin, end) = (Time::ZERO + Span::from_secs(5), Time::ZERO + Span::from_secs(20));
    let (mut now, mut delivered, mut marked, mut waiting) = (Time::ZERO, 0u64, 0u64, 0u64);
    while now < end {
        while let Some(packet) = path.receive(End::Right, now) {
            if now >= begin {
                delivered += 1;
                marked += u64::from(packet.ecn == Ecn::Ce);
                waiting += u64::from(path.link(End::Left).backlog().packets);
            }
            // The acknowledgement carries the mark, and the time at which the packet was sent.
            let _ = path.send(End::Right, now, Datagram { bytes: 52, ..packet });
        }
        while let Some(ack) = path.receive(End::Left, now) {
            let sent_at = Time::from_picos(u64::from_le_bytes(ack.contents.try_into().expect("eight bytes")));
            sender.on_ack(now, now - sent_at, ack.ecn == Ecn::Ce);
        }
        while sender.may_send() {
            sender.on_sent(now);
            let contents = now.as_picos().to_le_bytes().to_vec();
            let _ =
                path.send(End::Left, now, Datagram { bytes: 1500, ..Datagram::new(contents, 0, Ecn::Ect0) });
        }
        now = path.next(now).unwrap_or(end);
    }
    let outcome = shoal_sim::run(&experiment, shoal_sim::Options::default()).expect("it runs to its end");
    let bottleneck = &outcome.measured.bottlenecks[0];
    let simulated = outcome.measured.groups[0].flows[0].goodput_bps.expect("it ran");
    let goodput = (delivered * u64::from(MSS) * 8) as f64 / 15.0;
    let share = marked as f64 / delivered as f64;
    let simulated_share = bottleneck.marked as f64 / bottleneck.arrived as f64;
    let mean = waiting as f64 / delivered as f64;
    println!(
        "goodput {goodput:.0} ({simulated:.0}) bit/s, marked {share:.4} ({simulated_share:.4}), {mean:.1} packets wait"
    );
    assert!((goodput / simulated - 1.0).abs() < 0.02, "{goodput} against {simulated} bit/s");
    assert!(
        share > 0.5 * simulated_share && share < 2.0 * simulated_share,
        "{share} against {simulated_share}"
    );
    assert!((4.0..17.0).contains(&mean), "{mean} packets wait");
}
