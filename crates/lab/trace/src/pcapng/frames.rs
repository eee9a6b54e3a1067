//! Captures of what came at real interfaces, frames of Ethernet or packets of IP, each with a comment; they are read
//! again, too.

use super::{Interface, LinkType, block};
use crate::WriteError;
use crate::atomic_file::AtomicFile;
use pcap_parser::pcapng::{Block, EnhancedPacketBlock, PcapNGOption};
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Linktype, OptionCode, PcapBlockOwned, PcapError, PcapNGReader};
use shoal_units::{Span, Time};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes of a file that are in memory at a time; no block may be longer.
const MOST_IN_MEMORY: usize = 64 << 20;
/// Room beside the longest block, without which the reader takes it for too long.
const SPARE: usize = 1 << 16;
/// Units of time stamps in a second.
const RESOLUTION: u64 = 1_000_000_000;

/// A frame that came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedFrame {
    /// When it came. Files hold nanoseconds.
    pub at: Time,
    /// The position of its interface in the file's list.
    pub interface: u32,
    /// Its first bytes, which the link type of the interface tells how to read.
    pub kept: Vec<u8>,
    /// Its whole length in bytes.
    pub bytes: u32,
    /// What there is to say about it.
    pub comment: String,
}

/// Writer of a capture of frames.
pub struct FrameWriter {
    sink: BufWriter<AtomicFile>,
    path: Box<Path>,
    block: Vec<u8>,
}

impl FrameWriter {
    /// Opens a file about which there is something to say, for interfaces of one link type. It gets its name on
    /// [`Self::commit`], and is removed if that is not reached.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(
        path: &Path,
        link_type: LinkType,
        interfaces: &[Interface],
        comment: &str,
    ) -> Result<Self, WriteError> {
        let mut head = Vec::new();
        block::section_header(&mut head, comment);
        for interface in interfaces {
            block::interface(&mut head, link_type, &interface.name, interface.rate, 0);
        }
        let refused = |error| WriteError::new(path, error);
        let mut sink = BufWriter::new(AtomicFile::create(path).map_err(refused)?);
        sink.write_all(&head).map_err(refused)?;
        Ok(Self { sink, path: path.into(), block: Vec::with_capacity(2048) })
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// If the file refuses to be written to.
    pub fn write(&mut self, frame: &CapturedFrame) -> Result<(), WriteError> {
        self.block.clear();
        block::frame(&mut self.block, frame);
        self.sink.write_all(&self.block).map_err(|error| WriteError::new(&self.path, error))
    }

    /// Writes what is buffered and gives the file its name.
    ///
    /// # Errors
    /// If the file cannot be written; nothing is left of it then.
    pub fn commit(self) -> Result<(), WriteError> {
        let written = self.sink.into_inner().map_err(std::io::IntoInnerError::into_error);
        written.and_then(AtomicFile::commit).map_err(|error| WriteError::new(&self.path, error))
    }
}

/// A capture that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot read `{}`: {reason}", path.display())]
pub struct ReadError {
    /// Path of the file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
    /// Whether the file ends within a block: what comes before is whole.
    pub is_cut: bool,
}

/// Reader of a capture of frames.
pub struct FrameReader {
    reader: PcapNGReader<File>,
    path: PathBuf,
    comment: String,
    /// Interfaces that have been described so far.
    interfaces: Vec<LinkType>,
    has_ended: bool,
}

impl FrameReader {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no capture.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let refused = |reason: String| ReadError { path: path.to_owned(), reason, is_cut: false };
        let system = |error: std::io::Error| refused(error.to_string());
        let file = File::open(path).map_err(system)?;
        let bytes = usize::try_from(file.metadata().map_err(system)?.len()).unwrap_or(MOST_IN_MEMORY);
        let reader = PcapNGReader::new(bytes.min(MOST_IN_MEMORY) + SPARE, file)
            .map_err(|error| refused(worded(&error)))?;
        let mut this = Self {
            reader,
            path: path.to_owned(),
            comment: String::new(),
            interfaces: Vec::new(),
            has_ended: false,
        };
        this.next_block().map_err(|wrong| refused(wrong.reason))?;
        Ok(this)
    }

    /// What the file says about itself.
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// How to read the frames that have been given so far: the link type of each interface, by its position.
    pub fn link_types(&self) -> &[LinkType] {
        &self.interfaces
    }

    /// Reads the next block; the frame in it, if it holds one.
    fn next_block(&mut self) -> Result<Option<CapturedFrame>, Wrong> {
        loop {
            let (offset, read) = match self.reader.next() {
                Ok((offset, PcapBlockOwned::NG(block))) => (offset, read(&block, self.interfaces.len())),
                Ok(_) | Err(PcapError::Eof) => {
                    self.has_ended = true;
                    return Ok(None);
                }
                Err(PcapError::Incomplete(_)) => {
                    self.reader.refill().map_err(|error| Wrong::of(&error))?;
                    continue;
                }
                Err(error) => return Err(Wrong::of(&error)),
            };
            self.reader.consume(offset);
            match read? {
                Read::Comment(comment) => self.comment = comment,
                Read::Interface(link_type) => self.interfaces.push(link_type),
                Read::Frame(frame) => return Ok(Some(frame)),
                Read::Other => {}
            }
            return Ok(None);
        }
    }
}

impl Iterator for FrameReader {
    type Item = Result<CapturedFrame, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.has_ended {
            match self.next_block() {
                Ok(Some(frame)) => return Some(Ok(frame)),
                Ok(None) => {}
                Err(Wrong { reason, is_cut }) => {
                    self.has_ended = true;
                    return Some(Err(ReadError { path: self.path.clone(), reason, is_cut }));
                }
            }
        }
        None
    }
}

/// What is wrong with a block, and whether that is that the file ends in it.
struct Wrong {
    reason: String,
    is_cut: bool,
}

impl Wrong {
    fn of<I>(error: &PcapError<I>) -> Self {
        let is_cut = matches!(error, PcapError::UnexpectedEof | PcapError::Incomplete(_));
        Self { reason: worded(error), is_cut }
    }
}

impl From<String> for Wrong {
    fn from(reason: String) -> Self {
        Self { reason, is_cut: false }
    }
}

/// What a block says.
enum Read {
    Comment(String),
    Interface(LinkType),
    Frame(CapturedFrame),
    Other,
}

fn read(block: &Block<'_>, interfaces: usize) -> Result<Read, String> {
    match block {
        Block::SectionHeader(section) => Ok(Read::Comment(comment(&section.options)?)),
        Block::InterfaceDescription(interface) => {
            let link_type = match interface.linktype {
                Linktype::ETHERNET => LinkType::Ethernet,
                Linktype::RAW => LinkType::Raw,
                _ => return Err("an interface has neither Ethernet frames nor IP packets".to_owned()),
            };
            if interface.ts_resolution() == Some(RESOLUTION) && interface.ts_offset() == 0 {
                Ok(Read::Interface(link_type))
            } else {
                Err("an interface has no time stamps in ns".to_owned())
            }
        }
        Block::EnhancedPacket(packet) if (packet.if_id as usize) < interfaces => {
            Ok(Read::Frame(frame(packet)?))
        }
        Block::EnhancedPacket(_) => Err("a packet is of an interface that is not described".to_owned()),
        _ => Ok(Read::Other),
    }
}

fn frame(packet: &EnhancedPacketBlock<'_>) -> Result<CapturedFrame, String> {
    let nanos = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
    if nanos > u64::MAX / 1000 {
        return Err("a time stamp is beyond what there is".to_owned());
    }
    Ok(CapturedFrame {
        at: Time::ZERO + Span::from_nanos(nanos),
        interface: packet.if_id,
        kept: packet.packet_data().to_vec(),
        bytes: packet.origlen,
        comment: comment(&packet.options)?,
    })
}

/// The comments, one after the other: a long one is written in pieces.
fn comment(options: &[PcapNGOption<'_>]) -> Result<String, String> {
    let comments = options.iter().filter(|option| option.code == OptionCode::Comment);
    comments.map(|option| option.as_str().map_err(|_| "a comment is no text".to_owned())).collect()
}

fn worded<I>(error: &PcapError<I>) -> String {
    let words = match error {
        PcapError::UnexpectedEof | PcapError::Incomplete(_) => "it ends within a block",
        PcapError::BufferTooSmall => "a block is longer than 64 MiB",
        PcapError::ReadError => "the system refuses it",
        _ => "it is no capture in pcapng, or a part is broken",
    };
    words.to_owned()
}
