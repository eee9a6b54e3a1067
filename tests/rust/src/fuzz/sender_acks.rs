//! A sender whose peer acknowledges arbitrary positions.

use crate::Bytes;
use shoal_cc::PRESETS;
use shoal_packet::{Flags, FlowId, Packet, Sack, Seq};
use shoal_tcp::{
    Counters, EcnFeedback, EcnOption, EcnSetting, EndpointConfig, Profile, ReceiverConfig, Sender,
};
use shoal_units::{Span, Time};

/// The first bytes choose a connection, the rest what happens to it. After each step the sender's own invariants hold,
/// positions never go back, segments fit their bounds, and there is at most one ECN reduction a window.
///
/// # Panics
/// If one of these properties does not hold.
pub fn sender_acks(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let mut peer = Peer::new(&mut bytes);
    while !bytes.is_empty() {
        peer.step(&mut bytes);
        peer.check();
    }
}

struct Peer {
    config: EndpointConfig,
    sender: Sender,
    now: Time,
    out: Vec<Packet>,
    closed: bool,
    una: u64,
    nxt: u64,
    counters: Counters,
    /// `snd_nxt` before the last ECN reduction: the next one needs all of that acknowledged.
    window_end: u64,
}

impl Peer {
    fn new(bytes: &mut Bytes<'_>) -> Self {
        let preset = usize::from(bytes.byte()) % PRESETS.len();
        let flags = bytes.byte();
        let stack = bytes.pick(Profile::ALL);
        let window = bytes.byte();
        let feedback = (window & 128 != 0).then_some(EcnFeedback::Accurate);
        let config = EndpointConfig {
            stack,
            receiver: ReceiverConfig { feedback, ..ReceiverConfig::default() },
            cc: PRESETS[preset].config,
            ecn: if flags & 1 == 0 { EcnSetting::On } else { EcnSetting::Off },
            ecn_option: EcnOption::Full,
            mtu_bytes: if flags & 2 == 0 { 1500 } else { 576 },
            header_bytes: 52,
            sack: flags & 4 == 0,
            delayed_ack: true,
            initial_window: (flags & 8 != 0).then_some(2),
            receive_window_bytes: 3000 << (window % 9),
            cwnd_clamp_packets: if flags & 16 == 0 { u32::MAX } else { 5 },
            no_delay: flags & 128 != 0,
            unsent_bytes: 128 << 10,
            offload: (flags & 64 != 0).then_some(shoal_tcp::Offload::LINUX),
        };
        let mut peer = Self {
            config,
            sender: Sender::new(&config, FlowId(7)),
            now: Time::ZERO,
            out: Vec::new(),
            closed: false,
            una: 0,
            nxt: 0,
            counters: Counters::default(),
            window_end: 0,
        };
        peer.sender.connect(&config, peer.now, &mut peer.out);
        if flags & 32 == 0 {
            peer.sender.set_greedy(&config, true, peer.now, &mut peer.out);
        }
        if flags & 64 == 0 {
            let reply = peer.syn_ack(0);
            peer.sender.on_packet(&config, &reply, peer.now, &mut peer.out);
        }
        peer
    }

    fn step(&mut self, bytes: &mut Bytes<'_>) {
        let (kind, wait) = (bytes.byte(), bytes.byte());
        self.now += Span::from_micros(u64::from(wait) * u64::from(wait));
        let config = self.config;
        match kind % 16 {
            // A peer in order: the next few segments.
            0..=5 => {
                let segments = 1 + u64::from(kind / 16 % 4);
                let end =
                    (self.sender.snd_una() + segments * u64::from(config.mss())).min(self.sender.snd_nxt());
                self.acknowledge(end, wait & 1 == 1, |_| {});
            }
            6..=9 => self.arbitrary_ack(bytes),
            10 => {
                let reply = self.syn_ack(wait);
                self.sender.on_packet(&config, &reply, self.now, &mut self.out);
            }
            11 | 12 => {
                let due = self.sender.deadline();
                if due < Time::NEVER {
                    self.now = self.now.max(due);
                    self.sender.on_timer(&config, self.now, &mut self.out);
                }
            }
            13 if !self.closed => {
                self.sender.write(&config, u64::from(wait) * 37, self.now, &mut self.out);
            }
            14 => self.sender.set_greedy(&config, wait & 1 == 0, self.now, &mut self.out),
            15 if wait > 250 => {
                self.closed = true;
                self.sender.close(&config, self.now, &mut self.out);
            }
            _ => self.now += Span::from_millis(u64::from(wait) * 10),
        }
    }

    fn arbitrary_ack(&mut self, bytes: &mut Bytes<'_>) {
        let bits = bytes.byte();
        let unit = if bits & 1 == 0 { u64::from(self.config.mss()) } else { 1 };
        let base = [self.sender.snd_una(), self.sender.snd_nxt()][usize::from(bits >> 1 & 1)];
        let position = if bits & 4 == 0 { base } else { base.wrapping_add(unit * u64::from(bytes.byte())) };
        let position = if bits & 8 == 0 { position } else { position.saturating_sub(2 * unit) };
        let una = self.sender.snd_una();
        let blocks: Vec<(u8, u8)> = (0..bits >> 4 & 3).map(|_| (bytes.byte(), bytes.byte())).collect();
        self.acknowledge(position, bits & 64 != 0, |packet| {
            for (left, width) in blocks {
                let left = una.wrapping_add(u64::from(left) * unit);
                let right = left.wrapping_add(u64::from(width % 16) * unit);
                packet.sack.push(Sack { left: Seq::of(left), right: Seq::of(right) });
            }
            if bits & 128 != 0 {
                packet.window = u16::from(position as u8);
            }
        });
    }

    fn acknowledge(&mut self, position: u64, ece: bool, change: impl FnOnce(&mut Packet)) {
        let mut packet = Packet::empty(FlowId(7), 52);
        packet.ack = Seq::of(position);
        packet.flags = if ece { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        packet.window = self.config.advertised_window();
        packet.ts_ecr = (self.now.as_micros() as u32).wrapping_sub(9_999);
        change(&mut packet);
        self.sender.on_packet(&self.config, &packet, self.now, &mut self.out);
    }

    fn syn_ack(&self, bits: u8) -> Packet {
        let mut packet = Packet::empty(FlowId(7), 60);
        packet.flags = Flags::SYN.with(Flags::ACK);
        if bits & 1 == 0 {
            packet.flags = packet.flags.with(Flags::ECE);
        }
        packet.ack = Seq(1 + u32::from(bits >> 7));
        packet.window = self.config.syn_window();
        packet.ts_ecr = u32::from(bits);
        packet
    }

    fn check(&mut self) {
        self.sender.assert_invariants();
        let (una, nxt) = (self.sender.snd_una(), self.sender.snd_nxt());
        assert!(una >= self.una && nxt >= self.nxt, "positions went back");
        // What was sent before the packet that began an episode.
        let nxt_before = self.nxt;
        (self.una, self.nxt) = (una, nxt);
        for packet in self.out.drain(..) {
            assert!(packet.payload <= self.config.mss(), "{packet:?}");
            assert!(
                packet.size == packet.payload + self.config.header_bytes || packet.payload == 0,
                "{packet:?}"
            );
            assert!(packet.flags.has(Flags::SYN) || packet.seq.near(nxt) + u64::from(packet.payload) <= nxt);
            assert!(self.sender.uses_ecn() || !packet.ecn.is_capable() || packet.flags.has(Flags::SYN));
            assert_eq!(packet.flow, FlowId(7));
        }
        let counters = *self.sender.counters();
        // What was taken back may be done again. FreeBSD ends congestion recovery with every timeout (EXIT_RECOVERY),
        // and where fast recovery ends: at snd_nxt as it was, which a timeout may have set back.
        let undone = counters.undos != self.counters.undos;
        let freebsd = self.config.stack.linux().is_none()
            && (counters.timeouts, counters.fast_recoveries)
                != (self.counters.timeouts, self.counters.fast_recoveries);
        let starts_anew = undone || freebsd;
        if starts_anew {
            self.window_end = 0;
        }
        let cuts = counters.cwr_reductions - self.counters.cwr_reductions;
        assert!(cuts <= 1, "{cuts} reductions at once");
        if cuts == 1 {
            assert!(
                una >= self.window_end,
                "a second ECN reduction in one window: {una} < {}, {}",
                self.window_end,
                self.config.stack.name
            );
            self.window_end = if starts_anew { 0 } else { nxt_before };
        }
        assert!(counters.delivered_ce_packets <= counters.delivered_packets);
        self.counters = counters;
    }
}
