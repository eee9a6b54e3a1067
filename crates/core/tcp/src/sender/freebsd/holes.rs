//! Missing data as SACK reports them: a list of holes, not of segments
//! ([`tcp_sack.c`](https://cgit.freebsd.org/src/tree/sys/netinet/tcp_sack.c?h=release/14.0.0)).
use alloc::vec::Vec;

/// A range that was not SACKed although data beyond it were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hole {
    pub start: u64,
    pub end: u64,
    /// Next position to be retransmitted (`rxmit`).
    pub resend: u64,
}

impl Hole {
    fn resent(&self) -> u64 {
        self.resend - self.start
    }
}

/// The scoreboard.
#[derive(Clone, Debug, Default)]
pub(super) struct Holes {
    /// Holes: disjoint and sorted.
    holes: Vec<Hole>,
    /// Highest position SACKed, exclusive (`snd_fack`); meaningful while there are holes.
    highest: u64,
    /// Bytes of holes that were retransmitted (`sack_bytes_rexmit`).
    resent: u64,
}

impl Holes {
    pub(super) fn is_empty(&self) -> bool {
        self.holes.is_empty()
    }
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }
    pub(super) fn resent(&self) -> u64 {
        self.resent
    }
    pub(super) fn heap_bytes(&self) -> usize {
        self.holes.capacity() * size_of::<Hole>()
    }

    /// Bytes SACKed above `una`.
    pub(super) fn sacked(&self, una: u64) -> u64 {
        if self.holes.is_empty() {
            return 0;
        }
        let missing: u64 = self.holes.iter().map(|hole| hole.end.max(una) - hole.start.max(una)).sum();
        self.highest.saturating_sub(una).saturating_sub(missing)
    }

    /// Handles an ACK up to `ack` with SACK `blocks`, which lie above it. Returns whether anything changed.
    #[cold]
    pub(super) fn update(&mut self, una: u64, ack: u64, blocks: &mut [(u64, u64)]) -> bool {
        let before = (self.highest, self.holes.len(), self.missing());
        if self.holes.is_empty() {
            self.highest = ack.max(una);
        }
        if ack > una {
            self.fill(una, ack);
            self.highest = self.highest.max(ack);
        }
        blocks.sort_unstable();
        for &(left, right) in blocks.iter() {
            if left > self.highest {
                self.holes.push(Hole { start: self.highest, end: left, resend: self.highest });
            } else {
                self.fill(left, right);
            }
            self.highest = self.highest.max(right);
        }
        before != (self.highest, self.holes.len(), self.missing())
    }

    /// Removes [left, right), which has arrived, from the holes.
    fn fill(&mut self, left: u64, right: u64) {
        let mut index = self.holes.partition_point(|hole| hole.end <= left);
        while let Some(&hole) = self.holes.get(index) {
            if hole.start >= right {
                break;
            }
            self.resent -= hole.resent();
            let before =
                (hole.start < left).then(|| Hole { end: left, resend: hole.resend.min(left), ..hole });
            let after =
                (right < hole.end).then(|| Hole { start: right, resend: hole.resend.max(right), ..hole });
            self.resent += before.map_or(0, |hole| hole.resent()) + after.map_or(0, |hole| hole.resent());
            let remains = usize::from(before.is_some()) + usize::from(after.is_some());
            self.holes.splice(index..=index, before.into_iter().chain(after));
            index += remains;
        }
    }

    fn missing(&self) -> u64 {
        self.holes.iter().map(|hole| hole.end - hole.start).sum()
    }

    /// The first hole that has not been retransmitted to its end (`tcp_sack_output`).
    pub(super) fn next(&self) -> Option<Hole> {
        self.holes.iter().find(|hole| hole.resend < hole.end).copied()
    }

    /// Records that `bytes` of the hole that [`Self::next`] returned were retransmitted.
    pub(super) fn note_resent(&mut self, bytes: u64) {
        if let Some(hole) = self.holes.iter_mut().find(|hole| hole.resend < hole.end) {
            hole.resend += bytes;
            self.resent += bytes;
        }
    }

    /// Discards the scoreboard at a timeout (`tcp_free_sackholes`).
    pub(super) fn clear(&mut self) {
        self.holes.clear();
        self.resent = 0;
    }

    /// # Panics
    /// If the list is not in order or its sum is wrong.
    pub(super) fn assert_invariants(&self, una: u64, max: u64) {
        let mut last = una;
        for hole in &self.holes {
            assert!(
                last <= hole.start && hole.start < hole.end && hole.end <= max,
                "{self:?} in {una}..{max}"
            );
            assert!(hole.start <= hole.resend && hole.resend <= hole.end, "{hole:?}");
            last = hole.end + 1;
        }
        assert_eq!(self.resent, self.holes.iter().map(Hole::resent).sum::<u64>());
        assert!(self.holes.is_empty() || self.highest <= max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn holes_are_trimmed_and_split() {
        let mut holes = Holes::default();
        assert!(holes.update(10, 10, &mut [(20, 30)]));
        assert_eq!((holes.next(), holes.sacked(10)), (Some(Hole { start: 10, end: 20, resend: 10 }), 10));
        holes.note_resent(8);
        // The middle arrives: [10, 13) was sent again, of [16, 20) the first two bytes.
        assert!(holes.update(10, 10, &mut [(13, 16)]));
        assert_eq!(holes.resent(), 3 + 2);
        assert_eq!(holes.next(), Some(Hole { start: 16, end: 20, resend: 18 }));
        assert!(!holes.update(10, 10, &mut [(13, 16), (20, 30)]), "nothing new");
        // The cumulative ACK covers the first hole and a part of the second.
        assert!(holes.update(10, 17, &mut []));
        assert_eq!((holes.resent(), holes.sacked(17)), (1, 10));
        assert!(holes.update(17, 30, &mut []));
        assert!(holes.is_empty() && holes.resent() == 0 && holes.sacked(30) == 0);
    }

    proptest! {
        #[test]
        fn equals_a_bitmap(blocks in prop::collection::vec((1u64..100, 1u64..20), 1..40)) {
            // No cumulative ACK: position 0 is missing for ever.
            let mut holes = Holes::default();
            let mut have = [false; 130];
            for (left, len) in blocks {
                holes.update(0, 0, &mut [(left, left + len)]);
                have[left as usize..(left + len) as usize].fill(true);
                let highest = have.iter().rposition(|there| *there).unwrap() as u64 + 1;
                prop_assert_eq!(holes.highest(), highest);
                for hole in &holes.holes {
                    prop_assert!((hole.start..hole.end).all(|p| !have[p as usize]) && have[hole.end as usize]);
                }
                prop_assert_eq!(holes.sacked(0), have.iter().filter(|there| **there).count() as u64);
                holes.assert_invariants(0, 130);
            }
        }
    }
}
