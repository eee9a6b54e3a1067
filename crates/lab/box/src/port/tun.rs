//! A TUN device
//! ([Documentation/networking/tuntap.rst](https://elixir.bootlin.com/linux/v6.12/source/Documentation/networking/tuntap.rst)):
//! what this machine routes into it comes here as packets of IP, and what is sent here comes to this machine as if from
//! a wire.
//!
//! It is asked for without a header before the packets and without offload, so that the kernel divides large segments
//! and completes sums before a packet comes here.

use super::{Buffer, FRAME_BYTES, PortError, Taken, errno};
use libc::{IFF_NO_PI, IFF_TUN, IFNAMSIZ, TUNSETIFF, TUNSETOFFLOAD, c_short, c_uint};
use nix::errno::Errno;
use nix::unistd::{read, write};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

/// A device that is open. It goes with the file, unless somebody has made it to stay.
#[derive(Debug)]
pub(super) struct Tun {
    file: File,
    /// The count of packets for which the device had no room. The file stays that of the device, also where the device
    /// moves to another network namespace, in which its name would not be found any more.
    dropped: File,
    /// What it was at the last question.
    dropped_before: u64,
    /// Where the next packet is read into.
    room: Box<[u8]>,
}

/// `struct ifreq`, as far as the call reads it
/// ([include/uapi/linux/if.h](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/if.h)).
#[repr(C)]
struct Request {
    name: [u8; IFNAMSIZ],
    flags: c_short,
    unused: [u8; 22],
}

impl Tun {
    /// Makes a device, or opens one that was made to stay.
    pub(super) fn open(name: &str) -> Result<Self, PortError> {
        let failed = |step, error| PortError::System { interface: name.to_owned(), step, error };
        let mut request = Request { name: [0; IFNAMSIZ], flags: 0, unused: [0; 22] };
        // The kernel would take a name without an end, none, and a pattern of numbers for something else.
        if name.is_empty() || name.len() >= IFNAMSIZ || name.contains('%') {
            return Err(PortError::NoTunName(name.to_owned()));
        }
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        request.flags = (IFF_TUN | IFF_NO_PI) as c_short;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(|error| PortError::NoTun(errno(&error)))?;
        attach(&file, &mut request).map_err(|error| match error {
            Errno::EPERM => PortError::Privilege { interface: name.to_owned(), capability: "CAP_NET_ADMIN" },
            Errno::EBUSY => PortError::Attached(name.to_owned()),
            Errno::EINVAL => PortError::NoTunName(name.to_owned()),
            error => failed("TUNSETIFF", error),
        })?;
        let dropped = File::open(format!("/sys/class/net/{name}/statistics/tx_dropped"));
        let dropped = dropped.map_err(|error| failed("its count in /sys/class/net", errno(&error)))?;
        let room = vec![0; FRAME_BYTES].into_boxed_slice();
        let mut tun = Self { file, dropped, dropped_before: 0, room };
        tun.newly_missed().map_err(|error| failed("its count in /sys/class/net", error))?;
        Ok(tun)
    }

    pub(super) fn readable(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub(super) fn newly_missed(&mut self) -> Result<u64, Errno> {
        let mut digits = [0; 24];
        let bytes = match self.dropped.read_at(&mut digits, 0).map_err(|error| errno(&error)) {
            // The device is gone, as the next question for a packet tells.
            Err(Errno::ENODEV) => return Ok(0),
            bytes => bytes?,
        };
        let words = str::from_utf8(&digits[..bytes]).ok();
        let dropped: u64 = words.and_then(|words| words.trim().parse().ok()).ok_or(Errno::EPROTO)?;
        let missed = dropped.saturating_sub(self.dropped_before);
        self.dropped_before = dropped;
        Ok(missed)
    }

    pub(super) fn take(&mut self, buffer: &mut Buffer) -> Result<Taken, Errno> {
        match read(&self.file, &mut self.room) {
            Ok(bytes) => {
                buffer.frame.clear();
                buffer.frame.extend_from_slice(&self.room[..bytes]);
                Ok(Taken::Frame)
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(Taken::Nothing),
            // The file has no device any more.
            Err(Errno::EBADFD) => Ok(Taken::Down),
            Err(error) => Err(error),
        }
    }

    pub(super) fn send(&self, buffer: &Buffer) -> Result<bool, Errno> {
        match write(&self.file, &buffer.frame) {
            Ok(_) => Ok(true),
            // EIO: the device is down, as it is until its user is ready.
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS | Errno::ENOMEM | Errno::EIO) => Ok(false),
            Err(Errno::EBADFD) => Err(Errno::ENODEV),
            Err(error) => Err(error),
        }
    }
}

/// Makes the device, or opens one that was made to stay, which may have been left with offload.
#[expect(unsafe_code, reason = "no library has these calls in a safe form")]
fn attach(file: &File, request: &mut Request) -> Result<(), Errno> {
    // SAFETY: the kernel reads and writes a `struct ifreq`, which is no longer than a `Request`.
    let made = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw mut *request) };
    Errno::result(made)?;
    // SAFETY: the argument is a number.
    let without_offload = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETOFFLOAD, 0 as c_uint) };
    Errno::result(without_offload).map(drop)
}
