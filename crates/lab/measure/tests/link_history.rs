//! What results say of links that change.

use shoal_measure::{LinkHistory, Measures};
use shoal_scenario::{Document, Link};
use shoal_units::{Span, Time};

const MEASURES: Measures = Measures { packet_bytes: 1500, target_s: 0.03 };

fn link(duration: &str, schedule: &str) -> Link {
    let text = format!(
        "duration = \"{duration}\"\nwarmup = \"0 s\"\nflows = [{{ cc = \"reno\", rtt = \"20 ms\" \
         }}]\n[bottleneck]\nrate = \"100 Mbit/s\"\n\
         delay = \"5 ms\"\nbuffer = \"1 BDP\"\nschedule = {{ {schedule} }}\n"
    );
    let experiment = Document::parse(&text, "test.toml").and_then(|document| document.resolve(None)).unwrap();
    experiment.links[0].clone()
}

fn history(duration_ms: u64, window_ms: u64, schedule: &str, departed_bytes: u64) -> LinkHistory {
    let link = link(&format!("{duration_ms} ms"), schedule);
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    LinkHistory::of(&link, (at(window_ms), at(duration_ms)), (departed_bytes, 0), MEASURES, (&[], Span::ZERO))
        .unwrap()
}

fn rates(history: &LinkHistory) -> Vec<(f64, f64)> {
    history.rate.iter().map(|from| (from.from_s, from.rate_bps / 1e6)).collect()
}

fn delays(history: &LinkHistory) -> Vec<(f64, f64)> {
    history.delay.iter().map(|from| (from.from_s, (from.delay_s * 1e6).round() / 1e3)).collect()
}

#[test]
fn a_history_is_that_of_the_whole_run_and_its_means_are_those_of_the_window() {
    let changes = r#"changes = [
        { at = "2 s", rate = "20 Mbit/s", delay = "8 ms" },
        { at = "4 s", outage = "500 ms" },
        { at = "5 s", rate = "100 Mbit/s" },
        { at = "11 s", rate = "1 Mbit/s" },
    ]"#;
    // From 1 s to 10 s: 1 s of 100, 2.5 s of 20, and 5 s of 100 Mbit/s: 650 Mbit in 9 s.
    let found = history(10_000, 1000, changes, 65_000_000);
    assert_eq!(
        rates(&found),
        [(0.0, 100.0), (2.0, 20.0), (4.0, 0.0), (4.5, 20.0), (5.0, 100.0)],
        "what comes after the end does not count"
    );
    assert_eq!(delays(&found), [(0.0, 5.0), (2.0, 8.0)]);
    assert_eq!((found.rate_changes, found.delay_changes, found.means_over_s), (4, 1, None));
    assert_eq!(found.down_s, 0.5);
    assert!((found.mean_rate_bps - 650e6 / 9.0).abs() < 1.0, "{}", found.mean_rate_bps);
    // 65 MB are 520 Mbit.
    assert!((found.capacity_used.unwrap() - 520.0 / 650.0).abs() < 1e-9, "{:?}", found.capacity_used);
}

#[test]
fn a_long_history_is_a_thousand_means() {
    // 2000 changes in 100 s; a thousandth of the run is 100 ms: 25 ms of 100, 50 ms of 20 and 25 ms of 100 Mbit/s.
    let changes = r#"repeat = "100 ms", changes = [
        { at = "25 ms", rate = "20 Mbit/s" },
        { at = "75 ms", rate = "100 Mbit/s" }]"#;
    let found = history(100_000, 0, changes, 0);
    assert_eq!(found.rate_changes, 2000);
    assert_eq!((found.rate.len(), found.means_over_s), (1000, Some(0.1)));
    for (index, (from_s, mbps)) in rates(&found).into_iter().enumerate() {
        assert!((from_s - 0.1 * index as f64).abs() < 1e-9, "{from_s}");
        assert!((mbps - 60.0).abs() < 1e-6, "{mbps}");
    }
    assert_eq!(delays(&found), [(0.0, 5.0)], "a short list holds every change");
}

#[test]
fn a_link_that_stays_as_it_is_has_no_history() {
    let link = link("1 s", r#"changes = [{ at = "2 s", rate = "1 Mbit/s" }]"#);
    let window = (Time::ZERO, Time::ZERO + Span::from_secs(1));
    assert_eq!(LinkHistory::of(&link, window, (0, 0), MEASURES, (&[], Span::ZERO)), None);
}
