//! The record of a box on disk, and the same decisions taken again.

use crate::{Ahead, Buffer, Decision, Direction, Frame, Journal};
use shoal_trace::WriteError;
use shoal_trace::pcapng::{CapturedFrame, FrameReader, FrameWriter, Interface, ReadError};
use shoal_units::Time;
use std::collections::VecDeque;
use std::path::Path;

/// What is written while a box runs: a capture with a comment on each frame, which says what came and what was
/// decided.
pub struct Record {
    journal: Journal,
    file: FrameWriter,
}

impl Record {
    /// Opens a file for a box between interfaces of these names, which says of itself what is to be replayed with it.
    /// It gets its name on [`Self::commit`], and is removed if that is not reached.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path, interfaces: [&str; 2], about: &str) -> Result<Self, WriteError> {
        let interfaces = interfaces.map(|name| Interface { name: name.to_owned(), rate: None });
        Ok(Self { journal: Journal::default(), file: FrameWriter::create(path, &interfaces, about)? })
    }

    /// A frame comes; see [`Journal::came`].
    pub fn came(&mut self, side: u32, at: Time, frame: &[u8], read: &Frame) -> u64 {
        self.journal.came(side, at, frame, read)
    }

    /// What becomes of a frame is decided, so that it can be written when those before it are.
    ///
    /// # Errors
    /// If the file refuses to be written to.
    pub fn decided(&mut self, decision: &Decision) -> Result<(), WriteError> {
        self.journal.decided(decision);
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

/// What a replay has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// Frames that were compared.
    pub frames: u64,
    /// The first difference, at which the replay ends.
    pub difference: Option<Difference>,
}

/// Brings the frames of a record to the ways at the times at which they came, and compares what is decided.
///
/// # Errors
/// If the record cannot be read.
pub fn replay(record: FrameReader, ways: &mut [Direction; 2]) -> Result<Replayed, ReadError> {
    let mut again = Again::default();
    for recorded in record {
        if let Err(difference) = again.bring(recorded?, ways) {
            return Ok(Replayed { frames: again.compared, difference: Some(difference) });
        }
    }
    let difference = again.end(ways).err();
    Ok(Replayed { frames: again.compared, difference })
}

/// A replay that is going on.
#[derive(Default)]
struct Again {
    journal: Journal,
    /// What the record says of the frames whose fate is not known yet.
    recorded: VecDeque<String>,
    compared: u64,
    last: Time,
}

impl Again {
    fn bring(&mut self, recorded: CapturedFrame, ways: &mut [Direction; 2]) -> Result<(), Difference> {
        let CapturedFrame { at, interface, kept, comment, .. } = recorded;
        let number = self.compared + self.recorded.len() as u64 + 1;
        let wrong =
            |decided: &str, recorded| Err(Difference { number, recorded, decided: decided.to_owned() });
        let Some(way) = ways.get_mut(interface as usize) else {
            return wrong("a frame of neither side of a box", comment);
        };
        let Some(read) = Frame::read(&kept) else { return wrong("no frame", comment) };
        if at < self.last {
            return wrong("came before the frame ahead of it", comment);
        }
        self.last = at;
        self.recorded.push_back(comment);
        until(way, at, |decision| self.journal.decided(&decision));
        let number = self.journal.came(interface, at, &kept, &read);
        if let Some(decision) = way.arrive(at, Buffer::complete(kept), &read, number) {
            self.journal.decided(&decision);
        }
        while let Some(frame) = self.journal.settled() {
            self.compare(frame)?;
        }
        Ok(())
    }

    fn end(&mut self, ways: &mut [Direction; 2]) -> Result<(), Difference> {
        for way in ways {
            let Ok(()) = run_out(way, |decision| {
                self.journal.decided(&decision);
                Ok::<_, std::convert::Infallible>(())
            });
        }
        while let Some(frame) = self.journal.rest() {
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
