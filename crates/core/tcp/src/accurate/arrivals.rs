//! What has arrived at an end, by codepoint, and what of it is fed back (RFC 9768 section 3.2,
//! <https://www.rfc-editor.org/rfc/rfc9768#section-3.2>; Linux `tcp_ecn_received_counters`).

use shoal_packet::{ByteCounters, CounterOrder, Ecn};
use shoal_units::Time;

/// First value of the counter of packets with CE: it differs from the flags of classic ECN.
pub(super) const FIRST_PACKETS: u32 = 5;
/// The option is sent at least once in as many bytes: far fewer than a field of 24 bits can count.
const BYTES_A_REPORT: u32 = 1 << 22;
/// Options after a change of the codepoint: the second ACK says that the first was no exception.
const OPTIONS_AFTER_CHANGE: u8 = 2;

/// First value of the counter of bytes of a codepoint: not zero where zeros would show that a path overwrites them.
pub(super) const fn first_bytes(codepoint: Ecn) -> u32 {
    if codepoint.is_ce() { 0 } else { 1 }
}

/// Place of a codepoint other than Not-ECT among the counters of bytes.
pub(super) const fn index(codepoint: Ecn) -> usize {
    (codepoint.bits() as usize).saturating_sub(1)
}

/// Counters of what has arrived. They wrap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrivals {
    option_sent: Time,
    /// Packets with CE, of any kind but SYN (`r.cep` without its first value).
    packets: u32,
    /// Bytes of payload by codepoint (`r.e1b`, `r.e0b`, `r.ceb` without their first values).
    bytes: [u32; 3],
    /// Codepoint of the last packet.
    last: Ecn,
    /// Number of fields that an option needs for all that has changed (Linux `accecn_minlen`).
    changed: u8,
    /// Number of ACKs with which the option must go (Linux `accecn_opt_demand`).
    demand: u8,
    saw_ect: bool,
}

impl Arrivals {
    /// `last` is the codepoint of the handshake's packet.
    pub(super) fn new(last: Ecn) -> Self {
        Self {
            option_sent: Time::ZERO,
            packets: 0,
            bytes: [0; 3],
            last,
            changed: 0,
            demand: 0,
            saw_ect: false,
        }
    }

    /// Counts a packet with `payload` bytes, or `packets` that were merged to one. Returns whether the codepoint has
    /// changed.
    pub(super) fn note(&mut self, codepoint: Ecn, payload: u16, packets: u16) -> bool {
        if codepoint.is_capable() {
            self.saw_ect = true;
            if codepoint.is_ce() {
                self.packets = self.packets.wrapping_add(u32::from(packets));
            }
            if payload > 0 {
                let counter = &mut self.bytes[index(codepoint)];
                let before = *counter;
                *counter = before.wrapping_add(payload.into());
                let reports = *counter / BYTES_A_REPORT != before / BYTES_A_REPORT;
                self.demand = self.demand.max(reports.into());
                self.changed = self.changed.max(field(codepoint));
            }
        }
        let changes = self.last != codepoint;
        self.last = codepoint;
        if changes || codepoint.is_ce() {
            self.demand = OPTIONS_AFTER_CHANGE;
        }
        changes
    }
    pub(super) fn count_mark(&mut self) {
        self.packets = self.packets.wrapping_add(1);
    }
    pub(super) fn saw_ect(&self) -> bool {
        self.saw_ect
    }

    /// The low three bits of the counter of packets, as the flags feed them back.
    pub(super) fn ace(&self) -> u8 {
        (self.packets.wrapping_add(FIRST_PACKETS) & 7).to_le_bytes()[0]
    }

    pub(super) fn demand_option(&mut self) {
        self.demand = self.demand.max(OPTIONS_AFTER_CHANGE);
    }
    pub(super) fn demands_option(&self) -> bool {
        self.demand > 0
    }
    pub(super) fn option_sent(&self) -> Time {
        self.option_sent
    }
    pub(super) fn changed_fields(&self) -> u8 {
        self.changed
    }
    pub(super) fn on_option_sent(&mut self, now: Time) {
        self.option_sent = now;
        self.changed = 0;
        self.demand = self.demand.saturating_sub(1);
    }
    /// The first `fields` counters of the option that Linux sends.
    pub(super) fn counters(&self, fields: usize) -> ByteCounters {
        let order = CounterOrder::Ect1First;
        let counter = |codepoint| self.bytes[index(codepoint)].wrapping_add(first_bytes(codepoint));
        ByteCounters::new(order, order.codepoints().map(counter), fields)
    }
}

/// Number of fields up to the one that counts the bytes of a codepoint.
const fn field(codepoint: Ecn) -> u8 {
    match codepoint {
        Ecn::Ect1 => 1,
        Ecn::Ce => 2,
        Ecn::Ect0 => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_and_bytes_are_counted_from_their_first_values() {
        let mut arrivals = Arrivals::new(Ecn::NotEct);
        assert_eq!((arrivals.ace(), arrivals.counters(3).fields()), (5, &[1, 0, 1][..]));
        assert!(arrivals.note(Ecn::Ect0, 0, 1), "ECT follows Not-ECT");
        assert_eq!(arrivals.changed_fields(), 0, "no bytes");
        assert!(!arrivals.note(Ecn::Ect0, 1000, 1));
        assert!(arrivals.note(Ecn::Ce, 500, 1));
        assert!(arrivals.note(Ecn::Ect1, 7, 1));
        assert_eq!((arrivals.ace(), arrivals.counters(3).fields()), (6, &[8, 500, 1001][..]));
        assert_eq!(arrivals.changed_fields(), 3);
        arrivals.on_option_sent(Time::ZERO);
        assert_eq!(arrivals.changed_fields(), 0);
        arrivals.note(Ecn::Ce, 0, 2);
        assert_eq!(arrivals.ace(), 0, "8 modulo 8");
    }

    #[test]
    fn an_option_is_due_after_changes_and_every_four_megabytes() {
        let mut arrivals = Arrivals::new(Ecn::Ect1);
        arrivals.note(Ecn::Ect1, 1000, 1);
        assert!(!arrivals.demands_option());
        arrivals.note(Ecn::Ect0, 1000, 1);
        for due in [true, true, false] {
            assert_eq!(arrivals.demands_option(), due);
            arrivals.on_option_sent(Time::ZERO);
        }
        let mut bytes = 1000;
        while bytes + 60_000 < BYTES_A_REPORT {
            arrivals.note(Ecn::Ect0, 60_000, 42);
            bytes += 60_000;
            assert!(!arrivals.demands_option(), "{bytes}");
        }
        arrivals.note(Ecn::Ect0, 60_000, 42);
        assert!(arrivals.demands_option());
    }
}
