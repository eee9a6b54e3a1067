//! Segmentation offload of a sending host: how much TCP hands to its network card at once.

/// How a host spreads what its window allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// Not at all: what the window allows leaves at once.
    Off,
    /// TCP's own timer keeps a burst back until the one before it has had its time at the pacing rate (Linux
    /// `tcp_pacing_check`, as with `SO_MAX_PACING_RATE`).
    Internal,
    /// The queue discipline `fq` of the host keeps segments back, which TCP hands over early
    /// ([`net/sched/sch_fq.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_fq.c)).
    Fq,
}

/// What a host with segmentation offload is told. Only the senders of Linux read it: FreeBSD sends at once whatever an
/// ACK allows, with TSO or without.
///
/// How the numbers are used is a rule of the stack ([`crate::Tso`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offload {
    /// Size of the largest segment that the device takes, with its headers, in bytes (`ip link`: `gso_max_size`).
    pub gso_max_size_bytes: u32,
    /// Most packets of one segment (`ip link`: `gso_max_segs`).
    pub gso_max_segs: u32,
    /// Packets of a segment, whatever the rate (`net.ipv4.tcp_min_tso_segs`).
    pub min_tso_segs: u32,
    /// The largest segment is halved once for each 2^this microseconds of the smallest RTT
    /// (`net.ipv4.tcp_tso_rtt_log`); 0 leaves the RTT out, as before Linux 5.18.
    pub tso_rtt_log: u8,
    /// A segment waits for more until this fraction of the window may be sent (`net.ipv4.tcp_tso_win_divisor`).
    pub tso_win_divisor: u32,
    /// Most bytes of a connection that wait in its host (`net.ipv4.tcp_limit_output_bytes`).
    pub limit_output_bytes: u32,
    /// Pacing rate in slow start, percent of cwnd / SRTT (`net.ipv4.tcp_pacing_ss_ratio`).
    pub pacing_ss_percent: u32,
    /// Pacing rate in congestion avoidance, percent of cwnd / SRTT (`net.ipv4.tcp_pacing_ca_ratio`).
    pub pacing_ca_percent: u32,
    /// Whether the connection is paced. The pacing rate sizes segments in any case.
    pub pacing: Pacing,
}

impl Offload {
    /// The defaults of Linux 7.3
    /// ([`include/linux/netdevice.h`](https://elixir.bootlin.com/linux/v6.12/source/include/linux/netdevice.h),
    /// [`Documentation/networking/ip-sysctl.rst`](https://elixir.bootlin.com/linux/v6.12/source/Documentation/networking/ip-sysctl.rst)).
    pub const LINUX: Self = Self {
        gso_max_size_bytes: 65536,
        gso_max_segs: 65535,
        min_tso_segs: 2,
        tso_rtt_log: 9,
        tso_win_divisor: 3,
        limit_output_bytes: 4 << 20,
        pacing_ss_percent: 200,
        pacing_ca_percent: 120,
        pacing: Pacing::Off,
    };

    /// A host that sends packet by packet, at the pace of a controller that has its own.
    pub const PACED: Self =
        Self { gso_max_segs: 1, min_tso_segs: 1, pacing: Pacing::Internal, ..Self::LINUX };

    /// Bytes that the kernel keeps free for headers in the largest segment, and one (`MAX_TCP_HEADER` of a
    /// distribution's kernel, `sk_dst_gso_max_size`).
    pub const HEADROOM_BYTES: u32 = 320 + 1;

    /// Bytes that an endless stream keeps unsent in its socket: enough for the segment at the head never to be the
    /// last, so that only TCP decides how long it is, and not when the application writes (`TCP_NOTSENT_LOWAT`).
    #[inline]
    pub const fn unsent_limit_bytes(&self) -> u64 {
        4 * self.gso_max_size_bytes as u64
    }

    /// Payload of the largest segment in bytes (Linux `sk_gso_max_size`).
    #[inline]
    pub(crate) const fn largest_bytes(&self) -> u32 {
        self.gso_max_size_bytes.saturating_sub(Self::HEADROOM_BYTES)
    }
}
