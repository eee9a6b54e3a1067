//! The order of insertion over all parts.

use crate::events::Key;

/// What an executed event is to the part that executed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The part has executed the whole event, or of an event at a link between parts the end at which the packet left
    /// the queue. The insertions of that end come first.
    Own,
    /// The part has executed the other end of an event at a link between parts, at which the packet arrives.
    Shadow {
        /// Whether the part has numbered the next event at the link, which is the first insertion of the event.
        knows_next: bool,
    },
}

/// An executed event: its time, and in one word its number (40 bits), its role (2) and how many events it inserted
/// (22).
#[derive(Clone, Copy, Debug)]
struct Executed {
    time: u64,
    word: u64,
}

const ROLE_BITS: u32 = 2;
const INSERTED_BITS: u32 = 22;

impl Executed {
    fn number(self) -> u64 {
        self.word >> (ROLE_BITS + INSERTED_BITS)
    }
    fn inserted(self) -> u64 {
        self.word & ((1 << INSERTED_BITS) - 1)
    }
    fn is_shadow(self) -> bool {
        self.word & (1 << (1 + INSERTED_BITS)) != 0
    }
    /// Insertions that the other end of the event has numbered, too.
    fn shared(self) -> u64 {
        self.word >> INSERTED_BITS & 1
    }
}

/// The events that a part has executed in a window, in their order.
#[derive(Default, Debug)]
pub(crate) struct Log(Vec<Executed>);

impl Log {
    /// Adds an event and the number of its insertions.
    ///
    /// # Panics
    /// If these are more than four million: a timer of each flow is less.
    #[inline]
    pub(crate) fn push(&mut self, key: Key, inserted: u64, role: Role) {
        assert!(inserted < 1 << INSERTED_BITS, "too many insertions");
        let role = match role {
            Role::Own => 0,
            Role::Shadow { knows_next } => 2 | u64::from(knows_next),
        };
        let word = key.number() << (ROLE_BITS + INSERTED_BITS) | role << INSERTED_BITS | inserted;
        self.0.push(Executed { time: key.time().as_picos(), word });
    }
}

/// Final numbers of the insertions of one part in a window.
#[derive(Default, Debug)]
pub(super) struct Numbers {
    /// The last final number of before the window; the part's own numbers continue it.
    base: u64,
    finals: Vec<u64>,
}

impl Numbers {
    /// No insertions yet behind the final number `base`.
    pub(super) fn behind(base: u64) -> Self {
        Self { base, finals: Vec::new() }
    }

    /// The final number of an event that the part has numbered so.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "a place in a list")]
    pub(super) fn of(&self, number: u64) -> u64 {
        match number.checked_sub(self.base + 1) {
            None => number,
            Some(place) => self.finals[place as usize],
        }
    }

    pub(super) fn clear(&mut self, base: u64) {
        self.base = base;
        self.finals.clear();
    }
}

/// The next event of a log: its time and its final number.
type Head = (u64, u64);

const NO_HEAD: Head = (u64::MAX, u64::MAX);

/// One part in the course of a merge.
struct Cursor<'a> {
    rest: std::slice::Iter<'a, Executed>,
    event: Executed,
    numbers: &'a mut Numbers,
}

impl Cursor<'_> {
    #[inline]
    fn advance(&mut self) -> Head {
        let Some(event) = self.rest.next() else { return NO_HEAD };
        self.event = *event;
        (event.time, self.numbers.of(event.number()))
    }

    /// Numbers the insertions of the event that nobody has numbered before.
    #[inline]
    fn number(&mut self, last: &mut u64) {
        let own = self.event.inserted() - self.event.shared();
        self.numbers.finals.extend(*last + 1..=*last + own);
        *last += own;
    }
}

/// Merges the logs of a window that began with the final number `base`, and empties them: each insertion gets the
/// number that it has if one thread executes all events. Returns the last one.
///
/// An insertion has its number before the event that it inserts comes to the head of a log, since the event that
/// inserts it comes before in the same log.
pub(super) fn merge(base: u64, parts: &mut [(&mut Log, &mut Numbers)]) -> u64 {
    let mut last = base;
    let mut cursors: Vec<Cursor<'_>> = parts
        .iter_mut()
        .map(|(log, numbers)| {
            numbers.clear(base);
            Cursor { rest: log.0.iter(), event: Executed { time: 0, word: 0 }, numbers }
        })
        .collect();
    let mut heads: Vec<Head> = cursors.iter_mut().map(Cursor::advance).collect();
    loop {
        let (mut next, mut place, mut ends) = (NO_HEAD, 0, 0);
        for (number, head) in heads.iter().enumerate() {
            if *head < next {
                (next, place, ends) = (*head, number, 1);
            } else if *head == next {
                ends += 1;
            }
        }
        if next == NO_HEAD {
            break;
        }
        if ends == 1 {
            cursors[place].number(&mut last);
            heads[place] = cursors[place].advance();
        } else {
            number_ends(&mut cursors, &mut heads, next, &mut last);
        }
    }
    for (log, _) in parts {
        log.0.clear();
    }
    last
}

/// Numbers the insertions of an event at a link between parts. The end at which the packet left the queue comes first,
/// and begins with the next event at the link, which the other ends may have numbered, too.
fn number_ends(cursors: &mut [Cursor<'_>], heads: &mut [Head], next: Head, last: &mut u64) {
    let first = *last + 1;
    for shadows in [false, true] {
        for (cursor, _) in cursors.iter_mut().zip(heads.iter()).filter(|(_, head)| **head == next) {
            if cursor.event.is_shadow() == shadows {
                cursor.numbers.finals.extend((cursor.event.shared() > 0).then_some(first));
                cursor.number(last);
            }
        }
    }
    for (cursor, head) in cursors.iter_mut().zip(heads).filter(|(_, head)| **head == next) {
        *head = cursor.advance();
    }
}
