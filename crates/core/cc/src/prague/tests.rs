mod alpha;
mod cut;
mod fallback;
mod open_loop;
mod pacing;
mod rate;
mod window;

use super::level::ONE;
use super::{Prague, presets};
use crate::tests::drive::{self, LINUX_6};
use crate::{CongestionControl, PragueConfig, Reduction, Window};
use presets::{PRAGUE_0_6, PRAGUE_0_7, PRAGUE_0_7_EARLY, PRAGUE_2020};
use shoal_units::Span;

type Flow = drive::Flow<Prague>;

/// All versions, oldest first.
const VERSIONS: [PragueConfig; 4] = [PRAGUE_2020, PRAGUE_0_6, PRAGUE_0_7_EARLY, PRAGUE_0_7];

/// A version whose law counts in virtual round trips from the first one on.
const fn at_once(config: PragueConfig) -> PragueConfig {
    PragueConfig { independent_after_rounds: 0, ..config }
}

impl Flow {
    /// A flow in congestion avoidance with `cwnd` packets in flight and an RTT of `ms`.
    fn prague(config: PragueConfig, cwnd: u32, ms: u64) -> Self {
        let mut flow = Self::in_avoidance(Prague::new(config, LINUX_6), cwnd, Span::from_millis(ms));
        flow.window.ssthresh = cwnd;
        flow
    }

    /// An ACK after `us` for `packets`, of which `marked` carried CE, outside of CWR.
    fn after(&mut self, us: u64, packets: u32, marked: u32) {
        self.stream.now += Span::from_micros(us);
        self.process(packets, marked);
    }

    /// An ACK at once. The endpoint enters CWR only with [`Self::enter_cwr`].
    fn process(&mut self, packets: u32, marked: u32) {
        let mut ack = self.stream.ack(packets, marked > 0);
        ack.marked_packets = marked;
        self.cc.on_ack(&mut self.window, &ack);
        self.cc.on_growth(&mut self.window, &ack);
    }

    /// An ACK at once for a packet with CE, with which the endpoint enters CWR before the window may grow.
    fn enter_cwr(&mut self) {
        let ack = self.stream.ack(1, true);
        self.cc.on_ack(&mut self.window, &ack);
        assert_eq!(self.cc.on_ecn(&mut self.window, &self.stream.signal()), Reduction::Done);
        self.cc.on_growth(&mut self.window, &ack);
    }

    /// A round trip of `of` packets, the first `marked` of them with CE, an ACK for each.
    fn round(&mut self, marked: u32, of: u32) {
        let rtt = self.stream.rtt.as_picos();
        for packet in 0..of {
            self.stream.now += Span::from_picos(rtt / u64::from(of));
            self.process(1, u32::from(packet < marked));
        }
    }

    /// The window with its fraction, in packets.
    fn exact(&self) -> f64 {
        let Window { cwnd, .. } = self.window;
        f64::from(cwnd) + self.cc.level.value as f64 / ONE as f64
    }

    fn alpha(&self) -> f64 {
        self.cc.alpha().unwrap()
    }
}
