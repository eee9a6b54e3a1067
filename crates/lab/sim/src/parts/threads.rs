//! One thread for each part, and what they do together between two windows.

use super::Message;
use super::division::Division;
use super::meeting::Meeting;
use crate::engine::{PROGRESS_EVENTS, Progress, Simulation};
use crate::events::Key;
use crate::outcome::Outcome;
use shoal_scenario::Experiment;
use shoal_units::Time;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One part with what it needs for the next window. Its thread has it during the window, and the first thread in
/// between.
struct Part<'e> {
    simulation: Simulation<&'e Experiment>,
    inbox: Vec<Message>,
    /// Where the next window ends.
    bound: Key,
    /// Earliest time at which anything happens.
    next: Time,
    panic: Option<Box<dyn Any + Send>>,
}

impl<'e> Part<'e> {
    fn new(experiment: &'e Experiment, division: &Arc<Division>, number: u32) -> Self {
        let simulation = Simulation::part(experiment, division, number);
        Self {
            inbox: Vec::new(),
            bound: Key::first_at(Time::ZERO),
            next: simulation.next_time(),
            panic: None,
            simulation,
        }
    }

    /// Carries out one window.
    fn window(&mut self) {
        self.simulation.hear(&mut self.inbox);
        self.next = self.simulation.window(self.bound);
    }

    /// Carries out one window; a panic is kept for the first thread, since the others wait for this one.
    fn guarded_window(&mut self) {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.window()));
        self.panic = outcome.err().map(|panic| self.simulation.blame(panic));
    }
}

type Shared<'e> = Mutex<Part<'e>>;

fn lock<'a, 'e>(part: &'a Shared<'e>) -> MutexGuard<'a, Part<'e>> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs an experiment on a thread for each part. Returns `None` if the progress function ended it early.
pub(crate) fn run(
    experiment: &Experiment,
    division: Division,
    progress: &mut Option<Progress<'_>>,
) -> Option<Outcome> {
    let division = Arc::new(division);
    let parts: Vec<Shared<'_>> = std::thread::scope(|scope| {
        let builders: Vec<_> = (0..division.parts)
            .map(|number| {
                let division = &division;
                scope.spawn(move || Mutex::new(Part::new(experiment, division, number)))
            })
            .collect();
        let built = builders.into_iter().map(|builder| builder.join());
        built.map(|part| part.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let (begin, finish) = (Meeting::of(parts.len()), Meeting::of(parts.len()));
    let stop = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        for part in &parts[1..] {
            scope.spawn(|| {
                loop {
                    begin.wait();
                    if stop.load(Ordering::Acquire) {
                        return;
                    }
                    lock(part).guarded_window();
                    finish.wait();
                }
            });
        }
        let mut together = |bound: Key| {
            for part in &parts {
                lock(part).bound = bound;
            }
            begin.wait();
            lock(&parts[0]).guarded_window();
            finish.wait();
        };
        let ended = catch_unwind(AssertUnwindSafe(|| go(&parts, &division, &mut together, progress)));
        // Whatever has happened: the other threads wait for the next window.
        stop.store(true, Ordering::Release);
        begin.wait();
        ended
    });
    match ended {
        Ok(true) => {}
        Ok(false) => return None,
        Err(panic) => resume_unwind(panic),
    }
    let mut parts: Vec<Part<'_>> =
        parts.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
    let mut first = parts.remove(0);
    for (number, part) in (1..).zip(&mut parts) {
        first.simulation.swap(&mut part.simulation, &division, number);
        first.simulation.add_counts(&part.simulation);
    }
    Some(first.simulation.finish())
}

/// One window after the other. Returns false if the progress function ended the run.
fn go(
    parts: &[Shared<'_>],
    division: &Arc<Division>,
    together: &mut impl FnMut(Key),
    progress: &mut Option<Progress<'_>>,
) -> bool {
    let behind_end = lock(&parts[0]).simulation.behind_end();
    let mut shown = 0;
    loop {
        let (global, next) = {
            let all = parts.iter().map(|part| lock(part).next);
            let next = all.min().unwrap_or(Time::NEVER);
            (lock(&parts[0]).simulation.next_global(), next)
        };
        let limit = global.unwrap_or(behind_end);
        if next > limit.time() {
            let Some(key) = global else { return true };
            alone(parts, division, key);
            continue;
        }
        let bound = Key::first_at(next.saturating_add(division.lookahead)).min(limit);
        together(bound);
        let events = exchange(parts);
        if let Some(key) = global.filter(|key| bound == *key) {
            alone(parts, division, key);
        } else if bound == behind_end {
            return true;
        }
        if events / PROGRESS_EVENTS > shown
            && let Some(watch) = progress
        {
            shown = events / PROGRESS_EVENTS;
            if !watch(bound.time().min(behind_end.time())) {
                return false;
            }
        }
    }
}

/// Passes on what the parts tell each other behind a window. Returns the number of events since the start of the run.
fn exchange(parts: &[Shared<'_>]) -> u64 {
    let mut parts: Vec<MutexGuard<'_, Part<'_>>> = parts.iter().map(lock).collect();
    if let Some(panic) = parts.iter_mut().find_map(|part| part.panic.take()) {
        drop(parts);
        resume_unwind(panic);
    }
    for from in 0..parts.len() {
        for to in 0..parts.len() {
            let message = parts[from].simulation.take_message(to);
            parts[to].inbox.extend(message);
        }
    }
    parts.iter().map(|part| part.simulation.events()).sum()
}

/// Carries out an event that concerns all links and flows, as one simulation has it that is put together from the
/// parts.
fn alone(parts: &[Shared<'_>], division: &Arc<Division>, key: Key) {
    let mut parts: Vec<MutexGuard<'_, Part<'_>>> = parts.iter().map(lock).collect();
    for part in &mut parts {
        let Part { simulation, inbox, .. } = &mut **part;
        simulation.hear(inbox);
    }
    assemble(&mut parts, division);
    parts[0].simulation.on_global(key);
    assemble(&mut parts, division);
}

/// Moves the state of all parts to the first one, or back.
fn assemble(parts: &mut [MutexGuard<'_, Part<'_>>], division: &Division) {
    let (first, others) = parts.split_at_mut(1);
    for (number, part) in (1..).zip(others) {
        first[0].simulation.swap(&mut part.simulation, division, number);
    }
}
