//! The order of events: by time, and at equal times by lot.
//!
//! The lot of an event depends on its time and on the link or the flow that it is about, and on nothing else: not on
//! when it was scheduled, on what happens elsewhere, or on the number of threads. Links come before timers. No link and
//! no flow always comes first, as in insertion order the one that has been scheduled first does.

use shoal_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A pending event: time (64 bits), place among those of this time (40), subject (24), compared as one number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key(u128);

const SUBJECT_BITS: u32 = 24;
const PLACE_BITS: u32 = 40;

/// Number of different subjects in a key.
pub(crate) const SUBJECTS_MAX: u32 = 1 << SUBJECT_BITS;

/// Bits of a lot: a place that is left when two bits say what the event is about.
const LOT_BITS: u32 = PLACE_BITS - 2;

/// First places of the kinds of events, in their order at equal times. What concerns all links and flows has none
/// before it.
const GLOBAL: u64 = 0;
const PLANNED: u64 = 1;
const LINK: u64 = 1 << LOT_BITS;
/// Kinds of what may be planned for a flow.
const PLANS: u64 = 3;
const TIMER: u64 = 2 << LOT_BITS;

/// The lot of the link or flow `number` at `time`: at each time another permutation of the numbers.
#[inline]
fn lot(time: Time, number: u32) -> u64 {
    // Factors of the generators that Steele and Vigna recommend: "Computationally easy, spectrally good multipliers for
    // congruential pseudorandom number generators", Software: Practice and Experience 52(2), 2022.
    let of_time = time.as_picos().wrapping_mul(0xd134_2543_de82_ef95) >> (u64::BITS - LOT_BITS);
    (of_time ^ u64::from(number)).wrapping_mul(0xaf25_1af3_b0f0_25b5) & ((1 << LOT_BITS) - 1)
}

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
    /// The next of what is planned for flows.
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
    fn at(time: Time, place: u64, subject: u32) -> Self {
        debug_assert!(subject < SUBJECTS_MAX && place < 1 << PLACE_BITS);
        Self(
            u128::from(time.as_picos()) << (SUBJECT_BITS + PLACE_BITS)
                | u128::from(place) << SUBJECT_BITS
                | u128::from(subject),
        )
    }
    /// An event that concerns all links and flows.
    pub(crate) fn global(time: Time, timer: Timer) -> Self {
        Self::at(time, GLOBAL, timer.subject())
    }
    /// What is planned for a flow, a number below [`PLANS`].
    pub(crate) fn planned(time: Time, flow: u32, plan: u32) -> Self {
        Self::at(time, PLANNED + PLANS * u64::from(flow) + u64::from(plan), Timer::Planned.subject())
    }
    /// An event of a link, or of what stands in the list of links.
    #[inline]
    pub(crate) fn link(time: Time, link: u32) -> Self {
        Self::at(time, LINK | lot(time, link), link)
    }
    /// A timer of the flow `number`, or of the card with this number.
    #[inline]
    pub(crate) fn timer(time: Time, timer: Timer, number: u32) -> Self {
        Self::at(time, TIMER | lot(time, number), timer.subject())
    }
    /// A key before those of all events at `time`, and behind those of all earlier events.
    pub(crate) fn first_at(time: Time) -> Self {
        Self::at(time, GLOBAL, 0)
    }
    #[inline]
    pub(crate) fn time(self) -> Time {
        Time::from_picos((self.0 >> (SUBJECT_BITS + PLACE_BITS)) as u64)
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the subject is the lowest bits")]
    pub(crate) fn subject(self) -> u32 {
        self.0 as u32 & (SUBJECTS_MAX - 1)
    }
    #[allow(clippy::cast_possible_truncation, reason = "the place is the bits in the middle")]
    fn place(self) -> u64 {
        (self.0 >> SUBJECT_BITS) as u64 & ((1 << PLACE_BITS) - 1)
    }
    /// The flow for which something is planned.
    #[allow(clippy::cast_possible_truncation, reason = "as it was put in")]
    pub(crate) fn planned_flow(self) -> u32 {
        ((self.place() - PLANNED) / PLANS) as u32
    }
    /// Whether this is a timer of the flow `number`, and not of one that had the slot before.
    pub(crate) fn is_of_flow(self, number: u32) -> bool {
        self.place() == TIMER | lot(self.time(), number)
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_units::Span;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn events_come_by_time_and_kind() {
        let order = [
            Key::first_at(at(3)),
            Key::global(at(3), Timer::OpenWindow),
            Key::global(at(3), Timer::Sample),
            Key::planned(at(3), 0, 0),
            Key::planned(at(3), 0, 1),
            Key::planned(at(3), u32::MAX, 0),
            Key::link(at(3), 7),
            Key::timer(at(3), Timer::Sender(0), 7),
            Key::first_at(at(4)),
            Key::link(at(4), 0),
        ];
        assert!(order.is_sorted_by(|one, other| one < other));
        let mut event_queue = EventQueue::default();
        order.iter().rev().for_each(|key| event_queue.push(*key));
        for key in order {
            assert_eq!(event_queue.next(), Some(key));
            event_queue.replace_next(None);
        }
        assert_eq!((order[6].time(), order[6].subject()), (at(3), 7));
        assert_eq!((order[4].planned_flow(), order[5].planned_flow()), (0, u32::MAX));
    }

    #[test]
    fn no_link_and_no_flow_always_comes_first() {
        // Times of packets: one every 1.2 us and one every 120 ns.
        for step in [1_200_000, 120_000] {
            for (one, other) in [(0, 1), (0, 2), (1, 4), (0, 100), (31, 32), (1000, 1_000_000)] {
                let times = (0..4_000).map(|n| Time::from_picos(n * step));
                let first = times.filter(|time| lot(*time, one) < lot(*time, other)).count();
                // Four standard deviations of 4,000 tosses of a coin.
                assert!(first.abs_diff(2_000) < 126, "{first} of 4000: {one} before {other} every {step} ps");
            }
        }
    }

    #[test]
    fn no_two_have_one_lot() {
        let lots: std::collections::BTreeSet<u64> = (0..10_000).map(|number| lot(at(5), number)).collect();
        assert_eq!(lots.len(), 10_000);
        assert!(lots.iter().all(|lot| *lot < LINK));
        let key = Key::timer(at(5), Timer::Receiver(3), 70);
        assert!(key.is_of_flow(70) && !key.is_of_flow(71) && !key.is_of_flow(3));
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
