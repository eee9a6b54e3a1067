//! A model that drives any controller through arbitrary but consistent histories and checks invariants.
//!
//! It stands for the endpoint: the recovery states, in the order of calls that [`CongestionControl`] promises. Property
//! tests and fuzz targets feed it [`Operation`]s.

use crate::{
    AckSample, AnyController, CcConfig, CongestionControl, GrowthRules, INFINITE_SSTHRESH, Reduction, Signal,
    Window,
};
use shoal_units::{Span, Time};

/// Payload bytes of a full segment: 1500 less IPv4, TCP and the timestamp option.
pub const MSS: u32 = 1448;

/// The stamp that all ACKs echo: laws look at differences. It is a multiple of a millisecond, so that a clock of whole
/// milliseconds shows the whole milliseconds of the delay.
const FIRST_STAMP: u32 = 1_000_000;

/// The stream as its sender sees it, from which the ACKs follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) now: Time,
    pub(crate) rtt: Span,
    pub(crate) snd_una: u64,
    pub(crate) snd_nxt: u64,
    /// One-way delay, in us.
    pub(crate) one_way_us: u32,
}

impl Stream {
    /// A stream with `flight` packets out and an RTT of 10 ms.
    pub(crate) fn with_flight(flight: u32) -> Self {
        Self {
            now: Time::ZERO + Span::from_secs(1),
            rtt: Span::from_millis(10),
            snd_una: 0,
            snd_nxt: u64::from(flight) * u64::from(MSS),
            one_way_us: 5000,
        }
    }

    /// Packets in flight.
    pub(crate) fn flight(&self) -> u32 {
        ((self.snd_nxt - self.snd_una) / u64::from(MSS)) as u32
    }

    /// An ACK for `packets`, all of which are marked if `ece`.
    pub(crate) fn acknowledge(&mut self, packets: u32, ece: bool) -> AckSample {
        let in_flight_before = self.flight();
        let acked_bytes = u64::from(packets) * u64::from(MSS);
        self.snd_una += acked_bytes;
        AckSample {
            now: self.now,
            acked_packets: packets,
            acked_bytes,
            delivered_packets: packets,
            marked_packets: if ece { packets } else { 0 },
            in_flight_before,
            delivered: 0,
            delivered_ce: 0,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: MSS,
            rtt: (packets > 0).then_some(self.rtt),
            srtt: self.rtt,
            ts_val: self.one_way_us.wrapping_add(FIRST_STAMP),
            ts_ecr: FIRST_STAMP,
            ece,
            duplicate: packets == 0,
            app_limited: false,
            in_cwr: false,
        }
    }

    /// An ACK for `packets`, all of which are marked if `ece`; as many packets are sent.
    #[cfg(test)]
    pub(crate) fn ack(&mut self, packets: u32, ece: bool) -> AckSample {
        let sample = self.acknowledge(packets, ece);
        self.snd_nxt += sample.acked_bytes;
        sample
    }

    pub(crate) fn signal(&self) -> Signal {
        let Self { now, snd_una, snd_nxt, .. } = *self;
        Signal { now, in_flight: self.flight(), snd_una, snd_nxt, mss: MSS }
    }
}

/// One thing that happens to a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// An ACK for up to `packets` of what is in flight.
    Ack {
        /// Packets it acknowledges, limited by the flight.
        packets: u8,
        /// Whether it carries ECN-Echo.
        ece: bool,
    },
    /// A duplicate ACK.
    Duplicate {
        /// Whether it carries ECN-Echo.
        ece: bool,
    },
    /// Loss is detected.
    Loss,
    /// The retransmission timer expires.
    Timeout,
    /// Nothing happens for `ms`.
    Wait {
        /// Milliseconds.
        ms: u16,
    },
    /// Everything is acknowledged, then nothing is sent for `ms`.
    Idle {
        /// Milliseconds.
        ms: u16,
    },
    /// The last reduction turns out spurious.
    Undo,
}

impl Operation {
    /// The operation that three bytes of fuzz input stand for. Most operations are ACKs, as on a real connection.
    pub const fn from_bytes([kind, low, high]: [u8; 3]) -> Self {
        let ms = u16::from_le_bytes([low, high]);
        match kind % 16 {
            0..=8 => Self::Ack { packets: low, ece: high % 4 == 0 },
            9..=10 => Self::Duplicate { ece: low % 2 == 0 },
            11 => Self::Loss,
            12 => Self::Timeout,
            13 => Self::Wait { ms },
            14 => Self::Idle { ms },
            _ => Self::Undo,
        }
    }
}

/// Recovery state of the endpoint (Disorder behaves like Open here).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// No reduction under way.
    Open,
    /// Reduction after ECN-Echo.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

/// A sender with one controller.
#[derive(Debug)]
pub struct Model {
    controller: AnyController,
    window: Window,
    state: State,
    stream: Stream,
    /// The episode ends when this is acknowledged.
    high_seq: u64,
    delivered: u64,
    delivered_ce: u64,
    cuts_once: bool,
    /// Lower bound of the window: one packet after a timeout until it has grown to two, else two.
    lowest_packets: u32,
    reductions: u64,
}

impl Model {
    /// A connection that has just been established, with a window of ten packets of `quantum` units.
    pub fn new(config: &CcConfig, rules: GrowthRules, quantum: u32) -> Self {
        let mut controller = AnyController::new(config, rules);
        controller.on_established(Time::ZERO, 0);
        let cuts_once = config.cuts_once_a_window();
        // The largest window that TCP can advertise is below 2^30 B (RFC 7323 section 2.3,
        // https://www.rfc-editor.org/rfc/rfc7323#section-2.3).
        let clamp = (1 << 30) / MSS * quantum;
        let window = Window { cwnd: 10 * quantum, quantum, clamp, ..Window::in_packets(10) };
        let mut model = Self {
            controller,
            window,
            state: State::Open,
            stream: Stream { now: Time::ZERO, ..Stream::with_flight(0) },
            high_seq: 0,
            delivered: 0,
            delivered_ce: 0,
            cuts_once,
            lowest_packets: 2,
            reductions: 0,
        };
        model.send();
        model
    }

    /// The window.
    pub const fn window(&self) -> Window {
        self.window
    }
    /// The recovery state.
    pub const fn state(&self) -> State {
        self.state
    }
    /// Reductions so far: episodes, and steps within them.
    pub const fn reductions(&self) -> u64 {
        self.reductions
    }
    /// The controller.
    pub const fn controller(&self) -> &AnyController {
        &self.controller
    }

    /// Carries out `operation` and checks the invariants.
    ///
    /// # Panics
    /// If an invariant does not hold.
    pub fn apply(&mut self, operation: Operation) {
        self.stream.now += Span::from_micros(100);
        match operation {
            Operation::Ack { packets, ece } => self.ack(u32::from(packets), ece),
            Operation::Duplicate { ece } => self.process(0, ece),
            Operation::Loss => self.loss(),
            Operation::Timeout => self.timeout(),
            Operation::Wait { ms } => self.stream.now += Span::from_millis(u64::from(ms)),
            Operation::Idle { ms } => self.idle(Span::from_millis(u64::from(ms))),
            Operation::Undo => self.undo(),
        }
        self.send();
        self.check();
    }

    fn ack(&mut self, packets: u32, ece: bool) {
        let packets = packets.min(self.stream.flight());
        if packets > 0 {
            self.process(packets, ece);
        }
    }

    /// One ACK, in the order of Linux `tcp_ack`.
    fn process(&mut self, packets: u32, ece: bool) {
        self.delivered += u64::from(packets);
        self.delivered_ce += if ece { u64::from(packets) } else { 0 };
        // Delays from 5 to 205 ms.
        self.stream.one_way_us = 5000 + (self.delivered * 7919 % 200_000) as u32;
        let sample = AckSample {
            delivered: self.delivered,
            delivered_ce: self.delivered_ce,
            in_cwr: self.state == State::Cwr,
            ..self.stream.acknowledge(packets, ece)
        };
        let before = self.window;
        self.controller.on_ack(&mut self.window, &sample);
        assert_eq!(self.window.cwnd, before.cwnd, "estimators leave cwnd alone");
        self.leave_episode();
        let grows = match self.state {
            State::Open => !ece || self.controller.grows_in_cwr(),
            State::Cwr => self.controller.grows_in_cwr(),
            State::Recovery => false,
            State::Loss => true,
        };
        if grows && packets > 0 {
            let before = self.window.cwnd;
            self.controller.on_growth(&mut self.window, &sample);
            // Prague's window follows its cuts by one packet an ACK.
            let step =
                if matches!(self.controller, AnyController::Prague(_)) { self.window.quantum } else { 0 };
            // LEDBAT's window shrinks as the delay grows.
            let is_ledbat = matches!(self.controller, AnyController::Ledbat(_));
            assert!(is_ledbat || self.window.cwnd + step >= before, "growth never shrinks");
            self.reductions += u64::from(self.window.cwnd < before);
        }
        match self.state {
            State::Open if ece => self.enter_cwr(),
            State::Cwr if ece => {
                let before = self.window;
                self.controller.on_ece_in_cwr(&mut self.window, &sample);
                assert!(self.window.cwnd <= before.cwnd, "a further mark never grows the window");
                assert!(!self.cuts_once || self.window == before, "one cut an episode");
                self.reductions += u64::from(self.window.cwnd < before.cwnd);
            }
            _ => {}
        }
    }

    fn enter_cwr(&mut self) {
        let (before, signal) = (self.window, self.stream.signal());
        let reduction = self.controller.on_ecn(&mut self.window, &signal);
        match reduction {
            Reduction::Spread => {
                assert_eq!(self.window.cwnd, before.cwnd, "the endpoint spreads the reduction");
                // The window is set as at the end of the episode; how it falls until then is up to the endpoint.
                self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            }
            Reduction::Done => {
                let floor = 2 * self.window.quantum;
                assert!(self.window.cwnd <= before.cwnd.max(floor), "a mark never grows the window");
            }
        }
        self.reductions += u64::from(self.window.cwnd < before.cwnd);
        self.enter(State::Cwr);
    }

    fn loss(&mut self) {
        let signal = self.stream.signal();
        match self.state {
            State::Open => self.controller.on_loss(&mut self.window, &signal),
            State::Cwr => {
                // There is no reduction in progress whose base could be raised.
                self.controller.on_loss_in_cwr(&mut self.window, &signal);
            }
            State::Recovery | State::Loss => return,
        }
        self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        self.reductions += 1;
        self.enter(State::Recovery);
    }

    fn timeout(&mut self) {
        let signal = self.stream.signal();
        let already_reduced = self.state != State::Open && self.stream.snd_una < self.high_seq;
        self.controller.on_rto(&mut self.window, &signal, already_reduced);
        self.window.cwnd = self.window.quantum;
        self.lowest_packets = 1;
        self.reductions += 1;
        self.enter(State::Loss);
    }

    fn idle(&mut self, idle: Span) {
        self.ack(self.stream.flight(), false);
        self.stream.now += idle;
        self.controller.on_idle_restart(&mut self.window, self.stream.now, idle);
        if idle > Span::from_millis(200) {
            self.controller.on_idle_beyond_rto(&mut self.window, self.stream.snd_nxt);
        }
    }

    fn undo(&mut self) {
        if self.state == State::Open {
            return;
        }
        let restored = self.controller.undo_cwnd(&self.window);
        assert!(restored >= self.window.cwnd, "an undo never shrinks the window");
        self.window.cwnd = restored.min(self.window.clamp);
        self.exit();
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.high_seq = self.stream.snd_nxt;
    }

    fn leave_episode(&mut self) {
        if self.state != State::Open && self.stream.snd_una >= self.high_seq {
            self.exit();
        }
    }

    fn exit(&mut self) {
        self.state = State::Open;
        self.controller.on_exit(&mut self.window, self.stream.now);
    }

    /// Fills the window.
    fn send(&mut self) {
        let allowed =
            self.stream.snd_una + u64::from(self.window.cwnd / self.window.quantum) * u64::from(MSS);
        if allowed > self.stream.snd_nxt {
            let packets = ((allowed - self.stream.snd_nxt) / u64::from(MSS)) as u32;
            self.stream.snd_nxt = allowed;
            self.controller.on_sent(self.stream.now, packets, self.stream.snd_nxt);
        }
    }

    fn check(&mut self) {
        let Window { cwnd, ssthresh, quantum, clamp, .. } = self.window;
        if cwnd >= 2 * quantum {
            self.lowest_packets = 2;
        }
        assert!(cwnd >= self.lowest_packets * quantum, "cwnd {cwnd} below {} packets", self.lowest_packets);
        assert!(cwnd <= clamp, "cwnd {cwnd} above the clamp {clamp}");
        assert!(ssthresh >= 2 * quantum, "ssthresh {ssthresh} below two packets of {quantum}");
        assert!(ssthresh <= INFINITE_SSTHRESH, "ssthresh {ssthresh}");
        if let Some(alpha) = self.controller.alpha() {
            assert!((0.0..=1.0).contains(&alpha), "alpha {alpha}");
        }
        let (srtt, in_flight) = (self.stream.rtt, self.stream.flight());
        if let Some(pace) = self.controller.pacing(&self.window, srtt, in_flight, MSS) {
            assert!(pace.bytes_per_s > 0, "a pace at which nothing leaves");
        }
        if let Some(bytes) = self.controller.packet_bytes() {
            assert!((53..=MSS + 52).contains(&bytes), "packets of {bytes} B");
        }
    }
}
