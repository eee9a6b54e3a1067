//! Where a queue is, and what amounts, thresholds and limits mean there.

use shoal_aqm::Extent;
use shoal_units::{Rate, Span};

use crate::quantity::{Amount, Dimension, Duration, Ratio, Size};
use crate::remarks::{Remarks, Table};

/// Where a queue is and what its units mean there.
#[derive(Clone, Copy)]
pub(crate) struct Port<'a> {
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
    /// Whether queues of the port take from memory that the ports of a switch share.
    pub has_pool: bool,
    /// The code points that flows have: a bit for each.
    pub codepoints: u64,
    pub remarks: Remarks<'a>,
}

impl Port<'_> {
    fn bdp(&self) -> Option<Ratio> {
        let bits_picos = u128::from(self.rate.as_bps()) * u128::from(self.bdp_rtt?.as_picos());
        Some(Ratio::new(bits_picos, 8_000_000_000_000))
    }

    /// In bytes; `None` if unlimited or without meaning.
    pub(super) fn bytes(&self, amount: Amount, packet_bytes: u32) -> Option<Ratio> {
        let value = amount.value()?;
        match amount.dimension()? {
            Dimension::Bdp => value.times(self.bdp()?),
            Dimension::Packets => value.times(Ratio::whole(packet_bytes.into())),
            Dimension::Time => value.times(Ratio::new(self.rate.as_bps().into(), 8_000_000_000_000)),
            Dimension::Bytes | Dimension::Rate | Dimension::Frequency => Some(value),
        }
    }

    /// As a limit or threshold of the instantaneous queue.
    pub(super) fn extent(&self, amount: Amount, path: &str) -> Option<Extent> {
        let Some(value) = amount.value() else { return Some(Extent::Unlimited) };
        match amount.dimension()? {
            Dimension::Packets => Some(Extent::Packets(u32::try_from(value.floor()).ok()?)),
            Dimension::Time => Some(Extent::Time(Span::from_picos(value.floor()))),
            Dimension::Bytes | Dimension::Rate | Dimension::Frequency => Some(Extent::Bytes(value.floor())),
            Dimension::Bdp => self.needs_bdp(amount, path).map(|bytes| Extent::Bytes(bytes.floor())),
        }
    }

    pub(super) fn needs_bdp(&self, amount: Amount, path: &str) -> Option<Ratio> {
        let bytes = self.bytes(amount, self.mtu);
        match (bytes, self.bdp_rtt) {
            (Some(_), _) => {}
            (None, None) => self.remarks.error(
                path,
                "BDP has no meaning here: no round-trip time is known",
                "set bdp_rtt, or write bytes, packets or a time",
            ),
            (None, Some(_)) => {
                self.remarks.error(path, format!("`{amount}` is out of range"), "write a smaller amount");
            }
        }
        bytes
    }
}

/// Where a law is being resolved.
pub(super) struct Place<'a> {
    pub port: &'a Port<'a>,
    pub buffer: Amount,
    /// The table that has the keys of the law.
    pub keys: Table<'a>,
}

impl Place<'_> {
    /// The table `name` inside that of the law.
    pub(super) fn table(&self, name: &str) -> Self {
        Self { keys: self.keys.table(name), ..*self }
    }

    /// See [`Port::extent`].
    pub(super) fn extent(&self, amount: Amount, key: &str) -> Option<Extent> {
        self.port.extent(amount, &self.keys.at(key))
    }

    pub(super) fn threshold_bytes(&self, amount: Amount, key: &str, packet_bytes: u32) -> Option<Ratio> {
        if amount.value().is_none() {
            self.keys.error(key, "RED needs a finite threshold", "as in \"0.5 BDP\"");
            return None;
        }
        if amount.dimension() == Some(Dimension::Bdp) {
            return self.port.needs_bdp(amount, &self.keys.at(key));
        }
        self.port.bytes(amount, packet_bytes)
    }

    pub(super) fn packet_size(&self, size: Size, key: &str) -> Option<u32> {
        let bytes = size
            .bytes()
            .and_then(|bytes| u32::try_from(bytes).ok())
            .filter(|bytes| (1..=65_535).contains(bytes));
        if bytes.is_none() {
            self.keys.error(key, "a packet has 1 to 65535 B", "as in \"1500 B\"");
        }
        bytes
    }

    /// A law's own limit; the link's buffer if it has none.
    pub(super) fn limit(&self, limit: Option<Amount>, buffer: Extent) -> Option<Extent> {
        let Some(limit) = limit else { return Some(buffer) };
        let extent = self.extent(limit, "limit")?;
        let mtu = self.port.mtu;
        if self.port.bytes(limit, mtu).is_some_and(|bytes| Ratio::whole(mtu.into()).exceeds(bytes)) {
            let hint = format!("write at least \"{mtu} B\" or \"1 packets\"");
            self.keys.error("limit", format!("the limit does not hold one packet of {mtu} B"), hint);
        }
        Some(extent)
    }

    /// A time that tc hands over in 32 bits of microseconds.
    pub(super) fn tc_time(&self, time: Duration, key: &str) -> Option<Span> {
        let span = time.span();
        if span.as_micros() > u32::MAX.into() {
            self.keys.error(key, "tc counts microseconds with 32 bits", "write at most \"4294 s\"");
            return None;
        }
        if !span.is_zero() && span.as_micros() == 0 {
            self.keys.error(key, "tc cuts this time to 0 us", "write at least \"1 us\"");
            return None;
        }
        Some(span)
    }

    pub(super) fn probability(&self, p: f64, key: &str) {
        if !(0.0..=1.0).contains(&p) {
            self.keys.error(key, format!("a probability of {p}"), "write a number from 0 to 1, as in 0.1");
        }
    }

    /// A threshold above the buffer never acts. Between packets and bytes the comparison depends on packet sizes.
    pub(super) fn within_buffer(&self, threshold: Amount, key: &str, packet_bytes: u32) {
        let (Some(threshold_bytes), Some(buffer_bytes)) =
            (self.port.bytes(threshold, packet_bytes), self.port.bytes(self.buffer, packet_bytes))
        else {
            return;
        };
        if !threshold_bytes.exceeds(buffer_bytes) {
            return;
        }
        let message = format!("the threshold {threshold} is above the buffer of {}", self.buffer);
        let hint = "raise the buffer or lower the threshold";
        let in_packets = |amount: Amount| amount.dimension() == Some(Dimension::Packets);
        if in_packets(threshold) == in_packets(self.buffer) {
            self.keys.error(key, message, hint);
        } else {
            self.keys.warning(key, format!("{message} if packets have {packet_bytes} B"), hint);
        }
    }
}
