//! Queues in base units.
//!
//! Fractions of the BDP become bytes. Limits and step thresholds are whole bytes, rounded down, which changes nothing:
//! a backlog, itself a whole number, exceeds 20937.5 B exactly when it exceeds 20937 B. RED thresholds stay fractional,
//! because they are compared with an average.

use shoal_aqm::{
    DualRedConfig, Extent, FifoConfig, LinuxRedConfig, MarkSpacing, QueueConfig, RedConfig, RedParameters,
    StepConfig,
};
use shoal_units::{Rate, Span};

use super::Context;
use crate::quantity::{Amount, DataRate, Dimension, Ratio, Size};
use crate::schema::{Aqm, DctcpRed, DualRed, LinuxRed, Red, RenoRed, Step};

/// Where a queue is and what its units mean there.
pub(super) struct Port<'a> {
    /// Key of its law, as `bottleneck.aqm`.
    pub aqm_path: &'a str,
    /// Key of its buffer, as `bottleneck.buffer`.
    pub buffer_path: &'a str,
    /// Line rate.
    pub rate: Rate,
    /// Round-trip time behind the unit BDP, if there is one.
    pub bdp_rtt: Option<Span>,
    /// The largest packet of any flow, bytes.
    pub mtu: u32,
}

/// The queue of a port.
pub(super) fn queue(aqm: &Aqm, buffer: Amount, port: &Port<'_>, cx: &mut Context<'_>) -> Option<QueueConfig> {
    let limit = port.extent(buffer, port.buffer_path, cx)?;
    let buffer_bytes = port.bytes(buffer, port.mtu);
    if buffer_bytes.is_some_and(|bytes| Ratio::whole(port.mtu.into()).exceeds(bytes)) {
        let hint = format!("write at least \"{} B\" or \"1 packets\"", port.mtu);
        cx.error(port.buffer_path, format!("the buffer does not hold one packet of {} B", port.mtu), hint);
    }
    let law = Law { port, buffer };
    match aqm {
        Aqm::Fifo(_) => Some(QueueConfig::Fifo(FifoConfig { limit })),
        Aqm::Step(step) => law.step(step, limit, cx),
        Aqm::Red(red) => law.red(red, limit, cx),
        Aqm::LinuxRed(red) => law.linux_red(red, cx),
        Aqm::DualRed(dual) => law.dual_red(dual, limit, cx),
    }
}

impl Port<'_> {
    fn bdp(&self) -> Option<Ratio> {
        let bits_picos = u128::from(self.rate.as_bps()) * u128::from(self.bdp_rtt?.as_picos());
        Some(Ratio::new(bits_picos, 8_000_000_000_000))
    }

    /// In bytes; `None` if unlimited or without meaning.
    fn bytes(&self, amount: Amount, packet_bytes: u32) -> Option<Ratio> {
        let value = amount.value()?;
        match amount.dimension()? {
            Dimension::Bdp => value.times(self.bdp()?),
            Dimension::Packets => value.times(Ratio::whole(packet_bytes.into())),
            Dimension::Time => value.times(Ratio::new(self.rate.as_bps().into(), 8_000_000_000_000)),
            Dimension::Bytes | Dimension::Rate => Some(value),
        }
    }

    /// As a limit or threshold of the instantaneous queue.
    fn extent(&self, amount: Amount, path: &str, cx: &mut Context<'_>) -> Option<Extent> {
        let Some(value) = amount.value() else { return Some(Extent::Unlimited) };
        match amount.dimension()? {
            Dimension::Packets => Some(Extent::Packets(u32::try_from(value.floor()).ok()?)),
            Dimension::Time => Some(Extent::Time(Span::from_picos(value.floor()))),
            Dimension::Bytes | Dimension::Rate => Some(Extent::Bytes(value.floor())),
            Dimension::Bdp => self.needs_bdp(amount, path, cx).map(|bytes| Extent::Bytes(bytes.floor())),
        }
    }

    fn needs_bdp(&self, amount: Amount, path: &str, cx: &mut Context<'_>) -> Option<Ratio> {
        let bytes = self.bytes(amount, self.mtu);
        match (bytes, self.bdp_rtt) {
            (Some(_), _) => {}
            (None, None) => cx.error(
                path,
                "BDP has no meaning here: no round-trip time is known",
                "set bdp_rtt, or write bytes, packets or a time",
            ),
            (None, Some(_)) => {
                cx.error(path, format!("`{amount}` is out of range"), "write a smaller amount")
            }
        }
        bytes
    }
}

/// A law being resolved.
struct Law<'a> {
    port: &'a Port<'a>,
    buffer: Amount,
}

impl Law<'_> {
    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.port.aqm_path)
    }

    fn step(&self, step: &Step, limit: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        self.within_buffer(step.threshold, "threshold", self.port.mtu, cx);
        self.within_buffer(step.drop_threshold, "drop_threshold", self.port.mtu, cx);
        if step.threshold.value().is_none() {
            cx.warning(&self.at("threshold"), "an unlimited threshold marks nothing", "this is a fifo");
        }
        let threshold = self.port.extent(step.threshold, &self.at("threshold"), cx);
        let drop_threshold = self.port.extent(step.drop_threshold, &self.at("drop_threshold"), cx);
        Some(QueueConfig::Step(StepConfig {
            threshold: threshold?,
            decide: step.decide,
            drop_threshold: drop_threshold?,
            limit,
        }))
    }

    fn red(&self, red: &Red, limit: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let mean_packet_bytes = self.packet_size(red.mean_packet, "mean_packet", cx)?;
        let slope = Slope {
            min: red.min,
            max: red.max,
            max_probability: red.max_probability,
            weight: red.weight,
            gentle: red.gentle,
        };
        let parameters = self.parameters(&slope, "", red.spacing, mean_packet_bytes, cx);
        Some(QueueConfig::Red(RedConfig {
            parameters: parameters?,
            ecn: red.ecn,
            limit,
            rate: self.port.rate,
            mean_packet_bytes,
        }))
    }

    fn dual_red(&self, dual: &DualRed, limit: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let mean_packet_bytes = self.packet_size(dual.mean_packet, "mean_packet", cx)?;
        let RenoRed { min, max, max_probability, weight, gentle } = dual.reno;
        let reno = Slope { min, max, max_probability, weight, gentle };
        let not_ect = self.parameters(&reno, "reno.", dual.spacing, mean_packet_bytes, cx);
        let ect = match self.dctcp_slope(&dual.dctcp, cx) {
            Some(slope) => self.parameters(&slope, "dctcp.", dual.spacing, mean_packet_bytes, cx),
            None => None,
        };
        Some(QueueConfig::DualRed(DualRedConfig {
            not_ect: not_ect?,
            ect: ect?,
            average: dual.average,
            limit,
            rate: self.port.rate,
            mean_packet_bytes,
        }))
    }

    fn dctcp_slope(&self, red: &DctcpRed, cx: &mut Context<'_>) -> Option<Slope> {
        let has_slope = red.min.is_some()
            || red.max.is_some()
            || red.max_probability.is_some()
            || red.weight.is_some()
            || red.gentle.is_some();
        match (red.threshold, red.min, red.max) {
            (Some(_), _, _) if has_slope => {
                let hint = "keep threshold, or min and max";
                cx.error(
                    &self.at("dctcp.threshold"),
                    "a threshold excludes min, max, max_probability, weight and gentle",
                    hint,
                );
                None
            }
            // K13 section II-A: min = max = K and weight 1.
            (Some(k), _, _) => {
                Some(Slope { min: k, max: k, max_probability: 1.0, weight: 1.0, gentle: false })
            }
            (None, Some(min), Some(max)) => Some(Slope {
                min,
                max,
                max_probability: red.max_probability.unwrap_or(0.1),
                weight: red.weight.unwrap_or(0.002),
                gentle: red.gentle.unwrap_or(false),
            }),
            (None, min, _) => {
                let missing = if min.is_none() { "threshold, or min and max" } else { "max" };
                let hint = "as in dctcp.threshold = \"0.67 BDP\", or dctcp.min = \"0.5 BDP\" and dctcp.max = \"2.5 BDP\"";
                cx.error(&self.at("dctcp"), format!("missing {missing}"), hint);
                None
            }
        }
    }

    fn parameters(
        &self,
        slope: &Slope,
        prefix: &str,
        spacing: MarkSpacing,
        mean_packet_bytes: u32,
        cx: &mut Context<'_>,
    ) -> Option<RedParameters> {
        // A step is written as one key.
        let step = slope.min == slope.max && slope.weight >= 1.0 && prefix == "dctcp.";
        let (min_key, max_key) = if step { ("threshold", "threshold") } else { ("min", "max") };
        let key = |name: &str| format!("{prefix}{name}");
        let min = self.threshold_bytes(slope.min, &key(min_key), mean_packet_bytes, cx);
        let max = self.threshold_bytes(slope.max, &key(max_key), mean_packet_bytes, cx);
        if let (Some(min), Some(max)) = (min, max) {
            if min.exceeds(max) {
                cx.error(
                    &self.at(&key("min")),
                    format!("min {} is above max {}", slope.min, slope.max),
                    "swap them, or raise max",
                );
            } else {
                self.within_buffer(slope.max, &key(max_key), mean_packet_bytes, cx);
            }
        }
        self.probability(slope.max_probability, &key("max_probability"), cx);
        if !(slope.weight > 0.0 && slope.weight <= 1.0) {
            let hint = "write a number above 0, at most 1, as in 0.002";
            cx.error(&self.at(&key("weight")), format!("a weight of {}", slope.weight), hint);
        }
        Some(RedParameters {
            min_bytes: min?.as_f64(),
            max_bytes: max?.as_f64(),
            max_probability: slope.max_probability,
            weight: slope.weight,
            gentle: slope.gentle,
            spacing,
        })
    }

    fn threshold_bytes(
        &self,
        amount: Amount,
        key: &str,
        packet_bytes: u32,
        cx: &mut Context<'_>,
    ) -> Option<Ratio> {
        if amount.value().is_none() {
            cx.error(&self.at(key), "RED needs a finite threshold", "as in \"0.5 BDP\"");
            return None;
        }
        if amount.dimension() == Some(Dimension::Bdp) {
            return self.port.needs_bdp(amount, &self.at(key), cx);
        }
        self.port.bytes(amount, packet_bytes)
    }

    fn linux_red(&self, red: &LinuxRed, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let avpkt_bytes = self.packet_size(red.avpkt, "avpkt", cx)?;
        let whole = |amount: Amount, key: &str, cx: &mut Context<'_>| -> Option<u32> {
            let bytes = self.threshold_bytes(amount, key, avpkt_bytes, cx)?;
            let bytes = u32::try_from(bytes.floor()).ok();
            if bytes.is_none() {
                cx.error(&self.at(key), "tc counts bytes with 32 bits", "write less than 4 GiB");
            }
            bytes
        };
        let min_bytes = whole(red.min, "min", cx);
        // q_red.c: max = 3 min.
        let max_bytes = match red.max {
            Some(max) => whole(max, "max", cx),
            None => min_bytes.and_then(|min| min.checked_mul(3)),
        };
        let limit_bytes = match red.limit {
            Some(limit) => whole(limit, "limit", cx),
            None if self.buffer.value().is_none() => {
                cx.error(
                    &self.at("limit"),
                    "tc needs a limit",
                    "set limit, as in \"1000 kB\", or a finite buffer",
                );
                None
            }
            None => {
                self.port.bytes(self.buffer, avpkt_bytes).and_then(|bytes| u32::try_from(bytes.floor()).ok())
            }
        };
        let (min_bytes, max_bytes, limit_bytes) = (min_bytes?, max_bytes?, limit_bytes?);
        // q_red.c refuses what the kernel cannot run: max below min, limit below max.
        let ordered = 0 < min_bytes && min_bytes <= max_bytes && max_bytes <= limit_bytes;
        if max_bytes < min_bytes || min_bytes == 0 {
            cx.error(
                &self.at("max"),
                format!("max of {max_bytes} B, min of {min_bytes} B"),
                "0 < min <= max is needed",
            );
        }
        if limit_bytes < max_bytes {
            let hint = "raise limit (or the buffer), or lower max";
            cx.error(
                &self.at("max"),
                format!("max of {max_bytes} B is above the limit of {limit_bytes} B"),
                hint,
            );
        }
        self.probability(red.probability, "probability", cx);
        let burst_packets = match red.burst.map(|burst| burst.packets()) {
            Some(Some(packets)) if packets > 0 => packets,
            Some(_) => {
                cx.error(
                    &self.at("burst"),
                    "a burst needs a number of packets above 0",
                    "as in \"55 packets\"",
                );
                return None;
            }
            // q_red.c: burst = (2 min + max) / (3 avpkt).
            None => {
                let bytes = 2 * u64::from(min_bytes) + u64::from(max_bytes);
                u32::try_from(bytes / (3 * u64::from(avpkt_bytes))).ok()?
            }
        };
        let bandwidth = super::network::checked_rate(red.bandwidth, &self.at("bandwidth"), cx).ok()?;
        let Some(bandwidth) = bandwidth else {
            cx.error(&self.at("bandwidth"), "tc needs a finite bandwidth", "as in \"10 Mbit/s\"");
            return None;
        };
        if (red.harddrop || red.nodrop) && !red.ecn {
            let key = if red.harddrop { "harddrop" } else { "nodrop" };
            cx.error(&self.at(key), format!("{key} needs ecn"), "add ecn = true");
        }
        let config = LinuxRedConfig {
            limit_bytes,
            min_bytes,
            max_bytes,
            avpkt_bytes,
            burst_packets,
            probability: red.probability,
            bandwidth,
            ecn: red.ecn,
            harddrop: red.harddrop,
            nodrop: red.nodrop,
            adaptive: red.adaptive,
            legacy_probability: self.kernel(&red.kernel, cx)? < (3, 3),
        };
        // A disorder was reported above, with the key that causes it.
        if ordered && let Err(refusal) = config.solve() {
            let hint =
                "change min, max, burst, avpkt or probability; the message is that of tc or the kernel";
            cx.error(self.port.aqm_path, format!("tc cannot configure this queue: {refusal}"), hint);
        }
        Some(QueueConfig::LinuxRed(config))
    }

    fn kernel(&self, version: &str, cx: &mut Context<'_>) -> Option<(u16, u16)> {
        let parsed = version.split_once('.').and_then(|(major, rest)| {
            let minor = rest.split('.').next().unwrap_or(rest);
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        if parsed.is_none() {
            cx.error(
                &self.at("kernel"),
                format!("`{version}` is not a kernel version"),
                "as in \"3.2\" or \"6.12\"",
            );
        }
        parsed
    }

    fn packet_size(&self, size: Size, key: &str, cx: &mut Context<'_>) -> Option<u32> {
        let bytes = size
            .bytes()
            .and_then(|bytes| u32::try_from(bytes).ok())
            .filter(|bytes| (1..=65_535).contains(bytes));
        if bytes.is_none() {
            cx.error(&self.at(key), "a packet has 1 to 65535 B", "as in \"1500 B\"");
        }
        bytes
    }

    fn probability(&self, p: f64, key: &str, cx: &mut Context<'_>) {
        if !(0.0..=1.0).contains(&p) {
            cx.error(&self.at(key), format!("a probability of {p}"), "write a number from 0 to 1, as in 0.1");
        }
    }

    /// A threshold above the buffer never acts. Between packets and bytes the comparison depends on packet sizes.
    fn within_buffer(&self, threshold: Amount, key: &str, packet_bytes: u32, cx: &mut Context<'_>) {
        let (Some(threshold_bytes), Some(buffer_bytes)) =
            (self.port.bytes(threshold, packet_bytes), self.port.bytes(self.buffer, packet_bytes))
        else {
            return;
        };
        if !threshold_bytes.exceeds(buffer_bytes) {
            return;
        }
        let (key, message) =
            (self.at(key), format!("the threshold {threshold} is above the buffer of {}", self.buffer));
        let hint = "raise the buffer or lower the threshold";
        let in_packets = |amount: Amount| amount.dimension() == Some(Dimension::Packets);
        if in_packets(threshold) == in_packets(self.buffer) {
            cx.error(&key, message, hint);
        } else {
            cx.warning(&key, format!("{message} if packets have {packet_bytes} B"), hint);
        }
    }
}

/// RED thresholds as written.
struct Slope {
    min: Amount,
    max: Amount,
    max_probability: f64,
    weight: f64,
    gentle: bool,
}

/// Whether an amount or a law uses the unit BDP.
pub(super) fn uses_bdp(aqm: &Aqm, buffer: Amount) -> bool {
    let amounts: Vec<Option<Amount>> = match aqm {
        Aqm::Fifo(_) => vec![],
        Aqm::Step(step) => vec![Some(step.threshold), Some(step.drop_threshold)],
        Aqm::Red(red) => vec![Some(red.min), Some(red.max)],
        Aqm::LinuxRed(red) => vec![Some(red.min), red.max, red.limit],
        Aqm::DualRed(dual) => {
            vec![
                Some(dual.reno.min),
                Some(dual.reno.max),
                dual.dctcp.threshold,
                dual.dctcp.min,
                dual.dctcp.max,
            ]
        }
    };
    amounts.into_iter().flatten().chain([buffer]).any(|amount| amount.dimension() == Some(Dimension::Bdp))
}

/// A rate that is needed.
pub(super) fn finite_rate(rate: DataRate, path: &str, cx: &mut Context<'_>) -> Option<Rate> {
    let rate = super::network::checked_rate(rate, path, cx).ok()?;
    if rate.is_none() {
        cx.error(path, "the rate must be limited here", "as in \"10 Mbit/s\"");
    }
    rate
}

/// The largest packet of any flow, bytes.
pub(super) fn largest_packet(cx: &Context<'_>) -> u32 {
    let sizes = cx.scenario.flows.iter().filter_map(|group| group.mtu.bytes());
    sizes.max().map_or(1500, |bytes| u32::try_from(bytes).unwrap_or(65_535).clamp(1, 65_535))
}
