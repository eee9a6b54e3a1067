//! `flows.host`

use serde_json::{Map, Value as Json, json};
use shoal_host::Coalescing;
use shoal_tcp::Pacing;

use crate::field::{Field, KeyDoc, Section, choices, suggest};
use crate::host::{HostConfig, HostPreset};
use crate::quantity::{DataRate, Duration, Size};
use crate::report::Report;
use crate::tree::{Node, Value};

/// The hosts of a flow group as written: the name of a preset, or a table of what differs from one.
#[derive(Clone, PartialEq, Debug)]
pub struct Host {
    /// The preset.
    pub preset: HostPreset,
    /// What differs from it.
    pub options: Option<Box<HostOptions>>,
}

/// Hosts that differ from a preset.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct HostOptions {
    /// Preset whose numbers hold where none is written.
    #[key(default = "linux-6-gso")]
    pub preset: HostPreset,
    /// Largest segment that TCP hands to the card.
    #[key(otherwise = "the preset's", source = "ip link gso_max_size; Linux sk_dst_gso_max_size")]
    pub gso_max_size: Option<Size>,
    /// Most packets of a segment; 1 is packet by packet.
    #[key(otherwise = "the preset's", unit = "packets", source = "ip link gso_max_segs; Linux tcp_tso_segs")]
    pub gso_max_segs: Option<u32>,
    /// Packets of a segment, however low the rate is.
    #[key(otherwise = "the preset's", unit = "packets", source = "sysctl net.ipv4.tcp_min_tso_segs")]
    pub min_tso_segs: Option<u32>,
    /// The size that a short RTT allows is halved once for each 2^this us of the smallest RTT; 0 leaves the RTT out.
    #[key(otherwise = "the preset's", source = "sysctl net.ipv4.tcp_tso_rtt_log")]
    pub tso_rtt_log: Option<u16>,
    /// A segment waits for more until this fraction of the window may be sent (3 is a third).
    #[key(otherwise = "the preset's", source = "sysctl net.ipv4.tcp_tso_win_divisor")]
    pub tso_win_divisor: Option<u32>,
    /// Most bytes of a connection that wait in its own host.
    #[key(otherwise = "the preset's", source = "sysctl net.ipv4.tcp_limit_output_bytes")]
    pub limit_output: Option<Size>,
    /// Who spreads segments over the round trip: nobody, TCP's own timer, or the queue discipline fq of the host, which
    /// is that of current Linux. A controller that sets its own pace, as Prague, keeps it where this says nobody.
    #[key(otherwise = "the preset's", source = "Linux tcp_pacing_check, sch_fq")]
    pub pacing: Option<Pacing>,
    /// Rate of the network card in a dumbbell without access_rate; each flow then has hosts of its own. Elsewhere the
    /// link of the host is its card.
    #[key(otherwise = "the preset's")]
    pub nic_rate: Option<DataRate>,
    /// Which packets become one segment before TCP sees them.
    #[key(otherwise = "the preset's", source = "ethtool -K gro; FreeBSD ifconfig lro")]
    pub coalescing: Option<Coalescing>,
    /// Most packets of a coalesced segment (17 with the page buffers of Linux 3.2), which has at most 64 KiB anyway.
    #[key(otherwise = "the preset's", unit = "packets", source = "Linux 3.2 skb_gro_receive, MAX_SKB_FRAGS")]
    pub coalesced_packets: Option<u32>,
    /// Time from the first packet after a poll to the interrupt.
    #[key(otherwise = "the preset's", source = "ethtool -C rx-usecs")]
    pub interrupt_delay: Option<Duration>,
    /// Packets that cause an interrupt at once; 0 if only the time does.
    #[key(otherwise = "the preset's", unit = "packets", source = "ethtool -C rx-frames")]
    pub interrupt_packets: Option<u32>,
    /// Packets that one poll takes at most.
    #[key(otherwise = "the preset's", unit = "packets", source = "Linux NAPI_POLL_WEIGHT")]
    pub poll_packets: Option<u32>,
    /// Packets that the receive ring holds; 0 if it is unlimited.
    #[key(otherwise = "the preset's", unit = "packets", source = "ethtool -G rx")]
    pub ring_packets: Option<u32>,
    /// Time of the receiving core for each packet.
    #[key(otherwise = "the preset's")]
    pub cpu_per_packet: Option<Duration>,
    /// Time of the receiving core for each segment.
    #[key(otherwise = "the preset's")]
    pub cpu_per_segment: Option<Duration>,
    /// Time of the receiving core for each kilobyte (1000 B) of payload.
    #[key(otherwise = "the preset's")]
    pub cpu_per_kilobyte: Option<Duration>,
}

choices!(Pacing { "off" => Self::Off, "internal" => Self::Internal, "fq" => Self::Fq, });
choices!(Coalescing { "off" => Self::Off, "gro" => Self::Gro, "lro" => Self::Lro, });

impl HostOptions {
    /// Names of the keys that only a host with segmentation offload has, of those that are written.
    pub(crate) fn offload_keys(&self) -> Vec<&'static str> {
        let written = [
            ("gso_max_size", self.gso_max_size.is_some()),
            ("gso_max_segs", self.gso_max_segs.is_some()),
            ("min_tso_segs", self.min_tso_segs.is_some()),
            ("tso_rtt_log", self.tso_rtt_log.is_some()),
            ("tso_win_divisor", self.tso_win_divisor.is_some()),
            ("limit_output", self.limit_output.is_some()),
            ("pacing", self.pacing.is_some()),
        ];
        written.into_iter().filter(|(_, written)| *written).map(|(key, _)| key).collect()
    }

    /// Every number of a host, as a scenario file writes it.
    fn of(host: &HostConfig) -> Map<String, Json> {
        let (receive, mut map) = (&host.receive, Map::new());
        let mut put = |key: &str, value: Json| map.insert(key.to_owned(), value);
        let rate = |bps: u64| format!("{} Gbit/s", bps / 1_000_000_000);
        if let Some(offload) = &host.offload {
            put("gso_max_size", format!("{} B", offload.gso_max_size_bytes).into());
            put("gso_max_segs", offload.gso_max_segs.into());
            put("min_tso_segs", offload.min_tso_segs.into());
            put("tso_rtt_log", offload.tso_rtt_log.into());
            put("tso_win_divisor", offload.tso_win_divisor.into());
            put("limit_output", format!("{} B", offload.limit_output_bytes).into());
            put("pacing", offload.pacing.write().unwrap_or_default());
        }
        put("nic_rate", host.nic_rate.map_or("unlimited".to_owned(), |nic| rate(nic.as_bps())).into());
        put("coalescing", receive.coalescing.write().unwrap_or_default());
        put("coalesced_packets", receive.coalesced_packets.into());
        put("interrupt_delay", format!("{} us", receive.interrupt_delay.as_micros()).into());
        put("interrupt_packets", receive.interrupt_packets.into());
        put("poll_packets", receive.poll_packets.into());
        put("ring_packets", receive.ring_packets.into());
        for (key, cost) in [
            ("cpu_per_packet", receive.cpu.packet),
            ("cpu_per_segment", receive.cpu.segment),
            ("cpu_per_kilobyte", receive.cpu.byte * 1000),
        ] {
            put(key, format!("{} us", cost.as_micros()).into());
        }
        map
    }
}

/// The keys of hosts with the values of a preset.
pub(crate) fn key_docs_of(preset: HostPreset) -> Vec<KeyDoc> {
    let values = HostOptions::of(&preset.config());
    let own = HostOptions::key_docs().into_iter().filter(|key| values.contains_key(&key.name));
    own.map(|key| KeyDoc { default: crate::field::plain(&values[&key.name]), ..key }).collect()
}

impl Field for HostPreset {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let names = || Self::ALL.iter().map(|preset| preset.name()).collect::<Vec<_>>();
        let Value::Text(name) = &node.value else {
            let hint = format!("write one of {}", names().join(", "));
            report.error(
                &node.mark,
                format!("expected the name of a host, found {}", node.value.what()),
                hint,
            );
            return None;
        };
        let preset = Self::by_name(name);
        if preset.is_none() {
            report.error(&node.mark, format!("unknown host \"{name}\""), suggest(name, &names()));
        }
        preset
    }
    fn write(&self) -> Option<Json> {
        Some(self.name().into())
    }
    fn schema() -> Json {
        json!({ "enum": Self::ALL.iter().map(|preset| preset.name()).collect::<Vec<_>>() })
    }
}

impl Field for Host {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Value::Table(entries) = &node.value else {
            return HostPreset::read(node, report).map(|preset| Self { preset, options: None });
        };
        let options = HostOptions::read_table(entries, &[], &node.mark, report)?;
        Some(Self { preset: options.preset, options: Some(Box::new(options)) })
    }
    fn write(&self) -> Option<Json> {
        let Some(options) = &self.options else { return self.preset.write() };
        let mut map = Map::new();
        options.write_table(&mut map);
        Some(map.into())
    }
    fn schema() -> Json {
        json!({ "oneOf": [HostPreset::schema(), {
            "type": "object", "additionalProperties": false, "properties": HostOptions::properties(),
        }] })
    }
    fn unit() -> String {
        format!("{}, or a table", HostPreset::unit())
    }
    fn key_docs_below() -> Vec<KeyDoc> {
        HostOptions::key_docs()
    }
}
