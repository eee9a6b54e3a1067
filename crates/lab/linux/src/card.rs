//! Network cards of hosts, and what TCP does for them: the sizes of segments, merging on arrival, interrupt
//! moderation, pacing.

use crate::attributes::{Attributes, hex};
use crate::device::{DELAY, Port, ROOT, line};
use crate::disciplines::{Discipline, QueueMapping, below, handle};
use crate::kernel::Kernel;
use crate::refusal::Refusals;
use shoal_host::{Coalescing, CpuCost, Receive};
use shoal_scenario::{HostConfig, HostPreset, NodeId};
use shoal_tcp::{EndpointConfig, Offload};
use shoal_units::Span;

/// `GSO_LEGACY_MAX_SIZE` and `GRO_LEGACY_MAX_SIZE`, the defaults of every device in bytes
/// ([`include/linux/netdevice.h`](https://elixir.bootlin.com/linux/v6.12/source/include/linux/netdevice.h)).
pub(crate) const DEFAULT_MAX_SIZE: u32 = 65536;
/// `GSO_MAX_SEGS`, the default of every device.
pub(crate) const DEFAULT_MAX_SEGS: u32 = 65535;
/// `NAPI_POLL_WEIGHT`
/// ([`include/linux/netdevice.h`](https://elixir.bootlin.com/linux/v6.12/source/include/linux/netdevice.h)): the
/// poll of veth takes as many packets.
const POLL_PACKETS: u32 = 64;
/// Largest value of `net.ipv4.tcp_min_tso_segs`, which is a byte.
const MOST_MIN_TSO_SEGS: u32 = 255;
/// Handle of the interrupt moderation.
const MODERATION: u32 = 30;
/// Handle of `fq`.
const FQ: u32 = 40;

/// Who spaces the segments of a host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Pacing {
    /// Nobody.
    None,
    /// TCP's own timer.
    Internal,
    /// The queue discipline `fq` of the host.
    Fq,
}

/// Interrupt moderation: packets wait for the first of both.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moderation {
    /// Time from the first packet to the interrupt (`rx-usecs`).
    pub wait: Span,
    /// Number of the packet that raises the interrupt (`rx-frames`); 0: none does.
    pub frames: u32,
    /// Packets that may wait (`ethtool -G`: `rx`); 0: any number.
    pub ring: u32,
}

/// The card of a host. Each `None` leaves the kernel's default.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Card {
    /// Largest segment that TCP hands over: bytes with headers (`gso_max_size`).
    pub gso_max_size: u32,
    /// Largest segment that TCP hands over: packets (`gso_max_segs`). With 1 nothing is segmented.
    pub gso_max_segs: u32,
    /// Largest merged segment: bytes with headers (`gro_max_size`). `None`: nothing is merged.
    pub gro_max_size: Option<u32>,
    /// Interrupt moderation.
    pub moderation: Option<Moderation>,
    /// Who spaces segments.
    pub pacing: Pacing,
    /// `net.ipv4.tcp_min_tso_segs`.
    pub min_tso_segs: Option<u32>,
    /// `net.ipv4.tcp_tso_rtt_log`.
    pub tso_rtt_log: Option<u32>,
    /// `net.ipv4.tcp_tso_win_divisor`.
    pub tso_win_divisor: Option<u32>,
    /// `net.ipv4.tcp_limit_output_bytes`.
    pub limit_output_bytes: Option<u32>,
    /// `net.ipv4.tcp_pacing_ss_ratio` in per cent.
    pub pacing_ss_ratio: Option<u32>,
    /// `net.ipv4.tcp_pacing_ca_ratio` in per cent.
    pub pacing_ca_ratio: Option<u32>,
}

/// How the card of a host is attached to the testbed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attachment<'a> {
    pub port: &'a Port,
    /// The other end of its wire.
    pub router: &'a Port,
    /// Whether the line of the card stands at the port.
    pub has_line: bool,
    /// Whether a pure delay is the root of the router's queue disciplines before a host that moderates its interrupts.
    pub is_delayed: bool,
}

impl Card {
    /// One packet at a time, in both directions.
    pub(crate) const IDEAL: Self = Self {
        gso_max_size: DEFAULT_MAX_SIZE,
        gso_max_segs: 1,
        gro_max_size: None,
        moderation: None,
        pacing: Pacing::None,
        min_tso_segs: None,
        tso_rtt_log: None,
        tso_win_divisor: None,
        limit_output_bytes: None,
        pacing_ss_ratio: None,
        pacing_ca_ratio: None,
    };

    /// The card of a host whose connections are `endpoint`.
    pub(crate) fn of(host: &HostConfig, endpoint: &EndpointConfig) -> Self {
        host.offload.map_or(Self::IDEAL, |offload| Self::sending(&offload)).receiving(&host.receive, endpoint)
    }

    /// A card that hands over segments, and takes every packet on its own.
    fn sending(offload: &Offload) -> Self {
        Self {
            gso_max_size: offload.gso_max_size_bytes,
            gso_max_segs: offload.gso_max_segs,
            pacing: match offload.pacing {
                shoal_tcp::Pacing::Off => Pacing::None,
                shoal_tcp::Pacing::Internal => Pacing::Internal,
                shoal_tcp::Pacing::Fq => Pacing::Fq,
            },
            min_tso_segs: Some(offload.min_tso_segs),
            tso_rtt_log: Some(offload.tso_rtt_log.into()),
            tso_win_divisor: Some(offload.tso_win_divisor),
            limit_output_bytes: Some(offload.limit_output_bytes),
            pacing_ss_ratio: Some(offload.pacing_ss_percent),
            pacing_ca_ratio: Some(offload.pacing_ca_percent),
            ..Self::IDEAL
        }
    }

    /// The card with these rules on arrival. A host that takes every packet at once has no poll in which
    /// any could be merged.
    fn receiving(self, receive: &Receive, endpoint: &EndpointConfig) -> Self {
        if receive.is_immediate() {
            return self;
        }
        let gro_max_size = match receive.coalescing {
            Coalescing::Off | Coalescing::Lro => None,
            // The headers, once, and one byte: a segment must be smaller (`skb_gro_receive`).
            Coalescing::Gro => {
                let payload = u32::from(endpoint.mtu_bytes.saturating_sub(endpoint.header_bytes));
                let most = receive.coalesced_packets.saturating_mul(payload);
                Some(most.saturating_add(u32::from(endpoint.header_bytes) + 1).min(DEFAULT_MAX_SIZE))
            }
        };
        let Receive { interrupt_delay: wait, interrupt_packets: frames, ring_packets: ring, .. } = *receive;
        Self { gro_max_size, moderation: Some(Moderation { wait, frames, ring }), ..self }
    }

    /// Whether TCP hands over several packets as one segment.
    pub(crate) const fn segments(&self) -> bool {
        self.gso_max_segs != 1
    }

    /// Kernel parameters (paths below /proc/sys) that are set, and their values.
    pub(crate) fn sysctls(&self) -> impl Iterator<Item = (&'static str, String)> {
        let own = [
            ("net/ipv4/tcp_min_tso_segs", self.min_tso_segs),
            ("net/ipv4/tcp_tso_rtt_log", self.tso_rtt_log),
            ("net/ipv4/tcp_tso_win_divisor", self.tso_win_divisor),
            ("net/ipv4/tcp_limit_output_bytes", self.limit_output_bytes),
            ("net/ipv4/tcp_pacing_ss_ratio", self.pacing_ss_ratio),
            ("net/ipv4/tcp_pacing_ca_ratio", self.pacing_ca_ratio),
        ];
        own.into_iter().filter_map(|(path, value)| Some((path, value?.to_string())))
    }

    /// Settings of the device that differ from those with which the guest makes it (linux/guest/net.c).
    fn settings(&self) -> Vec<(&'static str, u32)> {
        let mut settings = Vec::new();
        if self.gso_max_size != DEFAULT_MAX_SIZE {
            settings.push(("gso_max_size", self.gso_max_size));
        }
        // Up to 64 KiB, the other one sets this one too (`netif_set_gso_max_size`).
        if self.gso_max_size > DEFAULT_MAX_SIZE {
            settings.push(("gso_ipv4_max_size", self.gso_max_size));
        }
        if self.gso_max_segs != 1 {
            settings.push(("gso_max_segs", self.gso_max_segs));
        }
        if let Some(size) = self.gro_max_size {
            if size != DEFAULT_MAX_SIZE {
                settings.push(("gro_max_size", size));
            }
            settings.push(("gro", 1));
        }
        settings
    }

    /// Writes the settings of the device at `port`, and how the host's sockets are paced.
    pub(crate) fn write_device(&self, port: &Port, text: &mut String) {
        let (host, device) = (&port.host, &port.device);
        let settings = self.settings();
        if !settings.is_empty() {
            let words: Vec<String> = settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
            line!(text, "nic {host} {device} {}", words.join(" "));
        }
        if self.pacing == Pacing::Internal {
            line!(text, "pace {host}");
        }
    }

    /// The queue discipline of the host in front of its card, if it is not a plain FIFO.
    pub(crate) fn queue(&self) -> Option<QueueMapping> {
        (self.pacing == Pacing::Fq).then(|| QueueMapping {
            disciplines: vec![Discipline::new("fq", fq_options(), FQ_WORDS.to_owned())],
            ..QueueMapping::default()
        })
    }

    /// Writes the queue discipline of a host whose card is not a line, and the interrupt moderation in front of
    /// the host: at the other end of its wire, behind the pure delay there, if there is one.
    pub(crate) fn write_queues(&self, at: &Attachment<'_>, text: &mut String) {
        let Attachment { port, router, .. } = at;
        if self.pacing == Pacing::Fq && !at.has_line {
            let options = hex(&fq_options().into_bytes());
            line!(text, "qdisc {} {} {ROOT} {} fq {options}", port.host, port.device, handle(FQ));
        }
        if let Some(moderation) = self.moderation {
            let parent = if at.is_delayed { below(DELAY) } else { ROOT };
            let options = hex(&moderation.attributes().into_bytes());
            let (host, device) = (&router.host, &router.device);
            line!(text, "qdisc {host} {device} {parent} {} coalesce {options}", handle(MODERATION));
        }
    }

    /// Writes that the counters of the moderation in front of the host with this number belong to the result.
    pub(crate) fn write_counters(&self, router: &Port, node: NodeId, text: &mut String) {
        if self.moderation.is_some() {
            line!(text, "card {} {} {} {}", router.host, router.device, handle(MODERATION), node.0);
        }
    }

    /// The equivalent commands, for `--explain`.
    pub(crate) fn commands(&self, at: &Attachment<'_>) -> Vec<String> {
        let Attachment { port, router, .. } = at;
        let (host, device) = (&port.host, &port.device);
        let Self { gso_max_size, gso_max_segs, .. } = self;
        let mut commands = vec![match gso_max_segs {
            1 => format!(
                "{host}: ip link set dev {device} gso_max_segs 1, so that TCP hands over one packet at a time"
            ),
            _ => format!(
                "{host}: ip link set dev {device} gso_max_segs {gso_max_segs} gso_max_size {gso_max_size}: TCP hands \
                 over several segments as one and holds data back to fill them; {device} splits them into packets"
            ),
        }];
        if let Some(size) = self.gro_max_size {
            commands.push(format!(
                "{host}: ethtool -K {device} gro on; ip link set dev {device} gro_max_size {size}: packets that one \
                 poll of NAPI finds are merged"
            ));
        }
        if let Some(moderation) = self.moderation {
            let parent = if at.is_delayed { format!("parent {DELAY}:1") } else { "root".to_owned() };
            let (ethtool, coalesce) = moderation.words(device);
            commands.push(format!(
                "{host}: {ethtool}, as {}: tc qdisc add dev {} {parent} handle {MODERATION}: {coalesce}",
                router.host, router.device,
            ));
        }
        match self.pacing {
            Pacing::None => {}
            Pacing::Internal => {
                commands.push(format!("{host}: SO_MAX_PACING_RATE without a limit: TCP paces its sockets"));
            }
            Pacing::Fq if at.has_line => {
                commands.push(format!("{host}: {FQ_WORDS}, which paces, below the line of its card"));
            }
            Pacing::Fq => {
                commands.push(format!(
                    "{host}: tc qdisc add dev {device} root handle {FQ}: {FQ_WORDS}, which paces"
                ));
            }
        }
        commands
    }
}

/// Options of `fq` in the words of `tc`.
const FQ_WORDS: &str = "fq timer_slack 0";

/// Options of `fq`: the defaults, but that its timer is punctual. All hosts of a guest share one clock, whose next
/// interrupt serves the timers of all of them; with the slack of 10 us it would depend on the other hosts how late a
/// segment leaves.
fn fq_options() -> Attributes {
    /// `TCA_FQ_TIMER_SLACK` in nanoseconds
    /// ([`include/uapi/linux/pkt_sched.h`](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/pkt_sched.h)).
    const TIMER_SLACK: u16 = 13;
    Attributes::default().u32(TIMER_SLACK, 0)
}

/// Refuses what the card of a host cannot do here; `place` is the flow group.
pub(crate) fn check(place: &str, host: &HostConfig, kernel: &Kernel, refusals: &mut Refusals) {
    let place = format!("{place}: host");
    let mut refuse = |key: &str, reason: String, hint: String| {
        refusals.add(if key.is_empty() { place.clone() } else { format!("{place}.{key}") }, reason, hint);
    };
    let release = &kernel.release;
    if let HostPreset::Linux32At1G | HostPreset::FreeBsd14 = host.preset {
        let name = host.preset.name();
        refuse(
            "",
            format!("\"{name}\": the rules of its segments are not those of Linux {release}"),
            "write a preset of linux-6, or run this on the simulator".to_owned(),
        );
    }
    if let Some(offload) = host.offload {
        for (key, value, most) in [
            ("gso_max_segs", offload.gso_max_segs, DEFAULT_MAX_SEGS),
            ("min_tso_segs", offload.min_tso_segs, MOST_MIN_TSO_SEGS),
        ] {
            if value > most {
                refuse(key, format!("{value} packets"), format!("the kernel takes {most} at most"));
            }
        }
        if offload.pacing == shoal_tcp::Pacing::Fq && !kernel.disciplines.iter().any(|kind| kind == "fq") {
            refuse(
                "pacing",
                format!("Linux {release} has no discipline `fq`"),
                "add it to linux/kernel/uml.config and run `shoal linux build`".to_owned(),
            );
        }
        if kernel.generator.is_some() && offload.pacing == shoal_tcp::Pacing::Internal {
            refuse(
                "pacing",
                "the sockets of iperf3 are not paced".to_owned(),
                "leave pacing out, or --generator".to_owned(),
            );
        }
    }
    let receive = &host.receive;
    if receive.is_immediate() {
        return;
    }
    if receive.coalescing == Coalescing::Lro {
        refuse(
            "coalescing",
            "\"lro\" is FreeBSD's: Linux does not merge packets of different codepoints".to_owned(),
            "write coalescing = \"gro\", or run this on the simulator".to_owned(),
        );
    }
    if receive.cpu != CpuCost::NONE {
        let reason = "the clock of the kernel stands still while it works: processors cost no time";
        refuse(
            "cpu_per_packet, cpu_per_segment and cpu_per_kilobyte",
            reason.to_owned(),
            "write \"0 s\", or run this on the simulator".to_owned(),
        );
    }
    if receive.poll_packets != POLL_PACKETS {
        let reason =
            format!("the poll of the kernel takes {POLL_PACKETS} packets, not {}", receive.poll_packets);
        refuse("poll_packets", reason, format!("write {POLL_PACKETS}, or run this on the simulator"));
    }
}

impl Moderation {
    /// What `ethtool` calls it, and the equivalent discipline.
    fn words(&self, device: &str) -> (String, String) {
        let Self { wait, frames, ring } = self;
        let mut ethtool = format!("ethtool -C {device} rx-usecs {}", wait.as_nanos() as f64 / 1e3);
        let mut coalesce = format!("coalesce wait {wait}");
        if *frames > 0 {
            ethtool += &format!(" rx-frames {frames}");
            coalesce += &format!(" frames {frames}");
        }
        if *ring > 0 {
            ethtool += &format!("; ethtool -G {device} rx {ring}");
            coalesce += &format!(" ring {ring}");
        }
        (ethtool, coalesce)
    }

    /// Options of `coalesce` (linux/testbed/sch_coalesce.h).
    fn attributes(&self) -> Attributes {
        const WAIT: u16 = 1;
        const FRAMES: u16 = 2;
        const RING: u16 = 3;
        Attributes::default().u64(WAIT, self.wait.as_nanos()).u32(FRAMES, self.frames).u32(RING, self.ring)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(host: &str) -> Port {
        Port { host: host.to_owned(), device: "e0".to_owned(), address: [10, 1, 0, 2].into() }
    }

    /// What `ask` answers for the host `s0` at `r1`.
    fn attached<T>(has_line: bool, is_delayed: bool, ask: impl FnOnce(&Attachment<'_>) -> T) -> T {
        ask(&Attachment { port: &port("s0"), router: &port("r1"), has_line, is_delayed })
    }

    /// Segments of the default sizes, and no kernel parameter.
    const SEGMENTS: Card = Card { gso_max_segs: DEFAULT_MAX_SEGS, ..Card::IDEAL };
    /// Everything that a card has.
    const FULL: Card = Card {
        gso_max_size: 16384,
        gro_max_size: Some(32768),
        moderation: Some(Moderation { wait: Span::from_micros(50), frames: 64, ring: 512 }),
        pacing: Pacing::Fq,
        tso_rtt_log: Some(0),
        pacing_ca_ratio: Some(100),
        ..SEGMENTS
    };

    /// Attribute 13 has 8 bytes, the last four of which are the slack.
    const FQ_PUNCTUAL: &str = "08000d0000000000";

    fn written(card: &Card, is_delayed: bool) -> Vec<String> {
        let mut text = String::new();
        card.write_device(&port("s0"), &mut text);
        attached(false, is_delayed, |at| card.write_queues(at, &mut text));
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_part_of_a_card_is_an_instruction() {
        // `ROOT` is 0xffffffff; handles have their number in the upper half: 40 << 16, 30 << 16; the class
        // 20:1 is 20 << 16 | 1. 50 us are 0xc350 ns, 64 packets 0x40, 512 packets 0x200.
        let moderation = format!(
            "coalesce {}",
            hex(&Attributes::default().u64(1, 0xc350).u32(2, 0x40).u32(3, 0x200).into_bytes())
        );
        let device = "nic s0 e0 gso_max_size 16384 gso_max_segs 65535 gro_max_size 32768 gro 1";
        assert_eq!(
            written(&FULL, false),
            [
                device.to_owned(),
                format!("qdisc s0 e0 {} {} fq {FQ_PUNCTUAL}", u32::MAX, 40 << 16),
                format!("qdisc r1 e0 {} {} {moderation}", u32::MAX, 30 << 16),
            ]
        );
        assert_eq!(
            written(&FULL, true)[2],
            format!("qdisc r1 e0 {} {} {moderation}", 20 << 16 | 1, 30 << 16)
        );
        let own_timer = Card { pacing: Pacing::Internal, ..SEGMENTS };
        assert_eq!(written(&own_timer, false), ["nic s0 e0 gso_max_segs 65535", "pace s0"]);
        assert_eq!(written(&Card::IDEAL, false), [""; 0]);
        let sysctls: Vec<_> = FULL.sysctls().collect();
        assert_eq!(
            sysctls,
            [
                ("net/ipv4/tcp_tso_rtt_log", "0".to_owned()),
                ("net/ipv4/tcp_pacing_ca_ratio", "100".to_owned())
            ]
        );
    }

    #[test]
    fn discipline_of_a_host_with_a_card_is_below_its_line() {
        let mut text = String::new();
        attached(true, false, |at| FULL.write_queues(at, &mut text));
        assert!(!text.contains(" fq "), "{text}");
        let queue = FULL.queue().unwrap();
        let found: Vec<_> =
            queue.disciplines.iter().map(|below| (below.parent, below.kind.as_ref())).collect();
        assert_eq!(found, [(1 << 16 | 1, "fq")]);
        assert_eq!(SEGMENTS.queue(), None);
    }

    #[test]
    fn every_instruction_is_explained() {
        let commands = attached(false, false, |at| FULL.commands(at)).join("\n");
        for words in [
            "ip link set dev e0 gso_max_segs 65535 gso_max_size 16384",
            "ethtool -K e0 gro on; ip link set dev e0 gro_max_size 32768",
            "ethtool -C e0 rx-usecs 50 rx-frames 64; ethtool -G e0 rx 512, as r1: tc qdisc add dev e0 root handle 30: \
             coalesce wait 50 us frames 64 ring 512",
            "tc qdisc add dev e0 root handle 40: fq timer_slack 0",
        ] {
            assert!(commands.contains(words), "{words}\n{commands}");
        }
        let own_timer = Card { pacing: Pacing::Internal, ..Card::IDEAL };
        let commands = attached(false, false, |at| own_timer.commands(at));
        assert!(commands[0].contains("gso_max_segs 1,") && commands[1].contains("SO_MAX_PACING_RATE"));
    }
}
