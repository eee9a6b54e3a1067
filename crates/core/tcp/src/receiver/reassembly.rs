//! Keeps track of the stream positions that have arrived.
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Relation of an arriving range to those that arrived before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// The range extended the in-order data.
    InOrder,
    /// The range extended the in-order data and joined ranges that were waiting.
    FilledHole,
    /// The range lies beyond a hole.
    OutOfOrder,
    /// The whole range lies beyond a hole and had arrived before.
    Known,
    /// The whole range lies below the in-order position.
    Old,
}

/// In-order position, and the ranges that wait beyond it.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    next: u64,
    /// What has arrived beyond a hole; most flows have none for most of their lives.
    beyond: Option<Box<Beyond>>,
}

/// The ranges beyond a hole.
#[derive(Clone, Debug, Default)]
struct Beyond {
    /// Disjoint, sorted, not adjacent, and at least one.
    waiting: Vec<(u64, u64)>,
    /// Ranges in the order in which they last changed, newest first
    /// ([RFC 2018, section 4](https://www.rfc-editor.org/rfc/rfc2018#section-4)); at most four as in Linux.
    recent: [(u64, u64); 4],
}

impl Reassembly {
    pub(super) const fn new() -> Self {
        Self { next: 1, beyond: None }
    }
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }
    #[inline]
    pub(super) fn has_holes(&self) -> bool {
        self.beyond.is_some()
    }
    /// SACK blocks, newest first.
    pub(super) fn recent_blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let recent = self.beyond.iter().flat_map(|beyond| beyond.recent.iter());
        recent.copied().take_while(|&(left, right)| left != right)
    }
    /// Whether the range [start, end) changes neither of the two newest blocks, and there are two.
    #[cold]
    pub(super) fn is_third(&self, start: u64, end: u64) -> bool {
        let newest = || self.recent_blocks().take(2);
        newest().count() == 2 && !newest().any(|(left, right)| start <= right && left <= end)
    }
    pub(super) fn heap_bytes(&self) -> usize {
        let ranges = |beyond: &Beyond| beyond.waiting.capacity() * size_of::<(u64, u64)>();
        self.beyond.as_ref().map_or(0, |beyond| size_of::<Beyond>() + ranges(beyond))
    }

    /// Inserts the range [start, end).
    #[inline]
    pub(super) fn insert(&mut self, start: u64, end: u64) -> Arrival {
        if end <= self.next {
            return Arrival::Old;
        }
        if start <= self.next {
            self.next = end;
            return if self.beyond.is_none() { Arrival::InOrder } else { self.absorb() };
        }
        self.beyond.get_or_insert_default().insert(start, end)
    }

    /// Merges waiting ranges that the in-order data now reach.
    #[cold]
    fn absorb(&mut self) -> Arrival {
        let Some(beyond) = &mut self.beyond else { return Arrival::InOrder };
        let reached = beyond.merge_into(&mut self.next);
        if beyond.waiting.is_empty() {
            self.beyond = None;
        }
        if reached > 0 { Arrival::FilledHole } else { Arrival::InOrder }
    }
}

impl Beyond {
    /// Moves the in-order position beyond the ranges that it reaches; returns how many these are.
    fn merge_into(&mut self, next: &mut u64) -> usize {
        let mut reached = 0;
        while let Some(&(left, right)) = self.waiting.get(reached) {
            if left > *next {
                break;
            }
            *next = (*next).max(right);
            reached += 1;
        }
        self.waiting.drain(..reached);
        let mut kept = 0;
        for index in 0..self.recent.len() {
            if self.recent[index].1 > *next {
                self.recent[kept] = self.recent[index];
                kept += 1;
            }
        }
        self.recent[kept..].fill((0, 0));
        reached
    }

    #[cold]
    fn insert(&mut self, start: u64, end: u64) -> Arrival {
        let first = self.waiting.partition_point(|&(_, right)| right < start);
        let mut last = first;
        let (mut left, mut right) = (start, end);
        while let Some(&(l, r)) = self.waiting.get(last) {
            if l > end {
                break;
            }
            if l <= start && end <= r {
                // The block of a duplicate goes first (RFC 2883 section 4,
                // https://www.rfc-editor.org/rfc/rfc2883#section-4).
                self.note_recent((l, r));
                return Arrival::Known;
            }
            left = left.min(l);
            right = right.max(r);
            last += 1;
        }
        self.waiting.splice(first..last, [(left, right)]);
        self.note_recent((left, right));
        Arrival::OutOfOrder
    }

    /// Moves the changed range to the front and removes ranges that it contains.
    fn note_recent(&mut self, changed: (u64, u64)) {
        let mut updated = [(0, 0); 4];
        updated[0] = changed;
        let others = self.recent.iter().filter(|&&(l, r)| l != r && (r < changed.0 || l > changed.1));
        for (slot, &block) in updated[1..].iter_mut().zip(others) {
            *slot = block;
        }
        self.recent = updated;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn newest_block_first_and_absorbed() {
        let mut r = Reassembly::new();
        assert_eq!(r.insert(11, 21), Arrival::OutOfOrder);
        assert_eq!(r.insert(31, 41), Arrival::OutOfOrder);
        assert_eq!(r.insert(21, 26), Arrival::OutOfOrder);
        assert_eq!(r.recent_blocks().collect::<Vec<_>>(), [(11, 26), (31, 41)]);
        assert_eq!(r.insert(31, 36), Arrival::Known);
        assert_eq!(r.recent_blocks().collect::<Vec<_>>(), [(31, 41), (11, 26)]);
        assert_eq!(r.insert(11, 21), Arrival::Known);
        assert_eq!(r.insert(1, 11), Arrival::FilledHole);
        assert_eq!((r.next(), r.has_holes()), (26, true));
        assert_eq!(r.recent_blocks().collect::<Vec<_>>(), [(31, 41)]);
        assert_eq!(r.insert(26, 31), Arrival::FilledHole);
        assert_eq!((r.next(), r.has_holes()), (41, false));
    }

    proptest! {
        #[test]
        fn equals_a_bitmap(ranges in prop::collection::vec((1u64..120, 1u64..20), 1..60)) {
            let mut r = Reassembly::new();
            let mut have = [false; 200];
            have[0] = true;
            for (start, len) in ranges {
                let known = (start..start + len).all(|p| have[p as usize]);
                let verdict = r.insert(start, start + len);
                prop_assert_eq!(matches!(verdict, Arrival::Old | Arrival::Known), known);
                have[start as usize..(start + len) as usize].fill(true);
                let next = have.iter().position(|b| !b).unwrap() as u64;
                prop_assert_eq!(r.next(), next);
                let waiting = r.beyond.as_ref().map_or_else(Vec::new, |beyond| beyond.waiting.clone());
                for &(l, e) in &waiting {
                    prop_assert!((l..e).all(|p| have[p as usize]) && !have[e as usize] && !have[l as usize - 1]);
                }
                let held: u64 = waiting.iter().map(|(l, e)| e - l).sum();
                let want = have.iter().filter(|b| **b).count() as u64 - next;
                prop_assert_eq!(held, want);
                for b in r.recent_blocks() {
                    prop_assert!(waiting.contains(&b));
                }
            }
        }
    }
}
