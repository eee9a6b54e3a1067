//! Divides whole items among groups.

extern crate alloc;

use alloc::vec::Vec;

/// Divides `total` items among groups of these `sizes`. Each group that is not empty gets one, in order, as
/// long as there are enough; the rest is divided equally, and no group gets more than its size. Items that
/// cannot be divided equally go to the first groups.
///
/// ```
/// // 64 senders of an incast, 4 bulk flows and 4 others: eight in all.
/// assert_eq!(shoal_units::even_shares(8, &[64, 4, 4]), [3, 3, 2]);
/// // A group that is full leaves its share to the others.
/// assert_eq!(shoal_units::even_shares(10, &[64, 0, 2]), [8, 0, 2]);
/// // The first groups, if there are not enough for all.
/// assert_eq!(shoal_units::even_shares(2, &[5, 5, 5]), [1, 1, 0]);
/// ```
pub fn even_shares(total: u64, sizes: &[u64]) -> Vec<u64> {
    let mut shares = alloc::vec![0; sizes.len()];
    let mut left = total;
    loop {
        let open = shares.iter().zip(sizes).filter(|(share, size)| share < size).count() as u64;
        if left == 0 || open == 0 {
            return shares;
        }
        // A round gives each group at least one item, so the number of rounds is about the number of groups
        // at most.
        let each = (left / open).max(1);
        for (share, size) in shares.iter_mut().zip(sizes) {
            let given = each.min(size - *share).min(left);
            *share += given;
            left -= given;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::even_shares;

    #[test]
    fn shares_are_level_and_complete() {
        assert_eq!(even_shares(0, &[3, 3]), [0, 0]);
        assert_eq!(even_shares(7, &[]), [0; 0]);
        assert_eq!(even_shares(100, &[3, 4]), [3, 4], "no more than there is");
        // One each, then 7 more: 2 each, and the last one goes to the first group with room.
        assert_eq!(even_shares(10, &[20, 20, 20]), [4, 3, 3]);
        // The small groups are full at 2 and 5; the other 9 of 16 go to the last group.
        assert_eq!(even_shares(16, &[2, 5, 50]), [2, 5, 9]);
        for total in 0..40 {
            let sizes = [1, 7, 0, 3, 30];
            let shares = even_shares(total, &sizes);
            assert_eq!(shares.iter().sum::<u64>(), total.min(41));
            let highest = *shares.iter().max().unwrap();
            for (share, size) in shares.iter().zip(sizes) {
                assert!(*share == size || share + 1 >= highest, "{shares:?} of {sizes:?}");
            }
        }
    }
}
