//! The sending side of a connection, whichever kernel it is modelled on.

use crate::freebsd::FreeBsdSender;
use crate::sender::LinuxSender;
use crate::{CaState, Counters, EndpointConfig, Kernel, Output, Outstanding};
use alloc::boxed::Box;
use shoal_cc::Window;
use shoal_packet::{FlowId, Packet};
use shoal_units::{Span, Time};

/// The sender of a connection.
#[derive(Clone, Debug)]
pub struct Sender(Host);

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is the common one")]
enum Host {
    Linux(LinuxSender),
    /// Boxed: most simulations have none.
    FreeBsd(Box<FreeBsdSender>),
}

/// Forwards one call to the sender inside.
macro_rules! forward {
    ($self:ident, $sender:ident => $call:expr) => {
        match &$self.0 {
            Host::Linux($sender) => $call,
            Host::FreeBsd($sender) => $call,
        }
    };
    (mut $self:ident, $sender:ident => $call:expr) => {
        match &mut $self.0 {
            Host::Linux($sender) => $call,
            Host::FreeBsd($sender) => $call,
        }
    };
}

impl Sender {
    /// A closed connection. `flow` names it in its packets.
    pub fn new(config: &EndpointConfig, flow: FlowId) -> Self {
        Self(match config.stack.kernel {
            Kernel::Linux => Host::Linux(LinuxSender::new(config, flow)),
            Kernel::FreeBsd(_) => Host::FreeBsd(Box::new(FreeBsdSender::new(config, flow))),
        })
    }

    /// Opens the connection: sends SYN.
    pub fn connect(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        forward!(mut self, sender => sender.connect(config, now, out));
    }
    /// The application writes `bytes` more. Sends what the window allows if the connection is open.
    pub fn write(&mut self, config: &EndpointConfig, bytes: u64, now: Time, out: &mut impl Output) {
        forward!(mut self, sender => sender.write(config, bytes, now, out));
    }
    /// The application writes its last `bytes`: FIN goes with the last of them.
    pub fn write_last(&mut self, config: &EndpointConfig, bytes: u64, now: Time, out: &mut impl Output) {
        forward!(mut self, sender => sender.write_last(config, bytes, now, out));
    }
    /// The application always has data (`true`) or stops having some (`false`): nothing beyond what was sent is written.
    pub fn set_greedy(&mut self, config: &EndpointConfig, greedy: bool, now: Time, out: &mut impl Output) {
        forward!(mut self, sender => sender.set_greedy(config, greedy, now, out));
    }
    /// The application has written all: FIN follows.
    pub fn close(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        forward!(mut self, sender => sender.close(config, now, out));
    }
    /// A packet of the peer arrives.
    #[inline]
    pub fn on_packet(&mut self, config: &EndpointConfig, packet: &Packet, now: Time, out: &mut impl Output) {
        forward!(mut self, sender => sender.on_packet(config, packet, now, out));
    }
    /// The next time at which [`Sender::on_timer`] must be called; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn deadline(&self) -> Time {
        forward!(self, sender => sender.deadline())
    }
    /// Time has passed: fires the timers that are due.
    pub fn on_timer(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        forward!(mut self, sender => sender.on_timer(config, now, out));
    }

    /// The congestion window.
    #[inline]
    pub fn window(&self) -> &Window {
        forward!(self, sender => sender.window())
    }
    /// State of the recovery skeleton.
    #[inline]
    pub fn state(&self) -> CaState {
        forward!(self, sender => sender.state())
    }
    /// DCTCP's alpha, if the controller has one.
    #[inline]
    pub fn alpha(&self) -> Option<f64> {
        forward!(self, sender => sender.alpha())
    }
    /// Smoothed RTT; zero before the first sample.
    #[inline]
    pub fn srtt(&self) -> Span {
        forward!(self, sender => sender.srtt())
    }
    /// Packets in flight.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        forward!(self, sender => sender.in_flight())
    }
    /// What is known of the packets that are out; none on FreeBSD, which keeps no board of packets.
    pub fn outstanding(&self) -> Option<Outstanding> {
        match &self.0 {
            Host::Linux(sender) => Some(sender.outstanding()),
            Host::FreeBsd(_) => None,
        }
    }
    /// What happened so far.
    #[inline]
    pub fn counters(&self) -> &Counters {
        forward!(self, sender => sender.counters())
    }
    /// First unacknowledged stream position (data begins at 1).
    #[inline]
    pub fn snd_una(&self) -> u64 {
        forward!(self, sender => sender.snd_una())
    }
    /// Next stream position to send for the first time.
    #[inline]
    pub fn snd_nxt(&self) -> u64 {
        match &self.0 {
            Host::Linux(sender) => sender.snd_nxt(),
            Host::FreeBsd(sender) => sender.highest_sent(),
        }
    }
    /// Whether the handshake is done.
    #[inline]
    pub fn is_established(&self) -> bool {
        forward!(self, sender => sender.is_established())
    }
    /// Whether ECN was negotiated.
    pub fn uses_ecn(&self) -> bool {
        forward!(self, sender => sender.uses_ecn())
    }
    /// Whether the application has closed the connection.
    pub fn is_closing(&self) -> bool {
        forward!(self, sender => sender.is_closing())
    }
    /// Whether everything written is acknowledged.
    pub fn is_drained(&self) -> bool {
        forward!(self, sender => sender.is_drained())
    }
    /// Segments declared lost so far; on FreeBSD, which declares nothing, segments repeated.
    pub fn losses(&self) -> u64 {
        forward!(self, sender => sender.losses())
    }
    /// Bytes of heap behind this sender.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Host::Linux(sender) => sender.heap_bytes(),
            Host::FreeBsd(sender) => size_of::<FreeBsdSender>() + sender.heap_bytes(),
        }
    }
    /// Checks what must always hold; for tests and fuzzing.
    ///
    /// # Panics
    /// If the scoreboard's counters differ from a recount, or the window is zero.
    pub fn assert_invariants(&self) {
        forward!(self, sender => sender.assert_invariants());
    }
}
