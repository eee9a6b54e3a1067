//! Memory that several ports of a switch share, divided by dynamic thresholds ([`MemoryShare`]). Only waiting bytes
//! count, as everywhere here; the packet in transmission has left its queue (a real switch holds it a little longer,
//! and counts whole cells).
//!
//! Ports dequeue lazily, so before a packet is admitted, all ports of the pool from which packets have left are brought
//! up to date; the decision is then that of a switch that dequeues eagerly. Idle ports cost nothing, nor do
//! busy ones before the first of their transmissions ends.

use crate::port::{ALONE, Port};
use crate::recorder::Recorder;
use shoal_aqm::MemoryShare;
use shoal_packet::Packet;
use shoal_scenario::{Experiment, PoolMember};
use shoal_units::Time;
use shoal_units::cast::count_u32;

/// All pools of a network.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    pools: Vec<Pool>,
    members: Vec<Member>,
    /// Member index of each link; [`ALONE`] if the link has memory of its own.
    of_link: Vec<u32>,
}

/// One shared memory.
#[derive(Debug)]
struct Pool {
    /// Size of the memory without the reserved parts, in bytes.
    shared_bytes: u64,
    /// Bytes that the members hold beyond their reserved parts.
    used_bytes: u64,
    /// Members that hold packets.
    busy: Vec<u32>,
    /// Time before which no packet leaves any member.
    next_departure: Time,
}

/// A port of a pool, or one of the queues of a port. Those of a port follow each other.
#[derive(Debug)]
struct Member {
    link: u32,
    pool: u32,
    /// Number of the queue, if the port has several.
    queue: Option<u8>,
    /// What it may hold.
    share: MemoryShare,
    /// Bytes that it holds, as the pool counts them.
    held_bytes: u64,
    /// Time before which no packet leaves it. Here, so that others who share the memory need not look at the port.
    next_departure: Time,
    /// Position in the list of busy members.
    place: u32,
}

impl Pools {
    pub(crate) fn new(experiment: &Experiment) -> Self {
        let mut members = Vec::new();
        let of_link: Vec<u32> = (0u32..)
            .zip(&experiment.links)
            .map(|(link, plan)| match plan.pool.filter(|_| plan.rate.is_some()) {
                Some(pool) => {
                    let first = count_u32(members.len());
                    let own = experiment.pools[pool as usize].members(plan);
                    members.extend(own.into_iter().map(|PoolMember { queue, share }| Member {
                        link,
                        pool,
                        queue,
                        share,
                        held_bytes: 0,
                        next_departure: Time::NEVER,
                        place: 0,
                    }));
                    first
                }
                None => ALONE,
            })
            .collect();
        let reserved_bytes = |pool: u32| {
            let own = members.iter().filter(|member: &&Member| member.pool == pool);
            own.fold(0u64, |sum, member| sum.saturating_add(member.share.reserved_bytes))
        };
        let pools = (0u32..)
            .zip(&experiment.pools)
            .map(|(index, plan)| Pool {
                shared_bytes: plan.size_bytes.saturating_sub(reserved_bytes(index)),
                used_bytes: 0,
                busy: Vec::new(),
                next_departure: Time::NEVER,
            })
            .collect();
        Self { pools, members, of_link }
    }

    /// Index of a link's first member.
    pub(crate) fn member(&self, link: u32) -> u32 {
        self.of_link[link as usize]
    }

    /// Whether `packet` may enter the port whose first member is `first` at `now`.
    pub(crate) fn admits(
        &mut self,
        first: u32,
        packet: &Packet,
        now: Time,
        ports: &mut [Port],
        recorder: &mut Recorder,
    ) -> bool {
        let Member { pool, link, queue, .. } = self.members[first as usize];
        let pool = pool as usize;
        if self.pools[pool].next_departure <= now {
            self.catch_up(pool, now, ports, recorder);
        }
        let queue = queue.map_or(0, |_| ports[link as usize].queue_of(packet));
        let (pool, member) = (&self.pools[pool], &self.members[first as usize + usize::from(queue)]);
        member.share.admits(member.held_bytes, packet.size.into(), pool.shared_bytes - pool.used_bytes)
    }

    /// Updates the counts of the port whose first member is `first`. Must be called whenever they may have changed.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(&mut self, first: u32, port: &Port) {
        let link = self.members[first as usize].link;
        let mut member = first;
        while self.members.get(member as usize).is_some_and(|own| own.link == link) {
            self.settle_one(member, port);
            member += 1;
        }
    }

    fn settle_one(&mut self, member: u32, port: &Port) {
        let Self { pools, members, .. } = self;
        let state = &mut members[member as usize];
        let pool = &mut pools[state.pool as usize];
        let (before, after) = (state.held_bytes, port.waiting_bytes(state.queue));
        pool.used_bytes = pool.used_bytes - state.share.shared(before) + state.share.shared(after);
        state.held_bytes = after;
        if after > 0 {
            state.next_departure = port.next_change();
            pool.next_departure = pool.next_departure.min(state.next_departure);
        }
        match (before > 0, after > 0) {
            (false, true) => {
                state.place = count_u32(pool.busy.len());
                pool.busy.push(member);
            }
            (true, false) => {
                let place = state.place as usize;
                pool.busy.swap_remove(place);
                if let Some(moved) = pool.busy.get(place) {
                    members[*moved as usize].place = count_u32(place);
                }
            }
            _ => {}
        }
    }

    /// Swaps the members of some links and their pools with those of another part of the network. The links of a pool
    /// are all of one part.
    pub(crate) fn swap(&mut self, other: &mut Self, is_of_part: impl Fn(u32) -> bool) {
        let mut swapped = vec![false; self.pools.len()];
        for (one, two) in self.members.iter_mut().zip(&mut other.members) {
            if is_of_part(one.link) {
                std::mem::swap(one, two);
                let pool = one.pool as usize;
                if !std::mem::replace(&mut swapped[pool], true) {
                    std::mem::swap(&mut self.pools[pool], &mut other.pools[pool]);
                }
            }
        }
    }

    /// Brings the members of a pool up to `now` from which packets have left by then.
    fn catch_up(&mut self, pool: usize, now: Time, ports: &mut [Port], recorder: &mut Recorder) {
        self.pools[pool].next_departure = Time::NEVER;
        // In reverse order: a member that falls idle is replaced by the last one, which has been handled
        // already. Those of the same port are handled with it, so that the list may have become shorter by several.
        for place in (0..self.pools[pool].busy.len()).rev() {
            let Some(member) = self.pools[pool].busy.get(place) else { continue };
            let Member { link, next_departure, .. } = self.members[*member as usize];
            if next_departure > now {
                self.pools[pool].next_departure = self.pools[pool].next_departure.min(next_departure);
                continue;
            }
            let port = &mut ports[link as usize];
            port.report(now, recorder);
            self.settle(self.of_link[link as usize], port);
        }
    }
}
