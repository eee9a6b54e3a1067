//! quinn-proto's QUIC with CUBIC over DualPI2, in virtual time, beside what the simulator says of CUBIC there.

use bytes::BytesMut;
use quinn_proto::congestion::CubicConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig,
    Event, ServerConfig, StreamId, TransportConfig, VarInt,
};
use shoal_bottleneck::LinkConfig;
use shoal_packet::Ecn;
use shoal_scenario::Document;
use shoal_stacks::{BACKWARD, FORWARD, Path};
use shoal_units::{Span, Time};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SCENARIO: &str = r#"
duration = "20 s"
warmup = "5 s"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "500 packets", aqm = { kind = "dualpi2" } }
flows = [{ cc = "cubic", rtt = "20 ms", ecn = "on" }]
"#;

/// IPv4 and UDP.
const HEADERS: u16 = 28;

struct Host {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    server: Option<Arc<ServerConfig>>,
}

impl Host {
    /// A datagram comes; answers without a connection are not needed here.
    fn receive(&mut self, now: Instant, from: SocketAddr, ecn: Ecn, datagram: &[u8]) {
        let codepoint = EcnCodepoint::from_bits(ecn.bits());
        let mut answer = Vec::new();
        let data = BytesMut::from(datagram);
        match self.endpoint.handle(now, from, None, codepoint, data, &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, self.server.clone());
                self.connection = Some(accepted.unwrap_or_else(|_| panic!("the connection is refused")));
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Handles what is due, and hands over what endpoint and connection have for each other.
    fn step(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else { return };
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
    }
}

fn hosts(now: Instant, to: SocketAddr) -> [Host; 2] {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = certified.signing_key.serialize_der().try_into().expect("a key");
    let certificate = certified.cert.der().clone();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).expect("a root");
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(CubicConfig::default()));
    transport.receive_window(VarInt::from_u32(4 << 20)).stream_receive_window(VarInt::from_u32(4 << 20));
    transport.send_window(4 << 20).enable_segmentation_offload(false);
    let transport = Arc::new(transport);
    let mut server = ServerConfig::with_single_cert(vec![certificate], key).expect("a key");
    server.transport = transport.clone();
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).expect("a root");
    client.transport_config(transport);
    let server = Arc::new(server);
    let endpoint = |server| Endpoint::new(Arc::new(EndpointConfig::default()), server, true, Some([1; 32]));
    let mut sender = endpoint(None);
    let connection = sender.connect(now, client, to, "localhost").expect("an address");
    [
        Host { endpoint: sender, connection: Some(connection), server: None },
        Host { endpoint: endpoint(Some(server.clone())), connection: None, server: Some(server) },
    ]
}

/// Bytes that quinn delivers from 5 s to 20 s, and packets that the queue marks.
fn transfer(link: &LinkConfig, seed: u64) -> (u64, u64) {
    let mut path = Path::new(link, seed, Span::from_millis(10)).expect("the scenario is checked");
    let addresses: [SocketAddr; 2] =
        ["10.0.0.1:4433", "10.0.0.2:4433"].map(|text| text.parse().expect("one"));
    // quinn's instants are the standard library's: only differences count.
    let start = Instant::now();
    let instant = |now: Time| start + Duration::from_nanos(now.as_picos() / 1000);
    let mut hosts = hosts(start, addresses[BACKWARD]);
    let (begin, end) = (Time::ZERO + Span::from_secs(5), Time::ZERO + Span::from_secs(20));
    let (mut now, mut delivered, mut stream) = (Time::ZERO, 0, None::<StreamId>);
    while now < end {
        for number in [FORWARD, BACKWARD] {
            while let Some((datagram, ecn)) = path.receive(1 - number, now) {
                hosts[number].receive(instant(now), addresses[1 - number], ecn, &datagram);
            }
            hosts[number].step(instant(now));
            let Some((_, connection)) = &mut hosts[number].connection else { continue };
            while let Some(event) = connection.poll() {
                match event {
                    Event::Connected if number == FORWARD => stream = connection.streams().open(Dir::Uni),
                    Event::ConnectionLost { reason } => panic!("{reason}"),
                    _ => {}
                }
            }
            if number == BACKWARD {
                if let Some(id) = stream
                    && let Ok(mut chunks) = connection.recv_stream(id).read(true)
                {
                    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                        delivered += if now >= begin { chunk.bytes.len() as u64 } else { 0 };
                    }
                    let _ = chunks.finalize();
                }
            } else if let Some(id) = stream {
                while connection.send_stream(id).write(&[7; 4096]).is_ok() {}
            }
            let mut datagram = Vec::new();
            while let Some(sent) = connection.poll_transmit(instant(now), 1, &mut datagram) {
                let ecn =
                    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][sent.ecn.map_or(0, |ecn| ecn as usize)];
                path.send(number, now, sent.size as u16 + HEADERS, ecn, std::mem::take(&mut datagram));
            }
        }
        let due = |host: &mut Host| host.connection.as_mut()?.1.poll_timeout();
        let wanted = hosts.iter_mut().filter_map(due).min();
        let wanted = wanted
            .map(|at| Time::ZERO + Span::from_nanos(u64::try_from((at - start).as_nanos()).expect("20 s")));
        let next = [path.next(now), wanted].into_iter().flatten().min().unwrap_or(end);
        // Up to a whole nanosecond, and on in any case.
        let nanos = |at: Time| at.as_picos().div_ceil(1000);
        now = Time::ZERO + Span::from_nanos(nanos(next).max(nanos(now) + u64::from(next <= now)));
    }
    (delivered, path.links[FORWARD].counters().marked)
}

#[test]
fn quinn_gets_of_dualpi2_what_cubic_gets_in_the_simulator() {
    let experiment = Document::parse(SCENARIO, "quinn").unwrap().resolve(None).unwrap();
    let (delivered, marked) = transfer(&experiment.link_config(None).unwrap(), experiment.seed);
    let outcome = shoal_sim::run(&experiment, shoal_sim::Options::default()).expect("it runs to its end");
    let simulated = outcome.measured.groups[0].flows[0].goodput_bps.expect("it ran");
    let goodput = delivered as f64 * 8.0 / 15.0;
    println!("quinn {goodput:.0} bit/s with {marked} marks, simulated CUBIC {simulated:.0} bit/s");
    assert!(marked > 10, "{marked} marks: the queue has a say");
    assert!((goodput / simulated - 1.0).abs() < 0.1, "{goodput} against {simulated} bit/s");
}
