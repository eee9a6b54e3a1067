//! Bytes to configurations and operations.

use super::Operation;
use crate::{
    AverageScope, CoupledConfig, CoupledSlope, CouplingInput, DecideAt, DelayEstimate, DualCoupledConfig,
    DualPi2Config, DualRedConfig, Extent, FifoConfig, LinuxRedConfig, MarkSpacing, NativeMarking,
    OpenLoopConfig, OpenLoopSpacing, Pi2Config, QueueConfig, RedConfig, RedParameters, SchedulerConfig,
    StepConfig, Tossing,
};
use shoal_packet::{Ecn, FlowId};
use shoal_units::{Probability, Rate, Span};

/// Which queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// [`QueueConfig::Fifo`].
    Fifo,
    /// [`QueueConfig::Step`].
    Step,
    /// [`QueueConfig::Red`].
    Red,
    /// [`QueueConfig::LinuxRed`].
    LinuxRed,
    /// [`QueueConfig::DualRed`].
    DualRed,
    /// [`QueueConfig::Coupled`].
    Coupled,
    /// [`QueueConfig::DualCoupled`].
    DualCoupled,
    /// [`QueueConfig::OpenLoop`].
    OpenLoop,
    /// [`QueueConfig::DualPi2`].
    DualPi2,
    /// [`QueueConfig::Codel`].
    Codel,
    /// [`QueueConfig::FqCodel`].
    FqCodel,
    /// [`QueueConfig::Pie`].
    Pie,
    /// [`QueueConfig::Gred`].
    Gred,
    /// [`QueueConfig::Pi2`].
    Pi2,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 14] = [
        Self::Fifo,
        Self::Step,
        Self::Red,
        Self::LinuxRed,
        Self::DualRed,
        Self::Coupled,
        Self::DualCoupled,
        Self::OpenLoop,
        Self::DualPi2,
        Self::Codel,
        Self::FqCodel,
        Self::Pie,
        Self::Gred,
        Self::Pi2,
    ];
}

/// Bytes being read; past their end everything is zero.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// Reads `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                byte
            }
            None => 0,
        }
    }

    /// A line rate from 1 kbit/s to 400 Gbit/s.
    pub fn rate(&mut self) -> Rate {
        let decade = u32::from(self.byte() % 9);
        Rate::from_bps(((1 + u64::from(self.byte() % 4)) * 1000 * 10u64.pow(decade)).min(400_000_000_000))
    }

    /// A configuration of `kind`.
    pub fn config(&mut self, kind: Kind, rate: Rate) -> QueueConfig {
        match kind {
            Kind::Fifo => QueueConfig::Fifo(FifoConfig { limit: self.extent() }),
            Kind::Step => QueueConfig::Step(StepConfig {
                threshold: self.extent(),
                decide: self.decide(),
                drop_threshold: self.extent(),
                limit: self.extent(),
            }),
            Kind::Red => QueueConfig::Red(RedConfig {
                parameters: self.parameters(),
                ecn: self.flag(),
                limit: self.extent(),
                rate,
                mean_packet_bytes: u32::from(self.short()),
            }),
            Kind::OpenLoop => QueueConfig::OpenLoop(self.open_loop()),
            Kind::LinuxRed => QueueConfig::LinuxRed(self.linux_red()),
            Kind::DualRed => QueueConfig::DualRed(DualRedConfig {
                not_ect: self.parameters(),
                ect: self.parameters(),
                average: if self.flag() { AverageScope::Shared } else { AverageScope::PerClass },
                limit: self.extent(),
                rate,
                mean_packet_bytes: u32::from(self.short()),
            }),
            Kind::Codel => QueueConfig::Codel(self.codel()),
            Kind::FqCodel => QueueConfig::FqCodel(self.fq_codel()),
            Kind::Pie => QueueConfig::Pie(self.pie()),
            Kind::Gred => QueueConfig::Gred(self.gred()),
            Kind::Coupled => QueueConfig::Coupled(CoupledConfig {
                slope: self.slope(),
                decide: self.decide(),
                limit: self.extent(),
            }),
            Kind::DualCoupled => QueueConfig::DualCoupled(DualCoupledConfig {
                slope: self.slope(),
                input: if self.flag() { CouplingInput::Classic } else { CouplingInput::Total },
                threshold: self.extent(),
                decide: self.decide(),
                scheduler: self.scheduler(),
                mtu: u32::from(self.short()),
                limit: self.extent(),
            }),
            Kind::DualPi2 => QueueConfig::DualPi2(self.dualpi2()),
            Kind::Pi2 => QueueConfig::Pi2(Pi2Config {
                target: self.span(),
                tupdate: self.span(),
                alpha_16th_hz: u32::from(self.short()),
                beta_16th_hz: u32::from(self.short()) << (self.byte() % 16),
                coupling: u32::from(self.byte()),
                ecn: self.flag(),
                scalable_mask: self.byte(),
                estimate: if self.flag() { DelayEstimate::Rate } else { DelayEstimate::Sojourn },
                mtu: u32::from(self.short()),
                limit: self.extent(),
            }),
        }
    }

    /// The next operation; `None` at the end.
    pub fn operation(&mut self) -> Option<Operation> {
        let first = *self.rest.first()?;
        self.byte();
        Some(match first % 8 {
            0..=3 => Operation::Arrive {
                flow: FlowId(u32::from(first >> 3)),
                size: self.size(),
                ecn: ECN[usize::from(self.byte() % 4)],
            },
            4 | 5 => Operation::Transmit,
            6 => Operation::Take,
            // From a picosecond to 2^63 of them.
            _ => Operation::Wait(Span::from_picos(u64::from(self.short()) << (self.byte() % 48))),
        })
    }

    fn open_loop(&mut self) -> OpenLoopConfig {
        let mut probability = || Probability::from_q32(u64::from(self.short()) << 16);
        let (mark, drop) = (probability(), probability());
        let spacing = match self.byte() % 3 {
            0 => OpenLoopSpacing::Independent,
            1 => OpenLoopSpacing::Even,
            _ => OpenLoopSpacing::Bursts {
                on: Span::from_picos(u64::from(self.short()) << (self.byte() % 48)),
            },
        };
        OpenLoopConfig { mark, drop, spacing, limit: self.extent() }
    }

    pub(super) fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    pub(super) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Often one of the sizes that networks have.
    fn size(&mut self) -> u16 {
        match self.byte() % 4 {
            0 => 1500,
            1 => 52,
            2 => 9000,
            _ => self.short(),
        }
    }

    pub(super) fn extent(&mut self) -> Extent {
        match self.byte() % 4 {
            0 => Extent::Unlimited,
            1 => Extent::Packets(u32::from(self.byte())),
            2 => Extent::Bytes(u64::from(self.short()) << (self.byte() % 8)),
            _ => Extent::Time(self.span()),
        }
    }

    fn decide(&mut self) -> DecideAt {
        if self.flag() { DecideAt::Enqueue } else { DecideAt::Dequeue }
    }

    fn slope(&mut self) -> CoupledSlope {
        if self.flag() {
            CoupledSlope::Linear { saturation: self.extent(), coupling: f64::from(self.byte()) / 16.0 }
        } else {
            CoupledSlope::Shift { drop_bits: self.byte(), mark_bits: self.byte(), unit: self.extent() }
        }
    }

    fn dualpi2(&mut self) -> DualPi2Config {
        let native = if self.flag() {
            NativeMarking::Step { threshold: self.extent(), min_packets: u32::from(self.byte() % 8) }
        } else {
            NativeMarking::Ramp {
                min: self.span(),
                range: self.span(),
                min_packets: u32::from(self.byte() % 8),
            }
        };
        DualPi2Config {
            target: self.span(),
            tupdate: self.span(),
            alpha_256th_hz: u32::from(self.short()) << (self.byte() % 16),
            beta_256th_hz: u32::from(self.short()) << (self.byte() % 16),
            coupling: self.byte(),
            native,
            tossing: if self.flag() { Tossing::Random } else { Tossing::Recur },
            ecn_mask: self.byte(),
            scheduler: self.scheduler(),
            drop_on_overload: self.flag(),
            decide: self.decide(),
            min_backlog_bytes: u64::from(self.short()),
            memory_limit_bytes: u64::from(self.short()) << (self.byte() % 16),
            limit: self.extent(),
            mtu: u32::from(self.short()),
        }
    }

    /// From a picosecond to some hours.
    fn span(&mut self) -> Span {
        Span::from_picos(u64::from(self.short()) << (self.byte() % 40))
    }

    fn scheduler(&mut self) -> SchedulerConfig {
        match self.byte() % 3 {
            0 => SchedulerConfig::StrictPriority,
            1 => SchedulerConfig::Weighted { classic_percent: self.byte() },
            _ => SchedulerConfig::TimeShifted { shift: self.span() },
        }
    }

    fn fraction(&mut self) -> f64 {
        f64::from(self.byte()) / 255.0
    }

    fn parameters(&mut self) -> RedParameters {
        let min_bytes = f64::from(self.short()) / 4.0;
        RedParameters {
            min_bytes,
            max_bytes: min_bytes + f64::from(self.short()) / 4.0,
            max_probability: self.fraction(),
            weight: libm::ldexp(1.0, -i32::from(self.byte() % 12)),
            gentle: self.flag(),
            spacing: if self.flag() { MarkSpacing::Uniformised } else { MarkSpacing::Independent },
        }
    }

    pub(super) fn linux_red(&mut self) -> LinuxRedConfig {
        let min_bytes = u32::from(self.short());
        let avpkt_bytes = u32::from(self.short());
        // Mostly bursts that tc accepts.
        let burst_packets = min_bytes / avpkt_bytes.max(1) + u32::from(self.byte());
        LinuxRedConfig {
            limit_bytes: u32::from(self.short()) << (self.byte() % 8),
            min_bytes,
            max_bytes: min_bytes.wrapping_add(u32::from(self.short())),
            avpkt_bytes,
            burst_packets,
            probability: self.fraction(),
            bandwidth: self.rate(),
            ecn: self.flag(),
            harddrop: self.flag(),
            nodrop: self.flag(),
            adaptive: self.flag(),
            legacy_probability: self.flag(),
        }
    }
}

const ECN: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
