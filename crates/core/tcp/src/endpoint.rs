//! A whole end of a connection.

use crate::{EndpointConfig, Output, Receiver, Sender};
use shoal_packet::{Flags, FlowId, Packet, Seq};
use shoal_units::{Span, Time};

/// Most doublings of the timeout of a SYN/ACK (Linux `tcp_synack_retries`), though it is repeated for ever.
const MOST_DOUBLINGS: u32 = 5;

/// A whole end of a connection: a [`Sender`] and a [`Receiver`] that share the handshake, in either role
/// ([RFC 9293, section 3.5](https://www.rfc-editor.org/rfc/rfc9293#section-3.5)), and what they know of the peer. An
/// end that does not connect listens. Each call takes the configuration with which the end was made.
#[derive(Debug)]
pub struct Endpoint {
    sender: Sender,
    receiver: Receiver,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Closed,
    SynSent,
    /// A SYN has come, and the SYN/ACK has left.
    SynReceived(Request),
    Open,
    /// The peer has reset the connection.
    Reset,
}

/// A SYN that has been answered (Linux `request_sock`).
#[derive(Clone, Copy, Debug)]
struct Request {
    syn: Packet,
    /// Departure of the first SYN/ACK.
    answered: Time,
    /// Number of SYN/ACKs that were repeated, and that were because of the timer (Linux `num_retrans`, `num_timeout`).
    repeats: u32,
    timeouts: u32,
    deadline: Time,
}

impl Endpoint {
    /// An end without a connection; `flow` names it in its packets.
    pub fn new(config: &EndpointConfig, flow: FlowId) -> Self {
        Self {
            sender: Sender::new(config, flow),
            receiver: Receiver::new(config, flow),
            phase: Phase::Closed,
        }
    }

    /// Opens the connection: sends SYN.
    pub fn connect(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        self.phase = Phase::SynSent;
        self.sender.connect(config, now, out);
    }
    /// The application writes `bytes` more.
    pub fn write(&mut self, config: &EndpointConfig, bytes: u64, now: Time, out: &mut impl Output) {
        self.send(config, now, out, |sender, out| sender.write(config, bytes, now, out));
    }
    /// The application has written all: FIN follows.
    pub fn close(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        self.send(config, now, out, |sender, out| sender.close(config, now, out));
    }

    /// A packet of the peer arrives. A reset ends the connection, whatever its sequence number.
    pub fn on_packet(&mut self, config: &EndpointConfig, packet: &Packet, now: Time, out: &mut impl Output) {
        let is_syn = packet.flags.has(Flags::SYN);
        match self.phase {
            Phase::Reset => {}
            _ if packet.flags.has(Flags::RST) => self.phase = Phase::Reset,
            Phase::Closed if is_syn => {
                self.receiver.on_packet(config, packet, now, out);
                let deadline = now + config.stack.rto_initial;
                let request = Request { syn: *packet, answered: now, repeats: 0, timeouts: 0, deadline };
                self.phase = Phase::SynReceived(request);
            }
            Phase::Closed => {}
            Phase::SynSent => {
                self.sender.on_packet(config, packet, now, out);
                if self.sender.is_established() {
                    self.receiver.begin(config, self.sender.agreed(), packet);
                    self.phase = Phase::Open;
                }
            }
            Phase::SynReceived(request) if is_syn => {
                self.repeat_syn_ack(config, Request { syn: *packet, ..request }, now, out);
            }
            Phase::SynReceived(request) => self.accept(config, &request, packet, now, out),
            Phase::Open if is_syn => self.receive(out, |receiver, out| {
                receiver.answer_syn(config, packet, now, out);
            }),
            Phase::Open => {
                self.send(config, now, out, |sender, out| sender.on_packet(config, packet, now, out));
                self.receive(out, |receiver, out| receiver.on_packet(config, packet, now, out));
                self.share();
            }
        }
    }

    /// The next time at which [`Endpoint::on_timer`] must be called; [`Time::NEVER`] if no timer runs.
    pub fn deadline(&self) -> Time {
        match self.phase {
            Phase::Reset => Time::NEVER,
            Phase::SynReceived(request) => request.deadline,
            _ => self.sender.deadline().min(self.receiver.deadline()),
        }
    }
    /// Time has passed: fires the timers that are due.
    pub fn on_timer(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        match self.phase {
            Phase::SynReceived(request) if now >= request.deadline => {
                self.repeat_syn_ack(config, request, now, out);
                if let Phase::SynReceived(request) = &mut self.phase {
                    request.timeouts += 1;
                    request.deadline = now + request.timeout(config);
                }
            }
            Phase::SynSent | Phase::Open => {
                self.send(config, now, out, |sender, out| sender.on_timer(config, now, out));
                self.receive(out, |receiver, out| receiver.on_timer(config, now, out));
            }
            Phase::Closed | Phase::SynReceived(_) | Phase::Reset => {}
        }
    }

    /// Whether the handshake is done, and the peer has not reset the connection.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }
    /// The half that sends.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }
    /// The half that receives.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The ACK of the SYN/ACK has come, or data behind one that was lost.
    fn accept(
        &mut self,
        config: &EndpointConfig,
        request: &Request,
        packet: &Packet,
        now: Time,
        out: &mut impl Output,
    ) {
        if !packet.flags.has(Flags::ACK) || packet.ack != Seq(1) {
            return;
        }
        self.receiver.on_packet(config, packet, now, out);
        // An ACK of one of several SYN/ACKs does not say of which (Linux `tcp_synack_rtt_meas`).
        let rtt = (request.repeats == 0).then(|| now.since(request.answered));
        self.sender.accept(config, packet, (self.receiver.agreed(), rtt), now, out);
        self.phase = Phase::Open;
    }

    /// Repeats the SYN/ACK, which says nothing of ECN once a repeated one has been lost, too. Data are then sent
    /// without ECT (Linux `tcp_ecn_make_synack`, `TCP_ACCECN_ACE_FAIL_SEND`).
    fn repeat_syn_ack(
        &mut self,
        config: &EndpointConfig,
        mut request: Request,
        now: Time,
        out: &mut impl Output,
    ) {
        self.receiver.repeat_syn_ack(config, &request.syn, request.timeouts == 0, now, out);
        request.repeats += 1;
        if request.repeats > 1
            && let Some(accurate) = self.receiver.accurate()
        {
            accurate.give_up_ect();
        }
        request.deadline = now + request.timeout(config);
        self.phase = Phase::SynReceived(request);
    }

    /// Calls the sending half. What it sends on the open connection acknowledges what has come.
    fn send<O: Output>(
        &mut self,
        config: &EndpointConfig,
        now: Time,
        out: &mut O,
        call: impl FnOnce(&mut Sender, &mut Beside<'_, O>),
    ) {
        let receiver = matches!(self.phase, Phase::Open).then_some((&mut self.receiver, config, now));
        call(&mut self.sender, &mut Beside { out, receiver, next: None });
    }
    /// Calls the receiving half. What it sends stands behind the data that have been sent.
    fn receive<O: Output>(&mut self, out: &mut O, call: impl FnOnce(&mut Receiver, &mut Beside<'_, O>)) {
        let next = Some(Seq::of(self.sender.snd_nxt()));
        call(&mut self.receiver, &mut Beside { out, receiver: None, next });
    }
    /// What either half has learnt of the path holds for both.
    fn share(&mut self) {
        if let (Some(sending), Some(receiving)) = (self.sender.accurate(), self.receiver.accurate()) {
            sending.share(receiving);
        }
    }
}

impl Request {
    /// Linux `tcp_reqsk_timeout`.
    fn timeout(&self, config: &EndpointConfig) -> Span {
        let doublings = self.timeouts.min(MOST_DOUBLINGS);
        config.stack.rto_initial.saturating_mul(1 << doublings).min(config.stack.rto_max)
    }
}

/// Where one half of an end puts its packets: the other half has its part in them.
struct Beside<'a, O> {
    out: &'a mut O,
    /// The receiving half, whose acknowledgement goes with what the sending half sends.
    receiver: Option<(&'a mut Receiver, &'a EndpointConfig, Time)>,
    /// Sequence number behind all that was sent, for what the receiving half sends.
    next: Option<Seq>,
}

impl<O: Output> Output for Beside<'_, O> {
    fn transmit(&mut self, mut packet: Packet) {
        if let Some((receiver, config, now)) = &mut self.receiver {
            receiver.acknowledge_with(config, &mut packet, *now);
        }
        if let Some(next) = self.next {
            packet.seq = next;
        }
        self.out.transmit(packet);
    }
    fn card_free(&self) -> Time {
        self.out.card_free()
    }
    fn takes(&mut self, bytes: u64) -> bool {
        self.out.takes(bytes)
    }
    fn begin_segment(&mut self, departure: Time) {
        self.out.begin_segment(departure);
    }
    fn end_segment(&mut self) -> u32 {
        self.out.end_segment()
    }
}
