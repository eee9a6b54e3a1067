//! Memory that several ports of a switch share, divided by dynamic thresholds ([`MemoryShare`]). Only waiting bytes count, as
//! everywhere here; the packet in transmission has left its queue (a real switch holds it a little longer,
//! and counts whole cells).
//!
//! Ports dequeue lazily, so before a packet is admitted, all ports of the pool that hold packets are brought
//! up to date; the decision is then that of a switch that dequeues eagerly. Idle ports cost nothing, nor do
//! busy ones before the first of their transmissions ends.

use crate::port::{ALONE, Port};
use crate::recorder::Recorder;
use shoal_aqm::MemoryShare;
use shoal_scenario::Experiment;
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
    /// What each member may hold.
    share: MemoryShare,
    /// Bytes that the members hold beyond their reserved parts.
    used_bytes: u64,
    /// Members that hold packets.
    busy: Vec<u32>,
    /// Time before which no packet leaves any member.
    next_departure: Time,
}

/// A port of a pool.
#[derive(Debug)]
struct Member {
    link: u32,
    pool: u32,
    /// Bytes that the port holds, as the pool counts them.
    held_bytes: u64,
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
                    members.push(Member { link, pool, held_bytes: 0, place: 0 });
                    count_u32(members.len()) - 1
                }
                None => ALONE,
            })
            .collect();
        let ports = |pool: u32| members.iter().filter(|member: &&Member| member.pool == pool).count() as u64;
        let pools = (0u32..)
            .zip(&experiment.pools)
            .map(|(index, plan)| Pool {
                shared_bytes: plan
                    .size_bytes
                    .saturating_sub(plan.reserved_bytes.saturating_mul(ports(index))),
                share: MemoryShare { alpha: plan.alpha, reserved_bytes: plan.reserved_bytes },
                used_bytes: 0,
                busy: Vec::new(),
                next_departure: Time::NEVER,
            })
            .collect();
        Self { pools, members, of_link }
    }

    /// Member index of a link.
    pub(crate) fn member(&self, link: u32) -> u32 {
        self.of_link[link as usize]
    }

    /// Whether a packet of `size` bytes may enter the queue of `member` at `now`.
    pub(crate) fn admits(
        &mut self,
        member: u32,
        size: u32,
        now: Time,
        ports: &mut [Port],
        recorder: &mut Recorder,
    ) -> bool {
        let pool = self.members[member as usize].pool as usize;
        if self.pools[pool].next_departure <= now {
            self.catch_up(pool, now, ports, recorder);
        }
        let (pool, held) = (&self.pools[pool], self.members[member as usize].held_bytes);
        pool.share.admits(held, size, pool.shared_bytes - pool.used_bytes)
    }

    /// Updates the count of the port of `member`. Must be called whenever it may have changed.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(&mut self, member: u32, port: &Port) {
        let Self { pools, members, .. } = self;
        let state = &mut members[member as usize];
        let pool = &mut pools[state.pool as usize];
        let (before, after) = (state.held_bytes, port.waiting_bytes());
        pool.used_bytes = pool.used_bytes - pool.share.shared(before) + pool.share.shared(after);
        state.held_bytes = after;
        if after > 0 {
            pool.next_departure = pool.next_departure.min(port.next_change());
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

    /// Swaps the members of some links and their pools with those of another part of the network. The links of a pool are all of one part.
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

    /// Brings all busy members of a pool up to `now`.
    fn catch_up(&mut self, pool: usize, now: Time, ports: &mut [Port], recorder: &mut Recorder) {
        self.pools[pool].next_departure = Time::NEVER;
        // In reverse order: a member that falls idle is replaced by the last one, which has been handled
        // already.
        for place in (0..self.pools[pool].busy.len()).rev() {
            let member = self.pools[pool].busy[place];
            let port = &mut ports[self.members[member as usize].link as usize];
            port.catch_up(now, recorder);
            self.settle(member, port);
        }
    }
}
