//! A network interface as the box has it: frames of Ethernet from a raw socket, or packets of IP from a TUN device.

mod socket;
mod tun;

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};
use shoal_trace::pcapng::LinkType;
use shoal_units::Span;
use socket::Socket;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;
use tun::Tun;

/// Before the name of a TUN device. No interface is named so, since names have no colon.
const TUN: &str = "tun:";
/// The largest frame that is taken: 64 KiB and its headers, beyond what any interface has as its MTU.
const FRAME_BYTES: usize = (1 << 16) + 64;
/// `struct virtio_net_hdr`
/// ([include/uapi/linux/virtio_net.h](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/virtio_net.h)):
/// flags, kind of a merged segment, its headers and parts, and where a sum begins and stands.
const HEADER_BYTES: usize = 10;

/// Why an interface cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PortError {
    /// There is none of the name.
    #[error("there is no interface `{0}`")]
    Absent(String),
    /// The system does not let this program open it.
    #[error("`{interface}` cannot be opened without the capability {capability}")]
    Privilege {
        /// The interface.
        interface: String,
        /// What lacks.
        capability: &'static str,
    },
    /// Another box has it.
    #[error("another box uses `{0}`")]
    Taken(String),
    /// Another program has opened the TUN device.
    #[error("another program uses the TUN device `{0}`")]
    Attached(String),
    /// What comes there does not begin with an Ethernet header.
    #[error("`{0}` is no Ethernet interface")]
    NoEthernet(String),
    /// The kernel makes no TUN device of the name.
    #[error("`{0}` is no name for a TUN device: another kind of interface has it, or none can have it")]
    NoTunName(String),
    /// The kernel makes no TUN devices, or not for this program.
    #[error("no TUN devices: /dev/net/tun: {0}")]
    NoTun(Errno),
    /// The system refuses a step.
    #[error("`{interface}`: {step}: {error}")]
    System {
        /// The interface.
        interface: String,
        /// What was to be done.
        step: &'static str,
        /// What the system says.
        error: Errno,
    },
}

/// A time of the system.
pub(crate) fn nanos(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// What became of a question for a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// There is one.
    Frame,
    /// There is none now.
    Nothing,
    /// Several packets came as one segment of so many bytes: the sender's interface, or this one, merges them.
    Merged(usize),
    /// The interface is gone or down; a TUN device that is down only has nothing.
    Down,
}

/// A frame, and how its sum is to be completed by whoever sends it on.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    header: [u8; HEADER_BYTES],
    /// How long before it was taken it had come; zero where the system does not say.
    pub(crate) waited: Span,
    /// The frame from its first byte on: the destination address, or the IP header of a packet without a frame.
    pub frame: Vec<u8>,
}

impl Buffer {
    /// A frame whose sums are complete.
    pub fn complete(frame: Vec<u8>) -> Self {
        Self { frame, ..Self::default() }
    }
}

/// An interface that is open.
#[derive(Debug)]
pub struct Port(Kind);

#[derive(Debug)]
enum Kind {
    Socket(Socket),
    Tun(Tun),
}

impl Port {
    /// Opens an interface by its name, or a TUN device by `tun:` and its name.
    ///
    /// Nothing about an interface changes but that it takes frames for everybody until the port is closed, however that
    /// happens. A TUN device is made if there is none of the name, and goes when the port is closed.
    ///
    /// # Errors
    /// [`PortError`].
    pub fn open(interface: &str) -> Result<Self, PortError> {
        Ok(Self(match interface.strip_prefix(TUN) {
            Some(name) => Kind::Tun(Tun::open(name)?),
            None => Kind::Socket(Socket::open(interface)?),
        }))
    }

    /// Opens an interface of a network namespace, which is a file such as those in `/run/netns`.
    ///
    /// # Errors
    /// [`PortError`].
    pub fn open_in(namespace: &Path, interface: &str) -> Result<Self, PortError> {
        let failed = |error| PortError::System {
            interface: interface.to_owned(),
            step: "its network namespace",
            error,
        };
        // A thread has a namespace of its own, and what it opens there stays there.
        let opened = std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                let file = File::open(namespace).map_err(|error| failed(errno(&error)))?;
                setns(file, CloneFlags::CLONE_NEWNET).map_err(failed)?;
                Self::open(interface)
            });
            inside.join()
        });
        opened.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// What its frames begin with.
    pub fn link_type(&self) -> LinkType {
        match self.0 {
            Kind::Socket(_) => LinkType::Ethernet,
            Kind::Tun(_) => LinkType::Raw,
        }
    }

    /// What waiting for frames waits for.
    pub fn readable(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Kind::Socket(socket) => socket.readable(),
            Kind::Tun(tun) => tun.readable(),
        }
    }

    /// Frames that came since the last question and for which there was no room, because they were not taken fast
    /// enough.
    ///
    /// # Errors
    /// What the system says.
    pub fn newly_missed(&mut self) -> Result<u64, Errno> {
        match &mut self.0 {
            Kind::Socket(socket) => socket.newly_missed(),
            Kind::Tun(tun) => tun.newly_missed(),
        }
    }

    /// Takes the next frame that has come, if there is one.
    ///
    /// # Errors
    /// What the system says, unless that is that the interface is down.
    pub fn take(&mut self, buffer: &mut Buffer) -> Result<Taken, Errno> {
        match &mut self.0 {
            Kind::Socket(socket) => socket.take(buffer),
            Kind::Tun(tun) => tun.take(buffer),
        }
    }

    /// Sends a frame; false if the interface has no room for it now.
    ///
    /// # Errors
    /// What the system says.
    pub fn send(&self, buffer: &Buffer) -> Result<bool, Errno> {
        match &self.0 {
            Kind::Socket(socket) => socket.send(buffer),
            Kind::Tun(tun) => tun.send(buffer),
        }
    }
}

/// What the system says in an error of the standard library.
fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}
