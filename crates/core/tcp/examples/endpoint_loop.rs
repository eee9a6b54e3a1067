//! Cost of the endpoints alone: a sender and a receiver joined by two queues, nothing else. Prints nothing but the
//! counts; time it from outside (`perf stat`, `time`): the workspace bans clocks.
//!
//! `cargo run --release --example endpoint_loop -- PRESET STACK SEGMENTS MARK_EVERY`

use shoal_cc::CcConfig;
use shoal_packet::{Ecn, FlowId, Packet};
use shoal_tcp::{EcnOption, EcnSetting, EndpointConfig, Output, Profile, Receiver, ReceiverConfig, Sender};
use shoal_units::{Span, Time};
use std::collections::VecDeque;

struct Queue(VecDeque<Packet>);

impl Output for Queue {
    fn transmit(&mut self, packet: Packet) {
        self.0.push_back(packet);
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mut next = |default: &str| args.next().unwrap_or_else(|| default.to_string());
    let cc = CcConfig::preset(&next("dctcp")).expect("a preset");
    let stack = Profile::by_name(&next("linux-6")).expect("a profile");
    let segments: u64 = next("20000000").parse().expect("a number of segments");
    let mark_every: u64 = next("0").parse().expect("a number of packets");
    let config = EndpointConfig {
        stack,
        receiver: ReceiverConfig::default(),
        cc,
        ecn_option: EcnOption::Full,
        ecn: EcnSetting::On,
        mtu_bytes: 1500,
        header_bytes: 52,
        sack: true,
        delayed_ack: true,
        initial_window: None,
        receive_window_bytes: 1 << 24,
        cwnd_clamp_packets: 100,
        no_delay: false,
        unsent_bytes: 128 << 10,
        offload: None,
    };
    let mut sender = Sender::new(&config, FlowId(0));
    let mut receiver = Receiver::new(&config, FlowId(0));
    let (mut data, mut acks) = (Queue(VecDeque::new()), Queue(VecDeque::new()));
    let mut now = Time::ZERO;
    let mut delivered = 0;
    sender.connect(&config, now, &mut data);
    sender.set_greedy(&config, true, now, &mut data);
    while delivered < segments {
        now += Span::from_micros(1);
        let Some(mut packet) = data.0.pop_front() else {
            now = now.max(receiver.deadline());
            receiver.on_timer(&config, now, &mut acks);
            while let Some(ack) = acks.0.pop_front() {
                sender.on_packet(&config, &ack, now, &mut data);
            }
            continue;
        };
        delivered += 1;
        if mark_every > 0 && delivered % mark_every == 0 {
            packet.ecn = Ecn::Ce;
        }
        receiver.on_packet(&config, &packet, now, &mut acks);
        while let Some(ack) = acks.0.pop_front() {
            sender.on_packet(&config, &ack, now, &mut data);
        }
    }
    println!("{delivered} segments, {} ACKs, cwnd {}", receiver.acks_sent(), sender.window().cwnd);
}
