//! RED as `tc` and the kernel have it.

use shoal_aqm::{LinuxRedConfig, QueueConfig};

use super::{Context, Law};
use crate::quantity::Amount;
use crate::schema::LinuxRed;

impl Law<'_> {
    pub(super) fn linux_red(&self, red: &LinuxRed, cx: &mut Context<'_>) -> Option<QueueConfig> {
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
        let bandwidth =
            crate::resolve::network::checked_rate(red.bandwidth, &self.at("bandwidth"), cx).ok()?;
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
}
