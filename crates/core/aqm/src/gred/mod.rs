//! GRED as Linux runs it: `net/sched/sch_gred.c`. With equal priorities it is WRED, the off-the-shelf relative of dual RED.

use crate::red::{LinuxLaw, TcError};
use crate::store::{Store, mark};
use crate::{
    Backlog, Class, Dequeued, Extent, GRED_QUEUES, GredConfig, GredMode, GredQueueConfig, Queue, Reason,
    Verdict,
};
use alloc::collections::VecDeque;
use shoal_packet::{Ecn, Packet};
use shoal_units::{Rate, Stream, Time};

/// One FIFO whose packets belong to virtual queues with a RED law each.
#[derive(Clone, Debug)]
pub struct Gred {
    store: Store,
    /// The virtual queue of each waiting packet, in order; a mark would hide it.
    members: VecDeque<u8>,
    queues: [Option<VirtualQueue>; GRED_QUEUES],
    queue_of: [u8; 4],
    mode: GredMode,
    /// What WRED keeps for all virtual queues (`wred_set`).
    shared: Shared,
    limit: u64,
}

#[derive(Clone, Debug)]
struct VirtualQueue {
    law: LinuxLaw,
    priority: u8,
    limit: u64,
    ecn: bool,
    harddrop: bool,
    backlog: u64,
    /// Its last packet left then, and none has arrived since.
    idle_since: Option<Time>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Shared {
    /// Scaled by 2^Wlog of whichever virtual queue looks at it.
    average: u64,
    idle_since: Option<Time>,
}

impl Gred {
    /// An empty queue at a line of `line_rate`, configured as tc would do it.
    ///
    /// # Errors
    /// If tc refuses the configuration.
    pub fn new(config: &GredConfig, line_rate: Rate) -> Result<Self, TcError> {
        let mut queues = [const { None }; GRED_QUEUES];
        for (queue, config_of_queue) in queues.iter_mut().zip(&config.queues) {
            if let Some(given) = config_of_queue {
                *queue = Some(VirtualQueue::new(given, config.limit_bytes)?);
            }
        }
        Ok(Self {
            store: Store::new(Extent::Unlimited, line_rate),
            members: VecDeque::new(),
            queues,
            queue_of: config.queue_of,
            mode: config.mode(),
            shared: Shared::default(),
            limit: config.limit_bytes.into(),
        })
    }

    /// The average that decides about packets with this codepoint, bytes; `None` if they belong to no virtual queue.
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

    /// A packet without a virtual queue: only the limit of the whole.
    fn pass_through(&mut self, number: u8, packet: Packet, now: Time) -> Verdict {
        if self.store.backlog_with(&packet).bytes > self.limit {
            return Verdict::Dropped(Reason::Buffer);
        }
        self.members.push_back(number);
        self.store.push(packet, now);
        Verdict::Queued { mark: None }
    }
}

impl VirtualQueue {
    fn new(config: &GredQueueConfig, limit_bytes: u32) -> Result<Self, TcError> {
        Ok(Self {
            law: LinuxLaw::new(&config.red)?,
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

impl Queue for Gred {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        let number = self.number_of(packet.ecn);
        let others = self.averages_before(number);
        let total = self.store.backlog().bytes;
        let Some(Some(queue)) = self.queues.get_mut(number as usize) else {
            return self.pass_through(number, packet, now);
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
        let decision = queue.law.decide(others, random);
        if let Some(reason) = decision {
            let hard = reason == Reason::Forced && queue.harddrop;
            if hard || !queue.ecn || !mark(&mut packet) {
                return Verdict::Dropped(reason);
            }
        }
        if backlog + u64::from(packet.size) > queue.limit {
            return Verdict::Dropped(Reason::Buffer);
        }
        queue.backlog += u64::from(packet.size);
        self.members.push_back(number);
        self.store.push(packet, now);
        Verdict::Queued { mark: decision }
    }

    /// Idle time begins when the last packet leaves, although it has yet to be transmitted (`gred_dequeue`).
    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut Stream) -> Dequeued {
        let (Some(packet), Some(number)) = (self.store.pop(), self.members.pop_front()) else {
            return Dequeued::Empty;
        };
        if let Some(Some(queue)) = self.queues.get_mut(number as usize) {
            queue.backlog -= u64::from(packet.size);
            if self.mode == GredMode::Wred {
                if self.store.backlog().bytes == 0 {
                    self.shared.idle_since = Some(now);
                }
            } else if queue.backlog == 0 {
                queue.idle_since = Some(now);
            }
        }
        Dequeued::Packet { packet, mark: None }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.store.class_backlog(class)
    }

    /// The average for packets that are not ECN-capable, as dual RED shows it.
    fn average_bytes(&self) -> Option<f64> {
        self.average_bytes_for(Ecn::NotEct)
    }
}
