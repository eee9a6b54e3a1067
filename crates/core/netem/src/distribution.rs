//! The forms of jitter, and the tables behind them.

use crate::{Correlated, Prandom};
use alloc::vec::Vec;

/// Value of a table that stands for one standard deviation (`NETEM_DIST_SCALE`).
const SCALE: i64 = 8192;
/// Entries of a table of iproute2.
const ENTRIES: u32 = 4096;
/// Steps of the cumulative distribution from which the tables take every fourth.
const QUANTILES: f64 = 16384.0;

/// The form of the jitter's distribution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Distribution {
    /// Uniform from the mean less the jitter to the mean plus the jitter.
    #[default]
    Uniform,
    /// Normal; the jitter is its standard deviation.
    Normal,
    /// Pareto with exponent 3, scaled and moved so that its mean is that of the delay; the jitter is the scale.
    Pareto,
    /// A quarter normal and three quarters Pareto.
    ParetoNormal,
}

impl Distribution {
    /// All distributions by their names in `tc`.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("uniform", Self::Uniform),
        ("normal", Self::Normal),
        ("pareto", Self::Pareto),
        ("paretonormal", Self::ParetoNormal),
    ];

    /// Name of the distribution in `tc`.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, other)| *other == self).map_or("", |(name, _)| name)
    }

    /// Number of entries of the table; `None` for the uniform distribution, which needs none.
    pub fn entries(self) -> Option<u32> {
        (self != Self::Uniform).then_some(ENTRIES)
    }

    /// The inverse of the cumulative distribution in 4096 steps, as iproute2's programs print it (netem/normal.c,
    /// netem/pareto.c, netem/paretonormal.c); `None` for the uniform distribution, which needs no table.
    pub fn table(self) -> Option<Vec<i16>> {
        let entry: fn(u32) -> i64 = match self {
            Self::Uniform => return None,
            Self::Normal => normal,
            Self::Pareto => pareto,
            // Division of whole numbers, which rounds towards zero.
            Self::ParetoNormal => |i| (normal(i) + 3 * pareto(i)) / 4,
        };
        let clipped = |i| entry(i).clamp(i16::MIN.into(), i16::MAX.into());
        Some((0..ENTRIES).map(|i| i16::try_from(clipped(i)).unwrap_or(0)).collect())
    }
}

/// Entry `i` of the normal distribution: the last point x of a grid from -10 with steps of 0.00005 whose cumulative
/// probability, in steps of 1/16384, is 4 `i`.
fn normal(i: u32) -> i64 {
    const STEPS: u32 = 401_000;
    let point = |step: u32| -10.0 + f64::from(step) * 0.00005;
    let is_beyond = |step: u32| {
        let probability = 0.5 + 0.5 * libm::erf(point(step) / core::f64::consts::SQRT_2);
        libm::rint(QUANTILES * probability) > 4.0 * f64::from(i)
    };
    // The cumulative probability increases with x: the first point beyond follows the one that is looked for.
    let (mut low, mut high) = (0, STEPS);
    while low < high {
        let middle = low.midpoint(high);
        if is_beyond(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    nearest(point(low.saturating_sub(1)) * SCALE as f64)
}

/// Entry `i` of the Pareto distribution: (u^(-1/3) - 3/2) 4/3 for u = 1 - i / 4096, at most 32767.
fn pareto(i: u32) -> i64 {
    let u = 1.0 - f64::from(i) / f64::from(ENTRIES);
    let value = (1.0 / libm::pow(u, 1.0 / 3.0) - 1.5) * (4.0 / 3.0) * SCALE as f64;
    nearest(if value > 32767.0 { 32767.0 } else { value })
}

#[allow(clippy::cast_possible_truncation, reason = "rounded, and of a table of 16 bits")]
fn nearest(value: f64) -> i64 {
    libm::rint(value) as i64
}

/// A delay in ns with the mean `mean_ns` and the jitter `jitter_ns`; negative if the jitter exceeds it
/// ([sch_netem.c](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_netem.c), `tabledist`). Without jitter
/// nothing is drawn.
#[inline]
pub(crate) fn delay_ns(
    mean_ns: i64,
    jitter_ns: u32,
    table: Option<&[i16]>,
    draws: &mut Correlated,
    random: &mut Prandom,
) -> i64 {
    if jitter_ns == 0 {
        return mean_ns;
    }
    let (draw, jitter) = (draws.draw(random), i64::from(jitter_ns));
    let Some(table) = table else {
        return i64::from(draw % (2 * jitter_ns)) + mean_ns - jitter;
    };
    let value = i64::from(table[draw as usize % table.len()]);
    let fine = (jitter % SCALE) * value;
    let rounded = if fine >= 0 { fine + SCALE / 2 } else { fine - SCALE / 2 };
    rounded / SCALE + (jitter / SCALE) * value + mean_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chance;

    fn table(distribution: Distribution) -> Vec<i16> {
        distribution.table().unwrap()
    }

    /// FNV-1a of all entries in native order of their bytes from the lowest on.
    fn hash(table: &[i16]) -> u64 {
        let bytes = table.iter().flat_map(|entry| entry.to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// The quantiles 0, 1/4, 1/2, 3/4 of each, in units of 1/8192: the normal distribution has -inf, -0.6745, 0 and
    /// 0.6745; Pareto's (u^(-1/3) - 1.5) 4/3 is -0.6667, -0.5325, -0.3201 and 0.1165 for u = 1, 3/4, 1/2, 1/4.
    #[test]
    fn quartiles_of_the_tables() {
        let quartiles = |d| [0, 1024, 2048, 3072].map(|i| table(d)[i]);
        let near = |found: [i16; 4], expected: [f64; 4]| {
            let differences = found.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b * 8192.0).abs());
            // The tables hold the upper end of each step of 1/16384, which at the quartiles is 0.0001 wide.
            assert!(differences.clone().all(|d| d < 1.6), "{found:?}");
        };
        near(quartiles(Distribution::Normal), [-4.0, -0.674_49, 0.0, 0.674_49]);
        near(quartiles(Distribution::Pareto), [-0.666_667, -0.532_539, -0.320_105, 0.116_535]);
    }

    /// All entries are those that iproute2 6.1 installs (normal.dist, pareto.dist, paretonormal.dist).
    #[test]
    fn tables_are_those_of_iproute2() {
        let hashes =
            [Distribution::Normal, Distribution::Pareto, Distribution::ParetoNormal].map(|d| hash(&table(d)));
        assert_eq!(hashes, [0x3f198b6014c3b3b8, 0x209e1d3c861819fa, 0x468ce9c962a5ecf9]);
    }

    #[test]
    fn moments_of_the_tables() {
        let moments = |d| {
            let table = table(d);
            let mean = table.iter().map(|&x| f64::from(x)).sum::<f64>() / 4096.0 / 8192.0;
            let square =
                table.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / 4096.0 / 8192.0f64.powi(2);
            (mean, (square - mean * mean).sqrt())
        };
        let (mean, deviation) = moments(Distribution::Normal);
        assert!(mean.abs() < 1e-3 && (deviation - 1.0).abs() < 2e-3, "{mean} {deviation}");
        // Pareto: u^(-1/3) has the mean 3/2 and the variance 3 - 9/4; without what lies beyond 32767 / 8192 = 4 both
        // are less. u^(-1/3) = 4.5 there, so the mean falls by 4/3 times the integral of 1 - F beyond it, 4.5^-2 / 2.
        let (mean, deviation) = moments(Distribution::Pareto);
        assert!((mean + 4.0 / 3.0 * 4.5f64.powi(-2) / 2.0).abs() < 1e-3, "{mean}");
        // The mean square above the clip falls by 2 (3/4)^-2 times the integral of (x - 1.5) x^-3 from 4.5 on.
        let lost = (16.0 / 9.0) * 2.0 * (1.0 / 4.5 - 0.75 * 4.5f64.powi(-2));
        let expected = (16.0 / 9.0 * 0.75 - lost - mean * mean).sqrt();
        assert!((deviation - expected).abs() < 3e-3, "{deviation} {expected}");
    }

    /// A table value of 8192 is one jitter; what is below 8192 ns is rounded half away from zero.
    #[test]
    fn table_values_are_scaled_by_the_jitter() {
        let with = |jitter, value| {
            let mut draws = Correlated::new(Chance::NEVER, 0);
            delay_ns(0, jitter, Some(&[value]), &mut draws, &mut Prandom::new(1))
        };
        assert_eq!(with(2_000_000, 8192), 2_000_000);
        assert_eq!(with(2_000_000, -4096), -1_000_000);
        // 1 ns x 4096 / 8192 = 0.5 and -0.5.
        assert_eq!((with(1, 4096), with(1, -4096), with(1, 4095)), (1, -1, 0));
    }

    #[test]
    fn uniform_jitter_takes_the_remainder_of_the_draw() {
        let mut draws = Correlated::new(Chance::NEVER, 0);
        let (mut random, mut same) = (Prandom::new(4), Prandom::new(4));
        for _ in 0..1000 {
            let expected = i64::from(same.draw() % 4_000_000) + 3_000_000;
            assert_eq!(delay_ns(5_000_000, 2_000_000, None, &mut draws, &mut random), expected);
        }
        assert_eq!(delay_ns(5, 0, None, &mut draws, &mut random), 5);
        assert_eq!(random, same, "without jitter nothing is drawn");
    }
}
