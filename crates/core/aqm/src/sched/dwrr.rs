//! Deficit-weighted round robin as Linux `ets` has it (`ets_qdisc_enqueue`, `ets_qdisc_dequeue`;
//! <https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_ets.c>): shares of the bytes in proportion to the
//! quanta.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Decides which of several queues sends next; they are identified by their index.
#[derive(Clone, Debug)]
pub(crate) struct Dwrr {
    /// What each queue may still send in its turn, and what a turn adds, in bytes.
    shares: Vec<Share>,
    /// Queues that hold packets; the first one has its turn.
    active: VecDeque<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    deficit: u32,
    quantum: u32,
}

impl Dwrr {
    /// Queues with these quanta in bytes, none of which has anything to send.
    pub(crate) fn new(quanta: impl Iterator<Item = u32>) -> Self {
        // A quantum of zero would never let a packet leave.
        let share = |quantum: u32| Share { deficit: 0, quantum: quantum.max(1) };
        let shares: Vec<Share> = quanta.map(share).collect();
        Self { active: VecDeque::with_capacity(shares.len()), shares }
    }

    /// Queue `index`, which had nothing to send, has a packet: it becomes the last one, with one quantum.
    #[inline]
    pub(crate) fn activate(&mut self, index: u8) {
        let share = &mut self.shares[usize::from(index)];
        share.deficit = share.quantum;
        self.active.push_back(index);
    }

    /// Queue `index` has nothing more to send.
    #[inline]
    pub(crate) fn deactivate(&mut self, index: u8) {
        self.active.retain(|other| *other != index);
    }

    /// The queue that sends next. `next_bytes` says how large the next packet of a queue is, and nothing of a queue
    /// that may not send now: such a queue keeps its place and its deficit, as if it were not asked. A queue whose
    /// packet exceeds its deficit gets a quantum and becomes the last one.
    #[inline]
    pub(crate) fn turn(&mut self, next_bytes: impl Fn(u8) -> Option<u32>) -> Option<u8> {
        loop {
            let may_send = |(place, index): (usize, &u8)| Some((place, *index, next_bytes(*index)?));
            let (place, index, bytes) = self.active.iter().enumerate().find_map(may_send)?;
            let share = &mut self.shares[usize::from(index)];
            if bytes <= share.deficit {
                return Some(index);
            }
            share.deficit += share.quantum;
            self.active.remove(place);
            self.active.push_back(index);
        }
    }

    /// The queue whose turn it is sends `bytes`.
    #[inline]
    pub(crate) fn on_sent(&mut self, index: u8, bytes: u32) {
        let share = &mut self.shares[usize::from(index)];
        share.deficit = share.deficit.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which backlogged queues send `packets` packets of these sizes.
    fn turns(drr: &mut Dwrr, sizes: &[u32], packets: usize) -> Vec<u8> {
        let mut order = Vec::new();
        for _ in 0..packets {
            let index = drr.turn(|index| Some(sizes[usize::from(index)])).unwrap();
            drr.on_sent(index, sizes[usize::from(index)]);
            order.push(index);
        }
        order
    }

    /// Quanta of 4500 B and 1500 B, packets of 1500 B. Queue 0 sends 4500 -> 3000 -> 1500 -> 0, gets 4500 and becomes
    /// the last; queue 1 sends 1500 -> 0, gets 1500 and becomes the last; and so on: 3 to 1.
    #[test]
    fn equal_packets_share_as_the_quanta() {
        let mut drr = Dwrr::new([4500, 1500].into_iter());
        drr.activate(0);
        drr.activate(1);
        assert_eq!(turns(&mut drr, &[1500, 1500], 12), [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    }

    /// A queue keeps what is left of its quantum, but sends nothing beyond its deficit. Quanta of 1500 B, packets of
    /// 1000 B and 400 B: queue 0 sends (500 left), and gets 1500: 2000 for two packets, then 1500 for one and 500 left;
    /// queue 1 sends three (300 left), and gets 1500: 1800 for four (200 left), then 1700 for four (100 left).
    #[test]
    fn what_is_left_of_a_quantum_is_kept() {
        let mut drr = Dwrr::new([1500, 1500].into_iter());
        drr.activate(0);
        drr.activate(1);
        let expected = [0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1];
        assert_eq!(turns(&mut drr, &[1000, 400], expected.len()), expected);
    }

    /// A queue that falls idle forgets its deficit: it comes back with one quantum, behind the others.
    #[test]
    fn a_queue_that_comes_back_has_one_quantum() {
        let mut drr = Dwrr::new([1500, 1500].into_iter());
        drr.activate(0);
        drr.activate(1);
        assert_eq!(turns(&mut drr, &[100, 100], 3), [0, 0, 0]);
        drr.deactivate(0);
        drr.activate(0);
        // Queue 1 sends its 15 packets, then queue 0 its 15.
        let order = turns(&mut drr, &[100, 100], 31);
        assert_eq!(
            (order[..15].iter().max(), order[15..30].iter().max(), order[30]),
            (Some(&1), Some(&0), 1)
        );
        assert!(order[..15].iter().all(|index| *index == 1) && order[15..30].iter().all(|index| *index == 0));
    }

    /// A queue that may not send is passed over, and has its turn when it may again.
    #[test]
    fn a_queue_that_may_not_send_keeps_its_turn() {
        let mut drr = Dwrr::new([1500, 1500, 1500].into_iter());
        (0..3).for_each(|index| drr.activate(index));
        let without = |held: u8| move |index: u8| (index != held).then_some(1500);
        for expected in [1, 2, 1, 2] {
            assert_eq!(drr.turn(without(0)), Some(expected));
            drr.on_sent(expected, 1500);
        }
        assert_eq!(drr.turn(without(3)), Some(0));
        assert_eq!(Dwrr::new([1].into_iter()).turn(|_| Some(1)), None);
    }
}
