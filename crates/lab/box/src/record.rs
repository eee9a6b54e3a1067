//! The record of a box on disk, and the same decisions taken again.

use crate::journal::{CAME, NOTES, THE_END, change_in};
use crate::{Ahead, Buffer, Change, Decision, Direction, Frame, Journal};
use shoal_trace::WriteError;
use shoal_trace::pcapng::{CapturedFrame, FrameReader, FrameWriter, Interface, LinkType, ReadError};
use shoal_units::Time;
use std::collections::VecDeque;
use std::path::Path;

/// What is written while a box runs: a capture with a comment on each frame, which says what came and what was
/// decided.
pub struct Record {
    journal: Journal,
    file: FrameWriter,
    /// When the last frame came, or the last change.
    last: Time,
}

impl Record {
    /// Opens a file for a box between interfaces of these names and of this type, which says of itself what is to be
    /// replayed with it. It gets its name on [`Self::commit`], and is removed if that is not reached.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(
        path: &Path,
        link_type: LinkType,
        interfaces: [&str; 2],
        about: &str,
    ) -> Result<Self, WriteError> {
        let [inside, outside] = interfaces;
        let named = [inside, outside, "changes"].map(|name| Interface { name: name.to_owned(), rate: None });
        Ok(Self {
            journal: Journal::default(),
            file: FrameWriter::create(path, link_type, &named, about)?,
            last: Time::ZERO,
        })
    }

    /// A frame comes; see [`Journal::came`].
    pub fn came(&mut self, side: u32, at: Time, frame: &[u8], read: &Frame) -> u64 {
        self.last = at;
        self.journal.came(side, at, frame, read)
    }

    /// The box changes, as these words say.
    ///
    /// # Errors
    /// If the file refuses to be written to.
    pub fn changed(&mut self, at: Time, words: &str) -> Result<(), WriteError> {
        self.last = at;
        self.journal.changed(at, words);
        self.write_settled()
    }

    /// What becomes of a frame is decided, so that it can be written when those before it are.
    ///
    /// # Errors
    /// If the file refuses to be written to.
    pub fn decided(&mut self, decision: &Decision) -> Result<(), WriteError> {
        self.journal.decided(decision);
        self.write_settled()
    }

    fn write_settled(&mut self) -> Result<(), WriteError> {
        while let Some(frame) = self.journal.settled() {
            self.file.write(&frame)?;
        }
        Ok(())
    }

    /// Writes what is left and gives the file its name. Frames that are still inside have the fate that they would
    /// have.
    ///
    /// # Errors
    /// If the file cannot be written; nothing is left of it then.
    pub fn commit(mut self, ways: &mut [Direction; 2]) -> Result<(), WriteError> {
        for way in ways {
            run_out(way, |decision| self.decided(&decision))?;
        }
        self.journal.noted(self.last, THE_END.to_owned());
        while let Some(frame) = self.journal.rest() {
            self.file.write(&frame)?;
        }
        self.file.commit()
    }
}

/// The first frame about which something else is decided when a record is replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Its number in the file, from 1, as readers of captures count.
    pub number: u64,
    /// What the record says of it.
    pub recorded: String,
    /// What is decided now.
    pub decided: String,
}

/// Where a record breaks off whose box did not come to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// When the last frame came that is whole in it.
    pub at: Time,
    /// Frames that were inside then: what is missing may decide what became of them, so that they are not compared.
    pub inside: u64,
}

/// What a replay has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// Frames that were compared.
    pub frames: u64,
    /// The first difference, at which the replay ends.
    pub difference: Option<Difference>,
    /// Where the record breaks off, if it does and the replay got there.
    pub cut: Option<Cut>,
}

/// Brings the frames of a record to the ways at the times at which they came, and compares what is decided. `read`
/// gives the change that words of the record mean, or says why there is none.
///
/// # Errors
/// If the record cannot be read. One that breaks off is compared up to there.
pub fn replay(
    mut record: FrameReader,
    ways: &mut [Direction; 2],
    mut read: impl FnMut(&str) -> Result<Change, String>,
) -> Result<Replayed, ReadError> {
    let mut again = Again::default();
    let mut is_whole = false;
    while let Some(recorded) = record.next() {
        let recorded = match recorded {
            Err(error) if error.is_cut => break,
            recorded => recorded?,
        };
        if recorded.interface == NOTES && recorded.comment == THE_END {
            is_whole = true;
        } else if let Err(difference) = again.bring(recorded, record.link_types(), ways, &mut read) {
            return Ok(Replayed { frames: again.frames, difference: Some(difference), cut: None });
        }
    }
    let difference = again.end(ways, is_whole).err();
    let inside = again.recorded.iter().filter(|comment| comment.starts_with(CAME)).count() as u64;
    let cut = (!is_whole && difference.is_none()).then_some(Cut { at: again.last, inside });
    Ok(Replayed { frames: again.frames, difference, cut })
}

/// A replay that is going on.
#[derive(Default)]
struct Again {
    journal: Journal,
    /// What the record says of the frames whose fate is not known yet, and of changes behind them.
    recorded: VecDeque<String>,
    /// Frames and changes that were compared.
    compared: u64,
    /// Frames of these.
    frames: u64,
    last: Time,
}

impl Again {
    fn bring(
        &mut self,
        recorded: CapturedFrame,
        link_types: &[LinkType],
        ways: &mut [Direction; 2],
        read: impl FnMut(&str) -> Result<Change, String>,
    ) -> Result<(), Difference> {
        let CapturedFrame { at, interface, kept, comment, .. } = recorded;
        let number = self.compared + self.recorded.len() as u64 + 1;
        let wrong =
            |decided: &str, recorded| Err(Difference { number, recorded, decided: decided.to_owned() });
        if at < self.last {
            return wrong("came before the frame ahead of it", comment);
        }
        self.last = at;
        if interface == NOTES {
            match self.change(at, &comment, ways, read) {
                Ok(()) => self.recorded.push_back(comment),
                Err(why) => return wrong(&why, comment),
            }
            return self.compare_settled();
        }
        let side = interface as usize;
        let (Some(way), Some(link_type)) = (ways.get_mut(side), link_types.get(side)) else {
            return wrong("a frame of neither side of a box", comment);
        };
        let Some(read) = Frame::read(*link_type, &kept) else { return wrong("no frame", comment) };
        self.recorded.push_back(comment);
        until(way, at, |decision| self.journal.decided(&decision));
        let number = self.journal.came(interface, at, &kept, &read);
        if let Some(decision) = way.arrive(at, Buffer::complete(kept), &read, number) {
            self.journal.decided(&decision);
        }
        self.compare_settled()
    }

    /// Changes the ways as a note says.
    fn change(
        &mut self,
        at: Time,
        note: &str,
        ways: &mut [Direction; 2],
        mut read: impl FnMut(&str) -> Result<Change, String>,
    ) -> Result<(), String> {
        let words = change_in(note, at).ok_or("no change at this time")?;
        for way in &mut *ways {
            until(way, at, |decision| self.journal.decided(&decision));
        }
        read(words)?.apply(at, ways).map_err(|error| error.to_string())?;
        self.journal.changed(at, words);
        Ok(())
    }

    /// Compares what is left; of a record that breaks off, what was decided before the last frame came that it has.
    fn end(&mut self, ways: &mut [Direction; 2], is_whole: bool) -> Result<(), Difference> {
        for way in ways {
            if !is_whole {
                until(way, self.last, |decision| self.journal.decided(&decision));
                continue;
            }
            let Ok(()) = run_out(way, |decision| {
                self.journal.decided(&decision);
                Ok::<_, std::convert::Infallible>(())
            });
        }
        self.compare_settled()?;
        while is_whole && let Some(frame) = self.journal.rest() {
            self.compare(frame)?;
        }
        Ok(())
    }

    fn compare_settled(&mut self) -> Result<(), Difference> {
        while let Some(frame) = self.journal.settled() {
            self.compare(frame)?;
        }
        Ok(())
    }

    fn compare(&mut self, frame: CapturedFrame) -> Result<(), Difference> {
        let recorded = self.recorded.pop_front().unwrap_or_default();
        if recorded != frame.comment {
            return Err(Difference { number: self.compared + 1, recorded, decided: frame.comment });
        }
        self.compared += 1;
        self.frames += u64::from(frame.interface != NOTES);
        Ok(())
    }
}

/// Takes all that happens on a way by then.
fn until(way: &mut Direction, now: Time, mut decided: impl FnMut(Decision)) {
    loop {
        match way.next(now) {
            Ahead::Frame(leaving) => decided(leaving.decision),
            Ahead::Gone(decision) => decided(decision),
            Ahead::At(_) | Ahead::Nothing => return,
        }
    }
}

/// Takes all that happens on a way to which nothing comes any more.
fn run_out<E>(way: &mut Direction, mut decided: impl FnMut(Decision) -> Result<(), E>) -> Result<(), E> {
    let mut now = Time::ZERO;
    while way.inside() > 0 {
        match way.next(now) {
            Ahead::Frame(leaving) => decided(leaving.decision)?,
            Ahead::Gone(decision) => decided(decision)?,
            Ahead::At(at) => now = at,
            Ahead::Nothing => return Ok(()),
        }
    }
    Ok(())
}
