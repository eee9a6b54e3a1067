//! What the application has written, and whether it has closed.

/// The stream of a sender. Positions count from 0, which is the SYN; data begins at 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// Stream position up to which the application has written; after the FIN, the position behind it.
    pub written: u64,
    /// The application has closed; FIN follows the last byte.
    pub closing: bool,
    /// The FIN was sent.
    pub fin_sent: bool,
    /// Stream position up to which the application wrote before the first ACK, if it did so packet by packet.
    first_write: u64,
}

/// Half of the largest window of a SYN, which is not scaled: as much is written between two PSHs, and a packet more
/// (Linux `forced_push`).
const HALF_SYN_WINDOW: u64 = 65535 / 2;

impl Stream {
    pub(super) const fn new() -> Self {
        Self { written: 1, closing: false, fin_sent: false, first_write: 0 }
    }

    /// The application writes `bytes` more.
    pub(super) fn write(&mut self, bytes: u64) {
        debug_assert!(!self.closing, "write after close");
        self.written = self.written.saturating_add(bytes);
    }

    /// The application always has data, or stops having some: nothing beyond `held` is written.
    pub(super) fn set_greedy(&mut self, greedy: bool, held: u64) {
        if !self.fin_sent {
            self.written = if greedy { u64::MAX } else { held.max(1) };
        }
    }

    /// The connection is open: the application writes `bytes`, as much as the socket takes, before the first ACK tells
    /// how large the peer's window is.
    pub(super) fn begin_packets(&mut self, bytes: u64) {
        self.first_write = self.written.min(bytes);
    }

    /// Whether the packet from `start` on has PSH because half of the SYN's window has been written since the last that
    /// had it.
    #[inline]
    pub(super) fn is_pushed(&self, start: u64, mss: u16) -> bool {
        start < self.first_write && {
            let mss = u64::from(mss);
            ((start - 1) / mss + 1).is_multiple_of(HALF_SYN_WINDOW / mss + 1)
        }
    }

    /// Whether the application always has data.
    pub(super) fn is_endless(&self) -> bool {
        self.written == u64::MAX
    }

    /// Whether there is data, or a FIN, from `next` on that was not yet sent.
    #[inline]
    pub(super) fn has_unsent(&self, next: u64) -> bool {
        next < self.written || (self.closing && !self.fin_sent)
    }

    /// The FIN leaves for the first time; `end` is the position behind it. It takes a stream position of its own, and
    /// nothing may be written after it.
    #[inline]
    pub(super) fn end_at(&mut self, end: u64) {
        self.fin_sent = true;
        self.written = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_ends_with_its_fin() {
        let mut stream = Stream::new();
        assert!(!stream.has_unsent(1));
        stream.write(10);
        assert!(stream.has_unsent(10) && !stream.has_unsent(11));
        stream.closing = true;
        assert!(stream.has_unsent(11), "the FIN");
        stream.end_at(12);
        assert!(!stream.has_unsent(12));
        stream.set_greedy(true, 12);
        assert_eq!(stream.written, 12, "nothing may follow the FIN");
    }

    #[test]
    fn half_of_the_syn_window_is_pushed_until_the_first_ack() {
        // What Linux 7.3 does with 1448 B: packets 22, 45, 68 and 91.
        let mut stream = Stream::new();
        stream.set_greedy(true, 1);
        let pushed =
            |stream: &Stream| (0..500).filter(|n| stream.is_pushed(1 + n * 1448, 1448)).collect::<Vec<_>>();
        assert!(pushed(&stream).is_empty(), "not before the connection is open");
        let first = 10 * 1448 + (128 << 10);
        stream.begin_packets(first);
        assert_eq!(pushed(&stream), [22, 45, 68, 91]);
        stream.set_greedy(false, 40_000);
        stream.begin_packets(first);
        assert_eq!(pushed(&stream), [22]);
    }

    #[test]
    fn an_application_that_stops_has_written_what_was_sent() {
        let mut stream = Stream::new();
        stream.set_greedy(true, 1);
        assert!(stream.has_unsent(1 << 60));
        stream.set_greedy(false, 5000);
        assert_eq!(stream.written, 5000);
        stream.set_greedy(false, 0);
        assert_eq!(stream.written, 1, "data begins at 1");
    }
}
