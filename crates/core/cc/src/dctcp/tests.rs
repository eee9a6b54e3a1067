mod alpha;
mod cut;
mod freebsd;
mod kuehlewind;

use super::{Dctcp, DctcpConfig, presets};
use crate::tests::drive::{self, MSS, Stream};
use crate::{CongestionControl, GrowthRules, Window};
use shoal_units::Time;

type Flow = drive::Flow<Dctcp>;

impl Flow {
    fn new(config: DctcpConfig, rules: GrowthRules, cwnd: u32) -> Self {
        // An ACK is processed before it lets a packet out, so an observation window is one packet shorter than the
        // flight (as in Linux): one packet more makes windows of `cwnd` packets.
        let stream = Stream::with_flight(cwnd + 1);
        let mut cc = Dctcp::new(config, rules);
        cc.on_established(Time::ZERO, u64::from(cwnd) * u64::from(MSS));
        Self { cc, window: Window { ssthresh: cwnd / 2, ..Window::in_packets(cwnd) }, stream, per_ack: 1 }
    }

    /// A window of `of` packets with an ACK for each, of which the first `marked` are marked.
    fn round(&mut self, marked: u32, of: u32) {
        for packet in 0..of {
            self.ack(1, packet < marked);
        }
    }

    fn alpha(&self) -> f64 {
        self.cc.alpha().unwrap()
    }

    /// Alpha of a 10-bit variant.
    fn alpha_q10(&self) -> u32 {
        (self.alpha() * 1024.0) as u32
    }

    /// Another ACK for one packet with ECE in CWR; before the cut the window grows if the variant grows in CWR.
    fn ece(&mut self) {
        let sample = self.stream.ack(1, true);
        self.cc.on_ack(&mut self.window, &sample);
        if self.cc.grows_in_cwr() {
            self.cc.on_growth(&mut self.window, &sample);
        }
        self.cc.on_ece_in_cwr(&mut self.window, &sample);
    }
}
