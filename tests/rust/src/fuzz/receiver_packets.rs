//! A receiver against a model that only knows which bytes have arrived.

use crate::Bytes;
use shoal_cc::PRESETS;
use shoal_packet::{Ecn, Flags, FlowId, Packet, Seq};
use shoal_tcp::{
    CwrAck, EcnFeedback, EcnOption, EcnSetting, EndpointConfig, Profile, Receiver, ReceiverConfig,
};
use shoal_units::{Span, Time};

/// Arbitrary segments of one stream arrive in any order: each ACK acknowledges exactly the data that have
/// arrived, SACK blocks cover no missing data, DCTCP's echo follows the last packet, and a delayed ACK has a
/// timer.
///
/// # Panics
/// If one of these properties does not hold.
pub fn receiver_packets(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let mut peer = Peer::new(&mut bytes);
    while !bytes.is_empty() {
        peer.step(&mut bytes);
    }
    peer.finish();
}

/// Longest delay of a compressed ACK: `tcp_comp_sack_delay_ns` and `tcp_comp_sack_slack_ns`.
const LONGEST_COMPRESSION: Span = Span::from_micros(1_010);

struct Peer {
    config: EndpointConfig,
    receiver: Receiver,
    now: Time,
    dctcp: bool,
    /// The positions that have arrived; index 0 is the SYN, the last one the FIN.
    arrived: Vec<bool>,
    /// The first position that has not arrived, and the end of the arrived ones.
    next: u64,
    highest: u64,
    /// Position up to which everything was acknowledged.
    acked: u64,
}

impl Peer {
    fn new(bytes: &mut Bytes<'_>) -> Self {
        let preset = usize::from(bytes.byte()) % PRESETS.len();
        let flags = bytes.byte();
        let stack = bytes.byte();
        let feedback = match (flags & 32 != 0, flags & 64 != 0) {
            (true, false) => Some(EcnFeedback::Classic),
            (true, true) => Some(EcnFeedback::Dctcp),
            (false, true) if stack & 128 != 0 => Some(EcnFeedback::Accurate),
            (false, _) => None,
        };
        let config = EndpointConfig {
            stack: Profile::ALL[usize::from(stack) % Profile::ALL.len()],
            receiver: ReceiverConfig {
                stack: (flags & 16 != 0).then_some(Profile::FREEBSD_14),
                feedback,
                cwr_ack: (flags & 128 != 0).then_some(CwrAck::Delayed),
                misbehaviour: None,
            },
            cc: PRESETS[preset].config,
            ecn: if flags & 1 == 0 { EcnSetting::On } else { EcnSetting::Off },
            ecn_option: EcnOption::Full,
            mtu_bytes: 200,
            header_bytes: 52,
            sack: flags & 2 == 0,
            delayed_ack: flags & 4 == 0,
            initial_window: None,
            receive_window_bytes: if flags & 8 == 0 { 1 << 20 } else { 700 },
            cwnd_clamp_packets: u32::MAX,
            no_delay: false,
            unsent_bytes: 128 << 10,
            offload: None,
        };
        let mut peer = Self {
            config,
            receiver: Receiver::new(&config, FlowId(3)),
            now: Time::ZERO,
            dctcp: config.ecn == EcnSetting::On && config.feedback() == EcnFeedback::Dctcp,
            arrived: vec![false; 4096],
            next: 0,
            highest: 0,
            acked: 1,
        };
        let mut syn = Packet::empty(FlowId(3), 60);
        syn.flags = Flags::SYN;
        if config.ecn == EcnSetting::On {
            syn.flags = syn.flags.with(Flags::ECE).with(Flags::CWR);
        }
        let mut out = Vec::new();
        peer.receiver.on_packet(&config, &syn, peer.now, &mut out);
        assert_eq!(out.len(), 1);
        assert!(out[0].flags.has(Flags::SYN.with(Flags::ACK)) && out[0].ack == Seq(1));
        peer.mark_arrived(0, 1);
        peer
    }

    fn next(&self) -> u64 {
        self.next
    }

    /// Records that positions `start..end` have arrived.
    fn mark_arrived(&mut self, start: u64, end: u64) {
        self.arrived[start as usize..end as usize].fill(true);
        self.highest = self.highest.max(end);
        while self.next < self.highest && self.arrived[self.next as usize] {
            self.next += 1;
        }
    }

    fn step(&mut self, bytes: &mut Bytes<'_>) {
        let (kind, where_to) = (bytes.byte(), bytes.byte());
        self.now += Span::from_micros(u64::from(bytes.byte()) * 300);
        if self.receiver.deadline() <= self.now {
            self.timer();
        }
        let next = self.next();
        let mss = u64::from(self.config.mss());
        // Most often what is expected next or a bit ahead of it.
        let start = match kind % 8 {
            0..=3 => next,
            4 | 5 => next + mss * u64::from(where_to % 8),
            6 => next + u64::from(where_to),
            _ => next.saturating_sub(u64::from(where_to)),
        };
        let fin_at = self.arrived.len() as u64 - 1;
        let len = if kind & 8 == 0 { mss } else { u64::from(bytes.byte() % 149) };
        let start = start.clamp(1, fin_at);
        let end = (start + len).min(fin_at);
        let fin = end == fin_at;
        if start == end && !fin {
            return;
        }
        let mut packet = Packet::empty(FlowId(3), self.config.header_bytes + (end - start) as u16);
        packet.seq = Seq::of(start);
        packet.payload = (end - start) as u16;
        packet.ecn = [Ecn::Ect0, Ecn::Ce, Ecn::Ect0, Ecn::NotEct][usize::from(kind >> 4 & 3)];
        packet.flags = if fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        if kind & 64 != 0 {
            packet.flags = packet.flags.with(Flags::CWR);
        }
        packet.ts_val = self.now.as_micros() as u32;
        self.deliver(&packet, start, end + u64::from(fin));
    }

    fn deliver(&mut self, packet: &Packet, start: u64, end: u64) {
        let next_before = self.next();
        let outside = end > next_before + u64::from(self.config.receive_window_bytes);
        let news = !outside && self.arrived[start as usize..end as usize].iter().any(|there| !there);
        if !outside {
            self.mark_arrived(start, end);
        }
        let mut out = Vec::new();
        self.receiver.on_packet(&self.config, packet, self.now, &mut out);
        let next = self.next();
        assert!(out.len() <= 2 && (!outside || out.is_empty()), "{out:?}");
        for (index, ack) in out.iter().enumerate() {
            let last = index + 1 == out.len();
            // Only the ACK that DCTCP sends before a change of state may acknowledge less (RFC 8257 section
            // 3.2, https://www.rfc-editor.org/rfc/rfc8257#section-3.2).
            let flushed = self.dctcp && index == 0 && ack.ack == Seq::of(next_before);
            assert!(ack.ack == Seq::of(next) || flushed, "{ack:?}, next is {next}");
            self.check_ack(ack);
            if last && news && self.dctcp && packet.ecn.is_capable() && ack.ack == Seq::of(next) {
                assert_eq!(ack.flags.has(Flags::ECE), packet.ecn.is_ce(), "{packet:?} {ack:?}");
            }
            if !self.config.sack {
                assert!(ack.sack.is_empty());
            }
        }
        if let Some(ack) = out.last() {
            self.acked = ack.ack.near(next);
        }
        // RFC 5681 section 4.2 (https://www.rfc-editor.org/rfc/rfc5681#section-4.2): out-of-order data are
        // acknowledged immediately, or with the next of the ACKs that Linux sends for several packets; two
        // full segments never wait.
        let holes = self.highest > next;
        let compressed = self.config.sack
            && self.config.receiver_stack().linux().is_some_and(|rules| rules.compressed_ack_percent > 0)
            && self.receiver.deadline() <= self.now + LONGEST_COMPRESSION;
        assert!(outside || !holes || !out.is_empty() || compressed, "out of order and no ACK");
        assert!(
            next - self.acked <= 2 * u64::from(self.config.mss()),
            "unacknowledged: {}",
            next - self.acked
        );
        self.check_timer(next);
    }

    fn check_ack(&self, ack: &Packet) {
        assert!(ack.flags.has(Flags::ACK) && ack.payload == 0 && ack.flow == FlowId(3));
        assert!(self.config.ecn == EcnSetting::On || !ack.flags.has(Flags::ECE));
        for block in ack.sack.as_slice() {
            let (left, right) = (u64::from(block.left.0), u64::from(block.right.0));
            assert!(left < right && right <= self.arrived.len() as u64, "{block:?}");
            assert!(self.arrived[left as usize..right as usize].iter().all(|there| *there), "{block:?}");
        }
        assert_eq!(self.receiver.delivered_bytes(), self.delivered());
    }

    /// Payload in order: positions without SYN and FIN.
    fn delivered(&self) -> u64 {
        let next = self.next();
        next - 1 - u64::from(next == self.arrived.len() as u64)
    }

    fn check_timer(&self, next: u64) {
        assert!(next == self.acked || self.receiver.deadline() < Time::NEVER, "a delayed ACK without timer");
    }

    fn timer(&mut self) {
        let mut out = Vec::new();
        self.receiver.on_timer(&self.config, self.now, &mut out);
        assert!(out.len() <= 1);
        for ack in &out {
            assert_eq!(ack.ack, Seq::of(self.next()));
            self.check_ack(ack);
            self.acked = self.next();
        }
    }

    /// Everything is acknowledged in the end, without further packets.
    fn finish(&mut self) {
        while self.receiver.deadline() < Time::NEVER {
            self.now = self.now.max(self.receiver.deadline());
            self.timer();
        }
        assert_eq!(self.acked, self.next());
    }
}
