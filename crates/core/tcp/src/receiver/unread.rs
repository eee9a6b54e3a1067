//! Data that arrived together with others and that the application has not read.

use shoal_packet::Packet;

/// Window scale of a receive buffer of 64 MiB, as hosts of the kernel plane have; stock hosts with 6 to 32 MiB have 7 to 10.
const BUFFER_SCALE: u8 = 11;

/// What fills the buffer of a receiver, of which the window is as large as its buffer allows, and by how much its last ACK
/// announced less than the whole window.
///
/// Such a window shrinks by what has not been read, and Linux acknowledges data at once only if the window that it would announce
/// is not smaller than the last one (`__tcp_ack_snd_check`, `__tcp_select_window`); otherwise the read does it. An ACK that a
/// change of the CE state forces announces the smaller window, after which the next segments do not have to wait. The memory of
/// unread data is taken as large as they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unread {
    bytes: u32,
    /// How much less than the whole window was announced, in units of the window's scale, when the last of `acks` ACKs was
    /// sent; if more have been sent since, everything had been read.
    missing: u32,
    acks: u32,
}

impl Unread {
    /// A segment has come that the application does not read before the next one.
    pub(super) fn add(&mut self, segment: &Packet) {
        self.bytes += u32::from(segment.payload);
    }

    /// The application has read everything.
    pub(super) fn on_read(&mut self) {
        self.bytes = 0;
    }

    /// The segment that came last has caused an ACK, number `acks_sent`, the first after `received_bytes`. The right edge of the
    /// window does not move back (`tcp_select_window`).
    pub(super) fn on_ack(&mut self, acks_sent: u32, sent_before: u32, received_bytes: u32, scale: u8) {
        let edge = self.missing(sent_before).saturating_add(units(received_bytes, scale));
        (self.missing, self.acks) = (units(self.bytes, scale).min(edge), acks_sent);
    }

    /// Whether the window that an ACK would announce now is at least that of the last ACK; `acks_sent` have been sent.
    pub(super) fn leaves_window(&self, acks_sent: u32, scale: u8) -> bool {
        units(self.bytes, scale) <= self.missing(acks_sent)
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

    /// Adds a segment of whole packets of 1448 B.
    fn add(unread: &mut Unread, packets: u16) {
        let mut segment = Packet::empty(FlowId(0), 52 + packets * 1448);
        segment.payload = packets * 1448;
        unread.add(&segment);
    }

    #[test]
    fn windows_are_those_of_linux() {
        // Windows that Linux 7.3 announced, in units of 2048 B below the whole one of 28544, for batches of a card: n packets
        // take floor(n x 1448 / 2048) units, so 1 to 5 take 0, 1, 2, 2, 3.
        let (mut unread, scale) = (Unread::default(), 14);
        // One packet, then four: 28544, and 28544 - floor(5792 / 2048) = 28542, as the edge does not move back to 28541.
        add(&mut unread, 1);
        assert!(unread.leaves_window(7, scale));
        unread.on_ack(8, 7, 1448, scale);
        add(&mut unread, 4);
        assert!(!unread.leaves_window(8, scale), "this one waits for the read unless the CE state changes");
        unread.on_ack(9, 8, 5792, scale);
        assert_eq!(unread.missing(9), 2);
        // The next five are 28541 and would be less than that.
        unread.on_read();
        add(&mut unread, 5);
        assert!(!unread.leaves_window(9, scale));
        // The read sends the ACK, and the next window is whole.
        unread.on_read();
        add(&mut unread, 2);
        assert!(!unread.leaves_window(10, scale));
        // Three, one, one, each with an ACK: 28542 three times.
        let mut unread = Unread::default();
        for (acks, packets) in [(1, 3), (2, 1), (3, 1)] {
            add(&mut unread, packets);
            unread.on_ack(acks, acks - 1, u32::from(packets) * 1448, scale);
            assert_eq!(unread.missing(acks), 2);
        }
        // Five and five: the first ACK for a change leaves 28541, and the others need not wait.
        let mut unread = Unread::default();
        add(&mut unread, 5);
        unread.on_ack(1, 0, 7240, scale);
        unread.on_read();
        add(&mut unread, 5);
        assert!(unread.missing(1) == 3 && unread.leaves_window(1, scale));
    }
}
