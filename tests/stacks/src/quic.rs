//! A connection of quinn-proto, with a stream from left to right that always has data.

use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, Event,
    ServerConfig, StreamId, TransportConfig,
};
use shoal_bottleneck::{Datagram, Host};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// IPv4 and UDP.
const HEADERS: u16 = 28;

/// One end of the connection.
pub struct Quic {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
    is_sender: bool,
    stream: Option<StreamId>,
    /// quinn's instants are the standard library's, of which only differences count: this one is the beginning.
    start: Instant,
    /// Bytes of the stream that have been read.
    pub delivered: u64,
}

impl Quic {
    /// The sender at the left end and the receiver at the right one, both with this configuration.
    ///
    /// # Panics
    /// If quinn refuses it.
    pub fn pair(transport: TransportConfig) -> [Self; 2] {
        let transport = Arc::new(transport);
        let certified =
            rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let key = certified.signing_key.serialize_der().try_into().expect("a key");
        let certificate = certified.cert.der().clone();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate.clone()).expect("a root");
        let mut server = ServerConfig::with_single_cert(vec![certificate], key).expect("a key");
        server.transport = transport.clone();
        let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).expect("a root");
        client.transport_config(transport);
        let start = Instant::now();
        let end = |server: Option<ServerConfig>, peer: &str| Self {
            is_sender: server.is_none(),
            endpoint: Endpoint::new(Arc::default(), server.map(Arc::new), true, Some([1; 32])),
            connection: None,
            peer: peer.parse().expect("an address"),
            stream: None,
            start,
            delivered: 0,
        };
        let (mut left, right) = (end(None, "10.0.0.2:4433"), end(Some(server), "10.0.0.1:4433"));
        left.connection =
            Some(left.endpoint.connect(start, client, left.peer, "localhost").expect("an address"));
        [left, right]
    }

    fn instant(&self, now: Time) -> Instant {
        self.start + Duration::from_nanos(now.as_picos() / 1000)
    }

    /// Reads or writes the stream.
    fn use_stream(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.is_sender => self.stream = connection.streams().open(Dir::Uni),
                Event::ConnectionLost { reason } => panic!("{reason}"),
                _ => {}
            }
        }
        if !self.is_sender && self.stream.is_none() {
            self.stream = connection.streams().accept(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        if self.is_sender {
            while connection.send_stream(stream).write(&[7; 4096]).is_ok() {}
        } else if let Ok(mut chunks) = connection.recv_stream(stream).read(true) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.delivered += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
        }
    }
}

impl Host for Quic {
    fn receive(&mut self, now: Time, datagram: Datagram) {
        let (now, codepoint) = (self.instant(now), EcnCodepoint::from_bits(datagram.ecn.bits()));
        let (data, mut answer) = (BytesMut::from(&datagram.contents[..]), Vec::new());
        match self.endpoint.handle(now, self.peer, None, codepoint, data, &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.connection.as_mut().expect("made").1.handle_event(event);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                self.connection = Some(accepted.unwrap_or_else(|_| panic!("the connection is refused")));
            }
            // Answers without a connection are not needed here.
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    fn transmit(&mut self, now: Time) -> Option<Datagram> {
        let now = self.instant(now);
        let (handle, connection) = self.connection.as_mut()?;
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        self.use_stream();
        let mut contents = Vec::new();
        let sent = self.connection.as_mut()?.1.poll_transmit(now, 1, &mut contents)?;
        let ecn = Ecn::from_bits(sent.ecn.map_or(0, |ecn| ecn as u8));
        Some(Datagram::new(contents, HEADERS, ecn))
    }

    fn next(&mut self) -> Option<Time> {
        let due = self.connection.as_mut()?.1.poll_timeout()?;
        let nanos = u64::try_from((due - self.start).as_nanos()).expect("less than centuries");
        Some(Time::ZERO + Span::from_nanos(nanos))
    }
}
