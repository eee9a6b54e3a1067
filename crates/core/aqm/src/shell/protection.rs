//! Queue protection: flows that build the low-latency queue are sent to the classic one.
//!
//! Every packet that would join the low-latency queue adds its bytes, weighted with the probability of a mark at the
//! queue's delay, to the score of its flow, which fades at a constant rate. A packet is redirected while the queue is
//! longer than a critical delay and the product of delay and score is above a critical one, or the score is at its
//! ceiling. Follows RFC 9957 (<https://www.rfc-editor.org/rfc/rfc9957>) in its integers: a score is a time in
//! nanoseconds, kept as the instant at which it will have faded.

mod buckets;
mod config;
#[cfg(test)]
mod tests;

pub use config::{DelayRampConfig, ProtectionConfig};

use super::delay_ramp::DelayRamp;
use crate::Tunnels;
use buckets::Buckets;
use shoal_packet::Packet;
use shoal_units::{Difference, Rate, Stream, Time};

/// What is different in queue protection, of every dual queue.
pub(crate) const PROTECTION: Difference = Difference {
    text: "Queue protection (protection = {}) counts bytes by a ramp of its own, whatever law marks, and by the line's \
           rate at the start. As in RFC 9957 a second is 2^30 ns where scores fade: 2^19 B/s are 488 kB/s, and a \
           full packet adds 3.072 ms. Redirected packets keep their code point and are under the law of the classic \
           queue; dualq-coupled, whose laws go by the code point, marks them as before. A flow is one of the \
           experiment, the key of its hash the first random number that the queue draws.",
    test: "a_packet_adds_its_congestion_volume_over_the_aging_rate",
};

/// Parameters, scores, and the count of what was redirected.
#[derive(Clone, Debug)]
pub(crate) struct Protection {
    ramp: DelayRamp,
    /// `CRITICALqL`.
    critical_ns: u64,
    /// `CRITICALqLPRODUCT`, in ns^2.
    critical_product: u128,
    lg_aging: u8,
    /// `qLSCORE_MAX`.
    ceiling_ns: u64,
    buckets: Buckets,
    tunnels: Tunnels,
    redirected: u64,
}

impl Protection {
    /// # Panics
    /// If the rate is zero.
    pub(crate) fn new(config: &ProtectionConfig, line_rate: Rate) -> Self {
        let ramp = DelayRamp::new(config.ramp, line_rate);
        let critical_ns = config.critical_delay.map_or(ramp.max_ns(), |span| span.as_nanos());
        Self {
            ramp,
            critical_ns,
            critical_product: u128::from(critical_ns) * u128::from(config.critical_score.as_nanos()),
            lg_aging: config.lg_aging.min(LG_SECOND),
            ceiling_ns: config.ceiling.as_nanos(),
            buckets: Buckets::new(config.bucket_bits, config.attempts),
            tunnels: Tunnels::default(),
            redirected: 0,
        }
    }

    /// Flows of a tunnel share a score.
    pub(crate) fn set_tunnels(&mut self, tunnels: &Tunnels) {
        self.tunnels = tunnels.clone();
    }

    /// Whether `packet`, with which `bytes` would wait in the low-latency queue, has to go to the classic one
    /// (`qprotect`). Counts it then.
    #[inline(never)]
    pub(crate) fn redirects(&mut self, packet: &Packet, bytes: u64, now: Time, random: &mut Stream) -> bool {
        let now_ns = now.as_picos() / 1000;
        let delay_ns = self.ramp.delay_ns(bytes);
        let more_ns = score_ns(self.ramp.likelihood(delay_ns), packet.size, self.lg_aging);
        let flow = self.tunnels.outer(packet.flow);
        let score_ns = self.buckets.of(flow, now_ns, random).fill(more_ns, self.ceiling_ns, now_ns);
        let is_critical = delay_ns > self.critical_ns
            && u128::from(delay_ns) * u128::from(score_ns) > self.critical_product;
        let redirects = is_critical || score_ns >= self.ceiling_ns;
        self.redirected += u64::from(redirects);
        redirects
    }

    /// Packets that were redirected so far.
    pub(crate) const fn redirected(&self) -> u64 {
        self.redirected
    }
}

/// The RFC takes a second for 2^30 ns.
const LG_SECOND: u8 = 30;

/// What a packet of `size` bytes adds to a score at a probability of `likelihood` in 2^-32: its congestion volume over
/// the rate at which scores fade, in nanoseconds.
#[inline]
const fn score_ns(likelihood: u64, size: u16, lg_aging: u8) -> u64 {
    // 33 + 16 bits; a shift by 2 at least, since no rate is above 2^30 B/s.
    let volume = likelihood * size as u64;
    let shift = 32 + lg_aging as u32 - LG_SECOND as u32;
    volume >> shift
}
