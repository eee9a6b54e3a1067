//! Runs scenario texts and checks the outcomes.

use crate::{PacketLog, Seen};
use shoal_scenario::{Document, Experiment};
use shoal_sim::{Options, Outcome};

/// The experiment that `text` describes.
///
/// # Panics
/// If the scenario is refused.
pub fn experiment(text: &str) -> Experiment {
    let document = Document::parse(text, "test.toml").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    document.resolve(None).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Runs the experiment to its end.
///
/// # Panics
/// If the run ends early, which nothing here asks for.
pub fn run(experiment: &Experiment) -> Outcome {
    shoal_sim::run(experiment, Options::default()).expect("nobody stops the run")
}

/// Runs the experiment and also returns all packet events at the monitored links.
///
/// # Panics
/// If the run ends early, which nothing here asks for.
pub fn run_logged(experiment: &Experiment) -> (Outcome, Vec<Seen>) {
    let log = PacketLog::default();
    let options = Options { packets: Some(Box::new(log.clone())), ..Options::default() };
    let outcome = shoal_sim::run(experiment, options).expect("nobody stops the run");
    (outcome, log.take())
}

/// The bytes that `--json` would print for the scenario `text`.
///
/// # Panics
/// If the scenario is refused.
pub fn json(text: &str, seed: u64) -> String {
    let document = Document::parse(text, "test.toml").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let experiment = document.resolve(Some(seed)).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    run(&experiment).result(document.to_json(), "test").to_json()
}

/// Lets every link with a rate count its drops, from the start of the run.
pub fn monitor_all_links(experiment: &mut Experiment) {
    experiment.warmup = shoal_units::Span::ZERO;
    for link in &mut experiment.links {
        link.monitored = true;
    }
}

/// Checks that packets are neither lost nor invented: all that hosts sent was delivered, dropped, or is still
/// inside the network. All links must have been monitored from the start ([`monitor_all_links`]).
///
/// # Panics
/// If the balance does not hold.
pub fn check_conservation(outcome: &Outcome) {
    let dropped: u64 = outcome.bottlenecks.iter().map(|link| link.dropped).sum();
    assert_eq!(outcome.broken, None);
    let account = outcome.conservation;
    let ended = account.delivered + dropped + account.inside + account.lost;
    assert_eq!(account.sent + account.duplicated, ended, "{account:?}, {dropped} dropped");
    for link in &outcome.bottlenecks {
        let waiting = link.arrived.checked_sub(link.departed + link.dropped);
        assert!(waiting.is_some_and(|waiting| waiting <= account.inside), "{link:?}");
        assert!(link.utilisation.is_none_or(|u| (0.0..=1.0).contains(&u)), "{link:?}");
    }
}
