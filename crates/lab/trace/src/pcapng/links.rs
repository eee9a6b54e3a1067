//! Captures of links and senders in which the packets of a connection stand in the order in which they were sent.
//!
//! Readers of captures find retransmissions by the order of sequence numbers. A packet that is dropped on arrival never
//! leaves, while those before it still wait: it stands behind them, at the time at which the last of them leaves, on an
//! interface of its own, and its comment says when it was dropped. Filters of Wireshark that count retransmissions and
//! segments out of order then count what the senders retransmitted.

use super::{Capture, Frame, Interface, PacketNote, PcapWriter};
use crate::WriteError;
use crate::atomic_file::AtomicFile;
use shoal_units::Time;
use std::io;
use std::path::Path;

/// Name of the interface at which packets reach their senders.
const SENDERS: &str = "senders";

/// Writer of a capture with the interfaces of all monitored links, of the senders, and of what the links drop.
pub struct LinkCapture {
    file: PcapWriter<AtomicFile>,
    path: Box<Path>,
    links: u32,
    /// Packets that were dropped on arrival, by link.
    held: Vec<Vec<Held>>,
    /// Time of the last packet.
    last: Time,
}

/// A packet that a link's queue passed on or dropped.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Number of the link.
    pub link: u32,
    /// Distinguishes connections and their directions.
    pub connection: u64,
    /// When the packet arrived.
    pub queued: Time,
    /// Its TCP sequence number.
    pub sequence: u32,
    /// Number of other packets that wait after it.
    pub waiting: u32,
    /// What the queue did to it.
    pub note: Option<PacketNote>,
}

/// A packet that was dropped on arrival while packets before it wait.
struct Held {
    passage: Passage,
    /// Number of packets that were there before and have not left.
    ahead: u32,
    block: Vec<u8>,
}

impl Held {
    /// Whether a packet of the same connection came later.
    fn is_before(&self, other: &Passage) -> bool {
        // Packets of one instant have rising sequence numbers, which wrap around.
        let rises = (other.sequence.wrapping_sub(self.passage.sequence) as i32) > 0;
        self.passage.connection == other.connection
            && (self.passage.queued < other.queued || self.passage.queued == other.queued && rises)
    }
}

impl LinkCapture {
    /// Opens a file. It gets its name on [`Self::commit`], and is removed if that is not reached.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path, links: &[Interface], capture: Capture) -> Result<Self, WriteError> {
        let senders = Interface { name: SENDERS.to_owned(), rate: None };
        let dropped =
            links.iter().map(|link| Interface { name: format!("{} dropped", link.name), rate: link.rate });
        let interfaces: Vec<Interface> = links.iter().cloned().chain([senders]).chain(dropped).collect();
        Ok(Self {
            file: PcapWriter::create(path, &interfaces, capture)?,
            path: path.into(),
            links: links.len() as u32,
            held: links.iter().map(|_| Vec::new()).collect(),
            last: Time::ZERO,
        })
    }

    /// Writes a packet that reaches its sender.
    ///
    /// # Errors
    /// If the file refuses to be written to.
    pub fn at_sender(&mut self, now: Time, frame: Frame<'_>) -> Result<(), WriteError> {
        self.last = now;
        let written = self.file.write(now, self.links, frame, None);
        self.named(written)
    }

    /// Writes a packet that leaves a link's queue or is dropped there.
    ///
    /// # Errors
    /// If the file refuses to be written to.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn at_link(&mut self, now: Time, passage: Passage, frame: Frame<'_>) -> Result<(), WriteError> {
        let written = self.order(now, passage, frame);
        self.named(written)
    }

    fn order(&mut self, now: Time, passage: Passage, frame: Frame<'_>) -> io::Result<()> {
        let dropped = matches!(passage.note, Some(PacketNote::Dropped(_)));
        self.last = now;
        let interface = passage.link + if dropped { self.links + 1 } else { 0 };
        let held = &mut self.held[passage.link as usize];
        if dropped && passage.queued == now && passage.waiting > 0 {
            self.file.encode(now, interface, frame, passage.note.map(|note| (note, Some(now))));
            held.push(Held { passage, ahead: passage.waiting, block: self.file.block.clone() });
            return Ok(());
        }
        for before in held.extract_if(.., |held| held.is_before(&passage)) {
            self.file.write_late(before.block, now)?;
        }
        self.file.write(now, interface, frame, passage.note)?;
        for other in &mut *held {
            other.ahead -= u32::from(passage.queued <= other.passage.queued);
        }
        for released in held.extract_if(.., |held| held.ahead == 0) {
            self.file.write_late(released.block, now)?;
        }
        Ok(())
    }

    /// Writes what is buffered, and what was dropped behind packets that still wait, and gives the file its name.
    ///
    /// # Errors
    /// If the file cannot be written; nothing is left of it then.
    pub fn commit(mut self) -> Result<(), WriteError> {
        let mut rest: Vec<Held> = self.held.drain(..).flatten().collect();
        rest.sort_by_key(|held| held.passage.queued);
        for held in rest {
            let written = self.file.write_late(held.block, self.last);
            self.named(written)?;
        }
        self.file.commit()
    }

    fn named(&self, written: io::Result<()>) -> Result<(), WriteError> {
        written.map_err(|error| WriteError::new(&self.path, error))
    }
}
