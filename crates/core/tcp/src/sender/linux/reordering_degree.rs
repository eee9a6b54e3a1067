//! What a sender learns of reordering on its path: whether there is any, over how many packets, and how long packets
//! that look lost should be waited for ([RFC 8985, section 6.2](https://www.rfc-editor.org/rfc/rfc8985#section-6.2)
//! step 4; Linux `tcp_check_sack_reordering`, `tcp_dsack_seen`, `tcp_rack_update_reo_wnd`).

use crate::sender::DUPLICATE_THRESHOLD;
use shoal_units::cast::fit_u32;
use shoal_units::{Span, Time};

/// Largest degree (Linux `tcp_max_reordering`).
const MOST_PACKETS: u32 = 300;
/// Recoveries for which a wider window is kept (Linux `TCP_RACK_RECOVERY_THRESH`).
const RECOVERIES: u8 = 16;

/// What is known of reordering.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReorderingDegree {
    /// Distance in packets over which one was overtaken, at least three (Linux `tp->reordering`).
    packets: u32,
    /// Segments that D-SACKs have reported (Linux `dsack_dups`).
    duplicates: u32,
    /// When the window was last widened.
    widened: Time,
    /// Whether any reordering was seen (Linux `reord_seen`).
    seen: bool,
    /// Whether a D-SACK has reported a retransmission that reordering may have caused (Linux `rack.dsack_seen`).
    doubts: bool,
    /// Quarters of the smallest RTT to wait (Linux `rack.reo_wnd_steps`).
    steps: u8,
    /// Recoveries for which `steps` is still kept (Linux `rack.reo_wnd_persist`).
    persist: u8,
}

impl ReorderingDegree {
    /// Nothing is known yet.
    pub(super) const NONE: Self = Self {
        packets: DUPLICATE_THRESHOLD,
        duplicates: 0,
        widened: Time::ZERO,
        seen: false,
        doubts: false,
        steps: 1,
        persist: 0,
    };

    /// Packets by which one may be overtaken without being lost.
    #[inline]
    pub(super) fn packets(&self) -> u32 {
        self.packets
    }
    /// Whether packets are overtaken so far that growth no longer waits for their order.
    #[inline]
    pub(super) fn is_high(&self) -> bool {
        self.packets > DUPLICATE_THRESHOLD
    }
    /// Whether any reordering was seen. Until then [`Self::adjust`] has nothing to do.
    #[inline]
    pub(super) fn was_seen(&self) -> bool {
        self.seen
    }

    /// A segment that was sent once arrived after data that end `distance` bytes above its start.
    pub(super) fn note_overtaken(&mut self, distance: u64, mss: u16) {
        self.packets = self.packets.max(fit_u32(distance.div_ceil(u64::from(mss))).min(MOST_PACKETS));
        self.seen = true;
    }
    /// Without SACK: more duplicate ACKs came than packets can be missing, with so many packets out.
    pub(super) fn note_surplus(&mut self, packets_out: u32) {
        self.packets = packets_out.min(MOST_PACKETS);
        self.seen = true;
    }
    /// A timeout after three or more SACKs: the degree was overestimated.
    pub(super) fn note_timeout(&mut self) {
        self.packets = self.packets.min(DUPLICATE_THRESHOLD);
    }

    /// A D-SACK reports `segments` that arrived twice. Returns whether the sender's retransmissions explain it:
    /// otherwise the network has duplicated packets. `probe`: it was the tail loss probe.
    pub(super) fn note_duplicates(&mut self, segments: u32, retransmissions: u32, probe: bool) -> bool {
        self.duplicates = self.duplicates.saturating_add(segments);
        let explained = self.duplicates <= retransmissions;
        self.doubts |= explained && self.seen && !probe;
        explained
    }

    /// Widens the window after a spurious retransmission, at most once in an RTT, and forgets it after some recoveries.
    /// `newest`: when the newest of the packets that the ACK delivers was sent.
    #[cold]
    pub(super) fn adjust(&mut self, newest: Time, now: Time) {
        self.doubts &= newest >= self.widened;
        if core::mem::take(&mut self.doubts) {
            self.steps = self.steps.saturating_add(1);
            self.widened = now;
            self.persist = RECOVERIES;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }
    /// A recovery ended and was not spurious.
    pub(super) fn note_recovery(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }
    /// D-SACKs have explained all retransmissions of a recovery.
    pub(super) fn note_spurious_recovery(&mut self) {
        self.persist = RECOVERIES.min(self.persist + 1);
    }

    /// How long RACK waits for a packet that was overtaken (Linux `tcp_rack_reo_wnd`).
    pub(super) fn window(&self, min_rtt: Span, srtt: Span) -> Span {
        (min_rtt / 4 * u64::from(self.steps)).min(srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Time {
        Time::from_picos(n * 1_000_000_000)
    }

    #[test]
    fn the_degree_is_the_largest_distance_in_packets() {
        let mut degree = ReorderingDegree::NONE;
        assert_eq!((degree.packets(), degree.is_high(), degree.was_seen()), (3, false, false));
        for (distance, packets) in
            [(1448, 3), (5 * 1448, 5), (5 * 1448 + 1, 6), (2 * 1448, 6), (1 << 30, 300)]
        {
            degree.note_overtaken(distance, 1448);
            assert_eq!(degree.packets(), packets, "{distance}");
        }
        assert!(degree.is_high() && degree.was_seen());
        degree.note_timeout();
        assert_eq!(degree.packets(), 3);
        degree.note_surplus(8);
        assert_eq!(degree.packets(), 8);
    }

    #[test]
    fn spurious_retransmissions_widen_the_window_once_in_a_round_trip() {
        let (min_rtt, srtt) = (Span::from_millis(20), Span::from_millis(26));
        let mut degree = ReorderingDegree::NONE;
        let stays = |degree: &mut ReorderingDegree, why: &str| {
            degree.adjust(ms(50), ms(60));
            assert_eq!(degree.window(min_rtt, srtt), Span::from_millis(5), "{why}");
        };
        assert!(degree.note_duplicates(1, 1, false));
        stays(&mut degree, "no reordering was seen");
        degree.note_overtaken(1448, 1448);
        assert!(degree.note_duplicates(1, 2, true));
        stays(&mut degree, "a probe is no retransmission of RACK's");
        assert!(!degree.note_duplicates(1, 2, false));
        stays(&mut degree, "the network's own duplicate");
        for (now, newest, milliseconds) in [(100, 80, 10), (101, 90, 10), (121, 100, 15), (142, 121, 20)] {
            assert!(degree.note_duplicates(1, 20, false));
            degree.adjust(ms(newest), ms(now));
            assert_eq!(degree.window(min_rtt, srtt), Span::from_millis(milliseconds), "at {now}");
        }
        for now in [170, 200] {
            degree.note_duplicates(1, 20, false);
            degree.adjust(ms(now), ms(now));
        }
        assert_eq!(degree.window(min_rtt, srtt), srtt, "never more than the smoothed RTT");
    }

    #[test]
    fn a_wider_window_is_forgotten_after_sixteen_recoveries() {
        let mut degree = ReorderingDegree::NONE;
        let window = |degree: &ReorderingDegree| degree.window(Span::from_millis(20), Span::from_millis(26));
        degree.note_overtaken(1448, 1448);
        degree.note_duplicates(1, 1, false);
        degree.adjust(ms(20), ms(20));
        degree.note_spurious_recovery();
        for _ in 0..16 {
            degree.adjust(Time::ZERO, ms(30));
            assert_eq!(window(&degree), Span::from_millis(10));
            degree.note_recovery();
        }
        degree.adjust(Time::ZERO, ms(40));
        assert_eq!(window(&degree), Span::from_millis(5));
    }
}
