//! RED as `tc` and the kernel have it.

use shoal_aqm::{LinuxRedConfig, QueueConfig};

use super::{Context, Law};
use crate::quantity::Amount;
use crate::schema::LinuxRed;

impl Law<'_> {
    pub(super) fn linux_red(&self, red: &LinuxRed, cx: &mut Context<'_>) -> Option<QueueConfig> {
        self.red_as_tc(red, "", cx).map(QueueConfig::LinuxRed)
    }

    /// RED as tc takes it; its keys begin with `prefix`.
    pub(super) fn red_as_tc(
        &self,
        red: &LinuxRed,
        prefix: &str,
        cx: &mut Context<'_>,
    ) -> Option<LinuxRedConfig> {
        let at = |key: &str| self.at(&format!("{prefix}{key}"));
        let avpkt_bytes = self.packet_size(red.avpkt, &format!("{prefix}avpkt"), cx)?;
        let whole =
            |amount, key: &str, cx: &mut Context<'_>| self.tc_bytes(amount, key, prefix, avpkt_bytes, cx);
        let min_bytes = whole(red.min, "min", cx);
        // q_red.c (https://git.kernel.org/pub/scm/network/iproute2/iproute2.git/tree/tc/q_red.c?h=v6.12.0):
        // max = 3 min.
        let max_bytes = match red.max {
            Some(max) => whole(max, "max", cx),
            None => min_bytes.and_then(|min| min.checked_mul(3)),
        };
        let limit_bytes = self.red_limit(red.limit, prefix, avpkt_bytes, cx);
        let (min_bytes, max_bytes, limit_bytes) = (min_bytes?, max_bytes?, limit_bytes?);
        // q_red.c refuses what the kernel cannot run: max below min, limit below max.
        let ordered = 0 < min_bytes && min_bytes <= max_bytes && max_bytes <= limit_bytes;
        if max_bytes < min_bytes || min_bytes == 0 {
            cx.error(
                &at("max"),
                format!("max of {max_bytes} B, min of {min_bytes} B"),
                "0 < min <= max is needed",
            );
        }
        if limit_bytes < max_bytes {
            let hint = "raise limit (or the buffer), or lower max";
            cx.error(&at("max"), format!("max of {max_bytes} B is above the limit of {limit_bytes} B"), hint);
        }
        self.probability(red.probability, &format!("{prefix}probability"), cx);
        let burst_packets = match red.burst.map(|burst| burst.packets()) {
            Some(Some(packets)) if packets > 0 => packets,
            Some(_) => {
                cx.error(&at("burst"), "a burst needs a number of packets above 0", "as in \"55 packets\"");
                return None;
            }
            // q_red.c: burst = (2 min + max) / (3 avpkt).
            None => {
                let bytes = 2 * u64::from(min_bytes) + u64::from(max_bytes);
                u32::try_from(bytes / (3 * u64::from(avpkt_bytes))).ok()?
            }
        };
        let bandwidth = crate::resolve::network::checked_rate(red.bandwidth, &at("bandwidth"), cx).ok()?;
        let Some(bandwidth) = bandwidth else {
            cx.error(&at("bandwidth"), "tc needs a finite bandwidth", "as in \"10 Mbit/s\"");
            return None;
        };
        if (red.harddrop || red.nodrop) && !red.ecn {
            let key = if red.harddrop { "harddrop" } else { "nodrop" };
            cx.error(&at(key), format!("{key} needs ecn"), "add ecn = true");
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
            let key = match prefix.strip_suffix('.') {
                Some(queue) => self.at(queue),
                None => self.port.aqm_path.to_owned(),
            };
            cx.error(&key, format!("tc cannot configure this queue: {refusal}"), hint);
        }
        Some(config)
    }

    /// A limit in bytes; the link's buffer if none is given.
    pub(super) fn red_limit(
        &self,
        limit: Option<Amount>,
        prefix: &str,
        packet_bytes: u32,
        cx: &mut Context<'_>,
    ) -> Option<u32> {
        match limit {
            Some(limit) => self.tc_bytes(limit, "limit", prefix, packet_bytes, cx),
            None if self.buffer.value().is_none() => {
                cx.error(
                    &self.at(&format!("{prefix}limit")),
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

    fn tc_bytes(
        &self,
        amount: Amount,
        key: &str,
        prefix: &str,
        packet_bytes: u32,
        cx: &mut Context<'_>,
    ) -> Option<u32> {
        let key = format!("{prefix}{key}");
        let bytes = self.threshold_bytes(amount, &key, packet_bytes, cx)?;
        let bytes = u32::try_from(bytes.floor()).ok();
        if bytes.is_none() {
            cx.error(&self.at(&key), "tc counts bytes with 32 bits", "write less than 4 GiB");
        }
        bytes
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
}
