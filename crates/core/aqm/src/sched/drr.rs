//! Deficit round robin with new and old queues
//! ([RFC 8290, section 4.2](https://www.rfc-editor.org/rfc/rfc8290#section-4.2); Linux `fq_codel_dequeue`).
use alloc::vec::Vec;

/// The index of no queue.
const NONE: u32 = u32::MAX;

/// Decides which queue sends next; queues are identified by their index. Idle queues cost nothing: both lists
/// hold indices and are linked through the nodes.
#[derive(Clone, Debug)]
pub(crate) struct Drr {
    nodes: Vec<Node>,
    new: List,
    old: List,
    quantum: i64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    deficit: i64,
    next: u32,
    listed: bool,
}

/// A list through [`Node::next`].
#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

impl Drr {
    /// `queues` queues, none of which has anything to send.
    pub(crate) fn new(queues: usize, quantum_bytes: u32) -> Self {
        let mut drr =
            Self { nodes: Vec::new(), new: List::EMPTY, old: List::EMPTY, quantum: quantum_bytes.into() };
        drr.grow(queues);
        drr
    }

    /// Makes room for `queues` queues.
    pub(crate) fn grow(&mut self, queues: usize) {
        if queues > self.nodes.len() {
            self.nodes.resize(queues, Node { deficit: 0, next: NONE, listed: false });
        }
    }

    /// Queue `index` has something to send. If it is in no list it becomes a new queue with a full quantum.
    #[inline]
    pub(crate) fn activate(&mut self, index: u32) {
        let node = &mut self.nodes[index as usize];
        if node.listed {
            return;
        }
        node.listed = true;
        node.deficit = self.quantum;
        self.new.push(&mut self.nodes, index);
    }

    /// The queue whose turn it is: the first new one, else the first old one. One that has used up its deficit gets a
    /// quantum and becomes the last old one.
    #[inline]
    pub(crate) fn turn(&mut self) -> Option<u32> {
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let index = list.head;
            if index == NONE {
                return None;
            }
            let node = &mut self.nodes[index as usize];
            if node.deficit > 0 {
                return Some(index);
            }
            node.deficit += self.quantum;
            list.pop(&self.nodes);
            self.old.push(&mut self.nodes, index);
        }
    }

    /// The queue whose turn it is sends `bytes`.
    #[inline]
    pub(crate) fn on_sent(&mut self, index: u32, bytes: u16) {
        self.nodes[index as usize].deficit -= i64::from(bytes);
    }

    /// The queue whose turn it is has nothing: a new one waits behind the old ones, so that it cannot starve them by
    /// coming back at once; any other leaves.
    #[inline]
    pub(crate) fn on_empty(&mut self, index: u32) {
        if self.new.head == index {
            self.new.pop(&self.nodes);
            if !self.old.is_empty() {
                self.old.push(&mut self.nodes, index);
                return;
            }
        } else {
            debug_assert_eq!(self.old.head, index);
            self.old.pop(&self.nodes);
        }
        self.nodes[index as usize].listed = false;
    }

    /// Whether no queue is in a list.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.new.is_empty() && self.old.is_empty()
    }

    /// All queues in the lists, new ones first.
    pub(crate) fn listed(&self) -> impl Iterator<Item = u32> + '_ {
        let from = |head| {
            core::iter::successors((head != NONE).then_some(head), |&index| {
                let next = self.nodes[index as usize].next;
                (next != NONE).then_some(next)
            })
        };
        from(self.new.head).chain(from(self.old.head))
    }
}

impl List {
    const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    fn is_empty(self) -> bool {
        self.head == NONE
    }

    #[inline]
    fn push(&mut self, nodes: &mut [Node], index: u32) {
        nodes[index as usize].next = NONE;
        if self.is_empty() {
            self.head = index;
        } else {
            nodes[self.tail as usize].next = index;
        }
        self.tail = index;
    }

    #[inline]
    fn pop(&mut self, nodes: &[Node]) {
        self.head = nodes[self.head as usize].next;
        if self.is_empty() {
            self.tail = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(drr: &Drr) -> Vec<u32> {
        drr.listed().collect()
    }

    /// Three backlogged queues with packets of 600, 500 and 900 B, quantum 1000 B. A queue stays until its deficit is
    /// used up: 1000 -> 400 -> -200; then 800 -> 200 -> -400, and so on. In the long run all send the same bytes.
    #[test]
    fn backlogged_queues_share_by_bytes() {
        let mut drr = Drr::new(3, 1000);
        let (sizes, mut sent) = ([600, 500, 900], [0u32; 3]);
        for index in 0..3 {
            drr.activate(index);
        }
        let mut turns = Vec::new();
        for _ in 0..3000 {
            let index = drr.turn().unwrap();
            turns.push(index);
            drr.on_sent(index, sizes[index as usize]);
            sent[index as usize] += u32::from(sizes[index as usize]);
        }
        // Deficits: 0: 1000 400 -200; 1: 1000 500 0; 2: 1000 100 -800; then 0: 800 200 -400; 1: 1000 500 0; 2: 200
        // -700.
        assert_eq!(turns[..11], [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2]);
        let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        // Within one quantum and one packet.
        assert!(most - least <= 1000 + 900, "{sent:?}");
    }

    /// A new queue comes before the old ones, once.
    #[test]
    fn new_queues_come_first_once() {
        let mut drr = Drr::new(3, 1000);
        drr.activate(0);
        drr.on_sent(0, 1000);
        // Queue 0 has used up its deficit and becomes old; it is the only one.
        assert_eq!(drr.turn(), Some(0));
        drr.activate(1);
        assert_eq!(drr.turn(), Some(1));
        drr.on_sent(1, 1500);
        // Now queue 1 is behind queue 0, with 1000 - 1500 + 1000 = 500.
        assert_eq!((drr.turn(), order(&drr)), (Some(0), vec![0, 1]));
        drr.on_sent(0, 1000);
        assert_eq!((drr.turn(), order(&drr)), (Some(1), vec![1, 0]));
    }

    /// A new queue that ran empty waits behind the old ones. It leaves the list when its turn comes and it still has no
    /// packet; its next packet makes it new again.
    #[test]
    fn a_new_queue_that_ran_empty_cannot_come_back_first() {
        let mut drr = Drr::new(2, 1000);
        drr.activate(0);
        drr.on_sent(0, 1000);
        assert_eq!(drr.turn(), Some(0));
        drr.activate(1);
        assert_eq!(drr.turn(), Some(1));
        drr.on_sent(1, 100);
        drr.on_empty(1);
        assert_eq!(order(&drr), [0, 1]);
        // Its next packet finds it in the list, so that it gets no new quantum.
        drr.activate(1);
        assert_eq!((drr.turn(), order(&drr)), (Some(0), vec![0, 1]));
        drr.on_sent(0, 1000);
        assert_eq!(drr.turn(), Some(1));
        drr.on_empty(1);
        assert_eq!(order(&drr), [0]);
        drr.activate(1);
        assert_eq!((drr.turn(), order(&drr)), (Some(1), vec![1, 0]));
    }

    #[test]
    fn the_last_queue_leaves_at_once() {
        let mut drr = Drr::new(1, 1000);
        assert!(drr.turn().is_none() && drr.is_idle());
        drr.activate(0);
        drr.on_empty(0);
        assert!(drr.is_idle());
        // A deficit far below zero is refilled quantum by quantum.
        drr.activate(0);
        drr.on_sent(0, 65_000);
        assert_eq!(drr.turn(), Some(0));
        assert_eq!(drr.nodes[0].deficit, 1000);
    }
}
