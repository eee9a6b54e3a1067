//! What the author of notices sees of a run that has ended.

use crate::{Bottleneck, GroupResult, Notice, TransferRates};
use shoal_scenario::Experiment;
use shoal_trace::{Column, Table};

/// A function that writes the notices of a run.
pub type Notices = fn(&Experiment, &Finished<'_>) -> Vec<Notice>;

/// The measurements of a run that has ended, before flows are left out of the lists.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// Flow groups, in scenario order. They list all of their flows, but those with transfers, which may list fewer;
    /// all of these are in `transfers`.
    pub groups: &'a [GroupResult],
    /// Monitored links, in scenario order.
    pub bottlenecks: &'a [Bottleneck],
    /// Rates of all flows that transfer.
    pub transfers: &'a TransferRates,
    /// The table `queue` of the run's series, if there is one.
    pub queue: Option<&'a Table>,
}

/// Part of a link's drops after which they have begun: a few stray ones before are not the beginning.
const BEGUN: f64 = 0.01;

impl Finished<'_> {
    /// When the drops at a link began, in seconds: the end of the bin of the series in which the first hundredth of
    /// them since `from_s` was reached. `None` without a series, or without drops.
    pub fn drops_begin_s(&self, link: &str, from_s: f64) -> Option<f64> {
        let column = |name: &str| self.queue?.column(name);
        let (Column::F64(times), Column::Text { words, codes }, Column::U32(drops)) =
            (column("time_s")?, column("link")?, column("drops")?)
        else {
            return None;
        };
        let code = words.iter().position(|word| word == link)?;
        let rows = || {
            let all = times.iter().zip(codes).zip(drops);
            all.filter(|((time, at), _)| **time > from_s && **at as usize == code)
        };
        let all: u64 = rows().map(|(_, drops)| u64::from(*drops)).sum();
        let mut sum = 0;
        let begins = rows().find(|(_, drops)| {
            sum += u64::from(**drops);
            sum > 0 && sum as f64 >= BEGUN * all as f64
        });
        begins.map(|((time, _), _)| *time)
    }
}
