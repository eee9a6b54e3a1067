use super::*;
use PacketEvent::{Arrive, Depart, Drop, Mark};

const MS: Span = Span::from_millis(1);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn a_look_begins_with_what_waits_and_ends_after_its_span() {
    let lens = Lens::default();
    let note = |ms, event, packet| lens.watch(|watch| watch.note(at(ms), event, packet));
    let (first, second, third) = ([1.0, 10.0, 0.0], [2.0, 10.0, 0.0], [1.0, 20.0, 0.0]);
    note(0, Arrive, first);
    note(1, Arrive, second);
    note(1, Mark, [2.0, 10.0, 1.0]);
    note(2, Arrive, third);
    note(2, Drop, third);
    note(3, Depart, first);
    lens.begin(MS * 5);
    assert_eq!(lens.take(), None, "nothing was seen so far");
    note(10, Arrive, third);
    note(15, Depart, second);
    assert_eq!(lens.take(), None, "the span has not passed");
    note(16, Depart, third);
    let seen = lens.take().expect("the span has passed");
    assert_eq!(seen[..2], [0.010, 1.0]);
    assert_eq!(seen[2..5], [2.0, 10.0, 1.0], "it was marked before");
    assert_eq!(seen[5..], [0.010, 0.0, 1.0, 20.0, 0.0, 0.015, 3.0, 2.0, 10.0, 0.0]);
    assert_eq!(lens.take(), None, "a look is taken once");
    assert!(lens.watch(|watch| watch.waiting.is_empty()));
}

#[test]
fn a_packet_that_comes_again_is_another_one_and_the_last_is_dropped() {
    let lens = Lens::default();
    let note = |ms, event, packet| lens.watch(|watch| watch.note(at(ms), event, packet));
    note(0, Arrive, [1.0, 10.0, 1.0]);
    note(1, Arrive, [1.0, 10.0, 0.0]);
    note(1, Drop, [1.0, 10.0, 0.0]);
    assert_eq!(lens.watch(|watch| watch.waiting.clone()), [[1.0, 10.0, 1.0]]);
}
