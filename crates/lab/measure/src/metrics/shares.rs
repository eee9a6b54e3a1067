//! Formulas on distributions that are given as buckets.

use super::finite;
use crate::Bucket;

/// Part of the weight with a value from `low` to `high`, both included. A bucket that lies partly inside counts in
/// proportion to the part of its whole numbers that is inside.
pub fn share_between(buckets: &[Bucket], low: f64, high: f64) -> Option<f64> {
    let total: f64 = buckets.iter().map(|bucket| bucket.weight as f64).sum();
    let inside = |bucket: &Bucket| {
        let values = (bucket.high - bucket.low) as f64 + 1.0;
        let first = (bucket.low as f64).max(low.ceil());
        let last = (bucket.high as f64).min(high.floor());
        bucket.weight as f64 * ((last - first + 1.0) / values).max(0.0)
    };
    finite(buckets.iter().map(inside).sum::<f64>() / total)
}

/// Parts of a weight in the bins between `edges` (rising): each bucket from `low` to `high` is spread evenly over the
/// bins that it covers; one without width falls into the bin that begins at or below it. What lies outside of the edges
/// counts in the total, so the parts may add up to less than one. Empty if there is no weight.
pub fn binned_shares(low: &[f64], high: &[f64], weight: &[f64], edges: &[f64]) -> Vec<f64> {
    let total: f64 = weight.iter().sum();
    if total <= 0.0 || edges.len() < 2 {
        return Vec::new();
    }
    let mut bins = vec![0.0; edges.len() - 1];
    for ((&low, &high), &weight) in low.iter().zip(high).zip(weight) {
        let first = edges.partition_point(|edge| *edge <= low);
        if high <= low {
            // Before the first edge there is no bin, and none after the last.
            if let Some(bin) = first.checked_sub(1).and_then(|bin| bins.get_mut(bin)) {
                *bin += weight / total;
            }
            continue;
        }
        for bin in first.saturating_sub(1)..bins.len() {
            if edges[bin] >= high {
                break;
            }
            let overlap = edges[bin + 1].min(high) - edges[bin].max(low);
            bins[bin] += weight / total * overlap.max(0.0) / (high - low);
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_of_known_buckets() {
        // Weights 1 at 0, 2 at 5, and 4 spread over 10, 11, 12, 13.
        let bucket = |low, high, weight| Bucket { low, high, weight };
        let buckets = [bucket(0, 0, 1), bucket(5, 5, 2), bucket(10, 13, 4)];
        assert_eq!(share_between(&buckets, 0.0, 5.0), Some(3.0 / 7.0));
        assert_eq!(share_between(&buckets, 1.0, 11.5), Some(4.0 / 7.0));
        assert_eq!(share_between(&buckets, 20.0, 30.0), Some(0.0));
        assert_eq!(share_between(&buckets, 0.0, f64::INFINITY), Some(1.0));
        assert_eq!(share_between(&[], 0.0, 1.0), None);
    }

    #[test]
    fn bins_share_a_bucket_that_covers_several() {
        // Half of the weight at 1 (in [1, 2)), half from 1 to 5: a quarter of it in each unit.
        let shares = binned_shares(&[1.0, 1.0], &[1.0, 5.0], &[2.0, 2.0], &[0.0, 1.0, 2.0, 4.0]);
        assert_eq!(shares, [0.0, 0.5 + 0.125, 0.25]);
        // An edge belongs to the bin that begins there; what is outside is lost, but counts in the total.
        assert_eq!(binned_shares(&[2.0, 9.0], &[2.0, 9.0], &[1.0, 1.0], &[0.0, 2.0, 4.0]), [0.0, 0.5]);
        assert_eq!(binned_shares(&[0.0], &[0.0], &[1.0], &[1.0, 2.0]), [0.0]);
        assert!(binned_shares(&[], &[], &[], &[0.0, 1.0]).is_empty());
    }

    proptest! {
        #[test]
        fn wide_enough_bins_hold_everything(
            buckets in prop::collection::vec((0.0f64..90.0, 0.0f64..10.0, 0.1f64..5.0), 1..30),
            inner in prop::collection::vec(0.0f64..100.0, 0..20),
        ) {
            let (low, weight): (Vec<f64>, Vec<f64>) = buckets.iter().map(|b| (b.0, b.2)).unzip();
            let high: Vec<f64> = buckets.iter().map(|b| b.0 + b.1).collect();
            let mut edges = [vec![0.0], inner, vec![100.0]].concat();
            edges.sort_by(f64::total_cmp);
            let shares = binned_shares(&low, &high, &weight, &edges);
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(shares.iter().all(|share| *share >= 0.0));
        }
    }
}
