//! What the network keeps of a link with impairments, and says of it.

use shoal_measure::PathResult;
use shoal_netem::Counts;
use shoal_scenario::Link;
use shoal_units::Time;

/// A link whose wire loses, delays, copies or reorders packets. What a packet meets depends on when others are asked
/// for, so nothing is computed ahead as on other wires. Such a link therefore costs two events a packet and more.
pub(crate) struct ImpairedLink {
    /// Time of the link's event in the event queue; any other is out of date.
    pub(crate) expected: Time,
    /// What had happened when the measurement began.
    pub(crate) before_window: Counts,
}

impl Default for ImpairedLink {
    fn default() -> Self {
        Self { expected: Time::NEVER, before_window: Counts::default() }
    }
}

impl ImpairedLink {
    /// What has happened since the measurement began, for the result, if `now` are the counts since the start.
    pub(crate) fn result(&self, link: &Link, now: Counts) -> PathResult {
        let before = self.before_window;
        PathResult {
            link: link.name.clone(),
            lost: Some(now.lost - before.lost),
            duplicated: Some(now.duplicated - before.duplicated),
            corrupted: Some(now.corrupted - before.corrupted),
            reordered: Some(now.reordered - before.reordered),
        }
    }
}
