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
    /// Whether the SACK block of a range is all that has arrived around it, as on FreeBSD (`tcp_reass`), and not only
    /// what the blocks that are remembered hold of it, as on Linux.
    whole_blocks: bool,
    /// What has arrived beyond a hole; most flows have none for most of their lives.
    beyond: Option<Box<Beyond>>,
}

/// The ranges beyond a hole.
#[derive(Clone, Debug, Default)]
struct Beyond {
    /// Disjoint, sorted, not adjacent, and at least one.
    waiting: Vec<(u64, u64)>,
    /// SACK blocks in the order in which they last changed, newest first
    /// ([RFC 2018, section 4](https://www.rfc-editor.org/rfc/rfc2018#section-4)); at most four as in Linux. No two
    /// touch.
    recent: [(u64, u64); 4],
}

impl Reassembly {
    /// Nothing has arrived. `whole_blocks`: see the field.
    pub(super) const fn new(whole_blocks: bool) -> Self {
        Self { next: 1, whole_blocks, beyond: None }
    }
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }
    /// End of the last data that have come, whatever is missing before.
    #[cold]
    pub(super) fn end(&self) -> u64 {
        self.recent_blocks().map(|(_, right)| right).fold(self.next, u64::max)
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
        newest().count() == 2 && !newest().any(|block| touch(block, (start, end)))
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
        self.beyond.get_or_insert_default().insert(start, end, self.whole_blocks)
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
    fn insert(&mut self, start: u64, end: u64, whole_blocks: bool) -> Arrival {
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
                self.note_recent(if whole_blocks { (l, r) } else { (start, end) });
                return Arrival::Known;
            }
            left = left.min(l);
            right = right.max(r);
            last += 1;
        }
        self.waiting.splice(first..last, [(left, right)]);
        self.note_recent(if whole_blocks { (left, right) } else { (start, end) });
        Arrival::OutOfOrder
    }

    /// Extends the newest block that touches `added` by it, or begins a block with it; that block goes to the front,
    /// and takes up the others that it touches. Of a full list the oldest is forgotten (Linux `tcp_sack_new_ofo_skb`,
    /// `tcp_sack_maybe_coalesce`).
    fn note_recent(&mut self, added: (u64, u64)) {
        let join = |a: (u64, u64), b: (u64, u64)| (a.0.min(b.0), a.1.max(b.1));
        let blocks = self.recent.iter().copied().filter(|&(l, r)| l != r);
        let extended = blocks.clone().position(|block| touch(block, added));
        let mut updated = [(0, 0); 4];
        updated[0] = extended.map_or(added, |index| join(self.recent[index], added));
        let mut kept = 1;
        for (index, block) in blocks.enumerate() {
            if extended == Some(index) {
                continue;
            }
            if extended.is_some() && touch(updated[0], block) {
                updated[0] = join(updated[0], block);
            } else if let Some(slot) = updated.get_mut(kept) {
                *slot = block;
                kept += 1;
            }
        }
        self.recent = updated;
    }
}

/// Whether two ranges overlap or follow each other.
pub(super) const fn touch(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn newest_block_first_and_absorbed() {
        let mut r = Reassembly::new(false);
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

    #[test]
    fn linux_forgets_what_a_fifth_block_pushes_out() {
        for whole_blocks in [false, true] {
            let mut r = Reassembly::new(whole_blocks);
            for start in [11, 31, 51, 71, 91] {
                assert_eq!(r.insert(start, start + 10), Arrival::OutOfOrder);
            }
            let blocks = |r: &Reassembly| r.recent_blocks().collect::<Vec<_>>();
            assert_eq!(blocks(&r), [(91, 101), (71, 81), (51, 61), (31, 41)]);
            // The range before is there, but no longer in the list.
            assert_eq!(r.insert(21, 26), Arrival::OutOfOrder);
            let first = if whole_blocks { (11, 26) } else { (21, 26) };
            assert_eq!(blocks(&r), [first, (91, 101), (71, 81), (51, 61)]);
            assert_eq!(r.insert(11, 16), Arrival::Known);
            let expected: &[(u64, u64)] = if whole_blocks {
                &[(11, 26), (91, 101), (71, 81), (51, 61)]
            } else {
                &[(11, 16), (21, 26), (91, 101), (71, 81)]
            };
            assert_eq!(blocks(&r), expected);
            assert_eq!(r.insert(16, 21), Arrival::Known);
            assert_eq!(blocks(&r)[0], (11, 26), "what lies between joins both");
        }
    }

    proptest! {
        #[test]
        fn equals_a_bitmap(
            ranges in prop::collection::vec((1u64..120, 1u64..20), 1..60),
            whole_blocks in any::<bool>(),
        ) {
            let mut r = Reassembly::new(whole_blocks);
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
                let blocks: Vec<_> = r.recent_blocks().collect();
                for (index, block) in blocks.iter().enumerate() {
                    let lies_in = |&(l, e): &(u64, u64)| l <= block.0 && block.1 <= e;
                    prop_assert!(waiting.iter().any(lies_in));
                    prop_assert!(!whole_blocks || waiting.contains(block));
                    let touches = |other: &(u64, u64)| other.0 <= block.1 && block.0 <= other.1;
                    prop_assert!(!blocks[..index].iter().any(touches));
                }
            }
        }
    }
}
