//! The control law of Linux RED: `include/net/red.h`.

use super::TcError;
use crate::{LinuxRedConfig, Reason};
use alloc::boxed::Box;
use shoal_units::cast::low_u32;
use shoal_units::{Span, Stream};

/// 1 % of 2^32, rounded (`RED_ONE_PERCENT`): least maximum probability of ARED, and its largest step upwards.
const ONE_PERCENT: u32 = 42_949_673;
/// Above this ARED does not raise the maximum probability any more (`MAX_P_MAX`).
const FIFTY_PERCENT: u32 = 50 * ONE_PERCENT;

/// `struct red_parms` and `struct red_vars`.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    /// Thresholds scaled by 2^Wlog.
    min_scaled: u32,
    max_scaled: u32,
    wlog: u8,
    scell_log: u8,
    stab: Box<[u8; 256]>,
    source: Source,
    /// max - min in bytes, at least 1.
    zone: u32,
    /// Averages in bytes between which ARED does not change the probability.
    target_min: u32,
    target_max: u32,
    /// `qavg`: bytes scaled by 2^Wlog.
    average: u64,
    /// `qcount`: packets since a random number was drawn; -1 outside the zone.
    count: i32,
    /// `qR`.
    threshold: u32,
}

/// How `qR` is drawn (`red_random`).
#[derive(Clone, Copy, Debug)]
enum Source {
    /// Until 3.2: the low Plog bits of a random number.
    Mask(u32),
    /// Since 3.3: a random number divided by `max_P / (max - min)`.
    Quotient {
        /// `max_P`, fraction of 2^32.
        max_p: u32,
        /// Divisor, at least 1.
        divisor: u32,
    },
}

impl Control {
    pub(crate) fn new(config: &LinuxRedConfig) -> Result<Self, TcError> {
        let tc = config.solve()?;
        let zone = (tc.max_bytes - tc.min_bytes).max(1);
        let source = if config.legacy_probability {
            Source::Mask(1u32.checked_shl(tc.plog.into()).map_or(u32::MAX, |bit| bit - 1))
        } else {
            let max_p = match tc.max_p {
                0 => u32::MAX.checked_shr(tc.plog.into()).unwrap_or(u32::MAX).wrapping_mul(zone),
                max_p => max_p,
            };
            Source::Quotient { max_p, divisor: (max_p / zone).max(1) }
        };
        Ok(Self {
            min_scaled: tc.min_bytes << tc.wlog,
            max_scaled: tc.max_bytes << tc.wlog,
            wlog: tc.wlog,
            scell_log: tc.scell_log,
            stab: Box::new(tc.stab),
            source,
            zone,
            target_min: tc.min_bytes + 2 * (zone / 5),
            target_max: tc.min_bytes + 3 * (zone / 5),
            average: 0,
            count: -1,
            threshold: 0,
        })
    }

    pub(crate) fn average_bytes(&self) -> f64 {
        self.average as f64 * libm::ldexp(1.0, -i32::from(self.wlog))
    }

    /// Average in bytes, scaled by 2^Wlog as the kernel stores it.
    #[inline]
    pub(crate) fn scaled_average(&self) -> u64 {
        self.average
    }

    /// Replaces the average by one that another law has stored (`gred_load_wred_set`).
    #[inline]
    pub(crate) fn set_scaled_average(&mut self, average: u64) {
        self.average = average;
    }

    /// The weight of the average is 2^-Wlog.
    pub(crate) fn wlog(&self) -> u8 {
        self.wlog
    }

    /// `red_calc_qavg`: a packet arrives and finds `backlog_bytes`, or a line that has been idle for some time.
    #[inline]
    pub(crate) fn on_arrival(&mut self, backlog_bytes: u64, idle: Option<Span>) {
        self.average = match idle {
            None => {
                // The kernel's backlog is 32 bits wide.
                let bytes = u64::from(low_u32(backlog_bytes));
                self.average.wrapping_add(bytes).wrapping_sub(self.average >> self.wlog)
            }
            Some(idle) => self.faded(idle),
        };
    }

    /// `red_calc_qavg_from_idle_time`: a shift from the table, or its linear start where the table says 0.
    #[inline]
    fn faded(&self, idle: Span) -> u64 {
        // 255 << Scell_log in 32 bits.
        let longest = 255u32 << self.scell_log;
        let micros = idle.as_micros().min(longest.into());
        match self.stab[((micros >> self.scell_log) & 255) as usize] {
            0 => {
                let less = self.average.wrapping_mul(micros) >> self.scell_log;
                if less < self.average >> 1 { self.average - less } else { self.average >> 1 }
            }
            shift => self.average >> shift,
        }
    }

    /// `red_action` on the average plus `others`, the scaled averages of other queues that count, too (RIO; else 0).
    /// The first packet in the zone draws a number and passes.
    #[inline]
    pub(crate) fn decide(&mut self, others: u64, random: &mut Stream) -> Option<Reason> {
        let average = self.average.wrapping_add(others);
        if average < self.min_scaled.into() {
            self.count = -1;
            return None;
        }
        if average >= self.max_scaled.into() {
            self.count = -1;
            return Some(Reason::Forced);
        }
        self.count = self.count.wrapping_add(1);
        if self.count == 0 {
            self.threshold = self.draw(random);
            return None;
        }
        // `red_mark_probability`; the count is extended to 64 bits as C does it.
        let above = (average - u64::from(self.min_scaled)) >> self.wlog;
        if above.wrapping_mul(i64::from(self.count).cast_unsigned()) < self.threshold.into() {
            return None;
        }
        self.count = 0;
        self.threshold = self.draw(random);
        Some(Reason::Early)
    }

    #[inline]
    fn draw(&self, random: &mut Stream) -> u32 {
        let uniform = random.uniform_u32();
        match self.source {
            Source::Mask(mask) => uniform & mask,
            Source::Quotient { divisor, .. } => uniform / divisor,
        }
    }

    /// `red_adaptative_algo` (Floyd, Gummadi and Shenker 2001).
    pub(crate) fn adapt(&mut self, idle: Option<Span>) {
        let average = idle.map_or(self.average, |idle| self.faded(idle)) >> self.wlog;
        let Source::Quotient { max_p, divisor } = &mut self.source else { return };
        if average > self.target_max.into() && *max_p <= FIFTY_PERCENT {
            *max_p += ONE_PERCENT.min(*max_p / 4);
        } else if average < self.target_min.into() && *max_p >= ONE_PERCENT {
            *max_p = *max_p / 10 * 9;
        }
        // `DIV_ROUND_CLOSEST`.
        *divisor = low_u32(((u64::from(*max_p) + u64::from(self.zone / 2)) / u64::from(self.zone)).max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::bench::LINUX_RED;

    /// min 30,000, max 90,000: the target is 54,000 to 66,000.
    const CONFIG: LinuxRedConfig = LinuxRedConfig { adaptive: true, ..LINUX_RED };

    /// Maximum probability and divisor after one adaptation at an average of `bytes` while packets wait.
    fn adapted(probability: f64, bytes: u64) -> (u32, u32) {
        let mut law = Control::new(&LinuxRedConfig { probability, ..CONFIG }).unwrap();
        law.average = bytes << law.wlog;
        law.adapt(None);
        match law.source {
            Source::Quotient { max_p, divisor } => (max_p, divisor),
            Source::Mask(_) => panic!("not a legacy law"),
        }
    }

    /// 0.1 * 2^32 = 429,496,729; + min(42,949,673, 429,496,729 / 4); divisor 472,446,402 / 60,000 = 7874.1.
    #[test]
    fn above_the_target_the_probability_rises_by_one_percent() {
        assert_eq!(adapted(0.1, 66_001), (472_446_402, 7874));
        // Below 4 % it rises by a quarter: 85,899,345 + 21,474,836; / 60,000 = 1789.57, rounded to the nearest.
        assert_eq!(adapted(0.02, 66_001), (107_374_181, 1790));
        // Above 50 % it does not rise: 0.51 * 2^32.
        assert_eq!(adapted(0.51, 66_001).0, 2_190_433_320);
    }

    /// 429,496,729 / 10 * 9.
    #[test]
    fn below_the_target_the_probability_falls_by_a_tenth() {
        assert_eq!(adapted(0.1, 53_999), (386_547_048, 6442));
        // 0.01 * 2^32 = 42,949,672 is already below 1 %, which is 42,949,673.
        assert_eq!(adapted(0.01, 53_999).0, 42_949_672);
    }

    #[test]
    fn in_the_target_the_probability_stays() {
        assert_eq!(adapted(0.1, 54_000).0, 429_496_729);
        assert_eq!(adapted(0.1, 66_000).0, 429_496_729);
    }

    /// The line is idle for 0.5 s: Scell_log is 17 and entry 3 of the table 0, so that the average is halved. 108,002 /
    /// 2 = 54,001 is in the target, 107,998 / 2 = 53,999 below it.
    #[test]
    fn an_idle_line_ages_the_average_of_the_adaptation() {
        for (bytes, max_p) in [(108_002, 429_496_729), (107_998, 386_547_048)] {
            let mut law = Control::new(&CONFIG).unwrap();
            assert_eq!((law.scell_log, law.stab[3]), (17, 0));
            law.average = bytes << law.wlog;
            law.adapt(Some(Span::from_millis(500)));
            let is_expected = matches!(law.source, Source::Quotient { max_p: p, .. } if p == max_p);
            assert!(is_expected, "{:?}", law.source);
            // The average itself does not change.
            assert_eq!(law.average, bytes << law.wlog);
        }
    }
}
