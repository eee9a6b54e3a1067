//! Weighted distributions of integers in bounded memory.

use crate::fields::described;
use serde::{Deserialize, Serialize};

described! {

/// Summary of a weighted distribution. Quantiles have three significant digits, the rest is exact.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// 5 % quantile.
    pub p5: Option<f64>,
    /// Lower quartile.
    pub p25: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// Upper quartile.
    pub p75: Option<f64>,
    /// 95 % quantile.
    pub p95: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// 99.9 % quantile.
    pub p999: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
}
}

/// Each power of two is divided into 2^10 equal buckets.
const SUB_BITS: u32 = 10;
/// Every value below has its own bucket.
const EXACT: u64 = 2 << SUB_BITS;

/// Buckets get memory in blocks of 64: a run of a second has a few hundred different delays among 22,000 possible ones.
const BLOCK: usize = 64;
/// Where a block without memory begins: behind everything, and so are its buckets, even if a `usize` has 32 bits.
const NOWHERE: u32 = u32::MAX - BLOCK as u32;

/// A log-linear histogram of `u64` values with `u64` weights.
///
/// Every value below 2048 has its own bucket; above, a bucket is at most 1/1024 of its value wide, so that a quantile
/// (given as the middle of its bucket) is within 0.05 % of the exact order statistic: three significant digits. Mean,
/// standard deviation, minimum and maximum come from exact integer sums and have no error from buckets. The sum of all
/// weights must fit 64 bits: 213 days in picoseconds. The sum of values then fits 128 bits; that of their squares may
/// not, and the standard deviation is not measurable in that case (1 GB waiting for a day is far from it). Memory: 8 B
/// for each value up to the largest one below 2048, and above 512 B for each 64 neighbouring buckets with a value.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Weights of the values below [`EXACT`]; the positions are the values.
    exact: Vec<u64>,
    /// Weights of the buckets of larger values, blocks in the order of their first values: what has a place keeps it.
    blocks: Vec<u64>,
    /// Where each block begins in `blocks`, or [`NOWHERE`].
    starts: Vec<u32>,
    /// Sums over the larger values. Those of the others follow from their weights when they are needed.
    large: Sums,
}

/// Sums over recorded values.
#[derive(Clone, Copy, Debug)]
struct Sums {
    weight: u64,
    sum: u128,
    sum_of_squares: u128,
    /// Neither bound has a meaning while `weight` is 0.
    min: u64,
    max: u64,
}

/// One bucket with a weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Smallest value of the bucket.
    pub low: u64,
    /// Largest value of the bucket.
    pub high: u64,
    /// Weight recorded in the bucket.
    pub weight: u64,
}

impl Histogram {
    /// An empty histogram; allocates nothing.
    pub const fn new() -> Self {
        Self { exact: Vec::new(), blocks: Vec::new(), starts: Vec::new(), large: Sums::NONE }
    }

    /// Records `value` with weight 1.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_weighted(value, 1);
    }

    /// Records `value` with `weight`; weight 0 records nothing.
    #[inline]
    pub fn record_weighted(&mut self, value: u64, weight: u64) {
        *self.bucket(value) += weight;
        if value >= EXACT && weight > 0 {
            self.large.record(value, weight);
        }
    }

    /// Adds everything recorded in `other`.
    pub fn merge(&mut self, other: &Self) {
        for Bucket { low, weight, .. } in other.buckets() {
            *self.bucket(low) += weight;
        }
        self.large.merge(&other.large);
    }

    /// Sum of all weights.
    pub fn weight(&self) -> u64 {
        self.sums().weight
    }
    /// Smallest value.
    pub fn min(&self) -> Option<u64> {
        self.sums().known().map(|sums| sums.min)
    }
    /// Largest value.
    pub fn max(&self) -> Option<u64> {
        self.sums().known().map(|sums| sums.max)
    }
    /// Weighted mean, correctly rounded but for the two conversions to floating point.
    pub fn mean(&self) -> Option<f64> {
        self.sums().mean()
    }
    /// Weighted standard deviation of the population (not the sample's estimate).
    pub fn sd(&self) -> Option<f64> {
        self.sums().sd()
    }

    /// The smallest value at or below which at least `permille` thousandths of the weight lie, within 0.05 %.
    pub fn quantile_permille(&self, permille: u32) -> Option<f64> {
        let [quantile] = self.quantiles(&self.sums(), [permille]);
        quantile
    }

    /// The buckets that hold weight, in rising order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        static EMPTY: Histogram = Histogram::new();
        self.gained(&EMPTY)
    }

    /// Buckets with the weight that they gained since this histogram was as `before`, in rising order.
    pub fn gained<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = Bucket> + 'a {
        let gain = |now: &[u64], before: &[u64], place| now[place] - before.get(place).copied().unwrap_or(0);
        let exact = (0..self.exact.len()).map(move |value| (value, gain(&self.exact, &before.exact, value)));
        let starts = self.starts.iter().enumerate().filter(|(_, start)| **start != NOWHERE);
        let places = starts
            .flat_map(|(block, &start)| (0..BLOCK).map(move |i| (block * BLOCK + i, start as usize + i)));
        let others = places.map(move |(index, place)| (index, gain(&self.blocks, &before.blocks, place)));
        exact.chain(others).filter(|(_, weight)| *weight > 0).map(|(index, weight)| {
            let (low, high) = bounds_of(index);
            Bucket { low, high, weight }
        })
    }

    /// The summary in a unit of `per_unit` recorded units: 1e12 turns picoseconds into seconds.
    pub fn distribution(&self, per_unit: f64) -> Distribution {
        let sums = self.sums();
        let scaled = |value: Option<f64>| value.map(|value| value / per_unit);
        let bound = |of: fn(&Sums) -> u64| scaled(sums.known().map(|sums| of(&sums) as f64));
        let [p5, p25, p50, p75, p95, p99, p999] =
            self.quantiles(&sums, [50, 250, 500, 750, 950, 990, 999]).map(scaled);
        Distribution {
            mean: scaled(sums.mean()),
            sd: scaled(sums.sd()),
            min: bound(|sums| sums.min),
            p5,
            p25,
            p50,
            p75,
            p95,
            p99,
            p999,
            max: bound(|sums| sums.max),
        }
    }

    /// Sums over all values.
    fn sums(&self) -> Sums {
        let mut sums = self.large;
        for bucket in self.buckets().take_while(|bucket| bucket.low < EXACT) {
            sums.record(bucket.low, bucket.weight);
        }
        sums
    }

    /// [`Self::quantile_permille`] for rising thousandths, in one pass over the buckets. `sums` are those over all
    /// values.
    fn quantiles<const N: usize>(&self, sums: &Sums, permille: [u32; N]) -> [Option<f64>; N] {
        let mut buckets = self.buckets();
        let (mut bucket, mut below) = (None, 0);
        permille.map(|permille| {
            let target = (u128::from(sums.weight) * u128::from(permille)).div_ceil(1000).max(1);
            while below < target {
                let next = buckets.next()?;
                below += u128::from(next.weight);
                bucket = Some(next);
            }
            let Bucket { low, high, .. } = bucket?;
            Some((low + (high - low) / 2).clamp(sums.min, sums.max) as f64)
        })
    }

    /// The weight of the bucket of a value.
    #[inline]
    fn bucket(&mut self, value: u64) -> &mut u64 {
        if value < EXACT {
            let index = value as usize;
            if index >= self.exact.len() {
                self.grow(index);
            }
            return &mut self.exact[index];
        }
        let index = index_of(value);
        let start = self.starts.get(index / BLOCK).copied().unwrap_or(NOWHERE);
        let mut place = start as usize + index % BLOCK;
        if place >= self.blocks.len() {
            place = self.add_block(index / BLOCK) + index % BLOCK;
        }
        &mut self.blocks[place]
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        let values = (index / BLOCK + 1) * BLOCK;
        self.exact.reserve_exact(values - self.exact.len());
        self.exact.resize(values, 0);
    }

    /// Gives memory to a block, and tells where it begins.
    #[cold]
    fn add_block(&mut self, block: usize) -> usize {
        let start = self.blocks.len();
        if block >= self.starts.len() {
            self.starts.reserve_exact(block + 1 - self.starts.len());
            self.starts.resize(block + 1, NOWHERE);
        }
        self.starts[block] = start as u32;
        self.blocks.reserve_exact(BLOCK);
        self.blocks.resize(start + BLOCK, 0);
        start
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Sums {
    const NONE: Self = Self { weight: 0, sum: 0, sum_of_squares: 0, min: u64::MAX, max: 0 };

    #[inline]
    fn record(&mut self, value: u64, weight: u64) {
        self.weight += weight;
        self.sum += u128::from(value) * u128::from(weight);
        let square = u128::from(value) * u128::from(value);
        // Queues are below 2^32 B and packets have weight 1: one multiplication of words instead of a checked wide one.
        let squares = match u64::try_from(square) {
            Ok(square) => u128::from(square) * u128::from(weight),
            Err(_) if weight == 1 => square,
            Err(_) => square.saturating_mul(u128::from(weight)),
        };
        self.sum_of_squares = self.sum_of_squares.saturating_add(squares);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn merge(&mut self, other: &Self) {
        self.weight += other.weight;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        // Has no effect while nothing was recorded.
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The sums, if anything was recorded.
    fn known(self) -> Option<Self> {
        (self.weight > 0).then_some(self)
    }

    fn mean(&self) -> Option<f64> {
        let (whole, rest) = self.mean_parts()?;
        Some(whole as f64 + rest as f64 / self.weight as f64)
    }

    fn sd(&self) -> Option<f64> {
        let (whole, rest) = self.mean_parts()?;
        if self.sum_of_squares == u128::MAX {
            return None;
        }
        // Computed around the integer part m of the mean, so that nothing cancels in floating point: with sum
        // = m n + r, the sum of (v - m)^2 is sum_of_squares - m (m n + 2 r). It is not negative, so nothing
        // overflows either.
        let around_whole = self.sum_of_squares - whole * (whole * u128::from(self.weight) + 2 * rest);
        let offset = rest as f64 / self.weight as f64;
        let variance = around_whole as f64 / self.weight as f64 - offset * offset;
        Some(variance.max(0.0).sqrt())
    }

    /// Integer part of the mean, and the remainder of the sum.
    fn mean_parts(&self) -> Option<(u128, u128)> {
        let weight = u128::from(self.weight);
        (weight > 0).then(|| (self.sum / weight, self.sum % weight))
    }
}

#[inline]
const fn index_of(value: u64) -> usize {
    // Below 2^(SUB_BITS + 1) the shift is 0 and the value is its own index.
    let magnitude = (value | ((2 << SUB_BITS) - 1)).ilog2();
    let shift = magnitude - SUB_BITS;
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// Smallest and largest value of a bucket.
const fn bounds_of(index: usize) -> (u64, u64) {
    let shift = (index >> SUB_BITS).saturating_sub(1);
    let low = ((index - (shift << SUB_BITS)) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn empty_measures_nothing() {
        let empty = Histogram::new();
        assert_eq!(empty.distribution(1.0), Distribution::default());
        assert_eq!(empty.buckets().count(), 0);
        assert_eq!(Histogram::default().max(), None);
    }

    #[test]
    fn buckets_tile_the_range() {
        let mut next = 0u64;
        for index in 0.. {
            let (low, high) = bounds_of(index);
            assert_eq!(low, next);
            assert_eq!((index_of(low), index_of(high)), (index, index));
            assert!(
                low < 2048 && low == high || (high - low + 1) * 1024 <= low,
                "bucket {index} is too wide"
            );
            if high == u64::MAX {
                return;
            }
            next = high + 1;
        }
    }

    #[test]
    fn large_equal_values_have_no_deviation() {
        // 1e13 ps (10 s) squared times 1e6 is 1e32: floating-point sums would lose the difference.
        let mut histogram = Histogram::new();
        (0..1_000_000).for_each(|_| histogram.record(10_000_000_000_001));
        assert_eq!(histogram.sd(), Some(0.0));
        assert_eq!(histogram.mean(), Some(10_000_000_000_001.0));
    }

    #[test]
    fn squares_out_of_range_are_not_measurable() {
        let mut histogram = Histogram::new();
        histogram.record_weighted(u64::MAX, u64::MAX / 2);
        assert_eq!(histogram.sd(), None);
        assert_eq!(histogram.mean(), Some(u64::MAX as f64));
        assert_eq!(histogram.max(), Some(u64::MAX));
    }

    #[test]
    fn memory_is_taken_where_values_are() {
        let mut histogram = Histogram::new();
        for value in [0, 63, 1 << 30, (1 << 30) + 1, 1 << 40] {
            histogram.record(value);
        }
        assert_eq!((histogram.exact.len(), histogram.blocks.len()), (64, 128));
        histogram.record(u64::MAX);
        assert_eq!((histogram.exact.len(), histogram.blocks.len()), (64, 192));
    }

    /// Exact statistics of (value, weight) pairs.
    fn brute_force(data: &[(u64, u64)]) -> (f64, f64, Vec<(u64, u64)>) {
        let weight: u128 = data.iter().map(|d| u128::from(d.1)).sum();
        let mean =
            data.iter().map(|d| u128::from(d.0) * u128::from(d.1)).sum::<u128>() as f64 / weight as f64;
        // Around the smallest value: at 2^40 the mean itself is known to 1e-4 only, which a small deviation would show.
        let low = data.iter().map(|d| d.0).min().unwrap_or(0);
        let above = |d: &(u64, u64)| (d.0 - low) as f64;
        let total = weight as f64;
        let centre = data.iter().map(|d| above(d) * d.1 as f64).sum::<f64>() / total;
        let variance = data.iter().map(|d| (above(d) - centre).powi(2) * d.1 as f64).sum::<f64>() / total;
        let mut sorted = data.to_vec();
        sorted.sort_unstable();
        (mean, variance.sqrt(), sorted)
    }

    #[test]
    fn gains_are_what_was_recorded_since() {
        let mut histogram = Histogram::new();
        histogram.record_weighted(3, 5);
        histogram.record_weighted(4096, 2);
        let before = histogram.clone();
        histogram.record_weighted(3, 1);
        histogram.record_weighted(1 << 40, 7);
        let gained: Vec<(u64, u64)> = histogram.gained(&before).map(|b| (b.low, b.weight)).collect();
        assert_eq!(gained, [(3, 1), (1 << 40, 7)]);
        assert!(
            histogram.gained(&Histogram::new()).eq(histogram.buckets()),
            "without a past everything is a gain"
        );
    }

    proptest! {
        #[test]
        fn agrees_with_brute_force(
            data in prop::collection::vec(
                ((0u64..1 << 40, 0u32..40).prop_map(|(v, s)| v >> s), 1u64..1_000_000_000),
                1..200,
            ),
            permille in 0u32..=1000,
        ) {
            let mut histogram = Histogram::new();
            for &(value, weight) in &data {
                histogram.record_weighted(value, weight);
            }
            let (mean, sd, sorted) = brute_force(&data);
            prop_assert!((histogram.mean().unwrap() - mean).abs() <= 1e-12 * mean.max(1.0));
            prop_assert!((histogram.sd().unwrap() - sd).abs() <= 1e-9 * sd.max(1.0));
            prop_assert_eq!(histogram.min(), Some(sorted[0].0));
            prop_assert_eq!(histogram.max(), Some(sorted[sorted.len() - 1].0));

            let target = (u128::from(histogram.weight()) * u128::from(permille)).div_ceil(1000).max(1);
            let mut below = 0u128;
            let exact = sorted.iter().find(|d| { below += u128::from(d.1); below >= target }).unwrap().0 as f64;
            let quantile = histogram.quantile_permille(permille).unwrap();
            prop_assert!((quantile - exact).abs() <= exact / 2048.0, "{quantile} against {exact}");
        }

        #[test]
        fn merging_equals_recording_together(
            left in prop::collection::vec((0u64..1 << 50, 0u64..100), 0..50),
            right in prop::collection::vec((0u64..1 << 30, 0u64..100), 0..50),
        ) {
            let of = |data: &[(u64, u64)]| {
                let mut histogram = Histogram::new();
                for &(value, weight) in data {
                    histogram.record_weighted(value, weight);
                }
                histogram
            };
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let together = of(&[left, right].concat());
            prop_assert_eq!(merged.distribution(1.0), together.distribution(1.0));
            prop_assert!(merged.buckets().eq(together.buckets()));
        }
    }
}
