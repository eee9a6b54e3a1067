//! The flows of an experiment, stored by what they share: ten million arrivals take a few numbers each.

use super::{App, Flow};
use shoal_units::Time;
use std::ops::Range;

/// All flows of an experiment, in the order of their groups; their numbers are their positions.
///
/// Flows are given and taken one by one. Those of a group have nearly everything in common, so a flow takes memory only
/// for what differs: 8 bytes each for its start, its size and its paths.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Flows(Vec<Alike>);

/// Flows that follow each other and differ at most in start, stop, paths, and the bytes of their transfers.
#[derive(Clone, PartialEq, Debug)]
struct Alike {
    /// Number of the first flow.
    first: u32,
    count: u32,
    /// The first flow.
    pattern: Flow,
    start: Column<Time>,
    stop: Column<Option<Time>>,
    forward: Column<u32>,
    backward: Column<u32>,
    bytes: Column<u64>,
}

/// One value for each flow, or one for all.
#[derive(Clone, PartialEq, Debug)]
enum Column<T> {
    Same(T),
    Each(Vec<T>),
}

impl<T: Copy + PartialEq> Column<T> {
    /// Adds a value behind `count` others; room is made for `more` behind it.
    fn push(&mut self, value: T, count: u32, more: usize) {
        match self {
            Self::Same(same) if *same == value => {}
            Self::Same(same) => {
                let mut values = Vec::with_capacity(count as usize + 1 + more);
                values.resize(count as usize, *same);
                values.push(value);
                *self = Self::Each(values);
            }
            Self::Each(values) => values.push(value),
        }
    }
    #[inline]
    fn get(&self, place: u32) -> T {
        match self {
            Self::Same(value) => *value,
            Self::Each(values) => values[place as usize],
        }
    }
}

impl Alike {
    fn of(flow: Flow, first: u32) -> Self {
        Self {
            first,
            count: 1,
            pattern: flow,
            start: Column::Same(flow.start),
            stop: Column::Same(flow.stop),
            forward: Column::Same(flow.forward),
            backward: Column::Same(flow.backward),
            bytes: Column::Same(bytes_of(&flow.app)),
        }
    }

    /// Whether the flow differs in nothing else than the columns.
    fn takes(&self, flow: &Flow) -> bool {
        let pattern = &self.pattern;
        (flow.group, flow.endpoint) == (pattern.group, pattern.endpoint)
            && with_bytes(flow.app, bytes_of(&pattern.app)) == pattern.app
    }

    fn push(&mut self, flow: &Flow, more: usize) {
        self.start.push(flow.start, self.count, more);
        self.stop.push(flow.stop, self.count, more);
        self.forward.push(flow.forward, self.count, more);
        self.backward.push(flow.backward, self.count, more);
        self.bytes.push(bytes_of(&flow.app), self.count, more);
        self.count += 1;
    }

    fn get(&self, place: u32) -> Flow {
        Flow {
            forward: self.forward.get(place),
            backward: self.backward.get(place),
            start: self.start.get(place),
            stop: self.stop.get(place),
            app: with_bytes(self.pattern.app, self.bytes.get(place)),
            ..self.pattern
        }
    }
}

/// Bytes of the transfers of an application; 0 if it has none.
const fn bytes_of(app: &App) -> u64 {
    if let App::Transfers { bytes, .. } = app { *bytes } else { 0 }
}

/// The application with transfers of so many bytes, if it has any.
fn with_bytes(mut app: App, size: u64) -> App {
    if let App::Transfers { bytes, .. } = &mut app {
        *bytes = size;
    }
    app
}

impl Flows {
    /// Number of flows.
    pub fn len(&self) -> usize {
        self.0.last().map_or(0, |last| last.first as usize + last.count as usize)
    }

    /// Whether there are no flows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a flow, whose group is that of the flow before or a later one; about `more` flows of its group follow.
    ///
    /// # Panics
    /// If its group is an earlier one, or if there would be more than 2^32 flows.
    pub fn push(&mut self, flow: Flow, more: usize) {
        match self.0.last_mut() {
            Some(last) if last.takes(&flow) => last.push(&flow, more),
            last => {
                let earlier = last.as_ref().map_or(0, |last| last.pattern.group);
                assert!(flow.group >= earlier, "flows come in the order of their groups");
                let first = u32::try_from(self.len()).expect("less than 2^32 flows");
                self.0.push(Alike::of(flow, first));
            }
        }
    }

    /// The flow with this number, if there is one.
    pub fn get(&self, number: usize) -> Option<Flow> {
        let number = u32::try_from(number).ok()?;
        let alike = &self.0[self.0.partition_point(|alike| alike.first <= number).checked_sub(1)?];
        let place = number - alike.first;
        (place < alike.count).then(|| alike.get(place))
    }

    /// The flow with this number.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(&self, number: u32) -> Flow {
        self.get(number as usize).expect("the number of a flow")
    }

    /// All flows, in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Flow> + Clone + '_ {
        All { left: &self.0, place: 0, count: self.len() }
    }

    /// Some of the flows with their numbers.
    pub fn numbered(&self, numbers: Range<u32>) -> impl ExactSizeIterator<Item = (u32, Flow)> + Clone + '_ {
        let skipped = self.0.partition_point(|alike| alike.first + alike.count <= numbers.start);
        let left = &self.0[skipped..];
        let place = left.first().map_or(0, |alike| numbers.start - alike.first);
        let count = self.len().saturating_sub(numbers.start as usize);
        numbers.zip(All { left, place, count })
    }

    /// Numbers of the flows of a group.
    pub fn of_group(&self, group: u32) -> Range<u32> {
        let begin = self.0.partition_point(|alike| alike.pattern.group < group);
        let end = self.0.partition_point(|alike| alike.pattern.group <= group);
        let first = |place: usize| self.0.get(place).map_or(self.len() as u32, |alike| alike.first);
        first(begin)..first(end)
    }

    /// One flow for each set of flows that differ only in start, stop, paths and sizes: few, however many flows there
    /// are.
    pub fn patterns(&self) -> impl Iterator<Item = &Flow> {
        self.0.iter().map(|alike| &alike.pattern)
    }
}

impl<'a> IntoIterator for &'a Flows {
    type Item = Flow;
    type IntoIter = All<'a>;
    fn into_iter(self) -> All<'a> {
        All { left: &self.0, place: 0, count: self.len() }
    }
}

impl FromIterator<Flow> for Flows {
    fn from_iter<I: IntoIterator<Item = Flow>>(flows: I) -> Self {
        let mut all = Self::default();
        flows.into_iter().for_each(|flow| all.push(flow, 0));
        all
    }
}

/// Iterator over [`Flows`].
#[derive(Clone, Debug)]
pub struct All<'a> {
    left: &'a [Alike],
    place: u32,
    count: usize,
}

impl Iterator for All<'_> {
    type Item = Flow;
    fn next(&mut self) -> Option<Flow> {
        let (alike, others) = self.left.split_first()?;
        let flow = alike.get(self.place);
        self.place += 1;
        self.count -= 1;
        if self.place == alike.count {
            (self.left, self.place) = (others, 0);
        }
        Some(flow)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }
}

impl ExactSizeIterator for All<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_units::Span;

    fn flow(group: u32, start_us: u64, bytes: u64) -> Flow {
        let app = App::Transfers { bytes, rounds: 1, interval: Span::ZERO, barrier: false };
        let start = Time::ZERO + Span::from_micros(start_us);
        Flow { group, endpoint: group, forward: 0, backward: 1, start, stop: None, app }
    }

    #[test]
    fn what_is_given_is_taken_again() {
        let bulk = Flow { app: App::Bulk, stop: Some(Time::from_picos(9)), ..flow(1, 5, 0) };
        let all = [
            flow(0, 1, 10),
            flow(0, 2, 10),
            flow(0, 2, 30),
            bulk,
            Flow { forward: 7, ..bulk },
            flow(3, 4, 2),
        ];
        let flows: Flows = all.into_iter().collect();
        assert_eq!(flows.len(), 6);
        assert_eq!(flows.iter().collect::<Vec<_>>(), all);
        assert_eq!(flows.iter().len(), 6);
        for (number, flow) in all.iter().enumerate() {
            assert_eq!(flows.get(number), Some(*flow));
        }
        assert_eq!(flows.get(6), None);
        let ranges: Vec<Range<u32>> = (0..5).map(|group| flows.of_group(group)).collect();
        assert_eq!(ranges, [0..3, 3..5, 5..5, 5..6, 6..6]);
        assert_eq!(flows.patterns().count(), 3);
        for numbers in [0..6, 1..4, 2..3, 4..6, 6..6] {
            let part: Vec<(u32, Flow)> = flows.numbered(numbers.clone()).collect();
            assert_eq!(part, numbers.map(|number| (number, all[number as usize])).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_flows_share_is_kept_once() {
        let flows: Flows = (0..1000).map(|number| flow(0, number, 10)).collect();
        let [alike] = &flows.0[..] else { panic!("one group") };
        assert!(matches!(alike.bytes, Column::Same(10)) && matches!(alike.stop, Column::Same(None)));
        assert!(matches!(&alike.start, Column::Each(starts) if starts.len() == 1000));
    }
}
