//! The loop: frames are taken as they come, and sent when they are due, by the clock of the system.

use crate::port::nanos;
use crate::{Ahead, Buffer, Change, Decision, Direction, Frame, Port, Record, Taken};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::ClockId;
use shoal_bottleneck::LinkError;
use shoal_measure::Histogram;
use shoal_trace::WriteError;
use shoal_units::{Span, Time};
use std::time::Duration;
use thiserror::Error;

/// Frames that are taken from one side before what is due is looked at again.
const BATCH: usize = 32;
/// A wait ends so much before the next frame is due, since the system wakes late; the rest is waited out awake.
const AWAKE: Span = Span::from_micros(60);

/// Why the box stops.
#[derive(Debug, Error)]
pub enum Stop {
    /// Packets come merged, which no bottleneck sees.
    #[error("a segment of {bytes} bytes came at the {side} side: packets come merged")]
    Merged {
        /// Which side: `in` or `out`.
        side: &'static str,
        /// Its size.
        bytes: usize,
    },
    /// An interface is down or gone.
    #[error("the interface at the {0} side is down or gone")]
    Down(&'static str),
    /// The system refuses a step.
    #[error("the interface at the {side} side: {error}")]
    System {
        /// Which side.
        side: &'static str,
        /// What the system says.
        error: Errno,
    },
    /// The record cannot be written.
    #[error(transparent)]
    Record(#[from] WriteError),
    /// A change is none of this box.
    #[error(transparent)]
    Refused(#[from] LinkError),
}

/// What the box could not do in time, or at all.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// How late frames left, in ns: what they waited for the box before it took them, if the system says so, and what
    /// they left after they were due. What they wait in a TUN device is not known.
    pub late: Histogram,
    /// Frames for which the interface had no room when they were due, or was a TUN device that was down.
    pub refused: u64,
    /// Frames that came and were not taken fast enough, so that the system threw them away.
    pub missed: u64,
    /// Frames that were too short or too long to be packets.
    pub unreadable: u64,
}

/// Two sides, and the ways between them: what comes in at the first side leaves at the second by the first way.
pub struct Carrier {
    ports: [Port; 2],
    ways: [Direction; 2],
    began: Duration,
    spare: Vec<Buffer>,
    lateness: [Lateness; 2],
    record: Option<Record>,
}

/// The system's clock that only goes on; zero on a system without one, of which none is known.
fn monotonic() -> Duration {
    ClockId::CLOCK_MONOTONIC.now().map_or(Duration::ZERO, Duration::from)
}

const SIDES: [&str; 2] = ["in", "out"];

impl Carrier {
    /// A box between two ports, of which a record may be kept; its clock begins now.
    ///
    /// # Panics
    /// If what comes at the one port cannot leave at the other: frames of Ethernet here, packets without frames there.
    pub fn new(ports: [Port; 2], ways: [Direction; 2], record: Option<Record>) -> Self {
        let [inside, outside] = ports.each_ref().map(Port::link_type);
        assert_eq!(inside, outside, "ports of two kinds");
        let (began, lateness) = (monotonic(), Default::default());
        Self { ports, ways, began, spare: Vec::new(), lateness, record }
    }

    /// The time, since the box began.
    pub fn now(&self) -> Time {
        Time::ZERO + nanos(monotonic().saturating_sub(self.began))
    }

    /// The ways, that of the bottleneck first.
    pub fn ways_mut(&mut self) -> &mut [Direction; 2] {
        &mut self.ways
    }

    /// How late frames left, of both ways.
    pub fn lateness(&self) -> &[Lateness; 2] {
        &self.lateness
    }

    /// Carries frames for so long.
    ///
    /// # Errors
    /// [`Stop`], after which nothing more is carried.
    pub fn run_for(&mut self, duration: Duration) -> Result<(), Stop> {
        let end = self.now() + nanos(duration);
        while self.now() < end {
            let has_taken = self.take(0)? | self.take(1)?;
            let next = self.send(0)?.min(self.send(1)?).min(end);
            if !has_taken {
                self.wait_until(next);
            }
        }
        for (side, port) in self.ports.iter_mut().enumerate() {
            let missed = port.newly_missed().map_err(|error| Stop::System { side: SIDES[side], error })?;
            self.lateness[side].missed += missed;
        }
        Ok(())
    }

    /// Changes what the box is from now on; a record says so in these words.
    ///
    /// # Errors
    /// [`Stop::Refused`], and the box is as before and can go on; any other [`Stop`] ends it.
    pub fn change(&mut self, change: &Change, words: &str) -> Result<(), Stop> {
        let now = self.now();
        // What happens before is decided by the box as it was, in the replay of a record, too.
        for way in 0..2 {
            self.send_by(way, Some(now))?;
        }
        change.apply(now, &mut self.ways)?;
        if let Some(record) = &mut self.record {
            record.changed(now, words)?;
        }
        Ok(())
    }

    /// Ends the record, if one is kept, with what would become of the frames that are inside. Counts of the ways go on
    /// as if these had left.
    ///
    /// # Errors
    /// If the record cannot be written; nothing is left of it then.
    pub fn end_record(&mut self) -> Result<(), WriteError> {
        self.record.take().map_or(Ok(()), |record| record.commit(&mut self.ways))
    }

    /// Takes what has come at a side; whether there was something.
    fn take(&mut self, side: usize) -> Result<bool, Stop> {
        for number in 0..BATCH {
            let mut buffer = self.spare.pop().unwrap_or_default();
            match self.ports[side].take(&mut buffer) {
                Ok(Taken::Frame) => {}
                Ok(Taken::Nothing) => {
                    self.spare.push(buffer);
                    return Ok(number > 0);
                }
                Ok(Taken::Merged(bytes)) => return Err(Stop::Merged { side: SIDES[side], bytes }),
                Ok(Taken::Down) => return Err(Stop::Down(SIDES[side])),
                Err(error) => return Err(Stop::System { side: SIDES[side], error }),
            }
            let now = self.now();
            let Some(read) = Frame::read(self.ports[side].link_type(), &buffer.frame) else {
                self.lateness[side].unreadable += 1;
                self.spare.push(buffer);
                continue;
            };
            let record = self.record.as_mut();
            let number = record.map_or(0, |record| record.came(side as u32, now, &buffer.frame, &read));
            if let Some(dropped) = self.ways[side].arrive(now, buffer, &read, number) {
                self.decided(&dropped)?;
            }
        }
        Ok(true)
    }

    fn decided(&mut self, decision: &Decision) -> Result<(), Stop> {
        self.record.as_mut().map_or(Ok(()), |record| Ok(record.decided(decision)?))
    }

    /// Sends what is due on a way; when more is.
    fn send(&mut self, way: usize) -> Result<Time, Stop> {
        self.send_by(way, None)
    }

    /// Sends what is due on a way by a time, or while this goes on; when more is.
    fn send_by(&mut self, way: usize, end: Option<Time>) -> Result<Time, Stop> {
        let to = 1 - way;
        loop {
            let now = end.unwrap_or_else(|| self.now());
            let leaving = match self.ways[way].next(now) {
                Ahead::Frame(leaving) => leaving,
                Ahead::Gone(decision) => {
                    self.decided(&decision)?;
                    continue;
                }
                Ahead::At(at) => return Ok(at),
                Ahead::Nothing => return Ok(Time::NEVER),
            };
            match self.ports[to].send(&leaving.buffer) {
                Ok(true) => {
                    let late = self.now().since(leaving.at) + leaving.buffer.waited;
                    self.lateness[way].late.record(late.as_picos() / 1000);
                }
                Ok(false) => self.lateness[way].refused += 1,
                Err(Errno::ENETDOWN | Errno::ENXIO | Errno::ENODEV) => return Err(Stop::Down(SIDES[to])),
                Err(error) => return Err(Stop::System { side: SIDES[to], error }),
            }
            self.spare.push(leaving.buffer);
            self.decided(&leaving.decision)?;
        }
    }

    /// Waits until then, or until frames come.
    fn wait_until(&self, at: Time) {
        let now = self.now();
        if at <= now + AWAKE {
            std::hint::spin_loop();
            return;
        }
        let wait = at.since(now + AWAKE);
        let timeout = TimeSpec::from_duration(Duration::from_nanos(wait.as_picos() / 1000));
        let mut watched = self.ports.each_ref().map(|port| PollFd::new(port.readable(), PollFlags::POLLIN));
        // An interrupted wait is a short one.
        _ = ppoll(&mut watched, Some(timeout), None);
    }
}
