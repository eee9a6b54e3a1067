//! A point at which threads wait for each other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How often a thread that waits looks before it sleeps: some ten microseconds, as long as it takes to wake it. A
/// window is often not longer, and sleeping then costs more than the window.
const LOOKS: u32 = 4_000;

/// Lets a number of threads go on when all of them have come, again and again.
pub(super) struct Meeting {
    threads: usize,
    /// Threads that have come.
    here: AtomicUsize,
    /// Number of meetings that are over.
    over: AtomicUsize,
    sleepers: Mutex<()>,
    wake: Condvar,
}

impl Meeting {
    /// A meeting of so many threads.
    pub(super) fn of(threads: usize) -> Self {
        Self {
            threads,
            here: AtomicUsize::new(0),
            over: AtomicUsize::new(0),
            sleepers: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// Returns when all have called it.
    pub(super) fn wait(&self) {
        // This meeting cannot be over before this thread has come.
        let over = self.over.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.here.store(0, Ordering::Release);
            // The lock is held, so that nobody falls asleep between its last look and this.
            let lock = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
            self.over.store(over.wrapping_add(1), Ordering::Release);
            drop(lock);
            self.wake.notify_all();
            return;
        }
        for _ in 0..LOOKS {
            if self.over.load(Ordering::Acquire) != over {
                return;
            }
            std::hint::spin_loop();
        }
        let mut lock = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        while self.over.load(Ordering::Acquire) == over {
            lock = self.wake.wait(lock).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds in turns: a thread that did not wait would see a sum that is not complete.
    #[test]
    fn nobody_goes_on_before_all_have_come() {
        const THREADS: usize = 3;
        let (meeting, sum) = (Meeting::of(THREADS), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 1..=2_000 {
                        sum.fetch_add(1, Ordering::Relaxed);
                        meeting.wait();
                        assert_eq!(sum.load(Ordering::Relaxed), round * THREADS);
                        meeting.wait();
                    }
                });
            }
        });
    }
}
