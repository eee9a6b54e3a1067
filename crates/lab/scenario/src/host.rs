//! End hosts: what happens between TCP and the wire, on both sides.

use shoal_host::{Coalescing, CpuCost, Receive};
use shoal_tcp::Offload;
use shoal_units::{Difference, ModelDoc, ModelKind, Rate, Span};

/// The hosts of a flow group, resolved. Both ends are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostConfig {
    /// Where the numbers come from that are not written.
    pub preset: HostPreset,
    /// Segmentation offload of the sending side; `None` if TCP hands over packet by packet.
    pub offload: Option<Offload>,
    /// Rate of the network card; `None` if it sends at once what it gets. A topology whose hosts have links of their
    /// own has that of the link instead.
    pub nic_rate: Option<Rate>,
    /// The receiving side.
    pub receive: Receive,
}

impl HostConfig {
    /// Whether the host is more than an endpoint of TCP: it has a card with a rate, or collects what it receives.
    pub fn has_card(&self) -> bool {
        self.nic_rate.is_some() || !self.receive.is_immediate()
    }
}

/// A named host. [`HostPreset::doc`] describes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum HostPreset {
    /// Packet by packet, without segmentation offload, infinitely fast.
    Ideal,
    /// Segmentation offload of the stack; otherwise ideal.
    Linux6,
    /// Current Linux with a card of 10 Gbit/s.
    Linux6At10G,
    /// Current Linux with a card of 25 Gbit/s.
    Linux6At25G,
    /// Current Linux with a card of 100 Gbit/s.
    Linux6At100G,
    /// Linux 3.2 with a card of 1 Gbit/s.
    Linux32At1G,
    /// FreeBSD 14 with a card of 10 Gbit/s.
    FreeBsd14,
}

const ONE_QUEUE: Difference = Difference::new(
    "The card has one queue, first in first out: byte queue limits (BQL) and the ring decide where in the host a \
     packet waits, not when it leaves. A card with several queues may alternate between connections packet by \
     packet. A limit (host_buffer, access_buffer) is that of the host's queue discipline: TCP keeps the segments \
     that it refuses and reduces its window; pure ACKs are not counted there.",
    "a_card_sends_whole_segments_one_after_the_other",
);
const FIXED_MODERATION: Difference = Difference::new(
    "Interrupt moderation is constant: a fixed time after the first packet, or a number of packets. Drivers adapt it \
     (DIM; i40e and ixgbe between 10 and 126 us).",
    "packets_wait_for_the_interrupt_and_for_no_longer",
);
const FREE_SENDER: Difference = Difference::new(
    "Sending costs no processor time, and the card reports at once what it has sent, where drivers collect \
     completions.",
    "two_segments_may_wait_and_more_at_a_high_rate",
);
const FREE_RETRANSMISSIONS: Difference = Difference::new(
    "Retransmissions do not wait for the small queue, and count in it only with fq; the kernel stops them at twice \
     the limit.",
    "retransmissions_do_not_wait_for_the_card",
);
const SHARED_CORE: Difference = Difference::new(
    "All connections of a host share one receive queue and one core.",
    "a_busy_core_takes_what_has_come_meanwhile",
);
const GRO_BUCKETS: Difference = Difference::new(
    "GRO finds the bucket of a flow by its number instead of a hash of its addresses; the ticks of the timestamps, \
     of which a change ends a run, begin with the run; a poll that takes all that it may (64 packets) lets segments \
     grow on in the next one, as with HZ = 1000, however long the core takes.",
    "what_a_full_poll_leaves_is_read_later_and_together",
);

const FULL_WINDOW: Difference = Difference::new(
    "Segments that come with one interrupt are acknowledged when they are read, all by one ACK unless marks change: \
     the receive window of Linux receivers is as large as the buffer allows, so that unread data would shrink it. The \
     kernel acknowledges each segment while its window still grows, here until the first read.",
    "what_comes_together_is_acknowledged_when_it_is_read",
);

const FQ: Difference = Difference::new(
    "With pacing = \"fq\" (net/sched/sch_fq.c): times of departure, deficit round robin and the path past it are the \
     kernel's. The timer is punctual, on both planes: a host's own may be 10 us late (timer_slack), less if something \
     else wakes it. No segment is dropped (limit, flow_limit), marked (ce_threshold) or too far ahead (horizon), \
     there is one band, and a connection is found without a hash and never forgotten. The 40 ms after which it has a \
     whole turn again are exact, not jiffies.",
    "a_long_segment_is_paid_for_in_turns",
);
const FINE_PACE: Difference = Difference::new(
    "The pacing rate follows an RTT in picoseconds; the kernel's counts microseconds, so that gaps differ by some 100 \
     ns at RTTs of 200 us.",
    "test_hosts_with_fq_use_a_queue_as_on_linux",
);

/// The rules that all presets with a card share.
const CARD: &[Difference] =
    &[ONE_QUEUE, FIXED_MODERATION, FREE_SENDER, FREE_RETRANSMISSIONS, SHARED_CORE, GRO_BUCKETS, FULL_WINDOW];
/// The rules of the preset of current Linux with a card, whose queue discipline `fq` is modelled.
const LINUX_6_CARD: &[Difference] = &[
    ONE_QUEUE,
    FIXED_MODERATION,
    FREE_SENDER,
    FREE_RETRANSMISSIONS,
    SHARED_CORE,
    GRO_BUCKETS,
    FULL_WINDOW,
    FQ,
    FINE_PACE,
];

/// Descriptions of all presets (`flows.host`).
pub const HOST_DOCS: &[ModelDoc] = &[
    ModelDoc {
        name: "ideal",
        kind: ModelKind::Host,
        summary: "Packet by packet: TCP sends a segment as soon as the window allows it, and receives each on its own.",
        follows: "on both planes; on Linux gso_max_segs 1, without which TCP hands over several segments as one",
        differences: &[shoal_tcp::SEGMENTS],
    },
    ModelDoc {
        name: "linux-6-gso",
        kind: ModelKind::Host,
        summary: "Segmentation offload as the stack does it, and nothing else: TCP hands over several segments as \
                  one, up to 64 KiB, and holds data back to fill them; the card is infinitely fast and every packet \
                  is received on its own. The host of testbeds whose offloads were switched off (ethtool -K ... tso \
                  off gso off gro off): TCP segments anyway, and the stack cuts the segments up before the card.",
        follows: "net/ipv4/tcp_output.c (tcp_write_xmit, tcp_tso_autosize, tcp_tso_should_defer, tcp_cwnd_test), \
                  net/core/sock.c (sk_setup_caps), net/core/dev.c (validate_xmit_skb); all devices at their defaults",
        differences: &[
            Difference::new(
                "The wire of a host has no rate in a dumbbell: the packets of a segment arrive at the bottleneck at \
                 one instant, where a card would send them at its rate. nic_rate gives it one, as do topologies whose \
                 hosts have links of their own.",
                "test_packets_of_a_segment_follow_each_other_at_the_rate_of_the_access_line",
            ),
            Difference::new(
                "Receivers take every packet on its own: nothing is merged (GRO), and no interrupt waits for more \
                 packets (coalescing). Real receivers of fast links acknowledge less often.",
                "test_receivers_merge_nothing",
            ),
            FQ,
            FINE_PACE,
        ],
    },
    ModelDoc {
        name: "linux-6-10g",
        kind: ModelKind::Host,
        summary: "Current Linux with a card of 10 Gbit/s: segmentation offload, GRO, an interrupt 50 us after the \
                  first packet.",
        follows: "the kernel's defaults; drivers ixgbe and i40e (ITR_20K at the start)",
        differences: LINUX_6_CARD,
    },
    ModelDoc {
        name: "linux-6-25g",
        kind: ModelKind::Host,
        summary: "Current Linux with a card of 25 Gbit/s: segmentation offload, GRO, an interrupt after 8 us or 128 \
                  packets.",
        follows: "the kernel's defaults; drivers mlx5 and ice (the first step of DIM)",
        differences: LINUX_6_CARD,
    },
    ModelDoc {
        name: "linux-6-100g",
        kind: ModelKind::Host,
        summary: "Current Linux with a card of 100 Gbit/s: segmentation offload, GRO, an interrupt after 8 us or 128 \
                  packets.",
        follows: "the kernel's defaults; driver mlx5 (the first step of DIM), without BIG TCP",
        differences: LINUX_6_CARD,
    },
    ModelDoc {
        name: "linux-3.2-1g",
        kind: ModelKind::Host,
        summary: "Linux 3.2 with a card of 1 Gbit/s that segments: bursts as large as a third of the window, GRO, \
                  20,000 interrupts a second.",
        follows: "net/ipv4/tcp_output.c and drivers e1000e and igb of Linux 3.2; write stack = \"linux-3.2\". Virtual \
                  interfaces (veth) of that time had no segmentation offload: host = \"ideal\"",
        differences: CARD,
    },
    ModelDoc {
        name: "freebsd-14-10g",
        kind: ModelKind::Host,
        summary: "FreeBSD 14 with a card of 10 Gbit/s: TSO, which never holds data back, and LRO, whose segments show \
                  the codepoint of their first packet.",
        follows: "sys/netinet/tcp_output.c, sys/netinet/tcp_lro.c; write stack = \"freebsd-14\". The interrupt delay \
                  is that of linux-6-10g",
        differences: CARD,
    },
];

impl HostPreset {
    /// All presets, in the order of [`HOST_DOCS`].
    pub const ALL: &[Self] = &[
        Self::Ideal,
        Self::Linux6,
        Self::Linux6At10G,
        Self::Linux6At25G,
        Self::Linux6At100G,
        Self::Linux32At1G,
        Self::FreeBsd14,
    ];

    /// The preset called `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|preset| preset.name() == name)
    }

    /// Description of the preset, which also owns its name.
    pub const fn doc(self) -> &'static ModelDoc {
        &HOST_DOCS[self as usize]
    }

    /// Name of the preset in scenario files.
    pub const fn name(self) -> &'static str {
        self.doc().name
    }

    /// Beginning of the names of the stacks that the preset fits; `None` if it fits all.
    pub const fn stacks(self) -> Option<&'static str> {
        match self {
            Self::Ideal => None,
            Self::Linux6 => Some("linux"),
            Self::Linux6At10G | Self::Linux6At25G | Self::Linux6At100G => Some("linux-6"),
            Self::Linux32At1G => Some("linux-3"),
            Self::FreeBsd14 => Some("freebsd"),
        }
    }

    /// The numbers of the preset.
    pub const fn config(self) -> HostConfig {
        let (nic_gbit_per_s, interrupt_delay_us, interrupt_packets, ring_packets) = match self {
            Self::Ideal | Self::Linux6 => (0, 0, 0, 0),
            Self::Linux6At10G | Self::FreeBsd14 => (10, 50, 0, 512),
            Self::Linux6At25G => (25, 8, 128, 2048),
            Self::Linux6At100G => (100, 8, 128, 1024),
            Self::Linux32At1G => (1, 50, 0, 256),
        };
        let coalescing = match self {
            Self::Ideal | Self::Linux6 => Coalescing::Off,
            Self::FreeBsd14 => Coalescing::Lro,
            _ => Coalescing::Gro,
        };
        HostConfig {
            preset: self,
            offload: if matches!(self, Self::Ideal) { None } else { Some(Offload::LINUX) },
            nic_rate: if nic_gbit_per_s == 0 {
                None
            } else {
                Some(Rate::from_bps(nic_gbit_per_s * 1_000_000_000))
            },
            receive: Receive {
                coalescing,
                interrupt_delay: Span::from_micros(interrupt_delay_us),
                interrupt_packets,
                ring_packets,
                cpu: CpuCost::NONE,
                ..Receive::IMMEDIATE
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files that contain the tests named by differences.
    const TESTS: &[&str] = &[
        include_str!("../../../core/tcp/src/tests/sending.rs"),
        include_str!("../../../core/tcp/src/sender/linux/segmentation/small_queue.rs"),
        include_str!("../../../core/host/src/card/tests.rs"),
        include_str!("../../../core/tcp/src/tests/merged_packets.rs"),
        include_str!("../../../core/host/src/fq/tests.rs"),
        include_str!("../../../core/tcp/src/tests/small_queue.rs"),
        include_str!("../../../../tests/linux/test_hosts.py"),
        include_str!("../../../../tests/rust/tests/hosts.rs"),
    ];

    #[test]
    fn every_host_is_described_once() {
        assert_eq!(HostPreset::ALL.len(), HOST_DOCS.len());
        for (number, host) in HostPreset::ALL.iter().enumerate() {
            assert_eq!(*host as usize, number);
            assert_eq!(HostPreset::by_name(host.name()), Some(*host));
        }
    }

    #[test]
    fn every_difference_is_pinned_by_a_test_that_exists() {
        for difference in HOST_DOCS.iter().flat_map(|doc| doc.differences) {
            let exists = |file: &&str| {
                file.contains(&format!("fn {}()", difference.test))
                    || file.contains(&format!("def {}(", difference.test))
            };
            assert!(TESTS.iter().any(exists), "{}", difference.test);
        }
    }
}
