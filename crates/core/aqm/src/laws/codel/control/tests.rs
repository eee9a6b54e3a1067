//! The inverse square root, and the number of signals when the dropping state begins.

use super::super::tests::LAW;
use super::*;
use shoal_packet::FlowId;
use shoal_units::Span;
use shoal_units::cast::low_u32;

/// One Newton step for each count, from 2^16 - 1 on. For a count of 2: x = ffff0000, x^2 = fffe0001, bracket 3 * 2^32 -
/// 2 * fffe0001 = 10003fffe, quartered 40000fff, times x, over 2^47: 8001. So the second gap is half an interval and
/// not 1/sqrt(2) of it; the next overshoots, and from a count of 10 on the error is below half a percent.
#[test]
fn newton_steps_to_the_integer() {
    let mut law = Control { rec_inv_sqrt: u16::MAX, count: 1, ..Control::new() };
    let mut values = Vec::new();
    for count in 2..=20u32 {
        law.count = count;
        law.improve_root();
        values.push(law.rec_inv_sqrt);
        let exact = 65_536.0 / f64::from(count).sqrt();
        let error = (f64::from(law.rec_inv_sqrt) / exact - 1.0).abs();
        assert!(count < 10 || error < 0.005, "{count}: {error}");
    }
    assert_eq!(
        values,
        [
            32_769, 36_864, 31_968, 28_935, 26_481, 24_588, 23_037, 21_746, 20_647, 19_699, 18_869, 18_136,
            17_481, 16_893, 16_360, 15_874, 15_429, 15_019, 14_640
        ]
    );
}

/// The steps follow a count that grows by one each time: after 1e6 signals the value in 16 bits is 65.5, rounded.
#[test]
fn newton_steps_follow_a_growing_count() {
    let mut law = Control { rec_inv_sqrt: u16::MAX, count: 1, ..Control::new() };
    for count in 2..=1_000_000 {
        law.count = count;
        law.improve_root();
    }
    assert!((64..=66).contains(&law.rec_inv_sqrt), "{}", law.rec_inv_sqrt);
}

/// The decision on a late packet at `ticks` behind which enough waits.
fn late(law: &mut Control, ticks: u64) -> Decision {
    let now = Time::from_picos(ticks * 1_024_000);
    let packet = Packet { enqueued: now - Span::from_millis(6), ..Packet::empty(FlowId(0), 1500) };
    law.on_packet(&Parameters::new(&LAW), &packet, 10_000, now)
}

/// The dropping state began with a count of 1, ended at a count of 40, and begins again `pause` ticks after
/// `drop_next`.
fn entered_again(pause: u64) -> Control {
    let mut law = Control {
        count: 40,
        last_count: 1,
        rec_inv_sqrt: 10_361,
        drop_next: Instant(1_000_000),
        first_above: Instant(5),
        ..Control::new()
    };
    assert_eq!(late(&mut law, 1_000_000 + pause), Decision::Drop(Reason::Sojourn));
    law
}

/// The count is 40 - 1 = 39; the step improves 10,361 (which is right for 40) towards 65,536 / sqrt(39) = 10,494: x =
/// 28790000, x^2 = 107,350,321 (>> 32), bracket 3 * 2^32 - 39 x^2 = 8,698,239,369, a quarter of it times x, over 2^47:
/// 10,491.
#[test]
fn a_short_pause_keeps_the_count() {
    let law = entered_again(16 * 97_656 - 1);
    assert_eq!((law.count, law.last_count, law.rec_inv_sqrt), (39, 39, 10_491));
    // 97,656 * 10,491 >> 16 = 15,632.
    assert_eq!(law.drop_next.since(Instant(1_000_000 + 16 * 97_656 - 1)), 15_632);
}

#[test]
fn a_long_pause_restarts_the_count() {
    let law = entered_again(16 * 97_656);
    assert_eq!((law.count, law.last_count, law.rec_inv_sqrt), (1, 1, u16::MAX));
    // 97,656 * 65,535 >> 16 = 97,654.
    assert_eq!(law.drop_next.since(Instant(1_000_000 + 16 * 97_656)), 97_654);
}

/// With only one signal since the dropping state began, the rate is not known.
#[test]
fn one_signal_restarts_the_count() {
    let mut law = Control { count: 7, last_count: 6, first_above: Instant(5), ..entered_again(0) };
    law.dropping = false;
    law.next = Step::First;
    assert_eq!(late(&mut law, 1_000_100), Decision::Drop(Reason::Sojourn));
    assert_eq!((law.count, law.rec_inv_sqrt), (1, u16::MAX));
}

/// Four packets dropped for lack of room count like four signals: the next one makes 39 + 4 + 1 = 44 of them, and the
/// step goes from 10,491 towards 65,536 / sqrt(44) = 9880: 9822.
#[test]
fn drops_for_lack_of_room_count_as_signals() {
    let mut law = entered_again(0);
    law.next = Step::First;
    law.on_overflow(4);
    let due = law.drop_next;
    assert_eq!(late(&mut law, u64::from(due.0)), Decision::Drop(Reason::Sojourn));
    assert_eq!((law.count, law.rec_inv_sqrt), (44, 9_822));
    // The packet behind it is late, too. The next signal comes 97,656 * 9822 >> 16 ticks after this one was due.
    assert_eq!(late(&mut law, u64::from(due.0)), Decision::Pass);
    assert_eq!(law.drop_next.since(due), 14_635);
}

/// A queue that dropped four packets for lack of room enters the dropping state for the first time, late by
/// `ticks` of the experiment: its count, and its root.
fn overflowed_before_the_first_signal(ticks: u64) -> (u32, u16) {
    let mut law = Control { first_above: Instant(low_u32(ticks) - 1), ..Control::new() };
    law.on_overflow(4);
    assert_eq!(late(&mut law, ticks), Decision::Drop(Reason::Sojourn));
    (law.count, law.rec_inv_sqrt)
}

/// There was no signal yet, so that there is no rate to go on with.
#[test]
fn the_first_signal_is_the_first_whatever_was_dropped_before() {
    for ticks in [100_000, 16 * 97_656 - 1, 16 * 97_656, (1 << 31) - 97_656_250 - 1] {
        assert_eq!(overflowed_before_the_first_signal(ticks), (1, u16::MAX), "{ticks}");
    }
}

/// The clock of a kernel has 32 bits, and the comparison one of them for the sign: what it did at its boot is recent
/// once half a period has gone by (2199 s less the 100 s before the experiment, plus 16 intervals). The root is zero
/// then, and stays zero, since a Newton step multiplies it: a signal is due with every late packet.
#[test]
fn the_boot_is_recent_after_half_a_period_of_the_clock() {
    let half = (1u64 << 31) + 16 * 97_656 - 97_656_250;
    assert_eq!(overflowed_before_the_first_signal(half), (1, u16::MAX));
    assert_eq!(overflowed_before_the_first_signal(half + 1), (4, 0));
    assert_eq!(overflowed_before_the_first_signal((1 << 32) - 97_656_250 - 1), (4, 0));
    assert_eq!(overflowed_before_the_first_signal((1 << 32) - 97_656_250 + 16 * 97_656), (1, u16::MAX));
}

/// The product 2^32 - 1 times x^2 does not fit into 64 bits. It wraps, as in the kernel.
#[test]
fn the_root_of_a_jump_wraps_as_in_the_kernel() {
    let mut law = Control { count: u32::MAX, rec_inv_sqrt: 40_000, ..Control::new() };
    law.improve_root();
    let x = 40_000u128 << 16;
    let bracket = (3u128 << 32).wrapping_sub(u128::from(u32::MAX) * ((x * x) >> 32)) & u128::from(u64::MAX);
    let product = ((bracket >> 2) * x) & u128::from(u64::MAX);
    assert_eq!(u128::from(law.rec_inv_sqrt), (product >> 47) & 0xffff);
}

#[test]
fn an_empty_queue_ends_what_was_late() {
    let state = |next| {
        let mut law = Control { dropping: true, first_above: Instant(5), next, ..Control::new() };
        law.on_empty();
        assert_eq!((law.next, law.first_above), (Step::First, Instant(0)));
        law.dropping
    };
    assert!(!state(Step::First));
    assert!(!state(Step::AfterDrops(1)));
    // The packet that began the dropping state was dropped, and none was left to send.
    assert!(state(Step::AfterEntry));
}

/// With a root of zero, which an old kernel's queue may have, the gap is no tick of a clock. Signals would be due with
/// one dequeue for ever.
#[test]
fn a_signal_is_a_tick_after_the_last_at_least() {
    let mut law = Control { rec_inv_sqrt: 0, ..Control::new() };
    law.schedule(&Parameters::new(&LAW), Instant(70));
    assert_eq!(law.drop_next, Instant(71));
}

/// 1e6 ticks after a signal was due at a count of 1e6, when the gaps are 97 ticks, 10,000 others are. 256 packets are
/// dropped; the next one is sent, and signals go on from now.
#[test]
fn a_dequeue_drops_no_more_than_256_packets() {
    let mut law = Control {
        count: 1_000_000,
        rec_inv_sqrt: 65,
        drop_next: Instant(1_000_000),
        first_above: Instant(5),
        dropping: true,
        ..Control::new()
    };
    for _ in 0..256 {
        assert_eq!(late(&mut law, 2_000_000), Decision::Drop(Reason::Sojourn));
    }
    assert_eq!(late(&mut law, 2_000_000), Decision::Pass);
    assert_eq!((law.count, law.next), (1_000_256, Step::First));
    // 97,656 * 65 >> 16 = 96.
    assert_eq!(law.drop_next.since(Instant(2_000_000)), 96);
}
