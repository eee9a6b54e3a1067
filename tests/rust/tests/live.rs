//! A run whose plan changes on the way, against a run of the last plan from its start.

use shoal_packet::{Class, Packet, Reason};
use shoal_scenario::Experiment;
use shoal_sim::{Live, OtherPlan, Outcome, PacketSink};
use shoal_tests::{experiment, run};
use shoal_trace::{Column, PacketRow, Table};
use shoal_units::{Span, Stream, Time};
use std::fmt::Write as _;

const QUEUES: [&str; 6] = [
    r#"{ kind = "fifo" }"#,
    r#"{ kind = "step", threshold = "30 packets" }"#,
    r#"{ kind = "pie" }"#,
    r#"{ kind = "dualpi2" }"#,
    r#"{ kind = "fq-codel" }"#,
    r#"{ kind = "coupled", saturation = "100 ms" }"#,
];

/// Somebody who gets every packet.
struct Watcher;

impl PacketSink for Watcher {
    fn on_event(&mut self, _row: PacketRow, _packet: &Packet, _reason: Option<Reason>) {}
}

/// A flow's start and stop, in microseconds.
type Times = (Option<u64>, Option<u64>);

/// What moves write: everything that may be planned anew. Times are in microseconds.
#[derive(Clone)]
struct Plan {
    queue: &'static str,
    /// The third group sends packets without congestion control.
    groups: [Vec<Times>; 3],
    rates: Vec<(u64, u64)>,
    delays: Vec<(u64, u64)>,
    duration: u64,
}

impl Plan {
    fn new(queue: &'static str) -> Self {
        let pool = |first: Times| vec![first, (Some(300_000), None), (None, None), (None, None)];
        Self {
            queue,
            groups: [
                pool((Some(0), None)),
                pool((Some(0), Some(2_000_000))),
                vec![(Some(700_000), None), (None, None)],
            ],
            rates: vec![(0, 20), (1000, 20), (2_500_000, 12)],
            delays: vec![(0, 2), (1000, 2), (1_700_000, 9)],
            duration: 3_000_000,
        }
    }

    fn text(&self) -> String {
        let time = |time: Option<u64>| time.map_or("\"never\"".to_owned(), |us| format!("\"{us} us\""));
        let list = |times: &[Times], of: fn(&Times) -> Option<u64>| -> String {
            times.iter().map(|one| time(of(one)) + ", ").collect()
        };
        let pairs = |key: &str, changes: &[(u64, u64)], unit: &str| -> String {
            let change = |(us, value): &(u64, u64)| format!("[\"{us} us\", \"{value} {unit}\"], ");
            let changes: String = changes.iter().map(change).collect();
            if changes.is_empty() { changes } else { format!("{key} = [{changes}], ") }
        };
        let mut text = format!(
            "duration = \"{} us\"\nwarmup = \"500 ms\"\ntrace.series = \"50 ms\"\ntrace.controller_flows = 4\n\
             [bottleneck]\nrate = \"20 Mbit/s\"\nbuffer = \"100 packets\"\naqm = {}\n\
             schedule = {{ {} }}\n",
            self.duration,
            self.queue,
            [pairs("rates", &self.rates, "Mbit/s"), pairs("delays", &self.delays, "ms")].concat(),
        );
        let kinds = [
            "cc = \"cubic\"",
            "cc = \"dctcp\"",
            "cc = \"none\"\napp = { unresponsive = \"2 Mbit/s\", arrivals = \"poisson\" }",
        ];
        for (kind, times) in kinds.iter().zip(&self.groups) {
            let (starts, stops) = (list(times, |one| one.0), list(times, |one| one.1));
            write!(text, "[[flows]]\n{kind}\nrtt = \"10 ms\"\nstart = [{starts}]\nstop = [{stops}]\n")
                .unwrap();
        }
        text
    }

    fn experiment(&self) -> Box<Experiment> {
        Box::new(experiment(&self.text()))
    }

    /// One thing is planned otherwise from `at` on.
    fn change(&mut self, at: u64, random: &mut Stream) {
        let group = &mut self.groups[below(random, 3)];
        let size = group.len();
        let flow = &mut group[below(random, size)];
        // As early as possible, or later.
        let later = |random: &mut Stream| at + below(random, 2) as u64 * below(random, 400_000) as u64;
        match below(random, 6) {
            0 | 1 => match flow {
                // One that waits joins, or is to wait longer; one that is there leaves, now or later.
                (start, None) if start.is_none_or(|start| start > at) => *start = Some(later(random)),
                (_, stop) if stop.is_none_or(|stop| stop > at) => *stop = Some(later(random) + 1),
                _ => {}
            },
            // One that was to join does not, and one that was to leave stays.
            2 => match flow {
                (start, stop) if start.is_some_and(|start| start > at) => (*start, *stop) = (None, None),
                (_, stop) if stop.is_some_and(|stop| stop > at) => *stop = None,
                _ => {}
            },
            3 => replan(&mut self.rates, at, later(random), 4 + below(random, 40) as u64),
            4 => replan(&mut self.delays, at, later(random), 1 + below(random, 15) as u64),
            _ => self.duration = (at + 100_000).max(2_400_000) + below(random, 1_000_000) as u64,
        }
        // A flow is there before it leaves, and joins before the end.
        for (start, stop) in self.groups.iter_mut().flatten() {
            if let (Some(start), Some(stop)) = (*start, stop) {
                *stop = (*stop).max(start + 1);
            }
            self.duration = self.duration.max(start.unwrap_or(0) + 1000);
        }
    }
}

/// What was planned for `at` or later is not, but a change to `value` at `time`.
fn replan(changes: &mut Vec<(u64, u64)>, at: u64, time: u64, value: u64) {
    changes.retain(|change| change.0 < at);
    changes.push((time, value));
}

fn below(random: &mut Stream, bound: usize) -> usize {
    (random.uniform_u64() % bound as u64) as usize
}

fn micros_behind(time: Time) -> u64 {
    time.as_picos().div_ceil(1_000_000)
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn assert_same(live: &Outcome, whole: &Outcome, text: &str) {
    let result = |outcome: &Outcome| outcome.result(serde_json::Value::Null, "test").to_json();
    assert_eq!(result(live), result(whole), "{text}");
    assert_eq!(format!("{:?}", live.tables), format!("{:?}", whole.tables), "{text}");
    assert_eq!(live.conservation, whole.conservation);
}

/// The rows of `events` are the same, in another order: what a queue did is reported with other events around it.
#[test]
fn whoever_gets_the_packets_changes_no_result() {
    for (seed, queue) in (0..).zip(QUEUES) {
        let plan = Plan::new(queue);
        let result =
            |sink| Live::new(plan.experiment(), sink).finish().result(serde_json::Value::Null, "test");
        let watched = result(Some(Box::new(Watcher) as Box<dyn PacketSink>));
        assert_eq!(watched.to_json(), result(None).to_json(), "seed {seed}, {queue}");
    }
}

#[test]
fn any_sequence_of_moves_is_a_plan_with_the_same_bytes() {
    let mut replaced = 0;
    for seed in 0..120 {
        let mut random = Stream::new(seed, "moves");
        let mut plan = Plan::new(QUEUES[seed as usize % QUEUES.len()]);
        let mut live = Live::new(plan.experiment(), None);
        while !live.is_over() {
            // Often stopped by the number of events, which leaves some of the same time for later.
            let until = live.reached().saturating_add(Span::from_micros(below(&mut random, 300_000) as u64));
            let events = if below(&mut random, 4) == 0 { 1 } else { u64::MAX };
            let reached = live.advance(until, events);
            assert!(reached == live.reached() && reached <= until.max(at_us(0)), "seed {seed}");
            for _ in 0..below(&mut random, 4) {
                let at = micros_behind(live.earliest_change());
                if at + 100_000 >= plan.duration {
                    break;
                }
                plan.change(at, &mut random);
                if let Err(why) = live.replace(plan.experiment()) {
                    panic!("seed {seed}, at {at} us: {why}\n{}", plan.text());
                }
                replaced += 1;
            }
        }
        let whole = run(&plan.experiment());
        assert_same(&live.finish(), &whole, &format!("seed {seed}\n{}", plan.text()));
    }
    assert!(replaced > 1000, "only {replaced} moves");
}

#[test]
fn what_has_happened_cannot_be_planned_anew() {
    let plan = Plan::new(QUEUES[0]);
    let mut live = Live::new(plan.experiment(), None);
    live.advance(at_us(1_000_000), u64::MAX);
    let mut refused = |change: fn(&mut Plan), expected: fn(&OtherPlan) -> bool| {
        let mut other = plan.clone();
        change(&mut other);
        let why = live.replace(other.experiment()).expect_err("it is refused");
        assert!(expected(&why), "{why}");
    };
    let past = |why: &OtherPlan| matches!(why, OtherPlan::Past(_));
    let other = |why: &OtherPlan| matches!(why, OtherPlan::Other(_));
    refused(|plan| plan.groups[0][1].0 = Some(1_200_000), past);
    refused(|plan| plan.groups[0][2].0 = Some(900_000), past);
    refused(|plan| plan.groups[0][0].1 = Some(900_000), past);
    refused(|plan| plan.rates[1].1 = 19, past);
    refused(|plan| plan.rates.insert(2, (900_000, 5)), past);
    refused(|plan| plan.delays[1].1 = 3, past);
    refused(|plan| plan.duration = 999_999, past);
    refused(|plan| plan.rates.truncate(1), past);
    refused(|plan| plan.rates.clear(), other);
    refused(|plan| plan.delays.clear(), other);
    refused(|plan| plan.groups[0].push((None, None)), other);
    refused(|plan| plan.queue = QUEUES[1], other);
    refused(|plan| plan.rates[0].1 = 21, |_| true);
    // None of it has changed the run.
    assert_same(&live.finish(), &run(&plan.experiment()), "");
}

#[test]
fn outages_are_not_planned_anew() {
    let plan = |up: &str, stop: &str| {
        experiment(&format!(
            "duration = \"3 s\"\n[bottleneck]\nrate = \"20 Mbit/s\"\nbuffer = \"100 packets\"\n\
             schedule = {{ rates = [[\"0 s\", \"20 Mbit/s\"], [\"1 s\", \"down\"], [\"{up}\", \"20 Mbit/s\"]] }}\n\
             [[flows]]\ncc = \"cubic\"\nrtt = \"10 ms\"\nstop = \"{stop}\"\n"
        ))
    };
    let mut live = Live::new(Box::new(plan("1.5 s", "2.5 s")), None);
    live.advance(at_us(1_200_000), u64::MAX);
    assert_eq!(live.replace(Box::new(plan("1.6 s", "2.5 s"))), Err(OtherPlan::Outages));
    // All else can be.
    live.replace(Box::new(plan("1.5 s", "2 s"))).unwrap();
    assert_same(&live.finish(), &run(&plan("1.5 s", "2 s")), "");
}

#[test]
fn flows_that_wait_for_each_other_keep_their_times() {
    let plan = |start: &str| {
        experiment(&format!(
            "duration = \"3 s\"\n[bottleneck]\nrate = \"20 Mbit/s\"\nbuffer = \"100 packets\"\n\
             [[flows]]\ncc = \"cubic\"\nrtt = \"10 ms\"\nstart = [\"1 s\", \"{start}\"]\napp = {{ transfer = \"10 \
             kB\", rounds = 3, barrier = true }}\n"
        ))
    };
    let mut live = Live::new(Box::new(plan("1 s")), None);
    assert!(matches!(live.replace(Box::new(plan("2 s"))), Err(OtherPlan::Other(_))));
}

/// What can be seen on the way: the series up to the last point, and the delays of packets that have left.
#[test]
fn a_run_in_progress_shows_its_beginning() {
    let plan = Plan::new(QUEUES[3]);
    let whole = run(&plan.experiment());
    let mut live = Live::new(plan.experiment(), None);
    live.advance(at_us(1_525_000), u64::MAX);
    let names: Vec<&str> = live.series().map(|table| table.spec().name).collect();
    assert_eq!(names, ["queue", "flows", "controller", "events"]);
    for table in live.series() {
        let all = whole.tables.iter().find(|all| all.spec().name == table.spec().name).unwrap();
        let times = |table: &Table| match table.column("time_s") {
            Some(Column::F64(times)) => times.clone(),
            _ => panic!("times are numbers"),
        };
        let (so_far, all) = (times(table), times(all));
        assert_eq!(
            so_far,
            all.iter().copied().filter(|time| *time < 1.525).collect::<Vec<_>>(),
            "{:?}",
            table.spec().name
        );
    }
    let departed = |class: Class| live.delay(0, class).weight();
    let in_the_end = whole.bottlenecks[0].ect.departed;
    assert!((100..in_the_end).contains(&departed(Class::Ect)), "{} of {in_the_end}", departed(Class::Ect));
    // What waits of each class adds up to the queue, and in the end its mean is the result's.
    let mean = |live: &Live, class: Class| live.class_queue(0, class).0.distribution(1.0).mean.unwrap();
    assert!(mean(&live, Class::Ect) > 0.1 && mean(&live, Class::NotEct) > 1.0);
    live.advance(Time::NEVER, u64::MAX);
    let result = whole.bottlenecks[0].class_queue_packets;
    for (class, of_result) in [(Class::Ect, result.ect), (Class::NotEct, result.not_ect)] {
        // Up to the last change, which is at most some packets before the end.
        assert!((mean(&live, class) - of_result.mean.unwrap()).abs() < 0.02 * of_result.mean.unwrap());
    }
    // At the end it is over, and can be made longer.
    assert_eq!(live.advance(Time::NEVER, u64::MAX), at_us(3_000_000).saturating_add(Span::from_picos(1)));
    assert!(live.is_over());
    let longer = Plan { duration: 3_500_000, ..plan };
    live.replace(longer.experiment()).unwrap();
    assert!(!live.is_over());
    assert_same(&live.finish(), &run(&longer.experiment()), "");
}

/// The rows of a table as texts.
fn rows(table: &Table) -> Vec<String> {
    let cell = |column: &Column, row: usize| match column {
        Column::F64(values) => format!("{:?}", values[row]),
        Column::U32(values) => values[row].to_string(),
        Column::U64(values) => values[row].to_string(),
        Column::Text { words, codes } => words[codes[row] as usize].clone(),
    };
    let row = |row| table.columns().iter().map(|column| cell(column, row) + " ").collect();
    (0..table.len()).map(row).collect()
}

/// Rows that have been seen may be forgotten on the way: every row is seen once, and what is measured does not change.
#[test]
fn a_run_that_forgets_its_series_has_shown_every_row_once() {
    let plan = Plan::new(QUEUES[3]);
    let whole = run(&plan.experiment());
    let mut live = Live::new(plan.experiment(), None);
    let mut seen = vec![Vec::new(); 4];
    while !live.is_over() {
        live.advance(live.reached() + Span::from_millis(77), u64::MAX);
        for (seen, table) in seen.iter_mut().zip(live.series()) {
            seen.extend(rows(table));
        }
        live.forget_series();
        assert!(live.series().all(Table::is_empty));
    }
    for (seen, all) in seen.iter().zip(&whole.tables) {
        assert_eq!(*seen, rows(all), "{}", all.spec().name);
        assert!(seen.len() > 50);
    }
    let live = live.finish();
    let result = |outcome: &Outcome| outcome.result(serde_json::Value::Null, "test").to_json();
    assert_eq!(result(&live), result(&whole));
}

/// A flow that waits for a move has no rate that could enter an average.
#[test]
fn a_flow_that_never_starts_is_no_part_of_averages() {
    let with = |starts: &str| {
        run(&experiment(&format!(
            "duration = \"3 s\"\n[bottleneck]\nrate = \"20 Mbit/s\"\nbuffer = \"50 packets\"\n\
             [[flows]]\nname = \"a\"\ncc = \"reno\"\nrtt = \"10 ms\"\nstart = [\"0 s\", {starts}]\n\
             [[flows]]\nname = \"b\"\ncc = \"cubic\"\nrtt = \"10 ms\"\nstart = [\"1 s\", {starts}]\n"
        )))
    };
    let (few, many) = (with(""), with("\"never\", \"never\""));
    assert_eq!(few.metrics.jain, many.metrics.jain);
    assert!(few.metrics.jain.is_some_and(|jain| jain > 0.5));
    assert_eq!(few.metrics.rate_ratio, many.metrics.rate_ratio);
    for (few, many) in few.groups.iter().zip(&many.groups) {
        assert_eq!((few.wire_bps, few.goodput_bps), (many.wire_bps, many.goodput_bps));
        let waits = &many.flows[2];
        assert_eq!(
            (waits.start_s, waits.stop_s, waits.wire_bps, waits.delivered_bytes),
            (None, None, Some(0.0), 0)
        );
    }
}
