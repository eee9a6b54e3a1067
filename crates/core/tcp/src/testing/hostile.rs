//! A peer that sends arbitrary packets: the driver of property tests and of the fuzz target.

use super::config;
use crate::{CwrAck, EcnFeedback, EcnSetting, EndpointConfig, Profile, Receiver, ReceiverConfig, Sender};
use shoal_cc::PRESETS;
use shoal_packet::{Ecn, Flags, FlowId, Packet, Sack, Seq};
use shoal_units::{Span, Time};

/// A sender and a receiver, each with a hostile peer.
#[derive(Debug)]
pub struct Hostile {
    config: EndpointConfig,
    sender: Sender,
    receiver: Receiver,
    now: Time,
    out: Vec<Packet>,
}

/// Bytes that make one step.
const STEP_BYTES: usize = 8;

/// Interprets `input` as a configuration and a sequence of steps, and checks the invariants after each step.
///
/// # Panics
/// If an invariant does not hold.
pub fn drive_hostile(input: &[u8]) {
    let Some((&[stack, cc, flags, window], steps)) = input.split_first_chunk() else { return };
    let mut hostile = Hostile::new(stack, cc, flags, window);
    for step in steps.chunks_exact(STEP_BYTES) {
        hostile.step(step);
    }
}

impl Hostile {
    /// A connection made of arbitrary bytes.
    pub fn new(stack: u8, cc: u8, flags: u8, window: u8) -> Self {
        let stack = Profile::ALL[usize::from(stack) % Profile::ALL.len()].name;
        let mut config = config(PRESETS[usize::from(cc) % PRESETS.len()].name, stack);
        config.sack = flags & 1 == 0;
        config.delayed_ack = flags & 2 == 0;
        config.ecn = if flags & 4 == 0 { EcnSetting::On } else { EcnSetting::Off };
        config.receiver = ReceiverConfig {
            stack: (flags & 16 != 0).then_some(Profile::FREEBSD_2015),
            feedback: (flags & 32 != 0).then_some(if window & 16 == 0 {
                EcnFeedback::Classic
            } else {
                EcnFeedback::Accurate
            }),
            cwr_ack: (flags & 64 != 0).then_some(CwrAck::Delayed),
            misbehaviour: None,
        };
        config.receive_window_bytes = 3000 << (window % 16);
        let mut hostile = Self {
            config,
            sender: Sender::new(&config, FlowId(0)),
            receiver: Receiver::new(&config, FlowId(0)),
            now: Time::ZERO,
            out: Vec::new(),
        };
        hostile.sender.connect(&config, Time::ZERO, &mut hostile.out);
        if flags & 8 == 0 {
            hostile.sender.set_greedy(&config, true, Time::ZERO, &mut hostile.out);
        }
        hostile
    }

    /// One step: time passes, then the peer or the application acts.
    ///
    /// # Panics
    /// If an invariant does not hold.
    pub fn step(&mut self, bytes: &[u8]) {
        let &[wait, kind, a, b, c, d, e, f] = bytes else { return };
        self.now += Span::from_micros(u64::from(wait) * u64::from(wait) * 20);
        let config = self.config;
        let before = (self.sender.snd_una(), self.sender.snd_nxt(), self.receiver.delivered_bytes());
        match kind % 16 {
            0 | 1 => self.sender.on_packet(&config, &Self::syn_ack(a), self.now, &mut self.out),
            2..=8 => self.sender.on_packet(&config, &self.ack([a, b, c, d, e, f]), self.now, &mut self.out),
            9 if self.sender.deadline() <= self.now => self.sender.on_timer(&config, self.now, &mut self.out),
            10 => {
                self.now = self.now.max(self.sender.deadline().min(self.now + Span::from_secs(200)));
                self.sender.on_timer(&config, self.now, &mut self.out);
            }
            11 if !self.sender.is_closing() => {
                self.sender.write(&config, u64::from(a) * u64::from(b), self.now, &mut self.out);
            }
            12 => self.sender.set_greedy(&config, a & 1 == 0, self.now, &mut self.out),
            13 if a < 16 => self.sender.close(&config, self.now, &mut self.out),
            14 => self.receiver.on_packet(&config, &data([a, b, c, d, e, f]), self.now, &mut self.out),
            15 => self.receiver.on_timer(&config, self.now, &mut self.out),
            _ => {}
        }
        self.sender.assert_invariants();
        let after = (self.sender.snd_una(), self.sender.snd_nxt(), self.receiver.delivered_bytes());
        assert!(before.0 <= after.0 && before.1 <= after.1 && before.2 <= after.2, "positions went back");
        for packet in self.out.drain(..) {
            assert!(packet.size <= config.mtu_bytes.max(60 + 28), "packet of {} bytes", packet.size);
            assert!(packet.payload <= config.mss());
        }
    }

    fn syn_ack(bits: u8) -> Packet {
        let mut packet = Packet::empty(FlowId(0), 60);
        packet.flags = Flags::SYN.with(Flags::ACK);
        if bits & 1 == 0 {
            packet.flags = packet.flags.with(Flags::ECE);
        }
        packet.ack = Seq(1);
        packet.window = u16::MAX >> (bits % 8);
        packet.ts_val = u32::from(bits);
        packet.ts_ecr = u32::from(bits);
        packet
    }

    /// An ACK near what is in flight, with up to three SACK blocks at or between segment borders.
    fn ack(&self, [position, first, second, third, bits, window]: [u8; 6]) -> Packet {
        let mss = u64::from(self.config.mss());
        let una = self.sender.snd_una();
        let unit = if bits & 1 == 0 { mss } else { 333 };
        let at = |offset: u8| una + u64::from(offset) * unit;
        let mut packet = Packet::empty(FlowId(0), 52);
        packet.flags = if bits & 2 == 0 { Flags::ACK } else { Flags::ACK.with(Flags::ECE) };
        packet.ack = Seq::of(at(position % 8).wrapping_sub(if bits & 4 == 0 { 0 } else { mss }));
        if bits & 16 != 0 {
            packet.ack = Seq::of(self.sender.snd_nxt());
        }
        for block in [first, second, third] {
            if block > 16 {
                let left = at(block % 32);
                packet
                    .sack
                    .push(Sack { left: Seq::of(left), right: Seq::of(left + unit * u64::from(block / 32)) });
            }
        }
        packet.window = if bits & 8 == 0 { self.config.advertised_window() } else { u16::from(window) };
        packet.ts_ecr = (self.now.as_micros() as u32).wrapping_sub(u32::from(window) * 100);
        packet
    }
}

fn data([position, len, flags, ecn, seq, ts]: [u8; 6]) -> Packet {
    let payload = u16::from(len) * 5;
    let mut packet = Packet::empty(FlowId(0), 52 + payload);
    packet.seq = Seq::of(1 + u64::from(position) * 300 + u64::from(seq));
    packet.payload = payload;
    packet.flags = Flags(flags);
    packet.ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(ecn % 4)];
    packet.ts_val = u32::from(ts);
    packet
}
