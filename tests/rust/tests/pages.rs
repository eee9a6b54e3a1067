//! Pages of objects, against arithmetic: 10 Mbit/s and 20 ms, where an object of 1448 B takes 1.2 ms on the wire and an
//! exchange on an open connection 21.2 ms (see `requests`).

use shoal_measure::{GroupResult, WaitSummary};
use shoal_tests::{check_conservation, experiment, json, monitor_all_links, run};

fn scenario(duration: &str, warmup: &str, app: &str) -> String {
    format!(
        r#"
        duration = "{duration}"
        warmup = "{warmup}"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "unlimited"
        [[flows]]
        name = "web"
        cc = "reno"
        rtt = "20 ms"
        app = {{ {app} }}
        [distributions.two]
        cdf = [["100 B", 0], ["100 B", 0.5], ["1448 B", 0.5], ["1448 B", 1]]
        "#
    )
}

fn group(text: &str) -> GroupResult {
    let mut experiment = experiment(text);
    monitor_all_links(&mut experiment);
    // That function measures from the start, and here the warm-up says what is left out.
    experiment.warmup = self::experiment(text).warmup;
    let outcome = run(&experiment);
    if experiment.warmup.is_zero() {
        check_conservation(&outcome);
    }
    outcome.groups[0].clone()
}

fn pages(group: &GroupResult) -> WaitSummary {
    group.pages.expect("the group loads pages")
}

/// Six connections with ten objects each. When a page begins, six requests arrive together, and their answers leave one
/// after another: the last connection has its first object after 20 + 6 x 1.2 = 27.2 ms. From then on the connections
/// are 1.2 ms apart and do not meet, so each exchange takes 21.2 ms: 27.2 + 9 x 21.2 = 218 ms.
#[test]
fn a_page_takes_as_many_exchanges_in_a_row_as_each_connection_has_objects() {
    let app = r#"page = 60, object = "1448 B", request = "200 B", think = "100 ms""#;
    let group = group(&scenario("10 s", "1 s", app));
    let pages = pages(&group);
    assert_eq!(group.flow_count, 6);
    for time in [pages.time_s.min, pages.time_s.mean, pages.time_s.max] {
        assert!((time.unwrap() - 0.218).abs() < 1e-6, "{time:?}");
    }
    // One page in 318 ms.
    assert!((28..=29).contains(&(pages.count + pages.unfinished)), "{pages:?}");
    let exchanges = group.exchanges.unwrap();
    assert!((exchanges.time_s.p50.unwrap() - 0.0212).abs() < 1e-6, "{exchanges:?}");
    assert!((exchanges.time_s.max.unwrap() - 0.0272).abs() < 1e-6, "{exchanges:?}");
}

/// A handshake takes a round trip more, in the first page alone: 20 ms and six SYN/ACKs on the wire.
#[test]
fn connections_stay_open_between_pages() {
    let app = r#"page = 60, object = "1448 B", request = "200 B", think = "100 ms", rounds = 3"#;
    let group = group(&scenario("10 s", "0 s", app));
    let pages = pages(&group);
    assert_eq!((pages.count, pages.unfinished), (3, 0));
    assert!((pages.time_s.min.unwrap() - 0.218).abs() < 1e-6, "{pages:?}");
    assert!((0.238..0.2395).contains(&pages.time_s.max.unwrap()), "{pages:?}");
    // All connections are closed after the last page: 3 x 218 + 20 + 2 x 100 ms, and the round trip of the FIN.
    for flow in &group.flows {
        let stop = flow.stop_s.expect("the pages are done");
        assert!((0.87..0.93).contains(&stop), "{stop}");
    }
    assert_eq!(group.totals.delivered_bytes, 3 * 60 * 1448);
}

/// Large objects fill the link: a page takes the time of its bytes, and not more than four round trips beyond: for the
/// handshake, the first requests, the ramp of the windows and the end, at which not all connections have data.
#[test]
fn a_page_of_large_objects_takes_the_time_of_its_bytes() {
    let app = r#"page = 60, object = "100 kB", request = "200 B", rounds = 1"#;
    let group = group(&scenario("20 s", "0 s", app));
    let pages = pages(&group);
    let wire_s = 60.0 * (100_000.0 + 70.0 * 52.0) * 8.0 / 10e6;
    let took = pages.time_s.mean.unwrap();
    assert!((wire_s..wire_s + 0.08).contains(&took), "{took} {wire_s}");
}

/// With one connection a page is a sequence of exchanges: 59 of 21.2 ms and the first with its handshake, 41.2896 ms.
#[test]
fn a_browser_with_one_connection_is_a_client_that_asks_again() {
    let app = r#"page = 60, object = "1448 B", request = "200 B", connections = 1, rounds = 1"#;
    let pages = pages(&group(&scenario("5 s", "0 s", app)));
    assert!((pages.time_s.mean.unwrap() - (59.0 * 0.0212 + 0.041_289_6)).abs() < 1e-6, "{pages:?}");
}

/// Twelve connections are two browsers, whose pages are their own: with fewer objects than connections some connections
/// never open.
#[test]
fn flows_are_divided_among_browsers() {
    let text = scenario("5 s", "0 s", r#"page = 4, object = "1448 B", request = "200 B", rounds = 1"#);
    let group = group(&text.replace("rtt =", "count = 12\n rtt ="));
    let pages = pages(&group);
    assert_eq!((group.flow_count, pages.count, pages.unfinished), (12, 2, 0));
    assert_eq!(group.totals.delivered_bytes, 2 * 4 * 1448);
    let idle = group.flows.iter().filter(|flow| flow.delivered_bytes == 0).count();
    assert_eq!(idle, 4);
}

/// Sizes are drawn for each object in turn, so that they do not depend on which connection is free first.
#[test]
fn sizes_of_objects_are_drawn_and_the_same_on_another_path() {
    let app = r#"page = 200, object = { distribution = "two" }, request = "200 B", rounds = 5"#;
    let text = scenario("60 s", "0 s", app);
    let bytes = group(&text).totals.delivered_bytes;
    assert_eq!(group(&text.replace("20 ms", "3 ms")).totals.delivered_bytes, bytes);
    // 1000 objects, half of 100 B: the standard deviation is sqrt(1000) / 2 = 16 objects.
    let large = (bytes - 100_000) as f64 / 1348.0;
    assert!((large - 500.0).abs() < 64.0, "{large}");
    assert_eq!(large.fract(), 0.0);
    assert_ne!(json(&text, 1), json(&text, 2));
    assert_eq!(json(&text, 1), json(&text, 1));
}

/// A stop ends the loading with the objects that are under way.
#[test]
fn browsers_stop() {
    let app = r#"page = 60, object = "1448 B", request = "200 B""#;
    let text = scenario("5 s", "0 s", app).replace("rtt =", "stop = \"2 s\"\n rtt =");
    let group = group(&text);
    for flow in &group.flows {
        assert!((2.0..2.1).contains(&flow.stop_s.expect("it has stopped")), "{:?}", flow.stop_s);
    }
    assert_eq!(pages(&group).unfinished, 1);
}
