//! Captures that tshark and Wireshark open: pcapng (draft-ietf-opsawg-pcapng) with an interface for each
//! monitored link, raw IPv4 packets, nanosecond time stamps, and a comment on every marked or dropped packet. Frames of
//! real interfaces have a form of their own ([`FrameWriter`]).

mod block;
mod frames;
mod headers;
mod links;

pub use frames::{CapturedFrame, FrameReader, FrameWriter, ReadError};
pub use headers::{Direction, Endpoints};
pub use links::{LinkCapture, Passage};

use crate::WriteError;
use crate::atomic_file::AtomicFile;
use shoal_packet::{Packet, Reason};
use shoal_units::{Rate, Time};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// What the packets of an interface begin with, by its number in the
/// [registry of link types](https://www.tcpdump.org/linktypes.html).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkType {
    /// The destination address of an Ethernet frame (LINKTYPE_ETHERNET).
    Ethernet = 1,
    /// The header of IPv4 or IPv6 (LINKTYPE_RAW).
    Raw = 101,
}

/// A monitored link.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Name of the link.
    pub name: String,
    /// Rate of the link; `None` where there is no single link, as at the hosts.
    pub rate: Option<Rate>,
}

/// What the link's queue did to a packet, which becomes the packet's comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketNote {
    /// The queue set CE.
    Marked(Reason),
    /// The queue dropped the packet.
    Dropped(Reason),
}

/// How much of each packet is kept. The checksums are valid for a payload of zeros in either case; readers
/// can verify them only on whole packets, and tshark reports those of shortened packets as unverified, not as
/// wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capture {
    /// Headers and payload.
    Whole,
    /// Headers only, with the original length recorded; the file has about a tenth of the size.
    Headers,
}

impl Capture {
    /// Snapshot length of an interface: the most bytes that are kept of a packet; 0 means no limit.
    const fn snap_length(self) -> u32 {
        match self {
            Self::Whole => 0,
            Self::Headers => headers::MAX_BYTES,
        }
    }
}

/// What is known of the bytes of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Frame<'a> {
    /// A packet of a model.
    Modelled(&'a Packet, Direction, &'a Endpoints),
    /// The bytes of a packet that a real host sent, from its IP header to its end.
    Captured(&'a [u8]),
}

/// Writer of a capture. Every call writes one packet; the caller keeps the packets of each interface in order
/// of time.
pub struct PcapWriter<W: Write> {
    sink: BufWriter<W>,
    capture: Capture,
    interfaces: u32,
    /// Buffer that is reused, so that writing a packet allocates nothing.
    block: Vec<u8>,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the section header and the interfaces.
    ///
    /// # Errors
    /// If `sink` refuses to be written to.
    pub fn new(sink: W, interfaces: &[Interface], capture: Capture) -> io::Result<Self> {
        let mut sink = BufWriter::new(sink);
        let mut head = Vec::new();
        block::section_header(&mut head, "");
        for interface in interfaces {
            let snap_length = capture.snap_length();
            block::interface(&mut head, LinkType::Raw, &interface.name, interface.rate, snap_length);
        }
        sink.write_all(&head)?;
        Ok(Self { sink, capture, interfaces: interfaces.len() as u32, block: Vec::with_capacity(2048) })
    }

    /// Writes a packet seen at `interface`, the position in the list given to [`Self::new`].
    /// [`WriteError::new`] adds the path of a file to an error.
    ///
    /// # Errors
    /// If the sink refuses to be written to.
    ///
    /// # Panics
    /// If there is no such interface, or the code point is not below 64.
    pub fn write(
        &mut self,
        now: Time,
        interface: u32,
        frame: Frame<'_>,
        note: Option<PacketNote>,
    ) -> io::Result<()> {
        self.encode(now, interface, frame, note.map(|note| (note, None)));
        self.sink.write_all(&self.block)
    }

    /// Makes the block of a packet; a note of what happened at another time says when.
    fn encode(
        &mut self,
        now: Time,
        interface: u32,
        frame: Frame<'_>,
        note: Option<(PacketNote, Option<Time>)>,
    ) {
        assert!(interface < self.interfaces, "interface {interface} of {}", self.interfaces);
        self.block.clear();
        match frame {
            Frame::Modelled(packet, direction, endpoints) => {
                let headers = headers::Headers::of(packet, now, direction, endpoints);
                let payload = if self.capture == Capture::Whole { headers.payload } else { 0 };
                block::packet(&mut self.block, now, interface, &headers, payload, note);
            }
            Frame::Captured(bytes) => {
                let kept = if self.capture == Capture::Whole { bytes.len() } else { headers::length(bytes) };
                block::captured(&mut self.block, now, interface, &bytes[..kept], bytes.len(), note);
            }
        }
    }

    /// Writes a block that was made before, at the time `now`.
    fn write_late(&mut self, mut made: Vec<u8>, now: Time) -> io::Result<()> {
        block::stamp(&mut made, now);
        self.sink.write_all(&made)
    }

    /// Writes what is buffered and returns the sink.
    ///
    /// # Errors
    /// If the sink refuses to be written to.
    pub fn finish(self) -> io::Result<W> {
        self.sink.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl PcapWriter<AtomicFile> {
    /// Opens a file. It gets its name on [`Self::commit`], and is removed if that is not reached.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path, interfaces: &[Interface], capture: Capture) -> Result<Self, WriteError> {
        AtomicFile::create(path)
            .and_then(|file| Self::new(file, interfaces, capture))
            .map_err(|error| WriteError::new(path, error))
    }
    /// Writes what is buffered and gives the file its name.
    ///
    /// # Errors
    /// If the file cannot be written; nothing is left of it then.
    pub fn commit(self) -> Result<(), WriteError> {
        let path = self.sink.get_ref().target().to_owned();
        self.finish().and_then(AtomicFile::commit).map_err(|error| WriteError::new(&path, error))
    }
}
