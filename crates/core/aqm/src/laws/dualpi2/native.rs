//! The low-latency queue's own law.

use super::pi::MAX_PROBABILITY;
use crate::sched::Lane;
use crate::shell::{DelayRamp, Passage};
use crate::{Extent, NativeMarking};
use alloc::collections::VecDeque;
use shoal_packet::Packet;
use shoal_units::cast::fit_u64;
use shoal_units::{Rate, Time};

/// Linux' step, the ramp of [RFC 9332](https://www.rfc-editor.org/rfc/rfc9332#appendix-A.1), or that of DOCSIS.
#[derive(Clone, Debug)]
pub(super) enum Native {
    Step(Step),
    Ramp { min_ns: u64, range_ns: u64, min_packets: u32 },
    DelayRamp(DelayRamp),
}

/// A threshold on the packet's wait or on the queue that it leaves behind.
#[derive(Clone, Debug)]
pub(super) struct Step {
    threshold: Threshold,
    min_packets: u32,
    /// Whether the threshold applies to each waiting packet, in their order; unused while it applies to all.
    applies: VecDeque<bool>,
}

#[derive(Clone, Copy, Debug)]
enum Threshold {
    Never,
    Nanos(u64),
    Packets(u32),
    Bytes(u64),
}

impl Native {
    pub(super) fn new(config: NativeMarking, line_rate: Rate) -> Self {
        match config {
            NativeMarking::Step { threshold, min_packets } => Self::Step(Step {
                threshold: match threshold {
                    Extent::Unlimited => Threshold::Never,
                    Extent::Time(span) => Threshold::Nanos(span.as_nanos()),
                    Extent::Packets(packets) => Threshold::Packets(packets),
                    Extent::Bytes(bytes) => Threshold::Bytes(bytes),
                },
                min_packets,
                applies: VecDeque::new(),
            }),
            NativeMarking::Ramp { min, range, min_packets } => {
                Self::Ramp { min_ns: min.as_nanos(), range_ns: range.as_nanos(), min_packets }
            }
            NativeMarking::DelayRamp(config) => Self::DelayRamp(DelayRamp::new(config, line_rate)),
        }
    }

    /// Takes what another one has noted of the packets that wait, and keeps its own parameters.
    pub(super) fn learn_from(&mut self, other: &mut Self) {
        if let (Self::Step(own), Self::Step(other)) = (self, other) {
            own.applies = core::mem::take(&mut other.applies);
        }
    }

    /// Records that a packet joins the low-latency queue of `packets`.
    #[inline]
    pub(super) fn on_joining(&mut self, packets: u32) {
        if let Self::Step(step) = self
            && step.min_packets > 0
        {
            step.applies.push_back(packets >= step.min_packets);
        }
    }

    /// Records that a packet leaves the low-latency queue; returns whether the step applies to it.
    #[inline]
    pub(super) fn on_departure(&mut self) -> bool {
        match self {
            Self::Step(step) if step.min_packets > 0 => step.applies.pop_front().unwrap_or(true),
            _ => true,
        }
    }

    /// Whether the step marks `packet`, to which it applies; `packets` and `bytes` wait behind it
    /// (`do_step_aqm`).
    #[inline]
    pub(super) fn is_above(&self, packet: &Packet, packets: u32, bytes: u64, now: Time) -> bool {
        match self {
            Self::Step(step) => match step.threshold {
                Threshold::Never => false,
                Threshold::Nanos(limit) => wait_ns(packet.enqueued, now) > limit,
                Threshold::Packets(limit) => packets > limit,
                Threshold::Bytes(limit) => bytes > limit,
            },
            Self::Ramp { .. } | Self::DelayRamp(_) => false,
        }
    }

    /// The probability of DOCSIS' ramp for a packet that arrives, in 2^-32: by the delay of the low-latency queue's
    /// bytes, the packet's own included.
    #[inline]
    pub(super) fn likelihood_on_arrival(&self, passage: &Passage<'_>) -> u64 {
        match self {
            Self::DelayRamp(ramp) if passage.lane == Lane::Low => {
                let bytes = passage.waiting.lane(Lane::Low).backlog_with(passage.packet).bytes;
                // The largest random number is certain already.
                ramp.likelihood(ramp.delay_ns(bytes)).min(MAX_PROBABILITY.into())
            }
            _ => 0,
        }
    }

    /// The ramp's probability for `packet`, in 2^-32, with `packets` behind it
    /// ([RFC 9332, appendix A.1](https://www.rfc-editor.org/rfc/rfc9332#appendix-A.1), `laqm`).
    #[inline]
    pub(super) fn likelihood(&self, packet: &Packet, packets: u32, now: Time) -> u64 {
        let Self::Ramp { min_ns, range_ns, min_packets } = *self else { return 0 };
        let beyond = wait_ns(packet.enqueued, now).saturating_sub(min_ns);
        if packets < min_packets || beyond == 0 {
            0
        } else if beyond >= range_ns {
            MAX_PROBABILITY.into()
        } else {
            fit_u64((u128::from(beyond) << 32) / u128::from(range_ns))
        }
    }
}

/// Whole nanoseconds on the kernel's clock from one time to another.
#[inline]
pub(super) const fn wait_ns(since: Time, now: Time) -> u64 {
    (now.as_picos() / 1000).saturating_sub(since.as_picos() / 1000)
}
