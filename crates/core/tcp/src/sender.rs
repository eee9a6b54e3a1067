//! The sending side of a connection, whichever kernel it is modelled on.
//!
//! `linux` and `freebsd` are the two kernels' senders. What both do alike is written once: the handshake and the
//! headers (`connection.rs`), the stream that the application writes (`stream.rs`), ECN signalling (`ecn.rs`),
//! proportional rate reduction (`prr.rs`), and what a sender reports of itself (`counters.rs`).

mod call;
mod connection;
mod counters;
mod ecn;
mod freebsd;
mod linux;
mod prr;
mod stream;

use crate::accurate::{AccurateEcn, Agreed};
use crate::{EndpointConfig, Kernel, Output};
use alloc::boxed::Box;
use call::{Call, Moment};
pub(crate) use connection::SYN_BYTES;
pub use counters::{Counters, Outstanding};
use freebsd::FreeBsdSender;
use linux::LinuxSender;
use shoal_cc::{CcConfig, CongestionControl, PathModel, Window};
pub use shoal_packet::CaState;
use shoal_packet::{Ecn, FlowId, Packet};
use shoal_units::{Span, Time};

/// Duplicate ACKs that mean a loss (RFC 5681 section 3.2, <https://www.rfc-editor.org/rfc/rfc5681#section-3.2>; Linux
/// `sysctl_tcp_reordering`, FreeBSD `tcprexmtthresh`).
const DUPLICATE_THRESHOLD: u32 = 3;

/// The sender of a connection. Each call takes the configuration with which the connection was made.
#[derive(Debug)]
pub struct Sender(Host);

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is the common one")]
enum Host {
    Linux(LinuxSender),
    /// Boxed: most simulations have none.
    FreeBsd(Box<FreeBsdSender>),
}

/// What is to be known of a sender after each call.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// As [`Sender::window`].
    pub window: Window,
    /// As [`Sender::alpha`].
    pub alpha: Option<f64>,
    /// As [`Sender::srtt`].
    pub srtt: Span,
    /// As [`Sender::deadline`].
    pub deadline: Time,
    /// As [`Sender::snd_una`].
    pub snd_una: u64,
}

/// Reads something of the sender inside.
macro_rules! read {
    ($self:ident, $sender:ident => $value:expr) => {
        match &$self.0 {
            Host::Linux($sender) => $value,
            Host::FreeBsd($sender) => $value,
        }
    };
}

/// Calls the sender inside with the rules of its kernel.
macro_rules! call {
    ($self:ident($config:ident, $now:ident, $out:ident), |$sender:ident, $call:ident| $do:expr) => {
        match (&mut $self.0, &$config.stack.kernel) {
            (Host::Linux($sender), Kernel::Linux(rules)) => {
                let $call = &mut Call::new($config, rules, $now, $out);
                $do
            }
            (Host::FreeBsd($sender), Kernel::FreeBsd(rules)) => {
                let $call = &mut Call::new($config, rules, $now, $out);
                $do
            }
            _ => wrong_kernel(),
        }
    };
}

/// A connection keeps its configuration for life; to look the kernel's rules up in it costs less than to keep them a
/// flow.
#[cold]
fn wrong_kernel() -> ! {
    panic!("a sender is called with the configuration of another kernel")
}

impl Sender {
    /// A closed connection. `flow` names it in its packets.
    pub fn new(config: &EndpointConfig, flow: FlowId) -> Self {
        Self(match config.stack.kernel {
            Kernel::Linux(_) => Host::Linux(LinuxSender::new(config, flow)),
            Kernel::FreeBsd(_) => Host::FreeBsd(Box::new(FreeBsdSender::new(config, flow))),
        })
    }

    /// Names the random draws of the controller, if it makes any; otherwise the flow's number names them.
    pub fn set_seed(&mut self, seed: u64) {
        if let Host::Linux(sender) = &mut self.0 {
            sender.set_seed(seed);
        }
    }
    /// Opens the connection: sends SYN.
    pub fn connect(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        call!(self(config, now, out), |sender, call| sender.connect(call));
    }
    /// The receiving half of this end has opened the connection, and `packet` has completed it; `rtt` is the time since
    /// the SYN/ACK, if that is known.
    pub(crate) fn accept(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        (agreed, rtt): (Agreed, Option<Span>),
        now: Time,
        out: &mut impl Output,
    ) {
        call!(self(config, now, out), |sender, call| sender.accept(call, packet, agreed, rtt));
    }
    /// The application writes `bytes` more. Sends what the window allows if the connection is open.
    pub fn write(&mut self, config: &EndpointConfig, bytes: u64, now: Time, out: &mut impl Output) {
        self.check_app_limited(config, now);
        call!(self(config, now, out), |sender, call| {
            sender.stream.write(bytes);
            sender.on_written(call);
        });
    }
    /// The application writes its last `bytes`: FIN goes with the last of them.
    pub fn write_last(&mut self, config: &EndpointConfig, bytes: u64, now: Time, out: &mut impl Output) {
        self.check_app_limited(config, now);
        call!(self(config, now, out), |sender, call| {
            sender.stream.write(bytes);
            sender.stream.closing = true;
            sender.on_written(call);
        });
    }
    /// The application always has data (`true`) or stops having some (`false`): nothing is written beyond what was
    /// sent and what the socket holds: the next packet, or what a host with segmentation offload has there.
    pub fn set_greedy(&mut self, config: &EndpointConfig, greedy: bool, now: Time, out: &mut impl Output) {
        if greedy {
            self.check_app_limited(config, now);
        }
        call!(self(config, now, out), |sender, call| {
            let held = sender.held(call.config);
            sender.stream.set_greedy(greedy, held);
            sender.on_written(call);
        });
    }
    /// The application has written all: FIN follows.
    pub fn close(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        call!(self(config, now, out), |sender, call| {
            sender.stream.closing = true;
            sender.on_written(call);
        });
    }
    /// The application is about to write: a controller of rate samples learns whether it limits the rate.
    fn check_app_limited(&mut self, config: &EndpointConfig, now: Time) {
        if let (Host::Linux(sender), Kernel::Linux(rules)) = (&mut self.0, &config.stack.kernel) {
            sender.check_app_limited(&Moment { config, rules, mss: config.mss(), now });
        }
    }
    /// The application gives the connection the controller `cc`, which knows nothing of what the one before has learnt:
    /// window and threshold stay (Linux `tcp_reinit_congestion_control`). Nothing is sent. On Linux alone.
    pub fn replace_controller(&mut self, config: &EndpointConfig, cc: &CcConfig, now: Time) {
        match (&mut self.0, &config.stack.kernel) {
            (Host::Linux(sender), Kernel::Linux(rules)) => {
                sender.replace_controller(&Moment { config, rules, mss: config.mss(), now }, cc);
            }
            _ => wrong_kernel(),
        }
    }
    /// A packet of the peer arrives.
    #[inline]
    pub fn on_packet(&mut self, config: &EndpointConfig, packet: &Packet, now: Time, out: &mut impl Output) {
        call!(self(config, now, out), |sender, call| sender.on_packet(call, packet));
    }
    /// The next time at which [`Sender::on_timer`] must be called; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn deadline(&self) -> Time {
        read!(self, sender => sender.deadline())
    }
    /// Time has passed: fires the timers that are due.
    pub fn on_timer(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        call!(self(config, now, out), |sender, call| sender.on_timer(call));
    }
    /// A segment has left the host whose queue discipline had kept it ([`Output::end_segment`]).
    pub fn on_segment_left(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if let (Host::Linux(sender), Kernel::Linux(rules)) = (&mut self.0, &config.stack.kernel) {
            sender.on_segment_left(&mut Call::new(config, rules, now, out));
        }
    }

    /// What is to be known after each call, with one look at which kernel it is.
    #[inline]
    pub fn report(&self) -> Report {
        read!(self, sender => Report {
            window: sender.window,
            alpha: sender.cc.alpha(),
            srtt: sender.srtt(),
            deadline: sender.deadline(),
            snd_una: sender.snd_una,
        })
    }
    /// The congestion window.
    #[inline]
    pub fn window(&self) -> &Window {
        read!(self, sender => &sender.window)
    }
    /// State of the recovery skeleton.
    #[inline]
    pub fn state(&self) -> CaState {
        match &self.0 {
            Host::Linux(sender) => sender.state,
            Host::FreeBsd(sender) => sender.state(),
        }
    }
    /// DCTCP's alpha, if the controller has one.
    #[inline]
    pub fn alpha(&self) -> Option<f64> {
        read!(self, sender => sender.cc.alpha())
    }
    /// Whether the controller's law is from outside, and has failed.
    pub fn law_has_failed(&self) -> bool {
        read!(self, sender => sender.cc.law_has_failed())
    }
    /// The controller's model of the path, if it has one.
    pub fn path_model(&self) -> Option<PathModel> {
        read!(self, sender => sender.cc.path_model())
    }
    /// Smoothed RTT; zero before the first sample.
    #[inline]
    pub fn srtt(&self) -> Span {
        read!(self, sender => sender.srtt())
    }
    /// Payload bytes a second that the window carries in a smoothed round trip, or the pace of a controller that sets
    /// its own if that is lower: what an application learns from Linux' `struct tcp_info`, whose MSS (`mss_cache`) has
    /// room for no option of accurate ECN. Zero before the first RTT sample.
    pub fn bytes_per_s(&self, config: &EndpointConfig) -> u64 {
        let (window, srtt) = (self.window(), self.srtt());
        if srtt.is_zero() {
            return 0;
        }
        let mss = u32::from(config.mss());
        let packet = read!(self, sender => sender.cc.packet_bytes());
        let mss = packet.map_or(mss, |bytes| bytes.saturating_sub(config.header_bytes.into()).clamp(1, mss));
        let bytes = u128::from(window.cwnd) * u128::from(mss) / u128::from(window.quantum);
        let rate = bytes * 1_000_000_000_000 / u128::from(srtt.as_picos());
        let pace = read!(self, sender => sender.cc.pacing(window, srtt, self.in_flight(), mss));
        u64::try_from(rate).unwrap_or(u64::MAX).min(pace.map_or(u64::MAX, |pace| pace.bytes_per_s))
    }
    /// Bytes that the application has written.
    pub fn written_bytes(&self) -> u64 {
        // Data begin at 1.
        read!(self, sender => sender.stream.written - 1)
    }
    /// Bytes that the application has written and that have not left for the first time.
    pub fn unsent_bytes(&self) -> u64 {
        read!(self, sender => sender.stream.written).saturating_sub(self.snd_nxt().max(1))
    }
    /// Packets in flight.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        read!(self, sender => sender.in_flight())
    }
    /// What is known of the packets that are out; none on FreeBSD, which keeps no board of packets.
    pub fn outstanding(&self) -> Option<Outstanding> {
        match &self.0 {
            Host::Linux(sender) => Some(sender.outstanding()),
            Host::FreeBsd(_) => None,
        }
    }
    /// Distance in packets over which one may be overtaken without being lost, at least three (Linux `tp->reordering`);
    /// none on FreeBSD, which learns nothing of it.
    pub fn reordering(&self) -> Option<u32> {
        match &self.0 {
            Host::Linux(sender) => Some(sender.reordering()),
            Host::FreeBsd(_) => None,
        }
    }
    /// What happened so far.
    #[inline]
    pub fn counters(&self) -> &Counters {
        read!(self, sender => &sender.counters)
    }
    /// First unacknowledged stream position (data begins at 1).
    #[inline]
    pub fn snd_una(&self) -> u64 {
        read!(self, sender => sender.snd_una)
    }
    /// Next stream position to send for the first time.
    #[inline]
    pub fn snd_nxt(&self) -> u64 {
        match &self.0 {
            Host::Linux(sender) => sender.snd_nxt,
            Host::FreeBsd(sender) => sender.snd_max,
        }
    }
    /// Whether the handshake is done.
    #[inline]
    pub fn is_established(&self) -> bool {
        read!(self, sender => sender.connection.is_established())
    }
    /// Whether ECN was negotiated.
    pub fn uses_ecn(&self) -> bool {
        read!(self, sender => sender.connection.ecn.is_negotiated())
    }
    /// Payload bytes that the peer has said to have arrived with a codepoint, modulo 2^32
    /// ([RFC 9768, section 3.2.3](https://www.rfc-editor.org/rfc/rfc9768#section-3.2.3); Linux
    /// `tcpi_delivered_e0_bytes` and its siblings); zero without accurate ECN.
    pub fn reported_bytes(&self, codepoint: Ecn) -> u32 {
        let accurate = read!(self, sender => &sender.connection.ecn.accurate);
        accurate.as_ref().map_or(0, |accurate| accurate.reported_bytes(codepoint))
    }
    /// What the handshake has agreed on.
    pub(crate) fn agreed(&self) -> Agreed {
        read!(self, sender => sender.connection.ecn.agreed())
    }
    /// Accurate ECN, if that is what this half uses.
    pub(crate) fn accurate(&mut self) -> Option<&mut AccurateEcn> {
        match &mut self.0 {
            Host::Linux(sender) => sender.connection.ecn.accurate.as_deref_mut(),
            Host::FreeBsd(sender) => sender.connection.ecn.accurate.as_deref_mut(),
        }
    }
    /// Whether the application has closed the connection.
    pub fn is_closing(&self) -> bool {
        read!(self, sender => sender.stream.closing)
    }
    /// Whether everything written is acknowledged.
    pub fn is_drained(&self) -> bool {
        self.is_established() && read!(self, sender => sender.snd_una >= sender.stream.written)
    }
    /// Segments declared lost so far; on FreeBSD, which declares nothing, segments repeated.
    pub fn losses(&self) -> u64 {
        read!(self, sender => sender.losses())
    }
    /// Bytes of heap behind this sender.
    pub fn heap_bytes(&self) -> usize {
        read!(self, sender => sender.heap_bytes())
    }
    /// Checks what must always hold; for tests and fuzzing.
    ///
    /// # Panics
    /// If the scoreboard's counters differ from a recount, or the window is zero.
    pub fn assert_invariants(&self) {
        read!(self, sender => sender.assert_invariants());
    }
}
