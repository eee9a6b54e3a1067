//! Two programs with a link each way between them, in virtual time.

#[cfg(test)]
mod tests;

use crate::{Bottleneck, LinkConfig, LinkError, Next};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use shoal_aqm::Verdict;
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

/// Two links in opposite directions, which keep the contents of the packets that are on them.
///
/// [`Path::run`] is a whole test of two programs that implement [`Host`]; [`Path::send`], [`Path::receive`] and
/// [`Path::next`] are its parts, for programs that have a main loop of their own.
///
/// ```
/// use shoal_aqm::{Extent, FifoConfig, QueueConfig};
/// use shoal_bottleneck::{Datagram, End, Host, LinkConfig, Path};
/// use shoal_packet::Ecn;
/// use shoal_units::{Rate, Span, Time};
///
/// /// Sends so many datagrams, one each millisecond, or answers each that comes.
/// #[derive(Default)]
/// struct Echo { to_send: u64, due: Time, to_answer: u32, received: Vec<(u64, usize)> }
///
/// impl Host for Echo {
///     fn receive(&mut self, now: Time, datagram: Datagram) {
///         self.received.push((now.as_millis(), datagram.contents.len()));
///         self.to_answer += u32::from(self.to_send == 0 && self.due == Time::ZERO);
///     }
///     fn transmit(&mut self, now: Time) -> Option<Datagram> {
///         if self.to_answer > 0 {
///             self.to_answer -= 1;
///             return Some(Datagram::new(b"ok".to_vec(), 28, Ecn::NotEct));
///         }
///         (self.to_send > 0 && self.due <= now).then(|| {
///             (self.to_send, self.due) = (self.to_send - 1, now + Span::from_millis(1));
///             // With the headers of IP and UDP it takes 1 ms on the line.
///             Datagram::new(vec![0; 1222], 28, Ecn::Ect0)
///         })
///     }
///     fn next(&mut self) -> Option<Time> {
///         (self.to_send > 0).then_some(self.due)
///     }
/// }
///
/// let fifo = QueueConfig::Fifo(FifoConfig { limit: Extent::Packets(10) });
/// let forward = LinkConfig::new(Rate::from_bps(10_000_000), Span::from_millis(5), fifo);
/// let mut path = Path::new(&forward, &LinkConfig::pure_delay(Span::from_millis(5)), 1)?;
/// let (mut client, mut server) = (Echo { to_send: 3, ..Echo::default() }, Echo::default());
/// path.run([&mut client, &mut server], Time::ZERO + Span::from_secs(1));
/// assert_eq!(server.received, [(6, 1222), (7, 1222), (8, 1222)]);
/// assert_eq!(client.received, [(11, 2), (12, 2), (13, 2)]);
/// assert_eq!(path.link(End::Left).counters().delivered, 3);
/// # Ok::<(), shoal_bottleneck::LinkError>(())
/// ```
pub struct Path {
    /// The links to which the left and the right end send.
    ways: [Way; 2],
    /// Up to here [`Path::run`] has run.
    now: Time,
}

/// An end of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Where packets begin that cross the forward link.
    Left,
    /// Where they arrive.
    Right,
}

/// A packet with its contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// What it carries; the path does not read it.
    pub contents: Vec<u8>,
    /// Its size as an IP packet, in bytes.
    pub bytes: u16,
    /// The ECN codepoint of its IP header; that of an arrived packet may have become [`Ecn::Ce`].
    pub ecn: Ecn,
    /// Its flow, for queues that tell flows apart.
    pub flow: u32,
}

/// A program at one end of a path: a transport that has neither a clock nor sockets, and who uses it.
pub trait Host {
    /// A datagram has come.
    fn receive(&mut self, now: Time, datagram: Datagram);

    /// Does what is due, and returns a datagram that is to be sent now. It is asked whenever something has come, and at
    /// the times for which it asks, until it returns `None`.
    fn transmit(&mut self, now: Time) -> Option<Datagram>;

    /// When it is to be asked again if nothing comes before; `None` if it need not be.
    ///
    /// A clock that counts in coarser units rounds such times up. A time that is over means a microsecond from now, so
    /// that time goes on.
    fn next(&mut self) -> Option<Time>;
}

impl Datagram {
    /// These contents behind so many bytes of headers, in flow 0.
    pub fn new(contents: Vec<u8>, headers: u16, ecn: Ecn) -> Self {
        let bytes = u16::try_from(contents.len()).unwrap_or(u16::MAX).saturating_add(headers);
        Self { contents, bytes, ecn, flow: 0 }
    }
}

impl Path {
    /// A path whose forward link leads from left to right, in an experiment with this seed.
    ///
    /// # Errors
    /// If there is no such link; see [`LinkError`].
    pub fn new(forward: &LinkConfig, backward: &LinkConfig, seed: u64) -> Result<Self, LinkError> {
        Ok(Self { ways: [Way::new(forward, seed)?, Way::new(backward, seed)?], now: Time::ZERO })
    }

    /// The link to which this end sends, for its counters and for changes of its rate and delay.
    pub fn link(&mut self, from: End) -> &mut Bottleneck {
        &mut self.ways[from as usize].link
    }

    /// An end sends a datagram. Returns what the queue says of it.
    pub fn send(&mut self, from: End, now: Time, datagram: Datagram) -> Verdict {
        self.ways[from as usize].send(now, datagram)
    }

    /// The next datagram that has come to this end by `now`.
    pub fn receive(&mut self, at: End, now: Time) -> Option<Datagram> {
        let way = &mut self.ways[1 - at as usize];
        if way.arrived.is_empty() {
            way.advance(now);
        }
        way.arrived.pop_front()
    }

    /// When the next datagram may come: `now` if there is one already, and `None` if nothing is on its way. A queue may
    /// want to be asked before something comes.
    pub fn next(&mut self, now: Time) -> Option<Time> {
        let next = |way: &mut Way| {
            let next = way.advance(now);
            if way.arrived.is_empty() { next } else { Some(now) }
        };
        self.ways.iter_mut().filter_map(next).min()
    }

    /// Runs the programs at the left and the right end up to `until`, from the beginning or from where the last call
    /// ended: what happens at `until` is left to the next call.
    ///
    /// Time does not go on for two ends that answer at once, over two links without any delay.
    pub fn run(&mut self, hosts: [&mut dyn Host; 2], until: Time) {
        let mut hosts = hosts;
        while self.now < until {
            let now = self.now;
            for (host, end) in hosts.iter_mut().zip([End::Left, End::Right]) {
                while let Some(datagram) = self.receive(end, now) {
                    host.receive(now, datagram);
                }
                while let Some(datagram) = host.transmit(now) {
                    let _ = self.send(end, now, datagram);
                }
            }
            let later = |at: Time| if at > now { at } else { now + Span::from_micros(1) };
            let wanted = hosts.iter_mut().filter_map(|host| host.next()).map(later).min();
            self.now = self.next(now).into_iter().chain(wanted).min().unwrap_or(until).min(until);
        }
    }
}

/// A link with the contents of its packets.
struct Way {
    link: Bottleneck,
    /// Whether the same packet may arrive twice.
    may_copy: bool,
    handle: u64,
    contents: BTreeMap<u64, Vec<u8>>,
    arrived: VecDeque<Datagram>,
}

impl Way {
    fn new(link: &LinkConfig, seed: u64) -> Result<Self, LinkError> {
        Ok(Self {
            link: Bottleneck::new(link, seed)?,
            may_copy: link.impairments.as_ref().is_some_and(|all| all.duplicate.is_possible()),
            handle: 0,
            contents: BTreeMap::new(),
            arrived: VecDeque::new(),
        })
    }

    fn send(&mut self, now: Time, datagram: Datagram) -> Verdict {
        let Datagram { contents, bytes, ecn, flow } = datagram;
        self.handle += 1;
        let verdict = self.link.enqueue(now, bytes, ecn, flow, self.handle);
        if !matches!(verdict, Verdict::Dropped(_)) {
            self.contents.insert(self.handle, contents);
        }
        verdict
    }

    /// Takes from the link what has arrived by `now`. Returns when to ask again.
    fn advance(&mut self, now: Time) -> Option<Time> {
        let next = loop {
            match self.link.next(now) {
                Next::Packet(arrival) => {
                    let contents = if self.may_copy {
                        self.contents.get(&arrival.handle).cloned()
                    } else {
                        self.contents.remove(&arrival.handle)
                    };
                    self.arrived.extend(contents.map(|contents| Datagram {
                        contents,
                        bytes: arrival.bytes,
                        ecn: arrival.ecn,
                        flow: arrival.flow,
                    }));
                }
                Next::Lost(lost) => drop(self.contents.remove(&lost.handle)),
                Next::At(at) => break Some(at),
                Next::Nothing => break None,
            }
        };
        // Which packet has a copy that is still to come is known of all of them together.
        if self.link.held() == 0 {
            self.contents.clear();
        }
        next
    }
}
