//! Generic RED: several RED laws on one FIFO. With equal priorities it is WRED, the off-the-shelf relative of dual RED.
//!
//! A packet belongs to a virtual queue by its codepoint, and the RED law of that queue decides with an average of its
//! own packets, of its own and those of queues with smaller priority numbers (RIO), or of all packets (WRED). Follows
//! `net/sched/sch_gred.c` (<https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_gred.c>); where it departs is
//! listed in [`GredConfig::DOC`].

mod config;
mod doc;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

pub use config::{GRED_QUEUES, GredConfig, GredMode, GredQueueConfig};

use super::linux_red::{Control, TcError};
use crate::Reason;
use crate::shell::{Decision, Law, Waiting};
use alloc::collections::VecDeque;
use shoal_packet::{Ecn, Packet};
use shoal_units::{Stream, Time};

/// The RED laws of the virtual queues, and what they share.
#[derive(Clone, Debug)]
pub struct Gred {
    /// Virtual queue of each waiting packet, in order; it must be stored, since a mark changes the codepoint.
    members: VecDeque<u8>,
    queues: [Option<VirtualQueue>; GRED_QUEUES],
    queue_of: [u8; 4],
    mode: GredMode,
    /// State that WRED shares between all virtual queues (`wred_set`).
    shared: Shared,
    limit: u64,
}

#[derive(Clone, Debug)]
struct VirtualQueue {
    law: Control,
    priority: u8,
    limit: u64,
    ecn: bool,
    harddrop: bool,
    backlog: u64,
    /// Time at which its last packet left; `None` if a packet has arrived since.
    idle_since: Option<Time>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Shared {
    /// Average in bytes, scaled by 2^Wlog of the virtual queue that reads it.
    average: u64,
    idle_since: Option<Time>,
}

impl Gred {
    /// Configured as tc would do it.
    fn new(config: &GredConfig) -> Result<Self, TcError> {
        let mut queues = [const { None }; GRED_QUEUES];
        for (queue, config_of_queue) in queues.iter_mut().zip(&config.queues) {
            if let Some(given) = config_of_queue {
                *queue = Some(VirtualQueue::new(given, config.limit_bytes)?);
            }
        }
        Ok(Self {
            members: VecDeque::new(),
            queues,
            queue_of: config.queue_of,
            mode: config.mode(),
            shared: Shared::default(),
            limit: config.limit_bytes.into(),
        })
    }

    /// Average in bytes that decides on packets with this codepoint; `None` if they belong to no virtual
    /// queue.
    pub fn average_bytes_for(&self, ecn: Ecn) -> Option<f64> {
        let queue = self.queues.get(self.number_of(ecn) as usize)?.as_ref()?;
        let scaled = match self.mode {
            GredMode::Wred => self.shared.average,
            GredMode::Separate | GredMode::Rio => queue.law.scaled_average(),
        };
        Some(scaled as f64 * libm::ldexp(1.0, -i32::from(queue.law.wlog())))
    }

    #[inline]
    fn number_of(&self, ecn: Ecn) -> u8 {
        self.queue_of[usize::from(ecn.bits())]
    }

    /// RIO: the scaled averages of the virtual queues that come before `number`, unless they are idle.
    #[inline]
    fn averages_before(&self, number: u8) -> u64 {
        let own = self.queues.get(number as usize).and_then(Option::as_ref);
        let (GredMode::Rio, Some(VirtualQueue { priority, .. })) = (self.mode, own) else { return 0 };
        let first = self.queues.iter().flatten().filter(|queue| queue.priority < *priority);
        let busy = first.filter(|queue| queue.idle_since.is_none());
        busy.map(|queue| queue.law.scaled_average()).fold(0, u64::wrapping_add)
    }

    /// Handles a packet without a virtual queue, to which only the limit of the whole applies.
    fn pass_through(&mut self, number: u8, packet: &Packet, waiting: &Waiting) -> Decision {
        if waiting.backlog_with(packet).bytes > self.limit {
            return Decision::Drop(Reason::Buffer);
        }
        self.members.push_back(number);
        Decision::Pass
    }
}

impl VirtualQueue {
    fn new(config: &GredQueueConfig, limit_bytes: u32) -> Result<Self, TcError> {
        Ok(Self {
            law: Control::new(&config.red)?,
            priority: config.priority,
            // `gred_change_vq`.
            limit: config.red.limit_bytes.min(limit_bytes).into(),
            ecn: config.red.ecn,
            harddrop: config.red.harddrop,
            backlog: 0,
            idle_since: None,
        })
    }
}

impl Law for Gred {
    fn decides_on_arrival(&self) -> bool {
        true
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, now: Time, random: &mut Stream) -> Decision {
        let number = self.number_of(packet.ecn);
        let others = self.averages_before(number);
        let total = waiting.backlog().bytes;
        let Some(Some(queue)) = self.queues.get_mut(number as usize) else {
            return self.pass_through(number, packet, waiting);
        };
        let backlog = if self.mode == GredMode::Wred {
            queue.law.set_scaled_average(self.shared.average);
            queue.law.on_arrival(total, self.shared.idle_since.map(|since| now.since(since)));
            self.shared = Shared { average: queue.law.scaled_average(), idle_since: None };
            total
        } else {
            queue.law.on_arrival(queue.backlog, queue.idle_since.map(|since| now.since(since)));
            queue.idle_since = None;
            queue.backlog
        };
        let mut decision = Decision::Pass;
        if let Some(reason) = queue.law.decide(others, random) {
            let hard = reason == Reason::Forced && queue.harddrop;
            if hard || !queue.ecn || !packet.ecn.is_capable() {
                return Decision::Drop(reason);
            }
            decision = Decision::Mark(reason);
        }
        if backlog + u64::from(packet.size) > queue.limit {
            return Decision::Drop(Reason::Buffer);
        }
        queue.backlog += u64::from(packet.size);
        self.members.push_back(number);
        decision
    }

    /// Idle time begins when the last packet leaves, although it has yet to be transmitted (`gred_dequeue`).
    #[inline]
    fn on_left(&mut self, size: u16, waiting: &Waiting, now: Time) {
        let Some(number) = self.members.pop_front() else { return };
        if let Some(Some(queue)) = self.queues.get_mut(number as usize) {
            queue.backlog -= u64::from(size);
            if self.mode == GredMode::Wred {
                if waiting.backlog().bytes == 0 {
                    self.shared.idle_since = Some(now);
                }
            } else if queue.backlog == 0 {
                queue.idle_since = Some(now);
            }
        }
    }

    /// The average for packets that are not ECN-capable, as dual RED shows it.
    fn average_bytes(&self) -> Option<f64> {
        self.average_bytes_for(Ecn::NotEct)
    }
}
