//! Keys of `linux-red`: RED as `tc` configures it and the kernel runs it.

use shoal_aqm::{Extent, LinuxRedConfig};

use super::{Place, Resolve};
use crate::field::Section;
use crate::quantity::{Amount, DataRate, PacketCount, Size};

/// RED as `tc` configures it and the kernel runs it: fixed point.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct LinuxRed {
    /// Hard limit of the child queue.
    #[key(otherwise = "the link's buffer", source = "sch_red.c (bfifo child)")]
    pub limit: Option<Amount>,
    /// Minimum threshold: below this average nothing is marked or dropped.
    #[key(source = "red.h red_cmp_thresh")]
    pub min: Amount,
    /// Maximum threshold: from this average on every packet is marked or dropped.
    #[key(otherwise = "3 min", source = "red.h red_cmp_thresh; q_red.c")]
    pub max: Option<Amount>,
    /// Average packet size: with burst it determines the weight, with bandwidth the idle table.
    #[key(default = "1000 B", source = "tc_red.c tc_red_eval_ewma, tc_red_eval_idle_damping")]
    pub avpkt: Size,
    /// Burst that shall pass: determines the weight 2^-Wlog.
    #[key(otherwise = "(2 min + max) / (3 avpkt)", source = "tc_red.c tc_red_eval_ewma; q_red.c")]
    pub burst: Option<PacketCount>,
    /// Probability at the maximum threshold.
    #[key(default = 0.02, unit = "0 to 1", source = "q_red.c; red.h red_random")]
    pub probability: f64,
    /// Bandwidth that tc is told: only for the idle table; below 34.4 Gbit/s.
    #[key(default = "10 Mbit/s", source = "tc_red.c tc_red_eval_idle_damping")]
    pub bandwidth: DataRate,
    /// Mark ECT packets instead of dropping them.
    #[key(default = false, source = "sch_red.c red_enqueue")]
    pub ecn: bool,
    /// With ecn: drop above the maximum even if ECT.
    #[key(default = false, source = "sch_red.c red_enqueue")]
    pub harddrop: bool,
    /// With ecn: let packets that are not ECT pass instead of dropping them.
    #[key(default = false, source = "sch_red.c red_enqueue (since 5.7)")]
    pub nodrop: bool,
    /// Adapt the maximum probability every 0.5 s, to keep the average in the middle fifth between min and max (ARED).
    #[key(default = false, source = "red.h red_adaptative_algo; Floyd, Gummadi and Shenker 2001")]
    pub adaptive: bool,
    /// Kernel version. Before 3.3 the probability is rounded to a power of two, and adaptive does not exist.
    #[key(
        default = "6.12",
        unit = "version",
        source = "red.h red_rmask (until 3.2), red_random (since 3.3)"
    )]
    pub kernel: String,
}

impl Resolve for LinuxRed {
    type Config = LinuxRedConfig;

    fn resolve(&self, law: &Place<'_>, _: Extent) -> Option<LinuxRedConfig> {
        law.red_as_tc(self)
    }
}

impl Place<'_> {
    /// RED as tc takes it.
    pub(super) fn red_as_tc(&self, red: &LinuxRed) -> Option<LinuxRedConfig> {
        let avpkt_bytes = self.packet_size(red.avpkt, "avpkt")?;
        let whole = |amount, key: &str| self.tc_bytes(amount, key, avpkt_bytes);
        let min_bytes = whole(red.min, "min");
        // q_red.c (https://git.kernel.org/pub/scm/network/iproute2/iproute2.git/tree/tc/q_red.c?h=v6.12.0):
        // max = 3 min.
        let max_bytes = match red.max {
            Some(max) => whole(max, "max"),
            None => min_bytes.and_then(|min| min.checked_mul(3)),
        };
        let limit_bytes = self.red_limit(red.limit, avpkt_bytes);
        let (min_bytes, max_bytes, limit_bytes) = (min_bytes?, max_bytes?, limit_bytes?);
        // q_red.c refuses what the kernel cannot run: max below min, limit below max.
        let ordered = 0 < min_bytes && min_bytes <= max_bytes && max_bytes <= limit_bytes;
        if max_bytes < min_bytes || min_bytes == 0 {
            self.keys.error(
                "max",
                format!("max of {max_bytes} B, min of {min_bytes} B"),
                "0 < min <= max is needed",
            );
        }
        if limit_bytes < max_bytes {
            let hint = "raise limit (or the buffer), or lower max";
            self.keys.error(
                "max",
                format!("max of {max_bytes} B is above the limit of {limit_bytes} B"),
                hint,
            );
        }
        self.probability(red.probability, "probability");
        let burst_packets = self.burst(red, (min_bytes, max_bytes, avpkt_bytes))?;
        let bandwidth = self.port.remarks.checked_rate(red.bandwidth, &self.keys.at("bandwidth")).ok()?;
        let Some(bandwidth) = bandwidth else {
            self.keys.error("bandwidth", "tc needs a finite bandwidth", "as in \"10 Mbit/s\"");
            return None;
        };
        if (red.harddrop || red.nodrop) && !red.ecn {
            let key = if red.harddrop { "harddrop" } else { "nodrop" };
            self.keys.error(key, format!("{key} needs ecn"), "add ecn = true");
        }
        if red.adaptive {
            let text = "adaptive of linux-red adapts here, and does not where tc of iproute2 5.7 or later configured \
                        the queue: the kernel starts the timer only for a flag that tc no longer sets"
                .to_owned();
            let hint = "leave adaptive out for what tc and the kernel do together".to_owned();
            self.keys.effect("adaptive", "never-adapts-by-tc", text, hint);
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
            legacy_probability: self.kernel(&red.kernel)? < (3, 3),
        };
        // A disorder was reported above, with the key that causes it.
        if ordered && let Err(refusal) = config.solve() {
            let hint =
                "change min, max, burst, avpkt or probability; the message is that of tc or the kernel";
            self.keys.refuse(format!("tc cannot configure this queue: {refusal}"), hint);
        }
        Some(config)
    }

    /// The burst as written, or that of tc.
    fn burst(&self, red: &LinuxRed, (min, max, avpkt): (u32, u32, u32)) -> Option<u32> {
        let Some(burst) = red.burst else {
            // q_red.c: burst = (2 min + max) / (3 avpkt).
            let bytes = 2 * u64::from(min) + u64::from(max);
            return u32::try_from(bytes / (3 * u64::from(avpkt))).ok();
        };
        let packets = burst.packets().filter(|packets| *packets > 0);
        if packets.is_none() {
            let hint = "as in \"55 packets\"";
            self.keys.error("burst", "a burst needs a number of packets above 0", hint);
        }
        packets
    }

    /// A limit in bytes; the link's buffer if none is given.
    pub(super) fn red_limit(&self, limit: Option<Amount>, packet_bytes: u32) -> Option<u32> {
        match limit {
            Some(limit) => self.tc_bytes(limit, "limit", packet_bytes),
            None if self.buffer.value().is_none() => {
                self.keys.error(
                    "limit",
                    "tc needs a limit",
                    "set limit, as in \"1000 kB\", or a finite buffer",
                );
                None
            }
            None => {
                let bytes = self.port.bytes(self.buffer, packet_bytes)?;
                u32::try_from(bytes.floor()).ok()
            }
        }
    }

    fn tc_bytes(&self, amount: Amount, key: &str, packet_bytes: u32) -> Option<u32> {
        let bytes = self.threshold_bytes(amount, key, packet_bytes)?;
        let bytes = u32::try_from(bytes.floor()).ok();
        if bytes.is_none() {
            self.keys.error(key, "tc counts bytes with 32 bits", "write less than 4 GiB");
        }
        bytes
    }

    fn kernel(&self, version: &str) -> Option<(u16, u16)> {
        let parsed = version.split_once('.').and_then(|(major, rest)| {
            let minor = rest.split('.').next().unwrap_or(rest);
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        if parsed.is_none() {
            self.keys.error(
                "kernel",
                format!("`{version}` is not a kernel version"),
                "as in \"3.2\" or \"6.12\"",
            );
        }
        parsed
    }
}
