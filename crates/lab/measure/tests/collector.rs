//! The collector, told by hand what the planes tell it.

use shoal_measure::{
    AppMeter, Collector, Departure, FeedbackCounters, FinishedFlow, FlowCounters, FlowMeter, FlowResults,
    Measured, NO_FLOW, Plane, SenderSample,
};
use shoal_packet::{Backlog, CaState, Class, Reason};
use shoal_scenario::{Document, Experiment};
use shoal_trace::{Column, DeliveryKind, FlowEvent, Table};
use shoal_units::{Span, Time};

/// Two bottlenecks in a row with a flow over both, and one over the second alone.
const PARKING_LOT: &str = r#"
duration = "1 s"
warmup = "0 s"
[topology]
kind = "parking-lot"
bottlenecks = 2
rate = "10 Mbit/s"
delay = "1 ms"
access_delay = "1 ms"
buffer = "100 packets"
[[flows]]
name = "long"
cc = "reno"
from = "in"
to = "out"
app = { transfer = "14480 B" }
[[flows]]
name = "short"
cc = "reno"
from = "in2"
to = "out2"
[trace]
series = "100 ms"
controller_flows = 1
"#;

fn experiment() -> Experiment {
    Document::parse(PARKING_LOT, "test.toml").and_then(|document| document.resolve(None)).unwrap()
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn sample(cwnd: u32) -> SenderSample {
    SenderSample {
        cwnd,
        ssthresh: None,
        quantum: 1,
        alpha: None,
        srtt: None,
        state: CaState::Open,
        path: None,
        in_flight: 0,
    }
}

fn departure(flow: u32, has_data: bool) -> Departure {
    Departure { flow, class: Class::Ect, has_data, sojourn: Span::ZERO, wire_bytes: 1250 }
}

/// A packet that comes to an empty queue and leaves at once.
fn pass(collector: &mut Collector, link: u32, packet: Departure, now: Time) {
    collector.on_arrival(link, packet.class, now);
    collector.on_queued(link, packet.class, Backlog { packets: 1, bytes: 1250 }, now);
    collector.on_departure(link, packet, Backlog::default(), now);
}

fn finish(collector: Collector, experiment: &Experiment, fct_s: Vec<f64>) -> Measured {
    let mut results = FlowResults::new(experiment);
    let mut fct_s = Some(fct_s);
    for number in 0..experiment.flows.len() {
        let flow = FinishedFlow {
            meter: FlowMeter::new(Time::ZERO),
            counters: FlowCounters { wire_bytes: collector.wire_bytes(number), ..FlowCounters::default() },
            feedback: FeedbackCounters::default(),
            feedback_at_start: FeedbackCounters::default(),
            finished: None,
            quantum: 1,
            fct_s: fct_s.take().unwrap_or_default(),
            transfers_begun: 3,
            app: AppMeter::None,
        };
        results.push(number as u32, flow);
    }
    collector.finish(experiment, results, |_, _| Vec::new())
}

fn table<'a>(measured: &'a Measured, name: &str) -> &'a Table {
    measured.tables.iter().find(|table| table.spec().name == name).unwrap()
}

#[test]
fn data_counts_on_the_first_monitored_link_of_its_path() {
    let experiment = experiment();
    let mut collector = Collector::new(&experiment);
    // The long flow meets links 0 and 1, the short one link 1.
    for link in [0, 1] {
        pass(&mut collector, link, departure(0, true), ms(10));
    }
    pass(&mut collector, 1, departure(1, true), ms(20));
    // Acknowledgements and packets of nobody are not data of a flow.
    pass(&mut collector, 0, departure(0, false), ms(30));
    pass(&mut collector, 1, departure(NO_FLOW, true), ms(40));
    assert_eq!((collector.wire_bytes(0), collector.wire_bytes(1)), (1250, 1250));
    assert_eq!(collector.balance(), Ok(()));
    let measured = finish(collector, &experiment, Vec::new());
    assert_eq!(measured.broken, None);
    let departed: Vec<u64> = measured.bottlenecks.iter().map(|link| link.departed).collect();
    assert_eq!(departed, [2, 3]);
    // 10,000 bits in a second.
    assert_eq!(measured.groups[0].flows[0].wire_bps, Some(10_000.0));
}

#[test]
fn packets_that_are_lost_from_the_books_are_found() {
    let mut collector = Collector::new(&experiment());
    collector.on_arrival(1, Class::NotEct, ms(10));
    let broken = collector.balance().unwrap_err().to_string();
    assert!(
        broken.contains("1 packets arrived since the start, 0 were sent or dropped, and 0 wait"),
        "{broken}"
    );
}

#[test]
fn controllers_leave_a_row_where_something_changes() {
    let experiment = experiment();
    let mut collector = Collector::new(&experiment);
    let in_recovery = SenderSample { state: CaState::Recovery, ..sample(11) };
    let with_srtt = SenderSample { srtt: Some(Span::from_millis(3)), ..in_recovery };
    // A round-trip time is not part of the controller; flow 1 is not traced.
    for (at, flow, sample) in [
        (1, 0, sample(10)),
        (2, 0, sample(10)),
        (3, 1, sample(10)),
        (4, 0, sample(11)),
        (5, 0, in_recovery),
        (6, 0, with_srtt),
    ] {
        collector.on_sender(flow, sample, ms(at));
    }
    collector.on_flow_event(1, FlowEvent::Timeout, ms(7));
    collector.on_drop(0, 0, Class::Ect, Reason::Buffer, ms(8));
    let measured = finish(collector, &experiment, Vec::new());
    let controller = table(&measured, "controller");
    assert_eq!(controller.column("time_s"), Some(&Column::F64(vec![0.001, 0.004, 0.005])));
    assert_eq!(controller.coverage().map(|text| text.contains("1 of 2 flows only")), Some(true));
    assert_eq!(table(&measured, "events").column("time_s"), Some(&Column::F64(vec![0.008])));
}

#[test]
fn windows_in_bytes_are_shown_in_packets() {
    let bytes = SenderSample { cwnd: 15_204, ssthresh: Some(2896), quantum: 1448, ..sample(0) };
    assert_eq!((bytes.cwnd_packets(), bytes.ssthresh_packets()), (10, Some(2.0)));
}

#[test]
fn bins_are_closed_once() {
    let experiment = experiment();
    let mut collector = Collector::new(&experiment);
    let counters = FlowCounters { delivered_bytes: 12_500, ..FlowCounters::default() };
    for _ in 0..2 {
        collector.close_flow_bin(1, &counters, &sample(10), ms(100));
    }
    collector.close_queue_bins(ms(100), |_| (None, None));
    let measured = finish(collector, &experiment, Vec::new());
    // 100,000 bits in 100 ms; one row a link.
    assert_eq!(table(&measured, "flows").column("goodput_bps"), Some(&Column::F64(vec![1e6])));
    assert_eq!(table(&measured, "queue").len(), 2);
}

#[test]
fn tables_have_one_order_and_waits_are_noted_where_somebody_waits() {
    let experiment = experiment();
    let mut collector = Collector::new(&experiment);
    collector.on_delivery(0, DeliveryKind::Exchange, Span::from_millis(1), None, ms(1));
    let measured = finish(collector, &experiment, Vec::new());
    let names: Vec<_> = measured.tables.iter().map(|table| table.spec().name).collect();
    assert_eq!(names[..4], ["queue", "flows", "controller", "events"]);
    assert!(!names.contains(&"deliveries") && !names.contains(&"segments"), "{names:?}");
    let asking = PARKING_LOT.replace("transfer = \"14480 B\"", "request = \"100 B\", response = \"10 kB\"");
    let asking = Document::parse(&asking, "test.toml").unwrap().resolve(None).unwrap();
    let mut collector = Collector::new(&asking);
    collector.on_delivery(0, DeliveryKind::Exchange, Span::from_millis(1), None, ms(1));
    let measured = finish(collector, &asking, Vec::new());
    assert_eq!(table(&measured, "deliveries").column("took_s"), Some(&Column::F64(vec![0.001])));
    assert_eq!(measured.tables[4].spec().name, "deliveries");
}

#[test]
fn transfers_are_compared_with_what_they_would_take_alone() {
    let experiment = experiment();
    let alone = experiment.transfer_alone(&experiment.flows.of(0)).unwrap();
    let ideal_s =
        alone.propagation.as_secs_f64() + 8.0 * alone.wire_bytes as f64 / alone.rate.as_bps() as f64;
    let measured = finish(Collector::new(&experiment), &experiment, vec![ideal_s, 3.0 * ideal_s]);
    let [long, short] = [&measured.groups[0].flows[0], &measured.groups[1].flows[0]];
    assert_eq!(long.slowdown[0], 1.0);
    assert!((long.slowdown[1] - 3.0).abs() < 1e-12);
    assert_eq!((long.transfer_bytes, long.transfers_begun), (Some(14_480), 3));
    assert_eq!((short.transfer_bytes, short.transfers_begun, short.slowdown.len()), (None, 0, 0));
}

#[test]
fn results_name_their_plane() {
    let experiment = experiment();
    let measured = finish(Collector::new(&experiment), &experiment, Vec::new());
    let result = measured.result(serde_json::Value::Null, "0.0.0", Plane::Simulator { events: 7 });
    assert_eq!((result.on.as_str(), result.events, result.linux), ("sim", Some(7), None));
    assert_eq!((result.window.start_s, result.window.end_s), (0.0, 1.0));
}
