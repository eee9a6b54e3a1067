//! Determines the connection that a packet belongs to: the one under test, as in packetdrill. A script names
//! no addresses; a SYN that arrives at a listening socket begins a connection, and so does `connect`.

use crate::ScriptError;
use crate::syntax::ast::{Action, Body, Call, Event, Packet, Value};

/// One connection of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Connection {
    /// Whether the side under test opens the connection.
    pub(crate) active: bool,
    /// Initial sequence numbers in the script: of the side under test and of its peer.
    pub(crate) local_isn: u32,
    pub(crate) remote_isn: u32,
}

/// The connection and the socket that an event concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place {
    /// Index of the connection, for packets.
    pub(crate) connection: usize,
    /// Descriptor in the script of the socket under test, for checks.
    pub(crate) socket: Option<i64>,
}

/// The connections of a script, and the place of each event.
pub(crate) struct Connections {
    pub(crate) list: Vec<Connection>,
    pub(crate) places: Vec<Place>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum UnderTest {
    Nothing,
    Socket,
    Listening,
    Connection(usize),
}

impl Connections {
    pub(crate) fn of(events: &[Event]) -> Result<Self, ScriptError> {
        let mut list: Vec<Connection> = Vec::new();
        let mut places = Vec::with_capacity(events.len());
        let mut under_test = UnderTest::Nothing;
        let mut socket = None;
        // Descriptor of the connection attempt: further calls on it belong to that attempt.
        let mut connecting = None;
        for event in events {
            match &event.action {
                Action::Arrives(packet) => {
                    if matches!(under_test, UnderTest::Nothing | UnderTest::Listening) {
                        under_test = UnderTest::Connection(list.len());
                        socket = None;
                        list.push(Connection { active: false, local_isn: 0, remote_isn: seq(packet) });
                    } else if let UnderTest::Connection(k) = under_test
                        && list[k].active
                        && has_syn(packet)
                    {
                        list[k].remote_isn = seq(packet);
                    }
                }
                Action::Leaves(packet) => {
                    if let UnderTest::Connection(k) = under_test
                        && has_syn(packet)
                    {
                        list[k].local_isn = seq(packet);
                    }
                }
                Action::Call(call) => match (call.name.as_str(), &call.result) {
                    ("socket", Value::Int(fd)) => {
                        under_test = UnderTest::Socket;
                        socket = Some(*fd);
                    }
                    ("listen", _) => under_test = UnderTest::Listening,
                    ("accept" | "accept4", Value::Int(fd)) if *fd >= 0 => socket = Some(*fd),
                    ("close", _) if descriptor(call) == connecting => connecting = None,
                    // This call dissolves a connection.
                    ("connect", _) if call.arguments.get(1) != Some(&Value::Anything) => connecting = None,
                    _ if connects(call) && descriptor(call) != connecting => {
                        under_test = UnderTest::Connection(list.len());
                        socket = descriptor(call);
                        connecting = socket.filter(|_| goes_on(call));
                        list.push(Connection { active: true, local_isn: 0, remote_isn: 0 });
                    }
                    _ => {}
                },
                Action::Commands(_) | Action::Check(_) => {}
            }
            let is_packet = matches!(event.action, Action::Arrives(_) | Action::Leaves(_));
            let connection = match under_test {
                UnderTest::Connection(k) => k,
                _ if is_packet => {
                    return Err(ScriptError::refused(event.line, "no connection has this packet")
                        .hint("a socket listens or connects first"));
                }
                _ => 0,
            };
            places.push(Place { connection, socket });
        }
        Ok(Self { list, places })
    }
}

fn connects(call: &Call) -> bool {
    let fast_open = |value: &Value| match value {
        Value::Name(name) => name == "MSG_FASTOPEN",
        Value::Or(all) => all.contains(&Value::Name("MSG_FASTOPEN".into())),
        _ => false,
    };
    // Data for AF_UNSPEC has no destination.
    call.name == "connect"
        || (matches!(call.name.as_str(), "sendto" | "sendmsg")
            && call.arguments.iter().any(fast_open)
            && call.arguments.get(4) != Some(&Value::Name("AF_UNSPEC".into())))
}

/// Whether the attempt to connect continues when the call returns.
fn goes_on(call: &Call) -> bool {
    call.errno.as_deref().is_none_or(|errno| errno == "EINPROGRESS")
}

fn descriptor(call: &Call) -> Option<i64> {
    match call.arguments.first() {
        Some(Value::Int(fd)) => Some(*fd),
        _ => None,
    }
}

fn seq(packet: &Packet) -> u32 {
    match &packet.body {
        Body::Tcp(segment) => segment.seq,
        Body::Icmp(_) => 0,
    }
}

fn has_syn(packet: &Packet) -> bool {
    matches!(&packet.body, Body::Tcp(segment) if segment.flags.has(2))
}
