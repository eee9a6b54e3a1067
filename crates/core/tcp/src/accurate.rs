//! Accurate ECN ([RFC 9768](https://www.rfc-editor.org/rfc/rfc9768)) at one end of a connection, as Linux 7.3 has it.
//!
//! What both halves of an end share is here: the handshake (`handshake.rs`), what has arrived and is fed back
//! (`arrivals.rs`), what the peer feeds back (`feedback.rs`), and the room for the option (`room.rs`).

mod arrivals;
mod feedback;
mod handshake;
mod room;

use crate::EndpointConfig;
use alloc::boxed::Box;
use arrivals::Arrivals;
pub(crate) use feedback::Acknowledged;
use feedback::{Feedback, Seen};
use handshake::reflected;
pub(crate) use handshake::{Answer, ace, asks, may_become, reflect, with_ace};
use room::Room;
use shoal_cc::EcnUse;
use shoal_packet::{Ecn, Packet, Sack, Seq};
use shoal_units::{Span, Time};

/// Bytes of the option of accurate ECN in a packet without SACK blocks.
pub(crate) fn option_bytes(packet: &Packet) -> u16 {
    packet.sack.counters().map_or(0, |counters| counters.bytes().next_multiple_of(4))
}

/// When the option of accurate ECN is sent (Linux `net.ipv4.tcp_ecn_option`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnOption {
    /// Never (0).
    Off,
    /// After a change of the codepoint, and a few times a round trip (1).
    Minimum,
    /// With every segment, until the path turns out to drop it (2).
    #[default]
    Full,
}

/// ECN that a handshake has agreed on.
#[derive(Clone, Debug)]
pub(crate) enum Agreed {
    /// None.
    Nothing,
    /// That of [RFC 3168](https://www.rfc-editor.org/rfc/rfc3168#section-6.1).
    Classic,
    /// Accurate ECN, with what is known of it after the handshake.
    Accurate(Box<AccurateEcn>),
}

/// How often a round trip the option is sent at least (Linux `net.ipv4.tcp_ecn_option_beacon`).
const BEACONS: u64 = 3;

/// One end of a connection that uses accurate ECN.
#[derive(Clone, Debug)]
pub(crate) struct AccurateEcn {
    arrivals: Arrivals,
    feedback: Feedback,
    /// Codepoint of what this end sends.
    codepoint: Ecn,
    /// The flags of this end's packets do not arrive, or those of the peer: nothing is sent with ECT (Linux
    /// `TCP_ACCECN_ACE_FAIL_SEND`, `TCP_ACCECN_ACE_FAIL_RECV`).
    flags_fail: bool,
    /// The path drops what has the option (Linux `TCP_ACCECN_OPT_FAIL_SEND`).
    option_fails: bool,
    /// Start of the data of which the last ACK has said with the option that they had arrived before (Linux
    /// `accecn_opt_sent_w_dsack`).
    reported_twice: Option<Seq>,
    /// The codepoint has changed since the last ACK, so that the next is not delayed.
    ack_is_due: bool,
    /// Codepoint of the SYN/ACK that this end has sent, of which the first packet of the peer must know.
    awaits_first: Option<Ecn>,
}

/// Codepoint of the packets of a controller on a connection with accurate ECN.
const fn codepoint_of(ecn_use: EcnUse) -> Ecn {
    match ecn_use {
        EcnUse::Classic | EcnUse::Dctcp => Ecn::Ect0,
        EcnUse::L4s => Ecn::Ect1,
    }
}

impl AccurateEcn {
    /// An end of which the peer's SYN or SYN/ACK came with `arrived`.
    pub(crate) fn new(config: &EndpointConfig, arrived: Ecn) -> Self {
        Self {
            arrivals: Arrivals::new(arrived),
            feedback: Feedback::default(),
            codepoint: codepoint_of(config.cc.ecn_use()),
            flags_fail: false,
            option_fails: false,
            reported_twice: None,
            ack_is_due: false,
            awaits_first: None,
        }
    }

    /// Codepoint of every packet of this end.
    pub(crate) fn codepoint(&self) -> Ecn {
        if self.flags_fail { Ecn::NotEct } else { self.codepoint }
    }
    /// From here on packets have the codepoint of a controller that uses ECN like this.
    pub(crate) fn send_for(&mut self, ecn_use: EcnUse) {
        self.codepoint = codepoint_of(ecn_use);
    }
    /// Nothing is sent with ECT from here on.
    pub(crate) fn give_up_ect(&mut self) {
        self.flags_fail = true;
    }

    /// A packet with `payload` bytes, or `packets` merged to one, has arrived with `codepoint`. A change of it makes an
    /// ACK due at once.
    pub(crate) fn note_arrival(&mut self, codepoint: Ecn, payload: u16, packets: u16) {
        self.ack_is_due |= self.arrivals.note(codepoint, payload, packets);
    }
    /// A packet without data has arrived.
    #[cold]
    pub(crate) fn on_ack(&mut self, config: &EndpointConfig, packet: &Packet) {
        self.on_first(config, packet);
        self.note_arrival(packet.ecn, 0, 1);
    }
    /// Whether the ACK of data that arrive now is not delayed.
    pub(crate) fn ack_is_due(&self) -> bool {
        self.ack_is_due
    }
    /// Whether a packet with ECT or CE has arrived.
    pub(crate) fn saw_ect(&self) -> bool {
        self.arrivals.saw_ect()
    }
    /// The SYN/ACK came with CE, which is counted once (RFC 9768 section 3.2.2.2).
    pub(crate) fn count_marked_syn_ack(&mut self) {
        self.arrivals.count_mark();
    }
    /// A SYN/ACK with `codepoint` leaves; with the option, counters at their first values, unless it `is_repeated`.
    pub(crate) fn on_syn_ack(&mut self, config: &EndpointConfig, packet: &mut Packet, is_repeated: bool) {
        self.awaits_first = Some(packet.ecn);
        if config.ecn_option != EcnOption::Off
            && !is_repeated
            && packet.sack.set_counters(&self.arrivals.counters(3))
        {
            packet.size += Room::FULL;
        }
    }
    /// The first packet of the peer says with which codepoint the SYN/ACK has arrived, if it has no data (RFC 9768
    /// section 3.2.2.1, table 4; Linux `tcp_accecn_third_ack`). Flags that stand for nothing, or for what cannot become
    /// of the SYN/ACK on the way, show that something changes them; stacks without fallback do not mind what it became.
    pub(crate) fn on_first(&mut self, config: &EndpointConfig, packet: &Packet) {
        let Some(sent) = self.awaits_first.take() else { return };
        let falls_back = config.receiver_stack().linux().is_none_or(|rules| rules.ecn_fallback);
        let ace = ace(packet.flags);
        match ace {
            0 => {
                self.give_up_ect();
                self.feedback.seen = Seen::Failed;
            }
            1 | 5 | 7 => {}
            _ if packet.payload > 0 => {}
            _ if falls_back && !may_become(sent, reflected(ace)) => self.give_up_ect(),
            _ if reflected(ace).is_ce() => self.feedback.count_first_mark(),
            _ => {}
        }
        self.see_option(packet);
    }

    /// The peer's SYN, SYN/ACK or first segment may have the option: from then on this end sends it, too.
    pub(crate) fn see_option(&mut self, packet: &Packet) {
        if self.feedback.seen < Seen::Counters
            && let Some(counters) = packet.sack.counters()
        {
            self.feedback.seen = Seen::of(&counters);
            self.arrivals.demand_option();
        }
    }

    /// Bytes of the option in the next segment without SACK blocks.
    #[cold]
    pub(crate) fn option_bytes(&self, config: &EndpointConfig, now: Time, srtt: Span) -> u16 {
        if self.sends_option(config, now, srtt) { Room::FULL } else { 0 }
    }

    fn sends_option(&self, config: &EndpointConfig, now: Time, srtt: Span) -> bool {
        let wanted = match config.ecn_option {
            EcnOption::Off => false,
            EcnOption::Minimum => {
                self.arrivals.demands_option()
                    || now.since(self.arrivals.option_sent()).as_picos() * BEACONS >= srtt.as_picos()
            }
            EcnOption::Full => true,
        };
        wanted && self.feedback.seen != Seen::Nothing && !self.option_fails
    }

    /// Writes the feedback of this end into a packet that it sends: codepoint, flags, and the option if there is room
    /// beside the SACK blocks and the other options. A SACK block gives way if that makes room for what has changed.
    // Apart from its callers, which are what every ACK goes through on other connections, too.
    #[cold]
    #[inline(never)]
    pub(crate) fn write(&mut self, config: &EndpointConfig, packet: &mut Packet, now: Time, srtt: Span) {
        packet.ecn = self.codepoint();
        packet.flags = with_ace(packet.flags, self.arrivals.ace());
        self.ack_is_due = false;
        self.reported_twice = None;
        if !self.sends_option(config, now, srtt) {
            return;
        }
        let blocks = packet.sack.as_slice().len();
        let room = Room::beside(config.option_bytes(), blocks, self.arrivals.changed_fields());
        let Some(room) = room else { return };
        packet.sack.truncate(room.blocks);
        packet.size = packet.size + room.bytes - 8 * room.blocks_taken;
        if packet.sack.set_counters(&self.arrivals.counters(room.fields)) {
            let first = packet.sack.as_slice().first();
            let is_old = |block: &&Sack| block.right.0.wrapping_sub(packet.ack.0).cast_signed() <= 0;
            self.reported_twice = first.filter(is_old).map(|block| block.left);
            self.arrivals.on_option_sent(now);
        }
    }

    /// Data from `start` on have arrived again. If that was reported with the option, the path drops what has it.
    pub(crate) fn on_old_data(&mut self, start: Seq) {
        self.option_fails |= self.reported_twice == Some(start);
    }

    /// Writes the feedback of this end into data that the other half of it sends, which has left room for the option.
    pub(crate) fn write_beside_data(&mut self, packet: &mut Packet, now: Time) {
        packet.flags = with_ace(packet.flags, self.arrivals.ace());
        self.ack_is_due = false;
        if packet.sack.counters().is_some() && packet.sack.set_counters(&self.arrivals.counters(3)) {
            self.arrivals.on_option_sent(now);
        }
    }

    /// Reads the feedback of an ACK. Returns how many packets with CE it reports.
    pub(crate) fn read(&mut self, packet: &Packet, acknowledged: &Acknowledged) -> u32 {
        self.feedback.read(packet, acknowledged)
    }
    /// The handshake ended with a packet that has this timestamp in microseconds: only younger ACKs without other news
    /// are read.
    pub(crate) fn note_timestamp(&mut self, timestamp: u32) {
        self.feedback.is_younger(timestamp);
    }
    /// Packets that the peer has reported with CE, the SYN/ACK included.
    pub(crate) fn reported_packets(&self) -> u32 {
        self.feedback.marked()
    }
    /// Bytes of payload that the peer has reported with `codepoint`.
    pub(crate) fn reported_bytes(&self, codepoint: Ecn) -> u32 {
        self.feedback.bytes(codepoint)
    }

    /// What either half of an end has learnt of the path holds for both.
    pub(crate) fn share(&mut self, other: &mut Self) {
        let seen = self.feedback.seen.max(other.feedback.seen);
        let flags_fail = self.flags_fail || other.flags_fail;
        let option_fails = self.option_fails || other.option_fails;
        for half in [self, other] {
            half.feedback.seen = seen;
            (half.flags_fail, half.option_fails) = (flags_fail, option_fails);
        }
    }
}
