//! The order of events: by time, then by order of insertion.

use shoal_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A pending event: time (64 bits), insertion number (40), subject (24), compared as one number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key(u128);

const SUBJECT_BITS: u32 = 24;
const NUMBER_BITS: u32 = 40;

/// Number of different subjects in a key.
pub(crate) const SUBJECTS_MAX: u32 = 1 << SUBJECT_BITS;

/// What an entry in the queue of timers is about. The timers of a connection are named by its slot and follow each
/// other in the numbers of subjects; what belongs to no connection comes last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timer {
    /// The sender in a slot.
    Sender(u32),
    /// The receiver in a slot.
    Receiver(u32),
    /// The application in a slot.
    Application(u32),
    /// The card of a receiving host.
    Card(u32),
    /// The next start or stop of a flow.
    Planned,
    /// A point of the series.
    Sample,
    /// The measurement window opens.
    OpenWindow,
}

impl Timer {
    /// Timers of one slot: a power of two, of which one is not used.
    const OF_A_SLOT: u32 = 4;
    const SAMPLE: u32 = SUBJECTS_MAX - 1;
    const OPEN_WINDOW: u32 = SUBJECTS_MAX - 2;
    const PLANNED: u32 = SUBJECTS_MAX - 3;
    /// Cards that have subjects of their own.
    pub(crate) const CARDS_MAX: u32 = 1 << 19;
    const FIRST_CARD: u32 = Self::PLANNED - Self::CARDS_MAX;
    /// Slots that have subjects of their own.
    pub(crate) const SLOTS_MAX: u32 = Self::FIRST_CARD / Self::OF_A_SLOT;

    #[inline]
    pub(crate) fn subject(self) -> u32 {
        match self {
            Self::Sender(slot) => slot * Self::OF_A_SLOT,
            Self::Receiver(slot) => slot * Self::OF_A_SLOT + 1,
            Self::Application(slot) => slot * Self::OF_A_SLOT + 2,
            Self::Card(card) => Self::FIRST_CARD + card,
            Self::Planned => Self::PLANNED,
            Self::Sample => Self::SAMPLE,
            Self::OpenWindow => Self::OPEN_WINDOW,
        }
    }

    #[inline]
    pub(crate) fn of(subject: u32) -> Self {
        let slot = subject / Self::OF_A_SLOT;
        match subject {
            Self::SAMPLE => Self::Sample,
            Self::OPEN_WINDOW => Self::OpenWindow,
            Self::PLANNED => Self::Planned,
            Self::FIRST_CARD.. => Self::Card(subject - Self::FIRST_CARD),
            _ => match subject % Self::OF_A_SLOT {
                0 => Self::Sender(slot),
                1 => Self::Receiver(slot),
                _ => Self::Application(slot),
            },
        }
    }
}

impl Key {
    #[inline]
    pub(crate) fn time(self) -> Time {
        Time::from_picos((self.0 >> (SUBJECT_BITS + NUMBER_BITS)) as u64)
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the subject is the lowest bits")]
    pub(crate) fn subject(self) -> u32 {
        self.0 as u32 & (SUBJECTS_MAX - 1)
    }
    /// The place of the event in the order of insertion.
    #[allow(clippy::cast_possible_truncation, reason = "the number is the bits in the middle")]
    pub(crate) fn number(self) -> u64 {
        (self.0 >> SUBJECT_BITS) as u64 & ((1 << NUMBER_BITS) - 1)
    }
    /// The event at `time` that is the one called `number` in the order of insertion.
    pub(crate) fn at(time: Time, number: u64, subject: u32) -> Self {
        debug_assert!(subject < SUBJECTS_MAX && number < 1 << NUMBER_BITS);
        Self(
            u128::from(time.as_picos()) << (SUBJECT_BITS + NUMBER_BITS)
                | u128::from(number) << SUBJECT_BITS
                | u128::from(subject),
        )
    }
    /// A key before those of all events at `time`, and behind those of all earlier events.
    pub(crate) fn first_at(time: Time) -> Self {
        Self(u128::from(time.as_picos()) << (SUBJECT_BITS + NUMBER_BITS))
    }
    /// An event at the same place of the order that is about `subject`.
    pub(crate) fn about(self, subject: u32) -> Self {
        debug_assert!(subject < SUBJECTS_MAX);
        Self(self.0 & !u128::from(SUBJECTS_MAX - 1) | u128::from(subject))
    }
    /// This event at another place in the order of insertion.
    pub(crate) fn renumbered(self, number: u64) -> Self {
        let others = !(((1u128 << NUMBER_BITS) - 1) << SUBJECT_BITS);
        Self(self.0 & others | u128::from(number) << SUBJECT_BITS)
    }
}

/// Numbers events in the order in which they are scheduled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbering(u64);

impl Numbering {
    #[inline]
    pub(crate) fn key(&mut self, time: Time, subject: u32) -> Key {
        self.0 += 1;
        // 2^40 events take half a day of simulation at full speed.
        Key::at(time, self.0, subject)
    }
    /// Takes `count` numbers, and returns the first.
    pub(crate) fn reserve(&mut self, count: u64) -> u64 {
        self.0 += count;
        self.0 + 1 - count
    }
    /// The last number that was given.
    #[inline]
    pub(crate) fn last(&self) -> u64 {
        self.0
    }
    /// Continues behind `last`.
    pub(crate) fn continue_behind(&mut self, last: u64) {
        self.0 = last;
    }
}

/// Pending events, earliest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue(BinaryHeap<Reverse<Key>>);

impl EventQueue {
    #[inline]
    pub(crate) fn next(&self) -> Option<Key> {
        self.0.peek().map(|Reverse(key)| *key)
    }
    #[inline]
    pub(crate) fn push(&mut self, key: Key) {
        self.0.push(Reverse(key));
    }
    #[inline]
    pub(crate) fn extend(&mut self, key: Option<&Key>) {
        if let Some(key) = key {
            self.push(*key);
        }
    }
    /// Removes the earliest event, or replaces it, which is cheaper than removing and pushing.
    #[inline]
    pub(crate) fn replace_next(&mut self, with: Option<Key>) {
        let Some(mut top) = self.0.peek_mut() else { return };
        match with {
            Some(key) => *top = Reverse(key),
            None => {
                PeekMut::pop(top);
            }
        }
    }
    /// Removes an event, wherever it is. Takes time in proportion to the number of events.
    pub(crate) fn remove(&mut self, key: Key) {
        self.0.retain(|Reverse(other)| *other != key);
    }
    /// Gives events new numbers that keep their order.
    pub(crate) fn renumber(&mut self, number: impl Fn(u64) -> u64) {
        let mut keys = std::mem::take(&mut self.0).into_vec();
        for Reverse(key) in &mut keys {
            *key = key.renumbered(number(key.number()));
        }
        // The order is that of before, so the keys are a heap already, and are only looked at.
        self.0 = keys.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_units::Span;

    #[test]
    fn ties_keep_the_order_of_insertion() {
        let at = |us| Time::ZERO + Span::from_micros(us);
        let (mut numbers, mut event_queue) = (Numbering::default(), EventQueue::default());
        for (time, subject) in [(5, 1), (3, 2), (5, 3), (3, 4)] {
            let key = numbers.key(at(time), subject);
            event_queue.push(key);
        }
        let mut order = Vec::new();
        while let Some(key) = event_queue.next() {
            order.push((key.time(), key.subject()));
            event_queue.replace_next(None);
        }
        assert_eq!(order, [(at(3), 2), (at(3), 4), (at(5), 1), (at(5), 3)]);
    }

    #[test]
    fn a_new_number_changes_nothing_else() {
        let at = Time::ZERO + Span::from_micros(7);
        let key = Numbering::default().key(at, SUBJECTS_MAX - 1);
        let last = (1 << NUMBER_BITS) - 1;
        let later = key.renumbered(last);
        assert_eq!((later.time(), later.number(), later.subject()), (at, last, SUBJECTS_MAX - 1));
        assert!(Key::first_at(at) < key && key < later);
        assert!(later < Key::first_at(at + Span::from_picos(1)));
    }

    #[test]
    fn every_timer_is_found_again_by_its_subject() {
        let last = Timer::SLOTS_MAX - 1;
        let mut subjects = std::collections::BTreeSet::new();
        for slot in [0, 1, last] {
            let all = [Timer::Sender(slot), Timer::Receiver(slot), Timer::Application(slot)];
            let card = Timer::Card(slot.min(Timer::CARDS_MAX - 1));
            for timer in all.into_iter().chain([card, Timer::Planned, Timer::Sample, Timer::OpenWindow]) {
                assert!(timer.subject() < SUBJECTS_MAX);
                assert_eq!(Timer::of(timer.subject()), timer);
                subjects.insert(timer.subject());
            }
        }
        assert_eq!(subjects.len(), 3 * 4 + 3, "no two timers share a subject");
    }
}
