//! The border as C crosses it.

use crate::*;
use std::ffi::CString;
use std::ptr::{null, null_mut};

const SCENARIO: &str = r#"
duration = "1 s"
bottleneck = { rate = "12 Mbit/s", delay = "5 ms", aqm = { kind = "step", threshold = "1 packets" } }
flows = [{ cc = "dctcp", rtt = "20 ms" }]
"#;

fn made(scenario: &str, link: Option<&str>, error: &mut [u8]) -> *mut Handle {
    let link = link.map(|link| CString::new(link).unwrap());
    let name = link.as_ref().map_or(null(), |link| link.as_ptr());
    // SAFETY: text and room are there during the call.
    unsafe {
        shoal_bottleneck_new(
            scenario.as_ptr().cast(),
            scenario.len(),
            name,
            1,
            error.as_mut_ptr().cast(),
            error.len(),
        )
    }
}

#[test]
fn packets_come_and_go() {
    let bottleneck = made(SCENARIO, None, &mut []);
    assert!(!bottleneck.is_null());
    let (mut reason, mut event, mut counters) = (0, Event::default(), Counters::default());
    // SAFETY: all pointers are to what is on the stack here, or to the bottleneck that was made.
    unsafe {
        let verdicts = [0, 1, 2]
            .map(|handle| shoal_bottleneck_enqueue(bottleneck, 0, 1500, 2, 0, handle, &raw mut reason));
        assert_eq!(
            (verdicts, reason),
            ([0, 0, 1], Reason::Threshold as u8),
            "the third finds one that waits"
        );
        assert_eq!(shoal_bottleneck_next(bottleneck, 0, &raw mut event), 1);
        // 1500 B take 1 ms, and then 5 ms.
        assert_eq!(event.at_ps, 6_000_000_000);
        assert_eq!(shoal_bottleneck_next(bottleneck, event.at_ps, &raw mut event), 2);
        assert_eq!((event.handle, event.bytes, event.ecn, event.is_marked), (0, 1500, 2, 0));
        assert_eq!(shoal_bottleneck_set_rate(bottleneck, 7_000_000_000, 0), 0);
        assert_eq!(shoal_bottleneck_set_delay(bottleneck, 7_000_000_000, 0), 0);
        assert_eq!(shoal_bottleneck_set_delay(bottleneck, 7_000_000_000, u64::MAX), FAILED);
        assert_eq!(shoal_bottleneck_counters(bottleneck, &raw mut counters), 0);
        assert_eq!((counters.arrived, counters.marked, counters.delivered), (3, 1, 1));
        shoal_bottleneck_free(bottleneck);
    }
}

#[test]
fn what_is_wrong_is_said_in_the_room_that_there_is() {
    let mut error = [1; 400];
    assert!(made("duration = 7", None, &mut error).is_null());
    let text = std::ffi::CStr::from_bytes_until_nul(&error).unwrap().to_str().unwrap();
    assert!(text.contains("duration"), "{text}");
    assert!(made(SCENARIO, Some("botleneck"), &mut error).is_null());
    let text = std::ffi::CStr::from_bytes_until_nul(&error).unwrap().to_str().unwrap();
    assert_eq!(text, "the scenario has no link botleneck; did you mean bottleneck?");
    for size in 0..3 {
        let mut error = [1; 3];
        assert!(made("", None, &mut error[..size]).is_null());
        assert_eq!(error[size.saturating_sub(1)], u8::from(size == 0), "ends with zero");
        assert!(error[size..].iter().all(|byte| *byte == 1), "writes behind its room");
    }
}

#[test]
fn null_and_nonsense_are_refused() {
    // SAFETY: null is allowed everywhere.
    unsafe {
        assert!(shoal_bottleneck_new(null(), 0, null(), 1, null_mut(), 0).is_null());
        assert_eq!(shoal_bottleneck_enqueue(null_mut(), 0, 1, 0, 0, 0, null_mut()), FAILED);
        assert_eq!(shoal_bottleneck_next(null_mut(), 0, null_mut()), FAILED);
        assert_eq!(shoal_bottleneck_set_rate(null_mut(), 0, 1), FAILED);
        assert_eq!(shoal_bottleneck_counters(null(), null_mut()), FAILED);
        shoal_bottleneck_free(null_mut());
        let bottleneck = made(SCENARIO, None, &mut []);
        assert_eq!(
            shoal_bottleneck_enqueue(bottleneck, 0, 1500, 4, 0, 0, null_mut()),
            FAILED,
            "no codepoint"
        );
        assert_eq!(shoal_bottleneck_enqueue(bottleneck, u64::MAX, 0, 3, 0, 0, null_mut()), 0);
        assert_eq!(shoal_bottleneck_next(bottleneck, u64::MAX, null_mut()), 0);
        shoal_bottleneck_free(bottleneck);
    }
}

#[test]
fn a_panic_ends_the_bottleneck_and_not_the_program() {
    let bottleneck = made(SCENARIO, None, &mut []);
    // SAFETY: it was made above, and nobody else has it.
    unsafe {
        let all = border::call(bottleneck).unwrap();
        assert_eq!(all.run(|_| -> u32 { panic!("on purpose") }), None);
        assert_eq!(shoal_bottleneck_next(bottleneck, 0, null_mut()), FAILED, "nothing is promised any more");
        shoal_bottleneck_free(bottleneck);
    }
}
