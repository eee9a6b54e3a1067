//! Captures that tshark and Wireshark open: pcapng (draft-ietf-opsawg-pcapng) with an interface for each
//! monitored link, raw IPv4 packets, nanosecond time stamps, and a comment on every marked or dropped packet.

mod block;
mod headers;

pub use headers::{Direction, Endpoints};

use crate::WriteError;
use crate::atomic_file::AtomicFile;
use shoal_packet::{Packet, Reason};
use shoal_units::{Rate, Time};
use std::io::{self, BufWriter, Write};
use std::path::Path;

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
        block::section_header(&mut head);
        for interface in interfaces {
            block::interface(&mut head, &interface.name, interface.rate, capture.snap_length());
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
        packet: &Packet,
        direction: Direction,
        endpoints: &Endpoints,
        note: Option<PacketNote>,
    ) -> io::Result<()> {
        assert!(interface < self.interfaces, "interface {interface} of {}", self.interfaces);
        let headers = headers::Headers::of(packet, now, direction, endpoints);
        let payload = match self.capture {
            Capture::Whole => headers.payload,
            Capture::Headers => 0,
        };
        self.block.clear();
        block::packet(&mut self.block, now, interface, &headers, payload, note);
        self.sink.write_all(&self.block)
    }

    /// Writes a packet that a real host sent, given from its IP header to its end; [`Capture`] determines how
    /// much is kept.
    ///
    /// # Errors
    /// If the sink refuses to be written to.
    ///
    /// # Panics
    /// If there is no such interface.
    pub fn write_captured(
        &mut self,
        now: Time,
        interface: u32,
        bytes: &[u8],
        note: Option<PacketNote>,
    ) -> io::Result<()> {
        assert!(interface < self.interfaces, "interface {interface} of {}", self.interfaces);
        self.block.clear();
        let kept = match self.capture {
            Capture::Whole => bytes.len(),
            Capture::Headers => headers::length(bytes),
        };
        block::captured(&mut self.block, now, interface, &bytes[..kept], bytes.len(), note);
        self.sink.write_all(&self.block)
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
