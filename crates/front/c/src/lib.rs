#![doc = include_str!("../README.md")]
#![allow(unsafe_code, reason = "C hands over pointers; each function says what they must be")]

mod border;
mod text;

use border::{guarded, written};
use shoal_aqm::Verdict;
use shoal_bottleneck::{Bottleneck, Next};
use shoal_packet::{Ecn, Reason};
use shoal_units::{Rate, Span, Time};
use std::ffi::{CStr, c_char, c_int};
use text::write_text;

/// A bottleneck as C holds it.
pub struct Handle {
    bottleneck: Bottleneck,
    /// Whether a call has failed inside, after which nothing is promised of what it left.
    has_failed: bool,
}

/// `struct shoal_event`.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Event {
    /// When it happened, or when to ask again, in picoseconds.
    pub at_ps: u64,
    /// Handle of the packet.
    pub handle: u64,
    /// Flow of the packet.
    pub flow: u32,
    /// Size of the packet.
    pub bytes: u16,
    /// ECN codepoint of the packet.
    pub ecn: u8,
    /// Whether this queue has marked it.
    pub is_marked: u8,
    /// Why it was dropped.
    pub reason: u8,
}

/// `struct shoal_counters`.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
#[allow(missing_docs, reason = "the header and `shoal_bottleneck::Counters` say what they are")]
pub struct Counters {
    pub arrived: u64,
    pub marked: u64,
    pub dropped: u64,
    pub lost: u64,
    pub delivered: u64,
    pub delivered_bytes: u64,
    pub waiting_packets: u64,
    pub waiting_bytes: u64,
}

/// `SHOAL_FAILED`.
pub const FAILED: c_int = -1;
/// `SHOAL_NO_REASON`.
pub const NO_REASON: u8 = u8::MAX;

/// The link called `link` of a scenario; see `shoal.h`.
///
/// # Safety
/// `scenario` points to `length` readable bytes, `link` is null or a C string, and `error` points to `size` writable
/// bytes, or is null if that is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shoal_bottleneck_new(
    scenario: *const c_char,
    length: usize,
    link: *const c_char,
    seed: u64,
    error: *mut c_char,
    size: usize,
) -> *mut Handle {
    // SAFETY: the caller promises it.
    let error = unsafe { border::writable(error.cast::<u8>(), size) };
    // SAFETY: as above.
    let text = unsafe { border::readable(scenario.cast::<u8>(), length) };
    // SAFETY: as above.
    let link = (!link.is_null()).then(|| unsafe { CStr::from_ptr(link) });
    let made = guarded(|| text::bottleneck(text, link.map(CStr::to_bytes), seed));
    match made.unwrap_or_else(|| Err("the scenario cannot be read: a failure of shoal's own".to_owned())) {
        Ok(bottleneck) => Box::into_raw(Box::new(Handle { bottleneck, has_failed: false })),
        Err(message) => {
            write_text(error, &message);
            std::ptr::null_mut()
        }
    }
}

/// Ends a bottleneck.
///
/// # Safety
/// `bottleneck` is null, or comes from [`shoal_bottleneck_new`] and has not been ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shoal_bottleneck_free(bottleneck: *mut Handle) {
    if !bottleneck.is_null() {
        // SAFETY: the caller promises that it is one, and that nobody else has it.
        let bottleneck = unsafe { Box::from_raw(bottleneck) };
        guarded(|| drop(bottleneck));
    }
}

/// A packet comes; returns `enum shoal_verdict`.
///
/// # Safety
/// `bottleneck` is null or comes from [`shoal_bottleneck_new`] and is not in use, and `reason` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shoal_bottleneck_enqueue(
    bottleneck: *mut Handle,
    now_ps: u64,
    bytes: u16,
    ecn: u8,
    flow: u32,
    handle: u64,
    reason: *mut u8,
) -> c_int {
    if ecn > Ecn::Ce.bits() {
        return FAILED;
    }
    // SAFETY: the caller promises it.
    let verdict = unsafe { border::call(bottleneck) }.and_then(|all| {
        all.run(|one| one.enqueue(Time::from_picos(now_ps), bytes, Ecn::from_bits(ecn), flow, handle))
    });
    let Some(verdict) = verdict else { return FAILED };
    let (code, why) = match verdict {
        Verdict::Queued { mark: None } => (0, None),
        Verdict::Queued { mark } => (1, mark),
        Verdict::Displaced => (2, None),
        Verdict::Dropped(why) => (3, Some(why)),
    };
    // SAFETY: the caller promises it.
    unsafe { written(reason, reason_code(why)) };
    code
}

/// What has happened by now; returns `enum shoal_next`.
///
/// # Safety
/// `bottleneck` is null or comes from [`shoal_bottleneck_new`] and is not in use, and `event` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shoal_bottleneck_next(
    bottleneck: *mut Handle,
    now_ps: u64,
    event: *mut Event,
) -> c_int {
    // SAFETY: the caller promises it.
    let next =
        unsafe { border::call(bottleneck) }.and_then(|all| all.run(|one| one.next(Time::from_picos(now_ps))));
    let Some(next) = next else { return FAILED };
    let none = Event { reason: NO_REASON, ..Event::default() };
    let (code, told) = match next {
        Next::Nothing => (0, none),
        Next::At(at) => (1, Event { at_ps: at.as_picos(), ..none }),
        Next::Packet(packet) => (
            2,
            Event {
                at_ps: packet.at.as_picos(),
                handle: packet.handle,
                flow: packet.flow,
                bytes: packet.bytes,
                ecn: packet.ecn.bits(),
                is_marked: packet.is_marked.into(),
                ..none
            },
        ),
        Next::Lost(lost) => {
            let reason = reason_code(lost.reason);
            (3, Event { at_ps: lost.at.as_picos(), handle: lost.handle, reason, ..none })
        }
    };
    // SAFETY: the caller promises it.
    unsafe { written(event, told) };
    code
}

/// From now on the link has this rate.
///
/// # Safety
/// `bottleneck` is null or comes from [`shoal_bottleneck_new`] and is not in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shoal_bottleneck_set_rate(
    bottleneck: *mut Handle,
    now_ps: u64,
    bits_per_s: u64,
) -> c_int {
    // SAFETY: the caller promises it.
    let done = unsafe { border::call(bottleneck) }
        .and_then(|all| all.run(|one| one.set_rate(Time::from_picos(now_ps), Rate::from_bps(bits_per_s))));
    if matches!(done, Some(Ok(()))) { 0 } else { FAILED }
}

/// From now on the link has this propagation delay.
///
/// # Safety
/// `bottleneck` is null or comes from [`shoal_bottleneck_new`] and is not in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shoal_bottleneck_set_delay(
    bottleneck: *mut Handle,
    now_ps: u64,
    delay_ps: u64,
) -> c_int {
    // SAFETY: the caller promises it.
    let done = unsafe { border::call(bottleneck) }
        .and_then(|all| all.run(|one| one.set_delay(Time::from_picos(now_ps), Span::from_picos(delay_ps))));
    if matches!(done, Some(Ok(()))) { 0 } else { FAILED }
}

/// What has become of packets so far.
///
/// # Safety
/// `bottleneck` is null or comes from [`shoal_bottleneck_new`] and is not in use, and `counters` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shoal_bottleneck_counters(
    bottleneck: *const Handle,
    counters: *mut Counters,
) -> c_int {
    // SAFETY: the caller promises it.
    let counted = unsafe { border::call(bottleneck.cast_mut()) }
        .and_then(|all| all.run(|one| (one.counters(), one.backlog())));
    let Some((all, waiting)) = counted else { return FAILED };
    let told = Counters {
        arrived: all.arrived,
        marked: all.marked,
        dropped: all.dropped,
        lost: all.lost,
        delivered: all.delivered,
        delivered_bytes: all.delivered_bytes,
        waiting_packets: waiting.packets.into(),
        waiting_bytes: waiting.bytes,
    };
    // SAFETY: the caller promises it.
    unsafe { written(counters, told) };
    0
}

impl Handle {
    /// Runs a call, unless one has failed.
    fn run<T>(&mut self, call: impl FnOnce(&mut Bottleneck) -> T) -> Option<T> {
        if self.has_failed {
            return None;
        }
        let done = guarded(|| call(&mut self.bottleneck));
        self.has_failed = done.is_none();
        done
    }
}

fn reason_code(reason: Option<Reason>) -> u8 {
    reason.map_or(NO_REASON, |reason| reason as u8)
}

#[cfg(test)]
mod tests;
