//! Data that arrived together with others and that the application has not read.

use shoal_packet::Packet;
use shoal_units::cast::fit_u32;

/// Window scale of a receive buffer of 64 MiB, as hosts of the kernel plane have; stock hosts with 6 to 32 MiB have 7
/// to 10.
const BUFFER_SCALE: u8 = 11;

/// Memory that a packet takes beyond its payload, which is in a page: `struct sk_buff`, `struct skb_shared_info` and
/// the bytes for headers, as packets of the kernel plane have. Drivers of real cards differ by what they allocate for a
/// packet.
const OVERHEAD_BYTES: u32 = 256 + 320 + 256;

/// Packets that share the overhead of one when a host merges them (`MAX_SKB_FRAGS`), each of which has its payload in
/// one piece.
const MERGED_IN_ONE: u32 = 17;

/// What fills the buffer of a receiver, of which the window is as large as its buffer allows, and by how much its last
/// ACK announced less than the whole window.
///
/// Such a window shrinks by the memory of what has not been read, and Linux acknowledges data at once only if the
/// window that it would announce is not smaller than the last one (`__tcp_ack_snd_check`, `__tcp_select_window`);
/// otherwise the read does it. An ACK that a change of the CE state or the start of a connection forces announces the
/// smaller window, after which the next segments do not have to wait. How much of its memory a segment takes from the
/// window is measured once, at the first (`tcp_measure_rcv_mss`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unread {
    /// Memory of what has not been read.
    bytes: u32,
    /// How much less than the whole window was announced, in units of the window's scale, when the last of `acks` ACKs
    /// was sent; if more have been sent since, everything had been read.
    missing: u32,
    acks: u32,
    /// Payload over memory of the first segment, in 256ths (`scaling_ratio`); zero before it.
    payload_share: u8,
    was_read: bool,
}

impl Unread {
    /// A segment has come that the application does not read before the next one; `mss` is the payload of one of its
    /// packets.
    pub(super) fn add(&mut self, segment: &Packet, mss: u16) {
        if segment.payload == 0 {
            return;
        }
        let payload = u32::from(segment.payload);
        let packets = u32::from(segment.payload.div_ceil(mss));
        let memory = payload + OVERHEAD_BYTES * packets.div_ceil(MERGED_IN_ONE);
        if self.payload_share == 0 {
            self.payload_share = u8::try_from((payload << 8) / memory).unwrap_or(u8::MAX);
        }
        self.bytes += memory;
    }

    /// The application has read everything.
    pub(super) fn on_read(&mut self) {
        (self.bytes, self.was_read) = (0, true);
    }

    /// Whether the application has read all that came.
    pub(super) fn is_read(&self) -> bool {
        self.bytes == 0
    }

    /// Whether the application has not read yet. Until then the window is that of the handshake, and each segment makes
    /// it larger.
    pub(super) fn grows_window(&self) -> bool {
        !self.was_read
    }

    /// The segment that came last has caused an ACK, number `acks_sent`, the first after `received_bytes`. The right
    /// edge of the window does not move back (`tcp_select_window`).
    pub(super) fn on_ack(&mut self, acks_sent: u32, sent_before: u32, received_bytes: u32, scale: u8) {
        let edge = self.missing(sent_before).saturating_add(units(received_bytes, scale));
        (self.missing, self.acks) = (self.taken(scale).min(edge), acks_sent);
    }

    /// Whether the window that an ACK would announce now is at least that of the last ACK; `acks_sent` have been sent.
    pub(super) fn leaves_window(&self, acks_sent: u32, scale: u8) -> bool {
        self.taken(scale) <= self.missing(acks_sent)
    }

    /// What unread data take from the window, in units of its scale (`tcp_win_from_space`).
    fn taken(&self, scale: u8) -> u32 {
        let bytes = (u64::from(self.bytes) * u64::from(self.payload_share)).div_ceil(256);
        units(fit_u32(bytes), scale)
    }

    fn missing(&self, acks_sent: u32) -> u32 {
        if acks_sent == self.acks { self.missing } else { 0 }
    }
}

/// Whole units of the window's scale: a window is announced rounded up. One without limit has the scale of the buffer.
fn units(bytes: u32, scale: u8) -> u32 {
    bytes >> scale.min(BUFFER_SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_packet::FlowId;

    const MSS: u16 = 1448;
    /// More than the scale of the buffer.
    const SCALE: u8 = 14;

    /// A receiver whose first segment had this many packets.
    fn receiver(packets: u16) -> Unread {
        let mut unread = Unread::default();
        add(&mut unread, packets);
        unread.on_read();
        unread
    }

    /// Adds a segment of whole packets.
    fn add(unread: &mut Unread, packets: u16) {
        let mut segment = Packet::empty(FlowId(0), 52);
        segment.payload = packets * MSS;
        unread.add(&segment, MSS);
    }

    #[test]
    fn windows_are_those_of_linux() {
        // Windows that Linux 7.3 announced, in units of 2048 B below the whole one, for batches of a card. Of 64 MiB a
        // first segment of 4 packets, 5792 B in 6624 B, leaves 223 of 256 parts: 28544 units. So n packets take
        // floor((n x 1448 + 832) x 223 / 256 / 2048) units, which is 0, 1, 2, 2, 3 for 1 to 5. One packet, then four:
        // 28544, and 28544 - floor(5792 / 2048) = 28542, as the edge does not move back to 28541.
        let mut unread = receiver(4);
        assert_eq!(unread.payload_share, 223);
        add(&mut unread, 1);
        assert!(unread.leaves_window(7, SCALE));
        unread.on_ack(8, 7, 1448, SCALE);
        add(&mut unread, 4);
        assert!(!unread.leaves_window(8, SCALE), "this one waits for the read unless the CE state changes");
        unread.on_ack(9, 8, 5792, SCALE);
        assert_eq!(unread.missing(9), 2);
        // The next five are 28541 and would be less than that.
        unread.on_read();
        add(&mut unread, 5);
        assert!(!unread.leaves_window(9, SCALE));
        // The read sends the ACK, and the next window is whole.
        unread.on_read();
        add(&mut unread, 2);
        assert!(!unread.leaves_window(10, SCALE));
        // Three, one, one, each with an ACK: 28542 three times.
        let mut unread = receiver(4);
        for (acks, packets) in [(1, 3), (2, 1), (3, 1)] {
            add(&mut unread, packets);
            unread.on_ack(acks, acks - 1, u32::from(packets) * 1448, SCALE);
            assert_eq!(unread.missing(acks), 2);
        }
        // Five and five: the first ACK for a change leaves 28541, and the others need not wait.
        let mut unread = receiver(4);
        add(&mut unread, 5);
        unread.on_ack(1, 0, 7240, SCALE);
        unread.on_read();
        add(&mut unread, 5);
        assert!(unread.missing(1) == 3 && unread.leaves_window(1, SCALE));
    }

    #[test]
    fn large_batches_take_what_they_take_on_linux() {
        // Four flows of `linux-6-10g` at 10 Gbit/s on Linux 7.3; the first segment had 5 packets, 7240 B in 8072 B: 229
        // parts and 29312 units. Batches of one interrupt in packets, and the units that were missing after the last of
        // them.
        let batches: [(&[u16], u32); 7] = [
            (&[26], 17),
            (&[26, 16], 27),
            (&[8], 5),
            (&[8, 30], 25),
            (&[27], 17),
            (&[12], 7),
            (&[12, 30], 27),
        ];
        for (batch, missing) in batches {
            assert_eq!(taken_by(batch), missing, "{batch:?}");
        }
        // Linux had 28 here: payloads that crossed a page made three sk_buffs of the 33 packets.
        assert_eq!(taken_by(&[9, 33]), 27);
    }

    /// What a batch takes from the window of a receiver whose first segment had 5 packets.
    fn taken_by(batch: &[u16]) -> u32 {
        let mut unread = receiver(5);
        for packets in batch {
            add(&mut unread, *packets);
        }
        unread.taken(SCALE)
    }
}
