//! Distributions of transfer sizes.
//!
//! Read as the traffic generators of the literature read their files: the cumulative distribution is linear between two
//! points and from (0 B, 0) to the first one (`gen_random_cdf` of HKUST-SING/TrafficGenerator, `src/common/cdf.c`;
//! ns-2's `EmpiricalRandomVariable` with interpolation). Two points of one size are a jump: so many transfers have
//! exactly this size. Sizes are rounded up to whole bytes, so none is zero.

use shoal_units::Stream;

/// Web search: sizes of background flows in a cluster that answers queries (Alizadeh et al., DCTCP, SIGCOMM 2010,
/// figure 4). Points: HKUST-SING/TrafficGenerator, `conf/DCTCP_CDF.txt`, which ns-3 load-balancing studies share.
/// pFabric's ns-2 file `CDF_dctcp.tcl` has the same ones in packets of 1460 B (6 packets for 10 kB, 20,000 for 30 MB).
pub const WEB_SEARCH: &[(u64, f64)] = &[
    (10_000, 0.15),
    (20_000, 0.2),
    (30_000, 0.3),
    (50_000, 0.4),
    (80_000, 0.53),
    (200_000, 0.6),
    (1_000_000, 0.7),
    (2_000_000, 0.8),
    (5_000_000, 0.9),
    (10_000_000, 0.97),
    (30_000_000, 1.0),
];

/// Data mining: sizes of flows in a cluster for large computations (Greenberg et al., VL2, SIGCOMM 2009, figure 2).
/// Points: HKUST-SING/TrafficGenerator, `conf/VL2_CDF.txt`. pFabric's ns-2 file `CDF_vl2.tcl` is coarser (packets of
/// 1460 B) and puts 99 % instead of 98 % below 100 MB.
pub const DATA_MINING: &[(u64, f64)] = &[
    (180, 0.1),
    (216, 0.2),
    (560, 0.3),
    (900, 0.4),
    (1_100, 0.5),
    (1_870, 0.6),
    (3_160, 0.7),
    (10_000, 0.8),
    (400_000, 0.9),
    (3_160_000, 0.95),
    (100_000_000, 0.98),
    (1_000_000_000, 1.0),
];

/// A cumulative distribution: points of non-decreasing size and probability, the last of which is 1. A size stands
/// twice at most.
#[derive(Clone, PartialEq, Debug)]
pub struct SizeDistribution(Vec<(u64, f64)>);

impl SizeDistribution {
    /// Names of the built-in distributions.
    pub const BUILT_IN: &'static [&'static str] = &["web-search", "data-mining"];

    /// The built-in distribution of this name.
    pub fn built_in(name: &str) -> Option<Self> {
        match name {
            "web-search" => Some(Self(WEB_SEARCH.to_vec())),
            "data-mining" => Some(Self(DATA_MINING.to_vec())),
            _ => None,
        }
    }

    /// The distribution through `points`, which the caller has checked.
    pub(crate) fn through(points: Vec<(u64, f64)>) -> Self {
        Self(points)
    }

    /// Draws a size in bytes from `stream`; at least one byte.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        self.quantile(stream.uniform_f64())
    }

    /// The `p`-quantile of the size, rounded up to a whole byte; at least one byte.
    pub fn quantile(&self, p: f64) -> u64 {
        let upper = self.0.partition_point(|point| point.1 < p).min(self.0.len() - 1);
        let (high, reached) = self.0[upper];
        let (low, before) = if upper == 0 { (0, 0.0) } else { self.0[upper - 1] };
        if reached <= before || p >= reached {
            return high.max(1);
        }
        let size = low as f64 + (p - before).max(0.0) / (reached - before) * (high - low) as f64;
        (libm::ceil(size) as u64).clamp(1, high.max(1))
    }

    /// Mean size in bytes, before rounding.
    pub fn mean_bytes(&self) -> f64 {
        self.pieces().map(|(low, high, mass)| mass * (low + high) / 2.0).sum()
    }

    /// Mean number of segments of `mss` bytes in a transfer.
    pub fn mean_segments(&self, mss: u64) -> f64 {
        // Integral of ceil(x / mss) from 0 to x: n whole segments weigh 1 + 2 + ... + n, the remainder n + 1.
        let integral = |x: f64| {
            let mss = mss as f64;
            let whole = libm::floor(x / mss);
            mss * whole * (whole + 1.0) / 2.0 + (x - whole * mss) * (whole + 1.0)
        };
        let segments = |low: f64, high: f64| {
            if high > low {
                (integral(high) - integral(low)) / (high - low)
            } else {
                libm::ceil(high / mss as f64)
            }
        };
        self.pieces().map(|(low, high, mass)| mass * segments(low, high)).sum()
    }

    /// The linear pieces of the distribution: from, to, and probability mass. A jump goes from its size to itself.
    fn pieces(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let before = std::iter::once((0, 0.0)).chain(self.0.iter().copied());
        before
            .zip(&self.0)
            .map(|((low, before), (high, reached))| (low as f64, *high as f64, reached - before))
            .filter(|(_, _, mass)| *mass > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_linear_between_points() {
        let own = SizeDistribution::through(vec![(1000, 0.2), (2000, 0.2), (4000, 1.0)]);
        // The distribution rises from 0 B to the first point, has nothing between 1000 and 2000 B, then 2500
        // B a unit of probability.
        assert_eq!(own.quantile(0.0), 1);
        assert_eq!(own.quantile(0.1), 500);
        assert_eq!(own.quantile(0.2), 1000);
        assert_eq!(own.quantile(0.6), 3000);
        assert_eq!(own.quantile(0.600_01), 3001);
        assert_eq!(own.quantile(1.0), 4000);
        // 0.2 x 500 + 0.8 x 3000.
        assert_eq!(own.mean_bytes(), 2500.0);
    }

    #[test]
    fn segments_are_counted_whole() {
        // Uniform over 0 to 3000 B in segments of 1000 B: 1, 2 or 3 with equal probability.
        let own = SizeDistribution::through(vec![(3000, 1.0)]);
        assert_eq!(own.mean_segments(1000), 2.0);
        // Uniform over 500 to 1500 B: 1 or 2.
        let own = SizeDistribution::through(vec![(500, 0.0), (1500, 1.0)]);
        assert_eq!(own.mean_segments(1000), 1.5);
    }

    #[test]
    fn two_points_of_one_size_are_a_jump() {
        // Half of the transfers have exactly 1000 B; the others are uniform over 1000 to 3000 B.
        let own = SizeDistribution::through(vec![(1000, 0.0), (1000, 0.5), (3000, 1.0)]);
        assert_eq!([0.0, 0.2, 0.5, 0.75, 1.0].map(|p| own.quantile(p)), [1000, 1000, 1000, 2000, 3000]);
        // 0.5 x 1000 + 0.5 x 2000.
        assert_eq!(own.mean_bytes(), 1500.0);
        // Segments of 1000 B: half have 1; of the others half have 2 and half 3.
        assert_eq!(own.mean_segments(1000), 0.5 + 0.5 * 2.5);
    }

    /// The generators from which the points are taken run with these means: 1,711,250 B (`mean_flow_size` of
    /// the ns-2 scripts for the web-search file) and 12,658,199 B (data mining).
    #[test]
    fn built_in_means_are_those_of_their_users() {
        let mean = |name| SizeDistribution::built_in(name).unwrap().mean_bytes();
        assert!((mean("web-search") - 1_711_250.0).abs() < 0.5, "{}", mean("web-search"));
        assert!((mean("data-mining") - 12_658_199.0).abs() < 1.0, "{}", mean("data-mining"));
    }

    #[test]
    fn draws_have_the_distribution() {
        for name in SizeDistribution::BUILT_IN {
            let own = SizeDistribution::built_in(name).unwrap();
            let mut stream = Stream::new(3, name);
            let draws: Vec<u64> = (0..100_000).map(|_| own.draw(&mut stream)).collect();
            for (size, p) in &own.0 {
                let below = draws.iter().filter(|draw| *draw <= size).count() as f64 / draws.len() as f64;
                // Four standard deviations of a proportion: 4 sqrt(p (1 - p) / n).
                assert!(
                    (below - p).abs() <= 4.0 * (p * (1.0 - p) / 1e5).sqrt() + 1e-12,
                    "{name} {size}: {below}"
                );
            }
        }
    }
}
