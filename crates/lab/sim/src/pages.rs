//! Browsers: each loads pages of objects over several flows of its group.

use crate::exchanges::thinking;
use shoal_measure::WaitMeter;
use shoal_scenario::{App, Experiment, SizeDistribution, Think};
use shoal_units::cast::count_u32;
use shoal_units::{Stream, Time};
use std::ops::Range;

/// What follows when an object has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// The connection asks for another object.
    Object,
    /// The page is not complete, and all its objects have been asked for.
    Wait,
    /// The page is complete; the next one begins at this time.
    Page(Time),
    /// The last page is complete.
    End,
}

/// A browser.
#[derive(Clone)]
pub(crate) struct Browser {
    /// Numbers of the flows that carry its objects.
    pub(crate) flows: Range<u32>,
    objects: u32,
    size: ObjectSize,
    rounds: Option<u32>,
    think: Think,
    random_think: Stream,
    /// Objects of the present page that nobody has asked for.
    left: u32,
    /// Objects that somebody has asked for and that have not come.
    coming: u32,
    /// Pages that are complete.
    done: u32,
    /// When the next page may begin.
    next_at: Time,
    pub(crate) meter: WaitMeter,
}

#[derive(Clone)]
enum ObjectSize {
    Constant(u64),
    Drawn(SizeDistribution, Stream),
}

impl Browser {
    /// The browsers of group `index`, in the order of their flows.
    pub(crate) fn all_of(experiment: &Experiment, index: u32) -> Vec<Self> {
        let flows = experiment.flows.of_group(index);
        let Some((_, first)) = experiment.flows.numbered(flows.clone()).next() else { return Vec::new() };
        let App::Page { objects, object_bytes, connections, rounds, think, .. } = first.app else {
            return Vec::new();
        };
        let browser = |begin: u32| {
            let stream =
                |purpose: &str| Stream::new(experiment.seed, &experiment.stream_name(purpose, begin));
            Self {
                flows: begin..(begin + connections).min(flows.end),
                objects,
                size: match &experiment.groups[index as usize].object_sizes {
                    Some(sizes) => ObjectSize::Drawn(sizes.clone(), stream("objects")),
                    None => ObjectSize::Constant(object_bytes),
                },
                rounds,
                think,
                random_think: stream("think"),
                left: 0,
                coming: 0,
                done: 0,
                next_at: Time::ZERO,
                meter: WaitMeter::new(Time::ZERO + experiment.warmup),
            }
        };
        flows.clone().step_by(connections as usize).map(browser).collect()
    }

    /// Takes an object for a connection that is free at `now`, of a new page if its time has come; returns its size in
    /// bytes.
    pub(crate) fn take(&mut self, now: Time) -> Option<u64> {
        let is_over = self.rounds.is_some_and(|rounds| self.done >= rounds);
        if self.left == 0 && self.coming == 0 && now >= self.next_at && !is_over {
            self.left = self.objects;
            self.meter.on_begin(now);
        }
        self.left = self.left.checked_sub(1)?;
        self.coming += 1;
        Some(match &mut self.size {
            ObjectSize::Constant(bytes) => *bytes,
            ObjectSize::Drawn(sizes, random) => sizes.draw(random),
        })
    }

    /// An object has come.
    pub(crate) fn on_object(&mut self, now: Time) -> Next {
        self.coming -= 1;
        if self.left > 0 {
            return Next::Object;
        }
        if self.coming > 0 {
            return Next::Wait;
        }
        self.meter.on_end(now);
        self.done += 1;
        if self.rounds.is_some_and(|rounds| self.done >= rounds) {
            return Next::End;
        }
        self.next_at = now.saturating_add(thinking(self.think, &mut self.random_think));
        Next::Page(self.next_at)
    }
}

/// Browsers of all groups.
pub(crate) struct Browsers(Vec<Vec<Browser>>);

impl Browsers {
    pub(crate) fn of(experiment: &Experiment) -> Self {
        let groups = 0..count_u32(experiment.groups.len());
        Self(groups.map(|group| Browser::all_of(experiment, group)).collect())
    }

    /// The browser of a flow.
    pub(crate) fn of_flow(&mut self, group: u32, number: u32) -> Option<&mut Browser> {
        let browsers = self.0.get_mut(group as usize)?;
        let place = browsers.partition_point(|browser| browser.flows.end <= number);
        browsers.get_mut(place)
    }

    /// Meters of the pages of a group, one for each browser.
    pub(crate) fn meters(&self, group: usize) -> impl Iterator<Item = &WaitMeter> {
        self.0[group].iter().map(|browser| &browser.meter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_units::Span;

    fn browser(objects: u32, rounds: Option<u32>) -> Browser {
        Browser {
            flows: 0..6,
            objects,
            size: ObjectSize::Constant(1000),
            rounds,
            think: Think { mean: Span::from_millis(100), at_random: false },
            random_think: Stream::new(1, "think"),
            left: 0,
            coming: 0,
            done: 0,
            next_at: Time::ZERO,
            meter: WaitMeter::new(Time::ZERO),
        }
    }

    #[test]
    fn a_page_ends_with_the_last_of_its_objects_and_the_next_one_after_the_pause() {
        let ms = |ms| Time::ZERO + Span::from_millis(ms);
        let mut browser = browser(3, Some(2));
        assert_eq!([browser.take(ms(0)), browser.take(ms(0))], [Some(1000); 2]);
        assert_eq!(browser.on_object(ms(10)), Next::Object);
        assert_eq!((browser.take(ms(10)), browser.take(ms(10))), (Some(1000), None));
        assert_eq!(browser.on_object(ms(20)), Next::Wait);
        assert_eq!(browser.on_object(ms(30)), Next::Page(ms(130)));
        // Nobody begins the next page before its time.
        assert_eq!(browser.take(ms(129)), None);
        for expected in [Next::Wait, Next::Wait, Next::End] {
            if browser.coming == 0 {
                (0..3).for_each(|_| assert!(browser.take(ms(130)).is_some()));
            }
            assert_eq!(browser.on_object(ms(150)), expected);
        }
        assert_eq!(browser.take(ms(1000)), None);
        let summary = browser.meter.summary();
        assert_eq!((summary.count, summary.time_s.min, summary.time_s.max), (2, Some(0.02), Some(0.03)));
    }
}
