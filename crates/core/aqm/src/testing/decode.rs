//! Bytes to configurations and operations.

use super::Operation;
use crate::{DecideAt, DelayRampConfig, Extent, ProtectionConfig, SchedulerConfig};
use shoal_packet::{Ecn, FlowId};
use shoal_units::{Rate, Span};

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

    /// Whether all bytes are read.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
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

    pub(crate) fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    pub(crate) fn flag(&mut self) -> bool {
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

    pub(crate) fn extent(&mut self) -> Extent {
        match self.byte() % 4 {
            0 => Extent::Unlimited,
            1 => Extent::Packets(u32::from(self.byte())),
            2 => Extent::Bytes(u64::from(self.short()) << (self.byte() % 8)),
            _ => Extent::Time(self.span()),
        }
    }

    pub(crate) fn decide(&mut self) -> DecideAt {
        if self.flag() { DecideAt::Enqueue } else { DecideAt::Dequeue }
    }

    /// From a picosecond to some hours.
    pub(crate) fn span(&mut self) -> Span {
        Span::from_picos(u64::from(self.short()) << (self.byte() % 40))
    }

    pub(crate) fn scheduler(&mut self) -> SchedulerConfig {
        match self.byte() % 3 {
            0 => SchedulerConfig::StrictPriority,
            1 => SchedulerConfig::Weighted { classic_percent: self.byte() },
            _ => SchedulerConfig::TimeShifted { shift: self.span() },
        }
    }

    pub(crate) fn delay_ramp(&mut self) -> DelayRampConfig {
        DelayRampConfig { max: self.span(), range: self.span(), floor_bytes: u32::from(self.short()) }
    }

    /// Queue protection in one of four configurations.
    pub(crate) fn protection(&mut self) -> Option<ProtectionConfig> {
        (self.byte() % 4 == 3).then(|| ProtectionConfig {
            ramp: self.delay_ramp(),
            critical_delay: if self.flag() { Some(self.span()) } else { None },
            critical_score: self.span(),
            lg_aging: self.byte() % 31,
            ceiling: self.span(),
            bucket_bits: self.byte() % 9,
            attempts: self.byte() % 5,
        })
    }

    pub(crate) fn fraction(&mut self) -> f64 {
        f64::from(self.byte()) / 255.0
    }

    /// From nothing to 18 hours; often some milliseconds.
    pub(crate) fn delay(&mut self) -> Span {
        let micros = u64::from(self.short());
        Span::from_micros(micros << if self.flag() { 0 } else { self.byte() % 20 })
    }
}

const ECN: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
