//! The receiving side of a connection: reassembly, SACK generation, delayed ACKs, ECN feedback. The
//! application reads immediately.

mod compression;
mod delayed_ack;
mod ecn;
mod handshake;
mod misbehaviour;
mod reassembly;
mod rtt;
mod unread;

use crate::accurate::option_bytes;
use crate::profile::Kernel;
use crate::sender::SYN_BYTES;
use crate::timestamps::{echo_age, timestamp};
use crate::{EndpointConfig, Linux, Output};
use compression::Compression;
use delayed_ack::DelayedAck;
use ecn::Feedback;
pub use misbehaviour::Misbehaviour;
use reassembly::{Arrival, Reassembly, touch};
use rtt::RttEstimate;
use shoal_packet::{Ecn, Flags, FlowId, Packet, Sack, SackBlocks, Seq};
use shoal_units::Time;
use shoal_units::cast::{count_u32, fit_u16, fit_u32};
use unread::Unread;

/// When data are acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Acknowledge {
    /// With the packet that brought them.
    Now,
    /// With others beyond the same hole.
    Held,
    /// When the timer of delayed ACKs expires, unless something else sends an ACK before.
    Later,
}

/// Progress of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Listening,
    /// The SYN has been answered.
    SynReceived,
    /// The ACK of the SYN/ACK has come.
    Established,
    /// Data have come instead of it: no program has accepted the connection before (Linux `tcp_rcv_state_process`).
    EstablishedByData,
}

/// Whether ACKs that are due wait until the application has read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Deferral {
    /// They do not.
    Off,
    /// They do, and none is due.
    On,
    /// One is due, for all.
    Due,
}

/// The receiver of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    reassembly: Reassembly,
    delayed: DelayedAck,
    compression: Compression,
    rtt: RttEstimate,
    feedback: Feedback,
    flow: FlowId,
    /// The receive window that ACKs announce.
    window: u16,
    phase: Phase,
    /// Stream position of the FIN; [`u64::MAX`] before it is known.
    fin_at: u64,
    /// Timestamp to echo ([RFC 7323, section 4.3](https://www.rfc-editor.org/rfc/rfc7323#section-4.3)).
    ts_recent: u32,
    /// Position of the last ACK sent (Linux `rcv_wup`).
    last_ack: u64,
    acks_sent: u32,
    data_packets: u32,
    marks_seen: u64,
    unread: Unread,
    deferral: Deferral,
}

impl Receiver {
    /// A listening receiver; `flow` names the connection in its packets.
    pub fn new(config: &EndpointConfig, flow: FlowId) -> Self {
        Self {
            reassembly: Reassembly::new(config.receiver_stack().linux().is_none()),
            delayed: DelayedAck::new(),
            compression: Compression::new(),
            rtt: RttEstimate::new(),
            feedback: Feedback::None,
            flow,
            window: config.advertised_window(),
            phase: Phase::Listening,
            fin_at: u64::MAX,
            ts_recent: 0,
            last_ack: 1,
            acks_sent: 0,
            data_packets: 0,
            marks_seen: 0,
            unread: Unread::default(),
            deferral: Deferral::Off,
        }
    }

    /// Handles a packet of the peer.
    #[inline]
    pub fn on_packet(&mut self, config: &EndpointConfig, packet: &Packet, now: Time, out: &mut impl Output) {
        self.on_segment::<true>(config, packet, now, out);
    }

    /// Handles a packet, or a segment that was merged from several; with `READ` the application reads before the next
    /// one.
    #[inline]
    fn on_segment<const READ: bool>(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        now: Time,
        out: &mut impl Output,
    ) {
        if packet.flags.has(Flags::SYN) {
            self.on_syn(config, packet, now, out);
            return;
        }
        let is_ack = packet.payload == 0 && !packet.flags.has(Flags::FIN);
        if self.phase == Phase::SynReceived {
            self.complete_handshake(packet, is_ack, now);
        }
        if is_ack || self.phase == Phase::Listening {
            if let Some(accurate) = self.feedback.accurate() {
                accurate.on_ack(config, packet);
            }
            return;
        }
        self.on_data::<READ>(config, packet, now, out);
    }

    /// Handles what the host has merged from packets that arrived together (GRO, LRO): one packet to the receiver, but
    /// counted as those that it was. [`Receiver::on_read`] follows when the host has handed over all that arrived
    /// together. `while_reading`: the application reads what came before.
    #[cold]
    pub fn on_merged(
        &mut self,
        config: &EndpointConfig,
        merged: &Packet,
        while_reading: bool,
        now: Time,
        out: &mut impl Output,
    ) {
        let defers = config.receiver_stack().linux().is_some_and(|rules| rules.defers_acks_while_reading);
        if while_reading && defers && self.deferral == Deferral::Off {
            self.deferral = Deferral::On;
        }
        let (before, acks_before, last_ack) = (self.data_packets, self.acks_sent, self.last_ack);
        self.rtt.on_data(config, merged, self.unread.is_read(), now);
        self.unread.add(merged, config.mss());
        self.on_segment::<false>(config, merged, now, out);
        if self.acks_sent != acks_before {
            let received = fit_u32(self.reassembly.next() - last_ack);
            self.unread.on_ack(self.acks_sent, acks_before, received, config.window_scale());
        }
        if self.data_packets != before {
            let others = merged.payload.div_ceil(config.mss()).saturating_sub(1);
            self.data_packets = self.data_packets.wrapping_add(others.into());
            self.marks_seen += if merged.ecn.is_ce() { others.into() } else { 0 };
        }
    }

    /// Handles the application's read of what was handed over together, once for each `merged` of it.
    ///
    /// On Linux a read sends the ACK that waits for it (`__tcp_cleanup_rbuf`).
    #[cold]
    pub fn on_read(&mut self, config: &EndpointConfig, merged: &Packet, now: Time, out: &mut impl Output) {
        // A connection that is only being opened has nothing to read.
        if !merged.flags.has(Flags::SYN) {
            self.unread.on_read();
        }
        if config.receiver_stack().linux().is_none() {
            return;
        }
        let next = self.reassembly.next();
        let is_due = next - self.last_ack > u64::from(config.mss()) || self.delayed.read_acknowledges();
        let deferred = core::mem::replace(&mut self.deferral, Deferral::Off) == Deferral::Due;
        if deferred || (is_due && self.delayed.is_pending()) {
            let sack = self.sack_option(config, None);
            self.send_ack(config, next, sack, now, out);
        }
    }

    /// The next time at which [`Receiver::on_timer`] must be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.delayed.deadline().min(self.compression.deadline())
    }

    /// Sends the delayed or compressed ACK if it is due.
    pub fn on_timer(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if now >= self.compression.deadline() {
            self.send_compressed(config, now, out);
        }
        if now >= self.delayed.deadline() {
            self.delayed.on_timeout(config);
            self.send_ack(config, self.reassembly.next(), SackBlocks::EMPTY, now, out);
        }
    }

    /// This end sends data, `packet`, which acknowledge what has come (Linux `tcp_event_ack_sent`,
    /// `tcp_event_data_sent`). SACK blocks do not go with them.
    #[cold]
    pub fn acknowledge_with(&mut self, config: &EndpointConfig, packet: &mut Packet, now: Time) {
        let next = self.reassembly.next();
        packet.ack = Seq::of(next);
        packet.ts_ecr = self.ts_recent;
        if let Some(accurate) = self.feedback.accurate() {
            accurate.write_beside_data(packet, now);
        } else if self.feedback.ece() {
            packet.flags = packet.flags.with(Flags::ECE);
        }
        self.last_ack = next;
        if self.delayed.is_pending() {
            self.delayed.on_ack_sent(config);
        }
        self.compression.on_ack_sent();
        self.delayed.on_data_sent(now);
    }

    /// Payload bytes delivered in order.
    #[inline]
    pub fn delivered_bytes(&self) -> u64 {
        let next = self.reassembly.next();
        next - 1 - u64::from(next > self.fin_at)
    }
    /// Pure ACKs sent, the SYN-ACK not counted. Counts wrap around.
    #[inline]
    pub fn acks_sent(&self) -> u32 {
        self.acks_sent
    }
    /// Packets with payload that arrived inside the window, old copies included. Counts wrap around.
    #[inline]
    pub fn data_packets(&self) -> u32 {
        self.data_packets
    }
    /// Data packets that arrived with CE.
    pub fn marks_seen(&self) -> u64 {
        self.marks_seen
    }
    /// Bytes of heap memory of this receiver.
    pub fn heap_bytes(&self) -> usize {
        self.reassembly.heap_bytes() + self.feedback.heap_bytes()
    }

    #[cold]
    fn on_syn(&mut self, config: &EndpointConfig, packet: &Packet, now: Time, out: &mut impl Output) {
        if self.reassembly.next() > 1 || self.reassembly.has_holes() {
            return; // A late copy.
        }
        let is_repeated = self.phase != Phase::Listening;
        if !is_repeated {
            self.phase = Phase::SynReceived;
            self.feedback = Feedback::granted(config, packet);
        }
        self.ts_recent = packet.ts_val;
        let mut reply = self.syn_ack(config, now);
        self.feedback.grant(config, packet, is_repeated, &mut reply);
        out.transmit(reply);
    }

    /// A SYN/ACK that says nothing of ECN.
    fn syn_ack(&self, config: &EndpointConfig, now: Time) -> Packet {
        let mut reply = Packet::empty(self.flow, SYN_BYTES);
        reply.seq = Seq(0);
        reply.ack = Seq(1);
        reply.flags = Flags::SYN.with(Flags::ACK);
        reply.window = config.syn_window();
        reply.ts_val = timestamp(now);
        reply.ts_ecr = self.ts_recent;
        reply
    }

    #[inline]
    fn on_data<const READ: bool>(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        now: Time,
        out: &mut impl Output,
    ) {
        let next_before = self.reassembly.next();
        let Some((start, end)) = self.accept(config, packet) else { return };
        if READ {
            self.rtt.on_data(config, packet, true, now);
        }
        let known = self.blocks_before(start, end);
        let arrival = self.reassembly.insert(start, end);
        if arrival == Arrival::Old {
            self.on_old_data(config, packet, (start, end), now, out);
            return;
        }
        let fin = packet.flags.has(Flags::FIN);
        if fin {
            self.fin_at = end - 1;
        }
        if self.reassembly.next() > next_before {
            self.on_progress(config, (next_before == 1, READ), now);
        }
        let reaction = self.feedback.on_data(config, packet, self.delayed.is_pending());
        if reaction.flush {
            // The ACK of what was received before the CE state changed (RFC 8257 section 3.2,
            // https://www.rfc-editor.org/rfc/rfc8257#section-3.2).
            self.send_ack_with(config, next_before, SackBlocks::EMPTY, reaction.flush_ece, now, out);
        }
        if let Some(known) = known.filter(|_| self.compression.is_holding()) {
            // After the ECN state has changed (tcp_data_queue_ofo), and instead of an ACK for this packet: what was
            // scheduled went with it (tcp_event_ack_sent, tcp_ack_snd_check).
            return self.send_ack(config, self.reassembly.next(), known, now, out);
        }
        if reaction.quick > 0 {
            self.delayed.enter_quick_mode(config, reaction.quick);
        }
        let acknowledge = if reaction.at_once || (fin && !self.reassembly.has_holes()) || !config.delayed_ack
        {
            Acknowledge::Now
        } else {
            match &config.receiver_stack().kernel {
                Kernel::Linux(rules) => self.decide_on_linux(config, rules, packet, (arrival, READ), now),
                Kernel::FreeBsd(_) => self.decide_on_freebsd(config, packet, arrival, now),
            }
        };
        if acknowledge == Acknowledge::Now {
            if !READ && self.deferral != Deferral::Off {
                self.deferral = Deferral::Due;
                return;
            }
            let sack = self.sack_option(config, (arrival == Arrival::Known).then_some((start, end)));
            self.send_ack(config, self.reassembly.next(), sack, now, out);
        }
    }

    /// Takes note of a packet, and returns the range of the stream that it fills, its FIN included; `None` if it lies
    /// beyond the window.
    #[inline]
    fn accept(&mut self, config: &EndpointConfig, packet: &Packet) -> Option<(u64, u64)> {
        let next = self.reassembly.next();
        let start = packet.seq.near(next);
        let end = start + u64::from(packet.payload) + u64::from(packet.flags.has(Flags::FIN));
        if end > next + u64::from(config.receive_window_bytes) {
            return None;
        }
        // RFC 7323 4.3: remember the timestamp of what may advance the last ACK sent.
        if start <= self.last_ack && packet.ts_val.wrapping_sub(self.ts_recent).cast_signed() >= 0 {
            self.ts_recent = packet.ts_val;
        }
        self.marks_seen += u64::from(packet.ecn.is_ce());
        self.data_packets = self.data_packets.wrapping_add(u32::from(packet.payload > 0));
        Some((start, end))
    }

    /// Handles data that extend what has arrived in order. The window grows until a program has accepted the connection
    /// and has read.
    #[inline]
    fn on_progress(&mut self, config: &EndpointConfig, (is_first, is_read): (bool, bool), now: Time) {
        self.rtt.on_progress(config, self.reassembly.next(), now);
        self.delayed.on_data(config, now);
        let is_accepted = !is_first || self.phase == Phase::Established;
        if !(is_accepted && (is_read || !self.unread.grows_window())) {
            self.delayed.on_larger_window(config);
        }
    }

    /// When Linux acknowledges data of which nothing else has decided it (`__tcp_ack_snd_check`).
    #[inline]
    fn decide_on_linux(
        &mut self,
        config: &EndpointConfig,
        rules: &Linux,
        packet: &Packet,
        (arrival, is_read): (Arrival, bool),
        now: Time,
    ) -> Acknowledge {
        let unacked = self.reassembly.next() - self.last_ack;
        let has_holes = self.reassembly.has_holes();
        // The window of the ACK may not be smaller than the last one, as it is with what waits behind a hole.
        let leaves_window =
            || !has_holes && (is_read || self.unread.leaves_window(self.acks_sent, config.window_scale()));
        if self.delayed.in_quick_mode() || (unacked > u64::from(config.mss()) && leaves_window()) {
            return Acknowledge::Now;
        }
        if has_holes {
            let is_held = arrival != Arrival::Known && self.compresses(config, rules, now);
            return if is_held { Acknowledge::Held } else { Acknowledge::Now };
        }
        let is_small = packet.payload < config.mss() && is_small(config, packet);
        if is_small || (rules.acks_full_pushed && packet.flags.has(Flags::PSH)) {
            // The sender seems to have no more data for now: then the application, which has read everything, causes an
            // acknowledgement (Linux `tcp_measure_rcv_mss`, `__tcp_cleanup_rbuf`).
            self.delayed.note_pushed(is_small);
        }
        if arrival != Arrival::InOrder || (is_read && self.delayed.read_acknowledges()) {
            return Acknowledge::Now;
        }
        self.delayed.arm_on_linux(config, rules, now);
        Acknowledge::Later
    }

    /// When FreeBSD acknowledges data of which nothing else has decided it: at once around a hole; else every second
    /// segment, and what the host has merged from several packets (`DELAY_ACK`).
    #[inline(never)]
    fn decide_on_freebsd(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        arrival: Arrival,
        now: Time,
    ) -> Acknowledge {
        let is_around_hole = arrival != Arrival::InOrder || self.reassembly.has_holes();
        let is_second = self.delayed.is_pending();
        if is_around_hole || is_second || packet.payload > config.mss() {
            return Acknowledge::Now;
        }
        self.delayed.arm_on_freebsd(config, now);
        Acknowledge::Later
    }

    /// Whether the ACK of a packet that leaves holes is held back.
    #[cold]
    fn compresses(&mut self, config: &EndpointConfig, rules: &Linux, now: Time) -> bool {
        let percent = rules.compressed_ack_percent;
        if percent == 0 || !config.sack {
            return false;
        }
        let (handshake, estimate) = (self.delayed.rtt(), self.rtt.span());
        let rtt = if handshake.is_zero() { estimate } else { estimate.min(handshake) };
        self.compression.holds(
            self.reassembly.next(),
            rtt * u64::from(percent) / 100,
            self.delayed.tick(),
            now,
        )
    }

    /// The SACK blocks before the range [start, end) has a place among them, if they are sent first: the option has
    /// room for few, so that known ones would be lost (`tcp_sack_new_ofo_skb`).
    #[inline]
    fn blocks_before(&self, start: u64, end: u64) -> Option<SackBlocks> {
        let is_crowded = self.compression.is_holding()
            && start > self.reassembly.next()
            && self.reassembly.is_third(start, end);
        is_crowded.then(|| self.known_blocks(start, end))
    }

    /// The SACK blocks before the range [start, end) has a place among them, but the one that it extends is longer
    /// already.
    #[cold]
    fn known_blocks(&self, start: u64, end: u64) -> SackBlocks {
        let mut extended = false;
        pack(self.reassembly.recent_blocks().map(|(left, right)| {
            let extends = !extended && touch((left, right), (start, end));
            extended |= extends;
            if extends { (left.min(start), right.max(end)) } else { (left, right) }
        }))
    }

    #[cold]
    fn send_compressed(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        let sack = self.sack_option(config, None);
        self.send_ack(config, self.reassembly.next(), sack, now, out);
    }

    /// Handles data below the in-order position: acknowledged immediately, with a D-SACK
    /// ([RFC 2883](https://www.rfc-editor.org/rfc/rfc2883)).
    #[cold]
    fn on_old_data(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        range: (u64, u64),
        now: Time,
        out: &mut impl Output,
    ) {
        self.feedback.on_old_data(config, packet, range.1 < self.last_ack);
        self.delayed.enter_quick_mode(config, u32::MAX);
        let sack = self.sack_option(config, Some(range));
        self.send_ack(config, self.reassembly.next(), sack, now, out);
    }

    /// The ACK of the SYN/ACK, or data if it is lost, complete the handshake, whose RTT is the only one that a receiver
    /// measures exactly (Linux `tcp_synack_rtt_meas`).
    #[cold]
    fn complete_handshake(&mut self, packet: &Packet, is_ack: bool, now: Time) {
        self.phase = if is_ack { Phase::Established } else { Phase::EstablishedByData };
        if let Some(rtt) = echo_age(packet, now) {
            self.delayed.set_rtt(rtt);
        }
    }

    /// The SACK option; `duplicate` is a range that had arrived before, which stacks with D-SACK report first.
    #[inline]
    fn sack_option(&self, config: &EndpointConfig, duplicate: Option<(u64, u64)>) -> SackBlocks {
        if duplicate.is_none() && !self.reassembly.has_holes() {
            return SackBlocks::EMPTY;
        }
        self.sack_blocks(config, duplicate)
    }

    #[cold]
    fn sack_blocks(&self, config: &EndpointConfig, duplicate: Option<(u64, u64)>) -> SackBlocks {
        let duplicate = duplicate.filter(|_| config.receiver_stack().reports_duplicates());
        if config.sack && (duplicate.is_some() || self.reassembly.has_holes()) {
            pack(duplicate.into_iter().chain(self.reassembly.recent_blocks()))
        } else {
            SackBlocks::EMPTY
        }
    }

    #[inline]
    fn send_ack(
        &mut self,
        config: &EndpointConfig,
        position: u64,
        sack: SackBlocks,
        now: Time,
        out: &mut impl Output,
    ) {
        self.send_ack_with(config, position, sack, self.feedback.ece(), now, out);
    }

    #[inline]
    fn send_ack_with(
        &mut self,
        config: &EndpointConfig,
        position: u64,
        sack: SackBlocks,
        ece: bool,
        now: Time,
        out: &mut impl Output,
    ) {
        // A SACK option takes 2 bytes of padding, 2 of header and 8 a block (RFC 2018,
        // https://www.rfc-editor.org/rfc/rfc2018).
        let blocks = fit_u16(count_u32(sack.as_slice().len()).into());
        let option = if blocks == 0 { 0 } else { 4 + 8 * blocks };
        let mut ack = Packet::empty(self.flow, config.header_bytes + option);
        ack.seq = Seq(1);
        ack.ack = Seq::of(position);
        ack.sack = sack;
        ack.flags = if ece { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        ack.window = self.window;
        ack.ts_val = timestamp(now);
        ack.ts_ecr = self.ts_recent;
        if matches!(self.feedback, Feedback::Dctcp { .. }) && Feedback::sets_ect_on_acks(config) {
            ack.ecn = Ecn::Ect0;
        }
        let before = core::mem::replace(&mut self.last_ack, position);
        self.acks_sent = self.acks_sent.wrapping_add(1);
        self.delayed.on_ack_sent(config);
        self.compression.on_ack_sent();
        if let Some(misbehaviour) = &config.receiver.misbehaviour {
            return self.transmit_misbehaving((config, misbehaviour), before, ack, now, out);
        }
        if matches!(self.feedback, Feedback::Accurate(_)) {
            return self.transmit_accurate(config, ack, now, out);
        }
        out.transmit(ack);
    }

    /// Sends an ACK with the feedback of accurate ECN. Apart from [`Self::send_ack_with`], so that other ACKs need not
    /// lie in memory.
    #[cold]
    #[inline(never)]
    fn transmit_accurate(
        &mut self,
        config: &EndpointConfig,
        mut ack: Packet,
        now: Time,
        out: &mut impl Output,
    ) {
        if let Some(accurate) = self.feedback.accurate() {
            accurate.write(config, &mut ack, now, self.delayed.rtt());
        }
        out.transmit(ack);
    }
}

/// Whether a packet with less payload than a full one has not the option of accurate ECN in its place.
#[cold]
fn is_small(config: &EndpointConfig, packet: &Packet) -> bool {
    packet.payload < config.mss() - option_bytes(packet)
}

/// As many of the blocks as fit into the option.
fn pack(blocks: impl Iterator<Item = (u64, u64)>) -> SackBlocks {
    let mut option = SackBlocks::EMPTY;
    for (left, right) in blocks {
        if !option.push(Sack { left: Seq::of(left), right: Seq::of(right) }) {
            break;
        }
    }
    option
}
