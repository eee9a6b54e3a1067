//! The configuration of DualPI2: the parameters of `tc qdisc add ... dualpi2`, and options of
//! [RFC 9332](https://www.rfc-editor.org/rfc/rfc9332).

use super::pi::acting_hz;
use super::{DualPi2, DualPi2Form, doc};
use crate::shell::{Bound, Dual, Lanes};
use crate::{DecideAt, DelayRampConfig, Extent, LawConfig, ProtectionConfig, SchedulerConfig, TcError};
use alloc::boxed::Box;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate, Span};

/// The native law of the low-latency queue, which acts in addition to the coupled one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeMarking {
    /// Linux: a packet whose wait, or the queue it leaves behind, is above the threshold is marked.
    Step {
        /// Threshold: a time is compared with the packet's own wait, and a length does not count the leaving
        /// packet.
        threshold: Extent,
        /// The step applies only to packets that found at least this many packets in the queue on arrival.
        min_packets: u32,
    },
    /// RFC 9332 appendix A.1: the probability rises linearly with the packet's own wait.
    Ramp {
        /// Wait below which nothing is marked.
        min: Span,
        /// Length of the ramp: from `min` plus this wait on every packet is marked.
        range: Span,
        /// Nothing is marked if at most this many packets wait, including the leaving one.
        min_packets: u32,
    },
    /// DOCSIS ([RFC 9957](https://www.rfc-editor.org/rfc/rfc9957)): the probability rises linearly with the delay
    /// that an arriving packet meets; only with decisions on arrival.
    DelayRamp(DelayRampConfig),
}

/// How a probability is turned into decisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tossing {
    /// Random numbers of 32 bits (Linux); a square takes two.
    Random,
    /// Probabilities are added up until they exceed one (RFC 9332, `recur`): events are evenly spaced, and no
    /// random numbers are drawn.
    Recur,
}

/// DualPI2 with the parameters of `tc qdisc add ... dualpi2`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualPi2Config {
    /// Whose controller it is.
    pub form: DualPi2Form,
    /// Queueing time that the controller aims at, counted in whole microseconds.
    pub target: Span,
    /// Time between updates of the probability, counted in whole microseconds.
    pub tupdate: Span,
    /// Time of the first update after the queue was set up, which is when the run begins.
    pub first_update: Span,
    /// Integral gain in 1/256 Hz.
    pub alpha_256th_hz: u32,
    /// Proportional gain in 1/256 Hz.
    pub beta_256th_hz: u32,
    /// k: L packets are marked with k p', C packets dropped with p'^2. Not zero.
    pub coupling: u8,
    /// The native law of the low-latency queue.
    pub native: NativeMarking,
    /// How probabilities become decisions.
    pub tossing: Tossing,
    /// Bits of the ECN field: packets with one of them go to the low-latency queue.
    pub ecn_mask: u8,
    /// The scheduler.
    pub scheduler: SchedulerConfig,
    /// Whether L packets are dropped like C packets once k p' exceeds 1; otherwise p' stops at 1/k and the
    /// buffer fills.
    pub drop_on_overload: bool,
    /// When the probability is applied.
    pub decide: DecideAt,
    /// Backlog of both queues in bytes below which the probability is not applied.
    pub min_backlog_bytes: u64,
    /// Capacity of both queues together in bytes, in addition to `limit`.
    pub memory_limit_bytes: u64,
    /// Capacity of both queues together for waiting packets.
    pub limit: Extent,
    /// The link's MTU in bytes, for the scheduler.
    pub mtu: u32,
    /// Queue protection, if there is one.
    pub protection: Option<ProtectionConfig>,
}

impl DualPi2Config {
    /// The gain in Hz that acts for one in 1/256 Hz: the kernel keeps it in whole units of its own.
    pub fn acting_gain_hz(gain_256th_hz: u32, form: DualPi2Form) -> f64 {
        acting_hz(gain_256th_hz, form)
    }
}

impl LawConfig for DualPi2Config {
    type Queue = Box<Dual<DualPi2>>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        let limit = Bound::new(self.limit, line_rate).and_bytes(self.memory_limit_bytes);
        let lanes = Lanes::new(limit, self.scheduler, self.mtu, line_rate);
        let law = DualPi2::new(self, line_rate);
        Ok(Box::new(Dual::new(law, lanes).protected(self.protection.as_ref(), line_rate)))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        Some(crate::laws::ANY_BACKLOG)
    }

    fn has_protection(&self) -> bool {
        self.protection.is_some()
    }
}
