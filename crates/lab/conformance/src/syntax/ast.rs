//! What a script says.

use crate::assertion::Block;
use crate::shell::Command;

/// A script.
#[derive(Clone, PartialEq, Debug)]
pub struct Script {
    /// Options of lines `--name=value`.
    pub options: Options,
    /// What is set before the first event.
    pub setup: Vec<Command>,
    /// What happens.
    pub events: Vec<Event>,
}

/// Options of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// How much earlier or later than told something may happen, microseconds.
    pub tolerance_us: i64,
    /// The same in thousandths of the time since the event before, where that is more: the kernel's timers are late by up to
    /// an eighth.
    pub tolerance_permille: i64,
    /// A packet that leaves is one packet; otherwise several that follow each other may carry its payload.
    pub strict_segments: bool,
    /// Segment size of merged segments that arrive, if they are to be merged, bytes.
    pub mss: Option<u16>,
    /// Microseconds of a tick of the TCP timestamps; with it, their progress is checked.
    pub timestamp_tick_us: Option<i64>,
    /// Only for this version of IP.
    pub ip_version: Option<u8>,
    /// MTU of the device, bytes.
    pub mtu_bytes: u16,
}

impl Options {
    /// How much earlier or later than told something may happen that is told `us` after the event before.
    pub(crate) fn tolerance_after(&self, us: i64) -> i64 {
        self.tolerance_us.max(us * self.tolerance_permille / 1000)
    }
}

impl Default for Options {
    /// Those of packetdrill.
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

/// One event.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Its line, from 1.
    pub line: u32,
    /// When.
    pub time: Timing,
    /// What.
    pub action: Action,
}

/// When something happens, microseconds: after the start of the script, or after the event before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// The numbers count from the event before.
    pub relative: bool,
    /// First moment.
    pub from: i64,
    /// Last moment; none if it is that one.
    pub to: Option<i64>,
    /// For calls that block: `to` is when they return.
    pub blocks: bool,
    /// Any time will do (`*`).
    pub any: bool,
}

/// What happens.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A packet arrives.
    Arrives(Packet),
    /// A packet leaves.
    Leaves(Packet),
    /// The application calls the system.
    Call(Call),
    /// Something is set.
    Commands(Vec<Command>),
    /// Something must hold.
    Check(Block),
}

/// The ECN bits, or the whole type-of-service byte, of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tos {
    /// Not said: 0 when it arrives, anything when it leaves.
    Unsaid,
    /// These two bits.
    Ecn(u8),
    /// ECT(0) or ECT(1).
    AnyEct,
    /// This byte.
    Byte(u8),
}

/// A packet as the script writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// ECN.
    pub tos: Tos,
    /// The rest.
    pub body: Body,
}

/// What a packet carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// An ICMP error about a segment.
    Icmp(Icmp),
}

/// TCP flags; `ace` is the three-bit counter of accurate ECN if the script writes it as a digit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpFlags {
    /// Flag bits as on the wire: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128, AE 256.
    pub bits: u16,
    /// Written as a digit.
    pub ace: Option<u8>,
}

impl TcpFlags {
    /// Bits of the letters that scripts use.
    pub const LETTERS: [(char, u16); 9] =
        [('S', 2), ('F', 1), ('R', 4), ('E', 64), ('W', 128), ('A', 256), ('P', 8), ('U', 32), ('.', 16)];
    /// Whether all of `bits` are set.
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
    /// Payload, bytes.
    pub payload: u16,
    /// Acknowledgement number.
    pub ack: u32,
    /// Window as on the wire.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options in their order; none if they may be any (`<...>`).
    pub options: Option<Vec<TcpOption>>,
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
    /// Fast Open cookie; empty asks for one.
    FastOpen(Vec<u8>),
    /// The same as an experimental option.
    FastOpenExperimental(Vec<u8>),
    /// Accurate ECN byte counters in their order: which (0 for ECT(0), 1 for ECT(1), 3 for CE), and 24 bits.
    AccurateEcn(Vec<(u8, u32)>),
    /// MD5 signature.
    Md5(Vec<u8>),
    /// Seen on the wire and not known here.
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
    /// The segment it is about: sequence number and payload.
    pub about: (u32, u16),
}

/// A call of the application.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Name.
    pub name: String,
    /// Arguments.
    pub arguments: Vec<Value>,
    /// What it returns.
    pub result: Value,
    /// Name of the error, for -1.
    pub errno: Option<String>,
}

impl Call {
    /// Whether its result is a descriptor, which each player numbers as it likes.
    pub(crate) fn gives_descriptor(&self) -> bool {
        matches!(self.name.as_str(), "socket" | "accept" | "accept4")
    }
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `...`
    Anything,
    /// A number.
    Int(i64),
    /// A symbol.
    Name(String),
    /// Text in quotes, its escapes resolved.
    Text(Vec<u8>),
    /// `a | b`
    Or(Vec<Value>),
    /// `[a, b]`
    List(Vec<Value>),
    /// `{a, b = c}`
    Struct(Vec<(Option<String>, Value)>),
    /// `f("x")`
    Of(String, Box<Value>),
}
