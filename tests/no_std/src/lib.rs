//! All crates of `core/` without the standard library: `make check` builds this.
//!
//! The program brings its own panic handler and allocator. If one of the crates, or one that they depend on, used the
//! standard library, there would be two of each, and the compiler would refuse it.
#![no_std]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};

// Named so that they are linked.
use shoal_aqm as _;
use shoal_bottleneck as _;
use shoal_cc as _;
use shoal_host as _;
use shoal_netem as _;
use shoal_packet as _;
use shoal_tcp as _;
use shoal_units as _;

/// Has no memory: nothing here runs.
struct NoMemory;

// SAFETY: it never gives memory, so it keeps every promise about memory that it gave.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static NO_MEMORY: NoMemory = NoMemory;

#[panic_handler]
fn stop(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
