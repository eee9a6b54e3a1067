//! An Ethernet interface as a raw socket (AF_PACKET, [packet(7)](https://man7.org/linux/man-pages/man7/packet.7.html)):
//! frames as they come, with what the kernel keeps beside them.

use super::{Buffer, FRAME_BYTES, HEADER_BYTES, PortError, Taken, nanos};
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{
    AddressFamily, Backlog, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType,
    UnixAddr, bind, getsockopt, listen, recvmsg, sendmsg, setsockopt, socket,
};
use nix::sys::time::TimeSpec;
use nix::time::ClockId;
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use shoal_units::Span;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

sockopt_impl!(
    /// Sums that are not computed yet come beside the frame, and go on with it.
    VirtualHeader, SetOnly, libc::SOL_PACKET, libc::PACKET_VNET_HDR, bool
);
sockopt_impl!(
    /// Tags of virtual networks that the card has taken off come beside the frame.
    Auxiliary, SetOnly, libc::SOL_PACKET, libc::PACKET_AUXDATA, bool
);
sockopt_impl!(
    /// Frames that this host sends are none that come.
    IgnoreOutgoing, SetOnly, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, bool
);
sockopt_impl!(
    /// What is sent passes the interface's own queueing discipline by.
    BypassQueue, SetOnly, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, bool
);
sockopt_impl!(
    /// Frames that came since the last question, and those of them for which the socket had no room.
    Statistics, GetOnly, libc::SOL_PACKET, libc::PACKET_STATISTICS, libc::tpacket_stats
);
sockopt_impl!(
    /// The interface takes frames that are addressed to others, as long as the socket is open.
    Promiscuous, SetOnly, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, libc::packet_mreq
);

/// Room for frames that have come and are not taken yet, in bytes as the kernel counts them, which is more than a frame
/// has: some 30 ms of full frames at 1 Gbit/s. The default has room for less than 1 ms.
const WAITING_BYTES: usize = 8 << 20;
/// `struct tpacket_auxdata`
/// ([include/uapi/linux/if_packet.h](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/if_packet.h)).
const AUXILIARY_BYTES: usize = 20;
/// Two addresses, behind which a tag stands.
const ADDRESSES_BYTES: usize = 12;

/// An interface that is open.
#[derive(Debug)]
pub(super) struct Socket {
    socket: OwnedFd,
    /// Held as long as the port is open, and named after the interface, so that nobody else opens it. The name lies in
    /// the network namespace, and goes with the process.
    _claim: OwnedFd,
    /// Where the next frame is read into, and what the kernel keeps beside it.
    room: Box<[u8]>,
    auxiliary: Vec<u8>,
}

impl Socket {
    /// Opens an interface.
    pub(super) fn open(interface: &str) -> Result<Self, PortError> {
        let failed = |step, error| PortError::System { interface: interface.to_owned(), step, error };
        let entries = getifaddrs().map_err(|error| failed("the list of interfaces", error))?;
        let mut of_name = entries.filter(|entry| entry.interface_name == interface).peekable();
        if of_name.peek().is_none() {
            return Err(PortError::Absent(interface.to_owned()));
        }
        // Of what has no addresses at the level of its link, such as tunnels, the list has none.
        let address = of_name.find_map(|entry| entry.address?.as_link_addr().copied());
        let address = address.filter(|address| address.hatype() == libc::ARPHRD_ETHER);
        let address = address.ok_or_else(|| PortError::NoEthernet(interface.to_owned()))?;
        let claim = claim(interface)?;
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket =
            socket(AddressFamily::Packet, SockType::Raw, flags, SockProtocol::EthAll).map_err(|error| {
                match error {
                    Errno::EPERM => {
                        PortError::Privilege { interface: interface.to_owned(), capability: "CAP_NET_RAW" }
                    }
                    error => failed("a raw socket", error),
                }
            })?;
        // Before it is bound frames of all interfaces come; they are thrown away below.
        setsockopt(&socket, VirtualHeader, &true).map_err(|error| failed("PACKET_VNET_HDR", error))?;
        setsockopt(&socket, Auxiliary, &true).map_err(|error| failed("PACKET_AUXDATA", error))?;
        setsockopt(&socket, ReceiveTimestampns, &true).map_err(|error| failed("SO_TIMESTAMPNS", error))?;
        setsockopt(&socket, IgnoreOutgoing, &true)
            .map_err(|error| failed("PACKET_IGNORE_OUTGOING", error))?;
        setsockopt(&socket, BypassQueue, &true).map_err(|error| failed("PACKET_QDISC_BYPASS", error))?;
        // Beyond the limit for all only CAP_NET_ADMIN helps; with less room, frames may be missed, which are counted.
        if setsockopt(&socket, RcvBufForce, &WAITING_BYTES).is_err() {
            setsockopt(&socket, RcvBuf, &WAITING_BYTES).map_err(|error| failed("SO_RCVBUF", error))?;
        }
        bind(socket.as_raw_fd(), &address).map_err(|error| failed("bind", error))?;
        let everything = libc::packet_mreq {
            mr_ifindex: i32::try_from(address.ifindex()).unwrap_or(0),
            mr_type: libc::PACKET_MR_PROMISC.try_into().unwrap_or(0),
            mr_alen: 0,
            mr_address: [0; 8],
        };
        setsockopt(&socket, Promiscuous, &everything).map_err(|error| failed("promiscuous mode", error))?;
        let auxiliary = nix::cmsg_space!([u8; AUXILIARY_BYTES], TimeSpec);
        let mut port =
            Self { socket, _claim: claim, room: vec![0; FRAME_BYTES].into_boxed_slice(), auxiliary };
        let mut before = Buffer::default();
        while port.take(&mut before).map_err(|error| failed("recvmsg", error))? == Taken::Frame {}
        port.newly_missed().map_err(|error| failed("PACKET_STATISTICS", error))?;
        Ok(port)
    }

    pub(super) fn readable(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(super) fn newly_missed(&self) -> Result<u64, Errno> {
        getsockopt(&self.socket, Statistics).map(|since| u64::from(since.tp_drops))
    }

    pub(super) fn take(&mut self, buffer: &mut Buffer) -> Result<Taken, Errno> {
        let mut parts = [IoSliceMut::new(&mut buffer.header), IoSliceMut::new(&mut self.room[..])];
        let flags = MsgFlags::MSG_DONTWAIT;
        let read = recvmsg::<LinkAddr>(self.socket.as_raw_fd(), &mut parts, Some(&mut self.auxiliary), flags);
        buffer.waited = Span::ZERO;
        let mut tag = None;
        let bytes = match read {
            Ok(message) => {
                for beside in message.cmsgs().into_iter().flatten() {
                    match beside {
                        ControlMessageOwned::ScmTimestampns(came) => buffer.waited = since(came),
                        beside => tag = tag.or(tag_of(beside)),
                    }
                }
                message.bytes
            }
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(Taken::Nothing),
            Err(Errno::ENETDOWN | Errno::ENODEV) => return Ok(Taken::Down),
            Err(error) => return Err(error),
        };
        let frame = &self.room[..bytes.saturating_sub(HEADER_BYTES)];
        let [_, merged, ..] = buffer.header;
        if merged != 0 {
            return Ok(Taken::Merged(frame.len()));
        }
        buffer.frame.clear();
        match tag {
            Some(tag) if frame.len() >= ADDRESSES_BYTES => {
                buffer.frame.extend_from_slice(&frame[..ADDRESSES_BYTES]);
                buffer.frame.extend_from_slice(&tag);
                buffer.frame.extend_from_slice(&frame[ADDRESSES_BYTES..]);
                move_sum(&mut buffer.header, tag.len());
            }
            _ => buffer.frame.extend_from_slice(frame),
        }
        Ok(Taken::Frame)
    }

    pub(super) fn send(&self, buffer: &Buffer) -> Result<bool, Errno> {
        let parts = [IoSlice::new(&buffer.header), IoSlice::new(&buffer.frame)];
        match sendmsg::<LinkAddr>(self.socket.as_raw_fd(), &parts, &[], MsgFlags::MSG_DONTWAIT, None) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::EINTR) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Takes an interface for this process.
fn claim(interface: &str) -> Result<OwnedFd, PortError> {
    let failed = |error| PortError::System { interface: interface.to_owned(), step: "its claim", error };
    let kind = (AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC);
    let claim = socket(kind.0, kind.1, kind.2, None).map_err(failed)?;
    let name = UnixAddr::new_abstract(format!("shoal-box/{interface}").as_bytes()).map_err(failed)?;
    match bind(claim.as_raw_fd(), &name) {
        Err(Errno::EADDRINUSE) => Err(PortError::Taken(interface.to_owned())),
        Err(error) => Err(failed(error)),
        Ok(()) => listen(&claim, Backlog::new(0).map_err(failed)?).map_err(failed).map(|()| claim),
    }
}

/// The tag that a card has taken off a frame, as it stood there: its type and what it says.
fn tag_of(message: ControlMessageOwned) -> Option<[u8; 4]> {
    let ControlMessageOwned::Unknown(message) = message else { return None };
    let data = message.data_bytes;
    if data.len() < AUXILIARY_BYTES {
        return None;
    }
    let status = u32::from_ne_bytes([data[0], data[1], data[2], data[3]]);
    if status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let word = |at: usize| u16::from_ne_bytes([data[at], data[at + 1]]).to_be_bytes();
    let kind = if status & libc::TP_STATUS_VLAN_TPID_VALID == 0 { [0x81, 0] } else { word(18) };
    let says = word(16);
    Some([kind[0], kind[1], says[0], says[1]])
}

/// How long ago something was by the clock of frames' times, which may be set; then it was now.
fn since(came: TimeSpec) -> Span {
    let now = ClockId::CLOCK_REALTIME.now().unwrap_or(came);
    nanos(Duration::from(now).saturating_sub(Duration::from(came)))
}

/// Moves the place at which a sum begins by the bytes that were put in front of it.
fn move_sum(header: &mut [u8; HEADER_BYTES], bytes: usize) {
    let needs_sum = header[0] & 1 != 0;
    if needs_sum {
        let begins = u16::from_ne_bytes([header[6], header[7]]) + bytes as u16;
        header[6..8].copy_from_slice(&begins.to_ne_bytes());
    }
}
