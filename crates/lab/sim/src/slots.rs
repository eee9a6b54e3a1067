//! Where the state of each connection is: in a slot from its start until it has ended, and nowhere before and after.

use shoal_units::Span;

/// Where the state of a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whereabouts {
    /// It has not begun.
    NotBegun,
    /// In this slot.
    Slot(u32),
    /// It has ended, and its result is kept.
    Ended,
    /// It has ended after a transfer that took so long; `before_window` says whether that was before the measurement
    /// began.
    Transferred { fct: Span, before_window: bool },
}

/// [`Whereabouts`] in a word. A slot is its number, which is all that a packet needs, and anything else is beyond the
/// numbers of slots.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word(u64);

impl Word {
    const NOT_BEGUN: Self = Self(u64::MAX);
    const ENDED: Self = Self(u64::MAX - 1);
    const TRANSFERRED: u64 = 1 << 63;
    const BEFORE_WINDOW: u64 = 1 << 62;

    fn of(whereabouts: Whereabouts) -> Self {
        match whereabouts {
            Whereabouts::NotBegun => Self::NOT_BEGUN,
            Whereabouts::Slot(slot) => Self(slot.into()),
            Whereabouts::Ended => Self::ENDED,
            Whereabouts::Transferred { fct, before_window } => {
                // A run takes at most 2^60 picoseconds.
                debug_assert!(fct.as_picos() < 1 << 61);
                let before = if before_window { Self::BEFORE_WINDOW } else { 0 };
                Self(Self::TRANSFERRED | before | fct.as_picos())
            }
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "the number of a slot")]
    fn whereabouts(self) -> Whereabouts {
        match self {
            Self::NOT_BEGUN => Whereabouts::NotBegun,
            Self::ENDED => Whereabouts::Ended,
            Self(word) if word & Self::TRANSFERRED == 0 => Whereabouts::Slot(word as u32),
            Self(word) => Whereabouts::Transferred {
                fct: Span::from_picos(word & (Self::BEFORE_WINDOW - 1)),
                before_window: word & Self::BEFORE_WINDOW != 0,
            },
        }
    }
}

/// The slots of all connections.
pub(crate) struct Slots {
    words: Vec<Word>,
    /// Slots that are free.
    free: Vec<u32>,
    /// Slots of flows that have finished, and of which packets may still be on their way.
    finished: Vec<u32>,
    /// Length of that list from which it is looked through.
    look_from: usize,
}

/// Fewest finished flows that are looked through.
const LEAST_LOOK: usize = 64;

impl Slots {
    /// No connection has begun.
    pub(crate) fn new(connections: usize) -> Self {
        let words = vec![Word::NOT_BEGUN; connections];
        Self { words, free: Vec::new(), finished: Vec::new(), look_from: LEAST_LOOK }
    }

    /// The slot of a connection that has one; of others, what is beyond all slots.
    #[inline]
    pub(crate) fn of(&self, connection: u32) -> usize {
        // Without a test where addresses have 64 bits.
        usize::try_from(self.words[connection as usize].0).unwrap_or(usize::MAX)
    }

    pub(crate) fn whereabouts(&self, connection: u32) -> Whereabouts {
        self.words[connection as usize].whereabouts()
    }

    pub(crate) fn set(&mut self, connection: u32, whereabouts: Whereabouts) {
        self.words[connection as usize] = Word::of(whereabouts);
    }

    /// A free slot, if there is one.
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    pub(crate) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// The flow in a slot has finished.
    pub(crate) fn finish(&mut self, slot: u32) {
        self.finished.push(slot);
    }

    /// The finished flows, if it is worth while to look for those of which nothing is on its way; those that are to be
    /// looked at again come back by [`Self::keep_finished`].
    pub(crate) fn take_finished(&mut self) -> Option<Vec<u32>> {
        let is_time = self.free.is_empty() && self.finished.len() >= self.look_from;
        is_time.then(|| std::mem::take(&mut self.finished))
    }

    /// Keeps those that are not yet free. The list is looked through again when it has doubled, so that each flow is
    /// looked at about twice.
    pub(crate) fn keep_finished(&mut self, finished: Vec<u32>) {
        self.look_from = LEAST_LOOK.max(2 * finished.len());
        self.finished = finished;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_everything() {
        let fct = Span::from_secs(1_000_000);
        for whereabouts in [
            Whereabouts::NotBegun,
            Whereabouts::Ended,
            Whereabouts::Slot(0),
            Whereabouts::Slot(u32::MAX),
            Whereabouts::Transferred { fct, before_window: true },
            Whereabouts::Transferred { fct: Span::ZERO, before_window: false },
        ] {
            assert_eq!(Word::of(whereabouts).whereabouts(), whereabouts);
        }
    }
}
