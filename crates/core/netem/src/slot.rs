//! Slots: packets leave in bursts, as from a radio link that aggregates them.

use shoal_units::{Span, Stream, Time};

/// When slots open and what may leave in one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Shortest time to the next slot.
    pub min: Span,
    /// Longest time to the next slot.
    pub max: Span,
    /// Most packets in a slot; 0 if any number may leave.
    pub packets: u32,
    /// Most bytes in a slot, but for the last packet, which may exceed it; 0 if there is no limit. Counted are IP
    /// packets with their Ethernet header.
    pub bytes: u32,
}

/// The current slot.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    slot: Slot,
    /// When it opens; `None` for that of the set-up, which is before all packets.
    opens: Option<Time>,
    packets_left: i64,
    bytes_left: i64,
}

impl Slots {
    pub(crate) fn new(slot: Slot) -> Self {
        let mut slots = Self { slot, opens: None, packets_left: 0, bytes_left: 0 };
        slots.refill();
        slots
    }

    fn refill(&mut self) {
        // The kernel's counters have 32 bits with a sign.
        let most = |limit: u32| if limit == 0 { i64::from(i32::MAX) } else { i64::from(limit) };
        (self.packets_left, self.bytes_left) = (most(self.slot.packets), most(self.slot.bytes));
    }

    /// Opens a new slot after a time that is drawn now
    /// ([sch_netem.c](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_netem.c), `get_slot_next`).
    fn renew(&mut self, now: Time, outside: &mut Stream) {
        let width = (self.slot.max - self.slot.min).as_nanos();
        let drawn = (u128::from(width) * u128::from(outside.uniform_u32())) >> 32;
        let drawn = Span::from_nanos(u64::try_from(drawn).unwrap_or(u64::MAX));
        self.opens = Some(now + self.slot.min + drawn);
        self.refill();
    }

    /// When the slot for a packet that is due at `due` opens: a slot from before then is given up for a new one.
    pub(crate) fn opening(&mut self, due: Time, now: Time, outside: &mut Stream) -> Time {
        match self.opens {
            Some(opens) if opens >= due => opens,
            _ => {
                self.renew(now, outside);
                self.opens.unwrap_or(now)
            }
        }
    }

    /// A packet leaves in the slot.
    pub(crate) fn take(&mut self, size: u16, now: Time, outside: &mut Stream) {
        const ETHERNET_HEADER: i64 = 14;
        self.packets_left -= 1;
        self.bytes_left -= i64::from(size) + ETHERNET_HEADER;
        if self.packets_left <= 0 || self.bytes_left <= 0 {
            self.renew(now, outside);
        }
    }
}
