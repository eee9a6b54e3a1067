//! Growth rules of hosts, and a flow that feeds the ACKs of a stream to a controller.

pub(crate) use crate::testing::{MSS, Stream};
use crate::{AckCounting, CongestionControl, GrowthRules, SlowStartTest, Window};
use shoal_units::Span;

/// Linux 3.2: ACKs counted, `cwnd <= ssthresh` is slow start.
pub(crate) const LINUX_3_2: GrowthRules = GrowthRules {
    counting: AckCounting::PerAck,
    slow_start_test: SlowStartTest::BelowOrAt,
    slow_start_counting: AckCounting::PerAck,
    is_paced: false,
};
/// Linux 3.18.
pub(crate) const LINUX_3_18: GrowthRules =
    GrowthRules { slow_start_counting: AckCounting::PerPacket, ..LINUX_3_2 };
/// Current Linux.
pub(crate) const LINUX_6: GrowthRules = GrowthRules {
    counting: AckCounting::PerPacket,
    slow_start_test: SlowStartTest::Below,
    slow_start_counting: AckCounting::PerPacket,
    is_paced: false,
};

/// FreeBSD: bytes counted.
pub(crate) const FREEBSD: GrowthRules = GrowthRules {
    counting: AckCounting::Bytes,
    slow_start_test: SlowStartTest::BelowOrAt,
    slow_start_counting: AckCounting::Bytes,
    is_paced: false,
};

/// A controller with its window and the stream of its connection.
pub(crate) struct Flow<C> {
    pub(crate) cc: C,
    pub(crate) window: Window,
    pub(crate) stream: Stream,
    /// Packets that each ACK of [`Self::run`] acknowledges.
    pub(crate) per_ack: u32,
}

impl<C: CongestionControl> Flow<C> {
    /// A flow in congestion avoidance with `cwnd` packets.
    pub(crate) fn in_avoidance(mut cc: C, cwnd: u32, rtt: Span) -> Self {
        let stream = Stream { rtt, ..Stream::with_flight(cwnd) };
        cc.on_established(stream.now, 0);
        Self { cc, window: Window { ssthresh: cwnd - 1, ..Window::in_packets(cwnd) }, stream, per_ack: 1 }
    }

    /// An ACK at once that only the estimators see.
    pub(crate) fn ack(&mut self, packets: u32, ece: bool) {
        let sample = self.stream.ack(packets, ece);
        self.cc.on_ack(&mut self.window, &sample);
    }

    /// An ACK at once that only makes the window grow.
    pub(crate) fn grow(&mut self, packets: u32) {
        let sample = self.stream.ack(packets, false);
        self.cc.on_growth(&mut self.window, &sample);
    }

    /// The next of the ACKs that come evenly over the RTT.
    pub(crate) fn next_ack(&mut self) {
        let packets = u64::from(self.window.cwnd / self.window.quantum);
        self.stream.now += Span::from_picos(self.stream.rtt.as_picos() * u64::from(self.per_ack) / packets);
        let sample = self.stream.ack(self.per_ack, false);
        self.cc.on_ack(&mut self.window, &sample);
        self.cc.on_growth(&mut self.window, &sample);
    }

    /// ACKs evenly over the RTT for `span`.
    pub(crate) fn run(&mut self, span: Span) {
        let end = self.stream.now + span;
        while self.stream.now < end {
            self.next_ack();
        }
    }

    /// A reduction by loss of a full window, completed at once.
    pub(crate) fn cut(&mut self) {
        let packets = u64::from(self.window.cwnd / self.window.quantum);
        self.stream.snd_nxt = self.stream.snd_una + packets * u64::from(MSS);
        self.lose();
        self.window.cwnd = self.window.ssthresh;
        self.cc.on_exit(&mut self.window, self.stream.now);
    }

    pub(crate) fn ecn(&mut self) {
        self.cc.on_ecn(&mut self.window, &self.stream.signal());
    }

    pub(crate) fn lose(&mut self) {
        self.cc.on_loss(&mut self.window, &self.stream.signal());
    }

    pub(crate) fn lose_in_cwr(&mut self) {
        self.cc.on_loss_in_cwr(&mut self.window, &self.stream.signal());
    }

    pub(crate) fn time_out(&mut self, already_reduced: bool) {
        self.cc.on_rto(&mut self.window, &self.stream.signal(), already_reduced);
    }

    /// Sending resumes after more than a retransmission timeout.
    pub(crate) fn idle_beyond_rto(&mut self) {
        self.cc.on_idle_beyond_rto(&mut self.window, self.stream.snd_nxt);
    }
}
