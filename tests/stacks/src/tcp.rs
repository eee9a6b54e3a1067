//! A connection of smoltcp's TCP with CUBIC, whose left end always has data to send.

use shoal_bottleneck::{Datagram, Host};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::collections::VecDeque;

/// One end of the connection.
pub struct Tcp {
    device: Queues,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    is_sender: bool,
    /// What smoltcp's clock says.
    instant: Instant,
    /// Bytes that have been read.
    pub delivered: u64,
}

/// The packets of a host that come and that go.
#[derive(Default)]
struct Queues {
    received: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

struct Received(Vec<u8>);
struct Sent<'a>(&'a mut VecDeque<Vec<u8>>);

impl Tcp {
    /// The sender at the left end and the receiver at the right one.
    ///
    /// # Panics
    /// If smoltcp refuses an address.
    pub fn pair() -> [Self; 2] {
        let [mut left, mut right] = [Self::new(1, true), Self::new(2, false)];
        right.socket().listen(5000).expect("a free port");
        let Self { interface, sockets, socket, .. } = &mut left;
        let peer = (IpAddress::v4(10, 0, 0, 2), 5000);
        let socket = sockets.get_mut::<tcp::Socket>(*socket);
        socket.connect(interface.context(), peer, 49_152).expect("an address");
        [left, right]
    }

    fn new(number: u8, is_sender: bool) -> Self {
        let mut device = Queues::default();
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::ZERO);
        interface.update_ip_addrs(|all| {
            all.push(IpCidr::new(IpAddress::v4(10, 0, 0, number), 24)).expect("room for one");
        });
        let buffer = || tcp::SocketBuffer::new(vec![0; 1 << 20]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_congestion_control(tcp::CongestionControl::Cubic);
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        Self { device, interface, sockets, socket, is_sender, instant: Instant::ZERO, delivered: 0 }
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.socket)
    }
}

impl Host for Tcp {
    fn receive(&mut self, _: Time, datagram: Datagram) {
        self.device.received.push_back(datagram.contents);
    }

    fn transmit(&mut self, now: Time) -> Option<Datagram> {
        if self.device.sent.is_empty() {
            // smoltcp counts microseconds.
            self.instant = Instant::from_micros(now.as_micros().cast_signed());
            self.interface.poll(self.instant, &mut self.device, &mut self.sockets);
            let is_sender = self.is_sender;
            let socket = self.socket();
            while is_sender && socket.can_send() && socket.send_slice(&[7; 4096]).is_ok_and(|taken| taken > 0)
            {
            }
            while self.socket().can_recv() {
                let read = self.socket().recv(|bytes| (bytes.len(), bytes.len())).expect("open");
                self.delivered += read as u64;
            }
        }
        let packet = self.device.sent.pop_front()?;
        let ecn = Ecn::from_bits(packet[1]);
        Some(Datagram::new(packet, 0, ecn))
    }

    fn next(&mut self) -> Option<Time> {
        let at = self.interface.poll_at(self.instant, &self.sockets)?;
        Some(Time::ZERO + Span::from_micros(at.total_micros().cast_unsigned()))
    }
}

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let result = write(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl Device for Queues {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sent<'a>;
    fn receive(&mut self, _: Instant) -> Option<(Received, Sent<'_>)> {
        Some((Received(self.received.pop_front()?), Sent(&mut self.sent)))
    }
    fn transmit(&mut self, _: Instant) -> Option<Sent<'_>> {
        Some(Sent(&mut self.sent))
    }
    fn capabilities(&self) -> DeviceCapabilities {
        let mut all = DeviceCapabilities::default();
        (all.medium, all.max_transmission_unit) = (Medium::Ip, 1500);
        all
    }
}
