//! The numbers of a receiving host.

use shoal_units::Span;

/// Which packets become one segment before TCP sees them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coalescing {
    /// None: every packet is a segment of its own.
    Off,
    /// Linux generic receive offload
    /// ([`net/core/gro.c`](https://elixir.bootlin.com/linux/v6.12/source/net/core/gro.c),
    /// [`net/ipv4/tcp_offload.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_offload.c)): packets
    /// of one flow whose headers agree, ECN codepoint included.
    Gro,
    /// FreeBSD software large receive offload
    /// ([`sys/netinet/tcp_lro.c`](https://cgit.freebsd.org/src/tree/sys/netinet/tcp_lro.c?h=release/14.0.0)):
    /// codepoints are not compared, and a segment shows that of its first packet.
    Lro,
}

/// Time that a core needs for what it receives. Packets that come meanwhile wait in the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuCost {
    /// For each packet: driver and coalescing.
    pub packet: Span,
    /// For each segment: IP, TCP, and the wake-up of the reader.
    pub segment: Span,
    /// For each byte of payload: the copy.
    pub byte: Span,
}

impl CpuCost {
    /// An infinitely fast core.
    pub const NONE: Self = Self { packet: Span::ZERO, segment: Span::ZERO, byte: Span::ZERO };
}

/// How a host receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receive {
    /// Which packets become one segment.
    pub coalescing: Coalescing,
    /// Most packets of a segment; a segment has at most 64 KiB in any case.
    pub coalesced_packets: u32,
    /// Time from the first packet after a poll to the interrupt (`ethtool -C`: `rx-usecs`).
    pub interrupt_delay: Span,
    /// Packets that cause an interrupt at once (`ethtool -C`: `rx-frames`); 0 if only the time does.
    pub interrupt_packets: u32,
    /// Packets that a poll takes at most (Linux `napi_weight`).
    pub poll_packets: u32,
    /// Packets that the ring holds; further ones are dropped. 0 if it is unlimited.
    pub ring_packets: u32,
    /// Time that the core needs.
    pub cpu: CpuCost,
}

impl Receive {
    /// Every packet is handed over as it comes.
    pub const IMMEDIATE: Self = Self {
        coalescing: Coalescing::Off,
        coalesced_packets: 64,
        interrupt_delay: Span::ZERO,
        interrupt_packets: 0,
        poll_packets: 64,
        ring_packets: 0,
        cpu: CpuCost::NONE,
    };

    /// Whether packets are handed over one by one as they come, whatever the other numbers are: then the host needs no
    /// [`crate::Card`].
    pub fn is_immediate(&self) -> bool {
        self.interrupt_delay.is_zero() && self.cpu == CpuCost::NONE
    }
}
