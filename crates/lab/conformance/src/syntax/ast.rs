//! The content of a script.

use crate::assertion::Block;
use crate::shell::Command;

/// A script.
#[derive(Clone, PartialEq, Debug)]
pub struct Script {
    /// Options of lines `--name=value`.
    pub options: Options,
    /// Commands before the first event.
    pub setup: Vec<Command>,
    /// Events in their order.
    pub events: Vec<Event>,
}

/// Options of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Tolerance for the time of an event in microseconds.
    pub tolerance_us: i64,
    /// Tolerance in thousandths of the time since the preceding event; the larger of both tolerances applies.
    /// The kernel's timers are late by up to an eighth.
    pub tolerance_permille: i64,
    /// Whether a packet that leaves must be one packet; otherwise several consecutive packets may carry its
    /// payload.
    pub strict_segments: bool,
    /// Segment size of merged packets that arrive, in bytes, if packets are merged.
    pub mss: Option<u16>,
    /// Tick of the TCP timestamps in microseconds; if it is given, their progress is checked.
    pub timestamp_tick_us: Option<i64>,
    /// The only version of IP for which the script is meant.
    pub ip_version: Option<u8>,
    /// MTU of the device in bytes.
    pub mtu_bytes: u16,
}

impl Options {
    /// Tolerance for an event that is scheduled `us` after the preceding one, in microseconds.
    pub(crate) fn tolerance_after(&self, us: i64) -> i64 {
        self.tolerance_us.max(us * self.tolerance_permille / 1000)
    }
}

impl Default for Options {
    /// The defaults of packetdrill.
    fn default() -> Self {
        Self {
            tolerance_us: 4000,
            tolerance_permille: 125,
            strict_segments: false,
            mss: None,
            timestamp_tick_us: None,
            ip_version: None,
            mtu_bytes: 1500,
        }
    }
}

/// An event of a script.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Line of the event, counted from 1.
    pub line: u32,
    /// Time of the event.
    pub time: Timing,
    /// What happens.
    pub action: Action,
}

/// Time of an event in microseconds: after the start of the script, or after the preceding event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Whether the times count from the preceding event.
    pub relative: bool,
    /// Earliest time.
    pub from: i64,
    /// Latest time; `None` if it equals the earliest.
    pub to: Option<i64>,
    /// Whether a call blocks: `to` is then the time of its return.
    pub blocks: bool,
    /// Whether any time is accepted (`*`).
    pub any: bool,
}

/// The kinds of events.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A packet arrives.
    Arrives(Packet),
    /// A packet leaves.
    Leaves(Packet),
    /// The application makes a system call.
    Call(Call),
    /// Commands set parameters.
    Commands(Vec<Command>),
    /// Assertions are checked.
    Check(Block),
}

/// ECN bits of a packet, or its whole type-of-service byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tos {
    /// Not given: 0 for packets that arrive, anything for packets that leave.
    Unsaid,
    /// The two bits of the ECN field.
    Ecn(u8),
    /// Either ECT(0) or ECT(1).
    AnyEct,
    /// The whole type-of-service byte.
    Byte(u8),
}

/// A packet as the script writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// ECN field or type of service.
    pub tos: Tos,
    /// Content of the packet.
    pub body: Body,
}

/// Content of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// An ICMP error about a segment.
    Icmp(Icmp),
}

/// TCP flags; `ace` is the three-bit counter of accurate ECN, if the script writes it as a digit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpFlags {
    /// Flag bits as on the wire: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128, AE 256.
    pub bits: u16,
    /// Counter of accurate ECN, if it is written as a digit.
    pub ace: Option<u8>,
}

impl TcpFlags {
    /// Flag bits by the letters that scripts use.
    pub const LETTERS: [(char, u16); 9] =
        [('S', 2), ('F', 1), ('R', 4), ('E', 64), ('W', 128), ('A', 256), ('P', 8), ('U', 32), ('.', 16)];
    /// Whether all flags in `bits` are set.
    pub const fn has(self, bits: u16) -> bool {
        self.bits & bits == bits
    }
}

/// A TCP segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Flags.
    pub flags: TcpFlags,
    /// Sequence number.
    pub seq: u32,
    /// Payload in bytes.
    pub payload: u16,
    /// Acknowledgement number.
    pub ack: u32,
    /// Window field as on the wire; `None` if any is accepted.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options in their order; `None` if any are accepted (`<...>`).
    pub options: Option<Vec<TcpOption>>,
}

impl Segment {
    /// The timestamps of the segment: its own and the one that it echoes.
    pub(crate) fn timestamps(&self) -> Option<(u32, u32)> {
        self.options.iter().flatten().find_map(|option| match option {
            TcpOption::Timestamp(value, echo) => Some((*value, *echo)),
            _ => None,
        })
    }
}

/// A TCP option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TcpOption {
    /// Padding.
    Nop,
    /// End of the options.
    End,
    /// Maximum segment size.
    Mss(u16),
    /// Window scale.
    WindowScale(u8),
    /// SACK permitted.
    SackPermitted,
    /// SACK blocks.
    Sack(Vec<(u32, u32)>),
    /// Timestamp value and echo.
    Timestamp(u32, u32),
    /// Fast Open cookie; an empty one requests a cookie.
    FastOpen(Vec<u8>),
    /// Fast Open cookie in the experimental option.
    FastOpenExperimental(Vec<u8>),
    /// Byte counters of accurate ECN in their order: codepoint (0 for ECT(0), 1 for ECT(1), 3 for CE), and 24
    /// bits.
    AccurateEcn(Vec<(u8, u32)>),
    /// MD5 signature.
    Md5(Vec<u8>),
    /// Any other option: its kind and value.
    Other(u8, Vec<u8>),
}

/// An ICMP error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Icmp {
    /// ICMP type.
    pub kind: u8,
    /// ICMP code.
    pub code: u8,
    /// MTU of the next hop.
    pub mtu: u16,
    /// Sequence number and payload of the segment that the error reports.
    pub about: (u32, u16),
}

/// A system call of the application.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Name of the call.
    pub name: String,
    /// Arguments of the call.
    pub arguments: Vec<Value>,
    /// Expected return value.
    pub result: Value,
    /// Name of the expected error, for a return value of -1.
    pub errno: Option<String>,
}

impl Call {
    /// Whether the call returns a descriptor, whose number each player chooses.
    pub(crate) fn gives_descriptor(&self) -> bool {
        matches!(self.name.as_str(), "socket" | "accept" | "accept4")
    }
}

/// An argument or a return value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `...`: any value.
    Anything,
    /// A number.
    Int(i64),
    /// A symbol.
    Name(String),
    /// A quoted string with its escapes resolved.
    Text(Vec<u8>),
    /// `a | b`: flags combined.
    Or(Vec<Value>),
    /// `[a, b]`: a list.
    List(Vec<Value>),
    /// `{a, b = c}`: a structure.
    Struct(Vec<(Option<String>, Value)>),
    /// `f("x")`: a function of a string.
    Of(String, Box<Value>),
}
