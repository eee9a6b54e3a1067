//! What comes from C, as Rust sees it.

use crate::Handle;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a function; `None` if it panics. A panic must not unwind into C.
pub(crate) fn guarded<T>(function: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(function)).ok()
}

/// The bottleneck, if there is one.
///
/// # Safety
/// It is null, or one that nobody else uses during the call.
pub(crate) unsafe fn call<'a>(bottleneck: *mut Handle) -> Option<&'a mut Handle> {
    // SAFETY: the caller promises it.
    unsafe { bottleneck.as_mut() }
}

/// Writes a value where C wants it, unless it wants none.
///
/// # Safety
/// The pointer is null, or what it points to can be written.
pub(crate) unsafe fn written<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller promises it.
        unsafe { place.write(value) };
    }
}

/// Bytes to read; none if the pointer is null.
///
/// # Safety
/// It points to so many bytes that stay as they are during the call, or is null.
pub(crate) unsafe fn readable<'a>(bytes: *const u8, length: usize) -> &'a [u8] {
    // SAFETY: the caller promises it.
    if bytes.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(bytes, length) } }
}

/// Bytes to write; none if the pointer is null.
///
/// # Safety
/// It points to so many bytes that nobody else uses during the call, or is null.
pub(crate) unsafe fn writable<'a>(bytes: *mut u8, length: usize) -> &'a mut [u8] {
    // SAFETY: the caller promises it.
    if bytes.is_null() { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(bytes, length) } }
}

/// Memory of the module for what a host hands over: a WebAssembly module has no other way to it. Null if there is none.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
pub extern "C" fn shoal_memory(size: usize) -> *mut u8 {
    let Ok(layout) = std::alloc::Layout::from_size_align(size.max(1), 8) else { return std::ptr::null_mut() };
    // SAFETY: the layout has a size above zero.
    unsafe { std::alloc::alloc_zeroed(layout) }
}
