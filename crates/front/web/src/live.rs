//! A run in progress.

use crate::lens::Lens;
use crate::{Run, Scenario, columns};
use serde_json::Value as Json;
use shoal_measure::Histogram;
use shoal_packet::Class;
use shoal_sim::PacketSink;
use shoal_trace::Table;
use shoal_units::{Span, Time};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// A run in progress, whose plan may change on the way.
#[wasm_bindgen]
pub struct Live {
    live: shoal_sim::Live,
    lens: Lens,
    /// The resolved scenario, for the result.
    scenario: Json,
    seed: Option<u64>,
    /// What [`Self::delays`] has told, by link and class.
    told: Vec<[Histogram; 2]>,
    /// What [`Self::queue`] has told, in the same way.
    told_queues: Vec<[Histogram; 2]>,
}

#[wasm_bindgen]
impl Live {
    /// A run of a scenario that has not begun; `seed` replaces the scenario's own. If it is `watched`, which costs some
    /// speed, [`Self::look`] shows single packets.
    ///
    /// # Errors
    /// What the simulator has no model for, as text.
    #[wasm_bindgen(constructor)]
    pub fn new(scenario: &Scenario, seed: Option<u64>, watched: Option<bool>) -> Result<Live, JsValue> {
        let experiment = scenario.experiment(seed)?;
        let json = scenario.json_with_seed(experiment.seed);
        let nothing = || experiment.monitored().map(|_| [const { Histogram::new() }; 2]).collect();
        let (told, told_queues) = (nothing(), nothing());
        let lens = Lens::default();
        let sink = watched.unwrap_or(false).then(|| Box::new(lens.clone()) as Box<dyn PacketSink>);
        let live = shoal_sim::Live::new(Box::new(experiment), sink);
        Ok(Self { live, lens, scenario: json, seed, told, told_queues })
    }

    /// Goes on to a time in seconds, or until about this many events more have happened (checked every 131,072 events).
    /// Returns the time in seconds up to which everything has happened.
    pub fn advance(&mut self, until_s: f64, events: f64) -> f64 {
        // A float that is too large, or negative, becomes the nearest integer that there is.
        let (until_ps, events) = ((until_s * 1e12) as u64, events as u64);
        self.live.advance(Time::from_picos(until_ps), events).as_secs_f64()
    }

    /// Goes on as another scenario says, whose starts and stops of flows, changes of rates and delays, and duration may
    /// differ from [`Self::earliest_change_s`] on.
    ///
    /// # Errors
    /// What else differs, as text; the run is as before.
    pub fn replace(&mut self, scenario: &Scenario) -> Result<(), JsValue> {
        let experiment = scenario.experiment(self.seed)?;
        let json = scenario.json_with_seed(experiment.seed);
        self.live.replace(Box::new(experiment)).map_err(|why| why.to_string())?;
        self.scenario = json;
        Ok(())
    }

    /// The earliest time in seconds at which something may be planned otherwise, rounded up to whole microseconds.
    pub fn earliest_change_s(&self) -> f64 {
        let micros = self.live.earliest_change().as_picos().div_ceil(Span::from_micros(1).as_picos());
        micros as f64 / 1e6
    }

    /// Whether everything has happened.
    pub fn is_over(&self) -> bool {
        self.live.is_over()
    }

    /// Number of events so far.
    pub fn events(&self) -> f64 {
        self.live.events() as f64
    }

    /// Names of the series, which grow while the run goes on.
    pub fn tables(&self) -> Vec<String> {
        columns::names(self.live.series())
    }

    /// Names of the columns of a series; none if there is no such series.
    pub fn columns(&self, table: &str) -> Vec<String> {
        columns::of(self.table(table))
    }

    /// Number of rows of a series so far; none if there is no such series.
    pub fn rows(&self, table: &str) -> Option<u32> {
        u32::try_from(self.table(table)?.len()).ok()
    }

    /// A column of a series from row `from` on, as [`Run::numbers`] gives it of a whole table.
    pub fn numbers(&self, table: &str, column: &str, from: u32) -> Option<Vec<f64>> {
        columns::numbers(self.table(table), column, from as usize)
    }

    /// The words of a column; none if it has no words.
    pub fn words(&self, table: &str, column: &str) -> Option<Vec<String>> {
        columns::words(self.table(table), column)
    }

    /// Removes the rows of the series so far, so that a long run takes no more memory than a short one. The tables of
    /// [`Self::finish`] lack them; its summary does not change.
    pub fn forget(&mut self) {
        self.live.forget_series();
    }

    /// Names of the links that the result reports.
    pub fn links(&self) -> Vec<String> {
        self.live.experiment().monitored().map(|(_, link)| link.name.clone()).collect()
    }

    /// Queueing delays of the packets that have left a link since the last call for this link and class, and since the
    /// warm-up: three numbers for each range, from seconds, to seconds, packets. The link is a position in
    /// [`Self::links`], and the class is that of ECN-capable packets or of all others. None if there is no such link.
    pub fn delays(&mut self, link: u32, ecn_capable: bool) -> Option<Vec<f64>> {
        let class = if ecn_capable { Class::Ect } else { Class::NotEct };
        let told = &mut self.told.get_mut(link as usize)?[class as usize];
        let now = self.live.delay(link, class);
        let gained = now.gained(told);
        let numbers = gained
            .flat_map(|one| [one.low as f64 / 1e12, one.high as f64 / 1e12, one.weight as f64])
            .collect();
        *told = now.clone();
        Some(numbers)
    }

    /// Packets of a class that waited at a link, as the mean over the time since the last call for this link and class,
    /// and since the warm-up. Arguments are those of [`Self::delays`]. None if there is no such link.
    pub fn queue(&mut self, link: u32, ecn_capable: bool) -> Option<f64> {
        let class = if ecn_capable { Class::Ect } else { Class::NotEct };
        let told = &mut self.told_queues.get_mut(link as usize)?[class as usize];
        let (now, waiting) = self.live.class_queue(link, class);
        let (mut packets, mut time) = (0.0, 0.0);
        for bucket in now.gained(told) {
            let weight = bucket.weight as f64;
            packets += (bucket.low + bucket.high) as f64 / 2.0 * weight;
            time += weight;
        }
        *told = now.clone();
        // Without a change the same packets have waited all the time.
        Some(if time > 0.0 { packets / time } else { f64::from(waiting) })
    }

    /// Begins to look at every packet at the first link that the result reports, for so many seconds from the next
    /// event there on.
    pub fn look(&self, span_s: f64) {
        self.lens.begin(Span::from_picos((span_s * 1e12) as u64));
    }

    /// What was seen, once that time has passed: the moment at which the look begins in seconds and the number of
    /// packets that wait then; these packets, three numbers each (flow, sequence number, 1 for CE); and the events,
    /// five numbers each (time in seconds; 0 for an arrival, 1 for a mark, 2 for a drop, 3 for a departure; flow,
    /// sequence number, 1 for CE). A packet that arrives waits, unless a drop of it follows.
    pub fn seen(&self) -> Option<Vec<f64>> {
        self.lens.take()
    }

    /// Carries out what is left, and ends the run.
    ///
    /// # Errors
    /// The law of conservation that the result breaks, as text.
    pub fn finish(self) -> Result<Run, JsValue> {
        Ok(Run::of(self.live.finish(), self.scenario)?)
    }
}

impl Live {
    fn table(&self, name: &str) -> Option<&Table> {
        columns::find(self.live.series(), name)
    }
}
