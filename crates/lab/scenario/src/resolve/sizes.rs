//! Checked distributions of transfer sizes.

use std::collections::BTreeMap;

use super::Context;
use crate::field::suggest;
use crate::remarks::Table;
use crate::schema::Distribution;
use crate::size_distribution::SizeDistribution;

/// All distributions that transfers can name, by name.
pub(super) type Sizes = BTreeMap<String, SizeDistribution>;

/// The built-in distributions and those of the file. A distribution with mistakes is reported once; it still
/// counts as known, so that it is not reported as unknown as well.
pub(super) fn sizes(cx: &Context<'_>) -> Sizes {
    let built_in = SizeDistribution::BUILT_IN.iter();
    let mut sizes: Sizes =
        built_in.filter_map(|name| Some(((*name).to_owned(), SizeDistribution::built_in(name)?))).collect();
    let scenario = cx.scenario;
    for (name, own) in &scenario.distributions.0 {
        // A name with dots cannot be found again by its path, so the mark of the whole table is used.
        let keys = cx.table(format!("distributions.{name}"));
        if sizes.contains_key(name) {
            let hint = "choose another name for this distribution";
            keys.refuse(format!("the distribution \"{name}\" is built in"), hint);
            continue;
        }
        check(own, &keys);
        let points = own.cdf.iter().map(|point| (point.size.bytes().unwrap_or(u64::MAX), point.probability));
        let points: Vec<_> = points.collect();
        sizes.insert(
            name.clone(),
            SizeDistribution::through(if points.is_empty() { vec![(1, 1.0)] } else { points }),
        );
    }
    sizes
}

/// The distribution called `name`, which a key uses.
pub(super) fn named(name: &str, sizes: &Sizes, key: &str, keys: &Table<'_>) -> Option<SizeDistribution> {
    let found = sizes.get(name).cloned();
    if found.is_none() {
        let known: Vec<&str> = sizes.keys().map(String::as_str).collect();
        keys.error(key, format!("unknown distribution \"{name}\""), suggest(name, &known));
    }
    found
}

fn check(own: &Distribution, keys: &Table<'_>) {
    const EXAMPLE: &str = "as in cdf = [[\"6 kB\", 0.15], [\"1 MB\", 1]]";
    let Some(last) = own.cdf.last() else {
        keys.error("cdf", "the distribution is empty", EXAMPLE);
        return;
    };
    let mut before: Option<(u64, f64)> = None;
    let mut is_jump = false;
    for (index, point) in own.cdf.iter().enumerate() {
        let at = format!("cdf[{index}]");
        let (size, p) = (point.size.bytes(), point.probability);
        let Some(size) = size.filter(|size| *size <= MAX_TRANSFER_BYTES) else {
            keys.error(&at, "the size must be limited", format!("at most {MAX_TRANSFER_BYTES} B"));
            continue;
        };
        if !(0.0..=1.0).contains(&p) {
            keys.error(&at, format!("a probability of {p}"), "write a number from 0 to 1");
        } else if size == 0 && p > 0.0 {
            keys.error(&at, "transfers of 0 B", "give 0 B the probability 0, or remove the point");
        }
        if let Some((size_before, p_before)) = before {
            if size == size_before && is_jump {
                let hint = "a jump takes two points: the probability below the size, and that up to it";
                keys.error(&at, format!("the size {} occurs three times", point.size), hint);
            } else if size < size_before {
                keys.error(
                    &at,
                    "the sizes are not in increasing order",
                    "list the points from the smallest size to the largest",
                );
            }
            is_jump = size == size_before;
            if p < p_before {
                let hint = "a cumulative distribution never falls: each point is the probability of at most its size";
                keys.error(&at, format!("the probability falls from {p_before} to {p}"), hint);
            }
        }
        before = Some((size, p));
    }
    if last.probability != 1.0 {
        let hint = "the last point must have the probability 1: every transfer has some size";
        keys.error("cdf", format!("the distribution ends at {}", last.probability), hint);
    }
}

/// Largest transfer, 1 TB: far beyond any transfer that a run can finish, and far below the range of stream
/// positions.
pub(super) const MAX_TRANSFER_BYTES: u64 = 1_000_000_000_000;
