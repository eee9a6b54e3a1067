//! Reading the SACK option (RFC 2018, RFC 2883; Linux `tcp_sacktag_write_queue`).

use super::LinuxSender;
use super::ack::Acked;
use shoal_packet::Packet;
use shoal_units::Time;

impl LinuxSender {
    #[cold]
    pub(super) fn read_sacks(
        &mut self,
        packet: &Packet,
        prior_una: u64,
        timeout_high: u64,
        now: Time,
        acked: &mut Acked,
    ) {
        let mut seen = [(0, 0); 3];
        for (n, block) in packet.sack.as_slice().iter().enumerate() {
            let left = block.left.near(self.snd_una);
            let right = block.right.near(self.snd_una);
            if left >= right || right > self.snd_nxt {
                continue;
            }
            if n == 0 && self.is_dsack(packet, left, right) {
                acked.dsack = true;
                self.explain_retransmissions(left, right, prior_una);
                continue;
            }
            if right <= self.snd_una {
                continue;
            }
            seen[n] = (left, right);
            // What the last ACK already said need not be read again.
            let mut from = left;
            for &(old_left, old_right) in &self.last_sacks {
                if old_left <= from && from < old_right {
                    from = old_right;
                }
            }
            if from < right {
                self.board.sack(from, right, timeout_high, now, &mut acked.delivery);
            }
        }
        self.last_sacks = seen;
    }

    /// RFC 2883 section 4: the first block lies below the cumulative ACK or inside the second block.
    fn is_dsack(&self, packet: &Packet, left: u64, right: u64) -> bool {
        if left < self.snd_una {
            return true;
        }
        packet.sack.as_slice().get(1).is_some_and(|second| {
            left >= second.left.near(self.snd_una) && right <= second.right.near(self.snd_una)
        })
    }

    /// A D-SACK explains retransmissions of the episode as unnecessary: one if the data is forgotten already (Linux
    /// `tcp_check_dsack`), else those still in the queue.
    fn explain_retransmissions(&mut self, left: u64, right: u64, prior_una: u64) {
        let Some(marker) = self.undo_marker else { return };
        if right <= marker || self.undo_retransmissions <= 0 {
            return;
        }
        let explained =
            if right <= prior_una { 1 } else { self.board.retransmitted_within(left, right, marker) };
        self.undo_retransmissions = (self.undo_retransmissions - explained as i32).max(0);
    }
}
