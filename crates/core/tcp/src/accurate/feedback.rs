//! What the peer feeds back: how many packets of this end arrived with CE (RFC 9768 section 3.2.2.5,
//! <https://www.rfc-editor.org/rfc/rfc9768#section-3.2.2.5>, and appendix A; Linux `tcp_accecn_process`).

use super::arrivals::{FIRST_PACKETS, first_bytes, index};
use super::handshake::ace;
use crate::timestamps::Youngest;
use shoal_packet::{ByteCounters, Ecn, Packet};
use shoal_units::cast::{fit_u32, low_u32};

/// Largest number that three flags can tell.
const ACE_MASK: u32 = 7;
/// Bytes with CE beyond 1 / 2^this of what an overflow would mean tell that there was one.
const SAFETY_SHIFT: u32 = 1;
/// The average of packets an ACK has this many bits below the point, and a weight of 1 / 2^this.
const AVERAGE_SHIFT: u32 = 6;
/// An average above this many packets shows that ACKs are thinned on the way, and not lost.
const THINNED: u32 = 4 << AVERAGE_SHIFT;
/// Bytes sent after which a first option comes too late: its counters may have wrapped.
const TOO_LATE_BYTES: u64 = (1 << 23) - 1;

/// What has been seen of the peer's option.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Seen {
    #[default]
    Nothing,
    /// An option without fields.
    Empty,
    /// Counters that make sense.
    Counters,
    /// Counters that something on the path has overwritten, or that came too late: they are not read.
    Failed,
}

impl Seen {
    /// The verdict on the first option: counters that cannot be zero are overwritten if they are.
    pub(super) fn of(counters: &ByteCounters) -> Self {
        match counters.fields() {
            [] => Self::Empty,
            [0, ..] | [_, _, 0] => Self::Failed,
            _ => Self::Counters,
        }
    }
}

/// What else an ACK tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    /// Packets and bytes that it delivers.
    pub packets: u32,
    pub bytes: u64,
    /// Whether it acknowledges or SACKs anything new.
    pub is_new: bool,
    /// Whether the connection has timestamps.
    pub has_timestamps: bool,
    /// Maximum segment size in bytes.
    pub mss: u16,
    /// Whether the packets that it delivers are known one by one, by SACK or because nothing is missing.
    pub knows_packets: bool,
    /// Bytes sent so far.
    pub sent_bytes: u64,
}

/// The peer's counters as this end knows them. They wrap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Feedback {
    /// Packets that arrived with CE (`s.cep` without its first value).
    marked: u32,
    /// Bytes by codepoint.
    bytes: [u32; 3],
    /// The codepoint of what is being delivered, as long as no option says otherwise; `None` if it is not clear.
    estimate: Option<Ecn>,
    /// Average of the packets that an ACK delivers.
    packets_an_ack: u32,
    pub seen: Seen,
    youngest: Youngest,
}

impl Feedback {
    /// Packets that have been reported with CE.
    pub(super) fn marked(&self) -> u32 {
        self.marked
    }
    /// Bytes that have been reported with `codepoint`; none are with Not-ECT.
    pub(super) fn bytes(&self, codepoint: Ecn) -> u32 {
        if codepoint.is_capable() { self.bytes[index(codepoint)] } else { 0 }
    }

    /// The SYN/ACK arrived with CE at the peer.
    pub(super) fn count_first_mark(&mut self) {
        if self.marked == 0 {
            self.marked = 1;
        }
    }

    /// Whether an ACK with this timestamp is from a later tick than all before it.
    pub(super) fn is_younger(&mut self, timestamp: u32) -> bool {
        self.youngest.advance(timestamp)
    }

    /// Reads an ACK. Returns how many packets with CE it reports: none if it acknowledges nothing new and is not
    /// younger than all before it, as it may have been overtaken.
    pub(super) fn read(&mut self, packet: &Packet, acked: &Acknowledged) -> u32 {
        let is_younger = acked.has_timestamps && self.is_younger(packet.ts_val);
        if !acked.is_new && !is_younger {
            return 0;
        }
        let (ace, counters) = (ace(packet.flags), packet.sack.counters());
        let marked_bytes_before = self.bytes[index(Ecn::Ce)];
        let bytes_are_known = self.read_bytes(counters.as_ref(), acked);
        self.average(acked.packets);
        let marked_bytes = self.bytes[index(Ecn::Ce)].wrapping_sub(marked_bytes_before);
        let least = u32::from(ace).wrapping_sub(FIRST_PACKETS).wrapping_sub(self.marked) & ACE_MASK;
        let packets = acked.packets;
        let marked = if packets <= ACE_MASK {
            least
        } else {
            let most = packets - ((packets - least) & ACE_MASK);
            let bytes = bytes_are_known.then_some(marked_bytes);
            self.between(least, most, bytes, acked)
        };
        self.marked = self.marked.wrapping_add(marked);
        marked
    }

    /// How many packets had CE if at least `least` had and at most `most`, which differ by a multiple of eight.
    fn between(&self, least: u32, most: u32, marked_bytes: Option<u32>, acked: &Acknowledged) -> u32 {
        let Some(marked_bytes) = marked_bytes else {
            // Thinned ACKs are no lost ones: the flags of those that are left cannot have gone round unnoticed.
            return if self.packets_an_ack > THINNED { least } else { most };
        };
        if marked_bytes == 0 {
            return least;
        }
        let packets = acked.packets;
        if packets >= 2 * (ACE_MASK + 1) && acked.knows_packets {
            if acked.bytes <= u64::from(marked_bytes) {
                return most;
            }
            let share = (u64::from(marked_bytes) * u64::from(packets)).div_ceil(acked.bytes);
            return most.min(least + (fit_u32(share) & !ACE_MASK));
        }
        let mss = u32::from(acked.mss);
        if marked_bytes > least * mss {
            most
        } else if marked_bytes < (most * mss) >> SAFETY_SHIFT {
            least
        } else {
            most
        }
    }

    fn average(&mut self, packets: u32) {
        if packets == 0 {
            return;
        }
        let sample = packets << AVERAGE_SHIFT;
        self.packets_an_ack = match self.packets_an_ack {
            0 => sample,
            before => ((before << AVERAGE_SHIFT) - before + sample) >> AVERAGE_SHIFT,
        }
        .min(0xffff);
    }

    /// Updates the counters of bytes. Returns whether they tell what this ACK delivers.
    fn read_bytes(&mut self, counters: Option<&ByteCounters>, acked: &Acknowledged) -> bool {
        if self.seen == Seen::Failed {
            return false;
        }
        let Some(counters) = counters else {
            if self.seen == Seen::Nothing {
                if acked.sent_bytes >= TOO_LATE_BYTES {
                    self.seen = Seen::Failed;
                }
                return false;
            }
            let Some(codepoint) = self.estimate else { return false };
            let counter = &mut self.bytes[index(codepoint)];
            *counter = counter.wrapping_add(low_u32(acked.bytes));
            return true;
        };
        if self.seen < Seen::Counters {
            self.seen = Seen::of(counters);
        }
        let estimate = self.estimate;
        let mut is_clear = estimate.is_some();
        let mut is_ambiguous = false;
        let mut first = None;
        for (codepoint, field) in counters.counted() {
            let counter = &mut self.bytes[index(codepoint)];
            let delta =
                field.wrapping_sub(first_bytes(codepoint)).wrapping_sub(*counter) % ByteCounters::MODULUS;
            let is_backward = delta >= ByteCounters::MODULUS / 2;
            // A field of an older ACK takes the counter back.
            let signed = if is_backward { delta.wrapping_sub(ByteCounters::MODULUS) } else { delta };
            *counter = counter.wrapping_add(signed);
            if is_backward || (delta > 0 && Some(codepoint) != estimate && first.is_some()) {
                is_clear = false;
                is_ambiguous = true;
            }
            if delta > 0 && Some(codepoint) != estimate && first.is_none() {
                first = Some(codepoint);
            }
        }
        if first.is_some() {
            self.estimate = first;
        }
        if is_ambiguous {
            self.estimate = None;
        }
        is_clear
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accurate::handshake::with_ace;
    use shoal_packet::{CounterOrder, Flags, FlowId};

    const MSS: u16 = 1448;

    /// A peer that counts packets with CE, and writes its option or not.
    #[derive(Default)]
    struct Peer {
        marked: u32,
        bytes: [u32; 3],
        timestamp: u32,
    }

    impl Peer {
        fn ack(&mut self, has_option: bool) -> Packet {
            let mut packet = Packet::empty(FlowId(0), 52);
            packet.flags = with_ace(Flags::ACK, ((self.marked + FIRST_PACKETS) & 7).to_le_bytes()[0]);
            self.timestamp += 1000;
            packet.ts_val = self.timestamp;
            let order = CounterOrder::Ect1First;
            let fields =
                order.codepoints().map(|codepoint| self.bytes[index(codepoint)] + first_bytes(codepoint));
            if has_option {
                assert!(packet.sack.set_counters(&ByteCounters::new(order, fields, 3)));
            }
            packet
        }
        /// Packets arrive of which the last `marked` have CE.
        fn receive(&mut self, packets: u32, marked: u32) {
            self.marked += marked;
            self.bytes[index(Ecn::Ce)] += marked * u32::from(MSS);
            self.bytes[index(Ecn::Ect0)] += (packets - marked) * u32::from(MSS);
        }
    }

    fn acked(packets: u32) -> Acknowledged {
        Acknowledged {
            packets,
            bytes: u64::from(packets) * u64::from(MSS),
            is_new: packets > 0,
            has_timestamps: true,
            mss: MSS,
            knows_packets: true,
            sent_bytes: 100_000,
        }
    }

    /// A connection on which two packets without CE have been acknowledged with the option, so that it is clear which
    /// counter moves.
    fn begun() -> (Peer, Feedback) {
        let (mut peer, mut feedback) = (Peer::default(), Feedback::default());
        peer.receive(2, 0);
        assert_eq!(feedback.read(&peer.ack(true), &acked(2)), 0);
        (peer, feedback)
    }

    /// RFC 9768 appendix A.2.1: nine packets of which two are said to be marked were two, ten may have been ten.
    #[test]
    fn three_bits_are_read_safely() {
        for (packets, said, marked) in
            [(7, 2, 2), (9, 2, 2), (10, 2, 10), (16, 0, 16), (17, 0, 16), (8, 0, 8)]
        {
            let (mut peer, mut feedback) = (Peer::default(), Feedback::default());
            feedback.read(&peer.ack(false), &acked(2));
            peer.marked = said;
            assert_eq!(feedback.read(&peer.ack(false), &acked(packets)), marked, "{said} of {packets}");
        }
    }

    /// With the option thinned ACKs tell how many were marked, whatever the share: at most one packet of a hundred more
    /// or less than were, over 4,000 packets.
    #[test]
    fn the_option_tells_what_thinned_acks_cannot() {
        for packets in [2, 8, 16, 32, 64] {
            for marked in [0, 1, packets / 4, packets / 2, packets] {
                let (mut peer, mut feedback) = begun();
                let (mut said, mut sent) = (0, 0);
                while sent < 4000 {
                    peer.receive(packets, marked);
                    said += feedback.read(&peer.ack(true), &acked(packets));
                    sent += packets;
                }
                assert_eq!(said, peer.marked, "{marked} of {packets} packets an ACK");
            }
        }
    }

    /// Without the option an average of more than four packets an ACK shows that ACKs are thinned: then the least
    /// number is taken.
    #[test]
    fn thinned_acks_without_an_option_are_not_taken_for_lost_ones() {
        let (mut peer, mut feedback) = (Peer::default(), Feedback::default());
        assert_eq!(feedback.read(&peer.ack(false), &acked(2)), 0);
        // The average follows by a 64th, rounded down: after n ACKs of 16 packets it is at most 2 + 14 (1 - (63/64)^n),
        // which is 3.8 for n = 9 and 4.3 for n = 11.
        let mut said = Vec::new();
        for _ in 0..13 {
            said.push(feedback.read(&peer.ack(false), &acked(16)));
        }
        let taken_for_lost = said.iter().take_while(|&&marked| marked == 16).count();
        assert!((9..=11).contains(&taken_for_lost), "{said:?}");
        assert_eq!(said.last(), Some(&0));
    }

    #[test]
    fn an_ack_that_was_overtaken_says_nothing() {
        let (mut peer, mut feedback) = (Peer::default(), Feedback::default());
        let old = peer.ack(false);
        peer.receive(2, 2);
        assert_eq!(feedback.read(&peer.ack(false), &acked(2)), 2);
        assert_eq!(feedback.read(&old, &acked(0)), 0, "its flags would mean six");
        // Without timestamps nothing shows that an ACK without news is young.
        peer.receive(1, 1);
        let blind = Acknowledged { has_timestamps: false, ..acked(0) };
        assert_eq!(feedback.read(&peer.ack(false), &blind), 0);
        assert_eq!(feedback.read(&peer.ack(false), &acked(0)), 1);
    }

    #[test]
    fn counters_that_something_has_overwritten_are_not_read() {
        let option = |fields, len| ByteCounters::new(CounterOrder::Ect0First, fields, len);
        for (fields, len, seen) in [
            ([1, 0, 1], 3, Seen::Counters),
            ([0, 0, 1], 3, Seen::Failed),
            ([1, 0, 0], 3, Seen::Failed),
            ([1, 0, 0], 2, Seen::Counters),
            ([0, 0, 0], 1, Seen::Failed),
            ([0, 0, 0], 0, Seen::Empty),
        ] {
            assert_eq!(Seen::of(&option(fields, len)), seen, "{fields:?} {len}");
        }
        // A first option after 8 MB comes too late.
        let (mut peer, mut feedback) = (Peer::default(), Feedback::default());
        feedback.read(&peer.ack(false), &Acknowledged { sent_bytes: TOO_LATE_BYTES, ..acked(1) });
        assert_eq!(feedback.seen, Seen::Failed);
    }

    #[test]
    fn a_counter_of_bytes_wraps_after_24_bits() {
        let (mut peer, mut feedback) = begun();
        let mut said = 0;
        for _ in 0..2000 {
            peer.receive(16, 12);
            said += feedback.read(&peer.ack(true), &acked(16));
        }
        assert!(peer.bytes[index(Ecn::Ce)] > 2 * ByteCounters::MODULUS);
        assert_eq!(said, 24_000);
    }
}
