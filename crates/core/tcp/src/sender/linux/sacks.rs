//! Reading the SACK option (RFC 2018, <https://www.rfc-editor.org/rfc/rfc2018>;
//! [RFC 2883](https://www.rfc-editor.org/rfc/rfc2883); Linux `tcp_sacktag_write_queue`).

use super::scoreboard::{SACK_BLOCKS, Scoreboard};
use super::segment::Delivery;
use alloc::boxed::Box;
use shoal_packet::{Packet, Sack};
use shoal_units::Time;

/// The blocks of an option on a connection whose first unacknowledged and next position are known.
#[derive(Clone, Copy)]
pub(super) struct SackOption<'a> {
    blocks: &'a [Sack],
    una: u64,
    nxt: u64,
}

impl<'a> SackOption<'a> {
    pub(super) fn new(packet: &'a Packet, una: u64, nxt: u64) -> Self {
        Self { blocks: packet.sack.as_slice(), una, nxt }
    }

    /// Block `n` as stream positions; `None` if there is no such block.
    fn range(&self, n: usize) -> Option<(u64, u64)> {
        self.blocks.get(n).map(|block| (block.left.near(self.una), block.right.near(self.una)))
    }

    fn is_sound(&self, (left, right): (u64, u64)) -> bool {
        left < right && right <= self.nxt
    }

    /// Data received twice: the first block lies below the cumulative ACK or inside the second one (RFC 2883 section
    /// 4).
    pub(super) fn duplicate(&self) -> Option<(u64, u64)> {
        let (left, right) = self.range(0).filter(|block| self.is_sound(*block))?;
        let inside_second = || self.range(1).is_some_and(|second| left >= second.0 && right <= second.1);
        (left < self.una || inside_second()).then_some((left, right))
    }

    /// The blocks that report data beyond the cumulative ACK, each at its place in the option.
    fn beyond_ack(&self) -> impl Iterator<Item = (usize, (u64, u64))> {
        let first = usize::from(self.duplicate().is_some());
        (first..self.blocks.len())
            .filter_map(|n| self.range(n).map(|block| (n, block)))
            .filter(|(_, block)| self.is_sound(*block) && block.1 > self.una)
    }
}

impl Scoreboard {
    /// Marks what `option` reports, from the lowest block to the highest. Returns the start of the first segment that
    /// was sent once and arrived after data beyond it. `timeout_high` is the F-RTO limit.
    #[cold]
    pub(super) fn read_sacks(
        &mut self,
        option: &SackOption<'_>,
        timeout_high: u64,
        now: Time,
        delivery: &mut Delivery,
    ) -> Option<u64> {
        let mut seen = [(0, 0); SACK_BLOCKS];
        for (n, block) in option.beyond_ack() {
            seen[n] = block;
        }
        let mut blocks = seen;
        blocks.sort_unstable();
        let mut overtaken = None;
        for (left, right) in blocks {
            // What the last ACK already said need not be read again.
            let mut from = left;
            for &(old_left, old_right) in self.last_sacks.iter().flat_map(|blocks| blocks.iter()) {
                if old_left <= from && from < old_right {
                    from = old_right;
                }
            }
            if from < right {
                overtaken = overtaken.or(self.sack(from, right, timeout_high, now, delivery));
            }
        }
        match &mut self.last_sacks {
            Some(blocks) => **blocks = seen,
            None => self.last_sacks = Some(Box::new(seen)),
        }
        overtaken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_packet::{FlowId, Seq};

    fn option(blocks: &[(u32, u32)]) -> Packet {
        let mut packet = Packet::empty(FlowId(1), 52);
        for &(left, right) in blocks {
            assert!(packet.sack.push(Sack { left: Seq(left), right: Seq(right) }));
        }
        packet
    }

    #[test]
    fn a_first_block_below_the_ack_or_in_the_second_is_a_duplicate() {
        for (blocks, duplicate) in [
            (&[(50, 60)][..], Some((50, 60))),
            (&[(120, 130), (110, 140)], Some((120, 130))),
            (&[(120, 130), (130, 140)], None),
            (&[(110, 140), (120, 130)], None),
            // A block beyond the data that was sent is invalid.
            (&[(50, 201)], None),
            (&[], None),
        ] {
            assert_eq!(SackOption::new(&option(blocks), 100, 200).duplicate(), duplicate, "{blocks:?}");
        }
    }

    #[test]
    fn only_sound_blocks_beyond_the_ack_are_read() {
        let packet = option(&[(50, 60), (150, 160), (90, 100)]);
        let read: Vec<_> = SackOption::new(&packet, 100, 200).beyond_ack().collect();
        assert_eq!(read, [(1, (150, 160))], "a D-SACK first, and old data last");
    }
}
