//! smoltcp's TCP with CUBIC over DualPI2, in virtual time, beside what the simulator says of CUBIC there.

use shoal_bottleneck::LinkConfig;
use shoal_packet::Ecn;
use shoal_scenario::Document;
use shoal_stacks::{BACKWARD, FORWARD, Path};
use shoal_units::{Span, Time};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::collections::VecDeque;

const SCENARIO: &str = r#"
duration = "20 s"
warmup = "5 s"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "500 packets", aqm = { kind = "dualpi2" } }
flows = [{ cc = "cubic", rtt = "20 ms", ecn = "off" }]
"#;

/// The packets of a host that came and that go.
#[derive(Default)]
struct Queues {
    received: VecDeque<Vec<u8>>,
    sent: Vec<Vec<u8>>,
}

struct Received(Vec<u8>);
struct Sent<'a>(&'a mut Vec<Vec<u8>>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let result = write(&mut packet);
        self.0.push(packet);
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

struct Host {
    device: Queues,
    interface: Interface,
    sockets: SocketSet<'static>,
    tcp: SocketHandle,
}

impl Host {
    fn new(number: u8) -> Self {
        let mut device = Queues::default();
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::ZERO);
        interface.update_ip_addrs(|all| {
            all.push(IpCidr::new(IpAddress::v4(10, 0, 0, number), 24)).expect("room for one");
        });
        let buffer = || tcp::SocketBuffer::new(vec![0; 1 << 20]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_congestion_control(tcp::CongestionControl::Cubic);
        let mut sockets = SocketSet::new(Vec::new());
        let tcp = sockets.add(socket);
        Self { device, interface, sockets, tcp }
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.tcp)
    }
}

/// Bytes that smoltcp delivers from 5 s to 20 s, and packets that the queue drops.
fn transfer(link: &LinkConfig, seed: u64) -> (u64, u64) {
    let mut path = Path::new(link, seed, Span::from_millis(10)).expect("the scenario is checked");
    let mut hosts = [Host::new(1), Host::new(2)];
    hosts[BACKWARD].socket().listen(5000).expect("a free port");
    let Host { interface, sockets, tcp, .. } = &mut hosts[FORWARD];
    let peer = (IpAddress::v4(10, 0, 0, 2), 5000);
    sockets.get_mut::<tcp::Socket>(*tcp).connect(interface.context(), peer, 49_152).expect("an address");

    let (begin, end) = (Time::ZERO + Span::from_secs(5), Time::ZERO + Span::from_secs(20));
    let (mut now, mut delivered) = (Time::ZERO, 0);
    while now < end {
        // smoltcp counts microseconds.
        let instant = Instant::from_micros(now.as_micros().cast_signed());
        for host in [FORWARD, BACKWARD] {
            while let Some((packet, _)) = path.receive(1 - host, now) {
                hosts[host].device.received.push_back(packet);
            }
            let Host { device, interface, sockets, .. } = &mut hosts[host];
            interface.poll(instant, device, sockets);
            for packet in device.sent.drain(..) {
                let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(packet[1] & 3)];
                path.send(host, now, packet.len() as u16, ecn, packet);
            }
        }
        let sender = hosts[FORWARD].socket();
        while sender.can_send() && sender.send_slice(&[7; 4096]).is_ok_and(|taken| taken > 0) {}
        let receiver = hosts[BACKWARD].socket();
        while receiver.can_recv() {
            let bytes = receiver.recv(|bytes| (bytes.len(), bytes.len())).expect("open") as u64;
            delivered += if now >= begin { bytes } else { 0 };
        }
        let wanted = hosts.iter_mut().filter_map(|host| host.interface.poll_at(instant, &host.sockets));
        let wanted = wanted.map(|at| Time::ZERO + Span::from_micros(at.total_micros().cast_unsigned())).min();
        let next = [path.next(now), wanted].into_iter().flatten().min().unwrap_or(end);
        // Up to a whole microsecond, and on in any case.
        let micros = next.as_picos().div_ceil(1_000_000).max(now.as_micros());
        now = Time::ZERO + Span::from_micros(if micros == now.as_micros() { micros + 1 } else { micros });
    }
    (delivered, path.links[FORWARD].counters().dropped)
}

#[test]
fn smoltcp_gets_of_dualpi2_what_cubic_gets_in_the_simulator() {
    let experiment = Document::parse(SCENARIO, "smoltcp").unwrap().resolve(None).unwrap();
    let (delivered, dropped) = transfer(&experiment.link_config(None).unwrap(), experiment.seed);
    let outcome = shoal_sim::run(&experiment, shoal_sim::Options::default()).expect("it runs to its end");
    let simulated = outcome.measured.groups[0].flows[0].goodput_bps.expect("it ran");
    let goodput = delivered as f64 * 8.0 / 15.0;
    println!("smoltcp {goodput:.0} bit/s with {dropped} drops, simulated CUBIC {simulated:.0} bit/s");
    assert!(dropped > 10, "{dropped} drops: the queue has a say");
    assert!((goodput / simulated - 1.0).abs() < 0.1, "{goodput} against {simulated} bit/s");
}
