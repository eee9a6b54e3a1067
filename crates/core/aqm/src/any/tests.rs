//! [`AnyQueue`] passes every call on to the queue inside.

use crate::testing::bench::{Bench, LINE, LINUX_RED, dual_red_of, red_of, unweighted};
use crate::{AnyQueue, AverageScope, Class, DOCS, LinuxRedConfig, MarkSpacing, Queue, QueueConfig, TcError};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

const LINUX: LinuxRedConfig = LinuxRedConfig { adaptive: true, ..LINUX_RED };

#[test]
fn every_law_with_an_average_tells_it() {
    let parameters = unweighted(10_000.0, 20_000.0, 0.1, MarkSpacing::Uniformised);
    let red = red_of(parameters, true);
    let dual = dual_red_of(parameters, parameters, AverageScope::Shared);
    // Linux: Wlog 6, so the second packet finds 1500 B and the average is 1500 / 64.
    for (config, expected) in [
        (QueueConfig::Red(red), 1500.0),
        (QueueConfig::DualRed(dual), 1500.0),
        (QueueConfig::LinuxRed(LINUX), 1500.0 / 64.0),
    ] {
        let mut bench = Bench::any(config.clone());
        let _ = bench.arrive(1500, Ecn::Ect0);
        let _ = bench.arrive(1500, Ecn::NotEct);
        assert_eq!(bench.queue.average_bytes(), Some(expected), "{config:?}");
        assert_eq!(bench.queue.class_backlog(Class::Ect).bytes, 1500);
    }
}

#[test]
fn timers_reach_the_queue_inside() {
    let mut queue = AnyQueue::new(&QueueConfig::LinuxRed(LINUX), LINE);
    let half_second = Time::ZERO + Span::from_millis(500);
    assert_eq!(queue.next_timer(), half_second);
    queue.on_timer(half_second);
    assert_eq!(queue.next_timer(), half_second + Span::from_millis(500));
}

#[test]
fn a_configuration_that_tc_refuses_is_an_error() {
    let config = QueueConfig::LinuxRed(LinuxRedConfig { burst_packets: 1, ..LINUX });
    let error = AnyQueue::try_new(&config, LINE).unwrap_err();
    // min/avpkt = 20.
    assert_eq!(error, TcError::Burst { given: 1, recommended: 21 });
    assert_eq!(error.to_string(), "a burst of 1 packets is too small for min/avpkt: use at least 21");
}

macro_rules! kinds_of_laws {
    ($($(#[doc = $doc:literal])+ $kind:literal => $law:ident($config:ident) in $module:ident,)+) => {
        /// What laws are called in a scenario.
        const KINDS: &[&str] = &[$($kind),+];
    };
}

crate::for_each_law!(kinds_of_laws);

#[test]
fn laws_are_listed_by_the_names_that_users_read() {
    assert!(DOCS.iter().map(|doc| doc.name).eq(KINDS.iter().copied()));
}
