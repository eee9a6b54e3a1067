//! Reads the guest's records: fixed size, in the byte order of the machine.

use shoal_packet::Ecn;

/// Reasons why a file of the guest is not valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// The file ends within a record.
    #[error("the guest's records end within a record")]
    Torn,
    /// A field has a value that does not exist.
    #[error("the guest's records are of another version")]
    Unknown,
    /// The last record is missing: the guest did not finish.
    #[error("the guest did not come to its end")]
    Unfinished,
}

/// What happened to a packet (`enum line_event` in linux/testbed/sch_line.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineEvent {
    /// The packet was queued.
    Queued,
    /// The law dropped the packet on arrival.
    Refused,
    /// The packet was dropped on arrival for lack of room.
    Overflow,
    /// The transmission of the packet began.
    Started,
    /// The packet was dropped on departure.
    Dropped,
    /// The packet was dropped because another one arrived.
    Evicted,
    /// The packet reached a device; only in captures.
    Arrived,
}

impl LineEvent {
    /// Whether the event concerns a packet that has just arrived.
    pub const fn is_arrival(self) -> bool {
        matches!(self, Self::Queued | Self::Refused | Self::Overflow)
    }
    /// Whether the packet is dropped.
    pub const fn is_drop(self) -> bool {
        matches!(self, Self::Refused | Self::Overflow | Self::Dropped | Self::Evicted)
    }
}

/// One packet at a line (`struct line_record`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineRecord {
    /// Time of the event in nanoseconds after the start of the experiment; negative for packets of the
    /// set-up.
    pub time_ns: i64,
    /// Time at which the packet was queued, if it has waited.
    pub queued_ns: i64,
    /// Destination port.
    pub destination: u16,
    /// Source port.
    pub source: u16,
    /// TCP sequence number.
    pub sequence: u32,
    /// Waiting bytes after the event.
    pub backlog_bytes: u32,
    /// Waiting packets after the event.
    pub backlog_packets: u32,
    /// Size of the IP packet in bytes.
    pub size: u16,
    /// TCP payload in bytes.
    pub payload: u16,
    /// What happened to the packet.
    pub event: LineEvent,
    /// ECN field before the event.
    pub before: Ecn,
    /// ECN field after the event.
    pub after: Ecn,
    /// ECN field on arrival, of a packet that has left.
    pub arrived: Ecn,
    /// Whether the packet carries data with CWR, by which a sender announces a reduction (in a SYN the bit
    /// has another meaning).
    pub cwr: bool,
    /// Number of the link; for an arrival at a device, number of the interface.
    pub link: u8,
}

/// [RFC 9293, section 3.1](https://www.rfc-editor.org/rfc/rfc9293#section-3.1).
const FLAG_SYN: u8 = 0x02;
const FLAG_CWR: u8 = 0x80;

impl LineRecord {
    /// Size of a record in bytes.
    pub const SIZE: usize = 40;

    /// Whether the link set CE.
    pub const fn marked(&self) -> bool {
        !self.before.is_ce() && self.after.is_ce()
    }

    /// Reads all records of a file.
    ///
    /// # Errors
    /// The file is truncated, or a field has a value that does not exist.
    pub fn read_all(bytes: &[u8]) -> Result<Vec<Self>, RecordError> {
        chunks::<{ Self::SIZE }>(bytes)?.map(Self::read).collect()
    }

    pub(crate) fn read(bytes: &[u8; Self::SIZE]) -> Result<Self, RecordError> {
        let ports = u32_at(bytes, 16);
        let event = match bytes[36] {
            0 => LineEvent::Queued,
            1 => LineEvent::Refused,
            2 => LineEvent::Overflow,
            3 => LineEvent::Started,
            4 => LineEvent::Dropped,
            5 => LineEvent::Evicted,
            6 => LineEvent::Arrived,
            _ => return Err(RecordError::Unknown),
        };
        Ok(Self {
            time_ns: u64_at(bytes, 0) as i64,
            queued_ns: u64_at(bytes, 8) as i64,
            destination: ports as u16,
            source: (ports >> 16) as u16,
            sequence: u32_at(bytes, 20),
            backlog_bytes: u32_at(bytes, 24),
            backlog_packets: u32_at(bytes, 28),
            size: u16_at(bytes, 32),
            payload: u16_at(bytes, 34),
            event,
            before: ecn(bytes[37] >> 4),
            after: ecn(bytes[37]),
            arrived: ecn(bytes[37] >> 2),
            cwr: bytes[38] & (FLAG_CWR | FLAG_SYN) == FLAG_CWR,
            link: bytes[39],
        })
    }
}

/// A record of the guest about a flow (`struct flow_record` in linux/guest/guest.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowRecord {
    /// Time in nanoseconds after the start of the experiment.
    pub time_ns: u64,
    /// Number of the flow.
    pub flow: u32,
    /// Kind of the record.
    pub kind: FlowKind,
    /// State of congestion control (`tcpi_ca_state`).
    pub ca_state: u8,
    /// DCTCP's alpha in units of 2^-10.
    pub alpha: Option<u32>,
    /// Whether ECN was negotiated.
    pub ecn: bool,
    /// Whether the datagram had CE.
    pub marked: bool,
    /// Congestion window in packets.
    pub cwnd: u32,
    /// Slow-start threshold in packets.
    pub ssthresh: u32,
    /// Smoothed round-trip time in microseconds.
    pub srtt_us: u32,
    /// Total number of retransmissions (`tcpi_total_retrans`).
    pub retransmissions: u32,
    /// Total number of timeouts (`tcpi_total_rto`).
    pub timeouts: u32,
    /// Packets with data that arrived at the receiver (`tcpi_data_segs_in`).
    pub data_packets: u32,
    /// Packets without data that the receiver sent (`tcpi_segs_out`, less the handshake).
    pub acks: u32,
    /// Payload bytes delivered in order; for a completion its duration in nanoseconds; or as the kind states.
    pub received: u64,
    /// Number of transfers that have begun.
    pub transfers_begun: u64,
}

/// Kinds of flow records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowKind {
    /// A regular sample.
    Sample,
    /// A transfer was acknowledged completely.
    Completed,
    /// The last byte of the flow was acknowledged.
    Finished,
    /// The connection failed.
    Refused,
    /// The experiment ended.
    End,
    /// A client began an exchange.
    Asked,
    /// The response of an exchange is complete.
    Answered,
    /// The slowest flow of a group has arrived; `received` is the start of the next round in nanoseconds, or
    /// `u64::MAX`.
    Round,
    /// A frame was written, with which the application has written `received` bytes.
    Written,
    /// The receiver of frames has read `received` bytes.
    Delivered,
    /// A datagram was sent.
    Sent,
    /// Datagram number `received` has arrived; `transfers_begun` is its time of sending in nanoseconds.
    Received,
    /// What link number `flow`, which has impairments, has done so far, if `alpha` is there: `received` packets lost,
    /// `transfers_begun` duplicated, `data_packets` corrupted, `acks` reordered.
    Path,
    /// What a card of host number `flow` has done so far: `received` packets taken from its ring, `data_packets`
    /// interrupts, and `acks` packets dropped by its ring.
    Card,
}

impl FlowRecord {
    /// Size of a record in bytes.
    pub const SIZE: usize = 64;

    /// Reads all records of a file, except the last one, which states that the file is complete.
    ///
    /// # Errors
    /// The file is truncated or unfinished, or a field has a value that does not exist.
    pub fn read_all(bytes: &[u8]) -> Result<Vec<Self>, RecordError> {
        let mut records = chunks::<{ Self::SIZE }>(bytes)?.map(Self::read).collect::<Result<Vec<_>, _>>()?;
        match records.pop() {
            Some(Self { kind: FlowKind::End, .. }) => Ok(records),
            _ => Err(RecordError::Unfinished),
        }
    }

    fn read(bytes: &[u8; Self::SIZE]) -> Result<Self, RecordError> {
        let kind = match bytes[12] {
            1 => FlowKind::Sample,
            2 => FlowKind::Completed,
            3 => FlowKind::Finished,
            4 => FlowKind::Refused,
            5 => FlowKind::End,
            6 => FlowKind::Asked,
            7 => FlowKind::Answered,
            8 => FlowKind::Round,
            9 => FlowKind::Written,
            10 => FlowKind::Delivered,
            11 => FlowKind::Sent,
            12 => FlowKind::Received,
            13 => FlowKind::Path,
            14 => FlowKind::Card,
            _ => return Err(RecordError::Unknown),
        };
        Ok(Self {
            time_ns: u64_at(bytes, 0),
            flow: u32_at(bytes, 8),
            kind,
            ca_state: bytes[13],
            ecn: bytes[15] & 1 != 0,
            marked: bytes[15] & 4 != 0,
            cwnd: u32_at(bytes, 16),
            ssthresh: u32_at(bytes, 20),
            srtt_us: u32_at(bytes, 24),
            alpha: (bytes[14] != 0).then(|| u32_at(bytes, 28)),
            retransmissions: u32_at(bytes, 32),
            timeouts: u32_at(bytes, 36),
            data_packets: u32_at(bytes, 40),
            acks: u32_at(bytes, 44),
            received: u64_at(bytes, 48),
            transfers_begun: u64_at(bytes, 56),
        })
    }
}

fn chunks<const N: usize>(bytes: &[u8]) -> Result<impl Iterator<Item = &[u8; N]>, RecordError> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    if rest.is_empty() { Ok(chunks.iter()) } else { Err(RecordError::Torn) }
}

/// The field of [RFC 3168, section 5](https://www.rfc-editor.org/rfc/rfc3168#section-5).
const fn ecn(bits: u8) -> Ecn {
    match bits & 0b11 {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}
