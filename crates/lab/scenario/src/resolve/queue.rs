//! Queues in base units.
//!
//! Fractions of the BDP become bytes. Limits and step thresholds are whole bytes, rounded down, which changes nothing:
//! a backlog, itself a whole number, exceeds 20937.5 B exactly when it exceeds 20937 B. RED thresholds stay fractional,
//! because they are compared with an average.

mod basic;
mod codel;
mod coupled;
mod dualpi2;
mod gred;
mod linux_red;
mod pie;
mod red;

use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_units::{Rate, Span};

use super::Context;
use crate::field::Field;
use crate::quantity::{Amount, DataRate, Dimension, Duration, Ratio, Size};
use crate::schema::Aqm;

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
        refuse_tiny_buffer(buffer, buffer_bytes, port, cx);
    }
    let law = Law { port, buffer };
    match aqm {
        Aqm::Fifo(_) => Some(QueueConfig::Fifo(FifoConfig { limit })),
        Aqm::Step(step) => law.step(step, limit, cx),
        Aqm::Red(red) => law.red(red, limit, cx),
        Aqm::LinuxRed(red) => law.linux_red(red, cx),
        Aqm::DualRed(dual) => law.dual_red(dual, limit, cx),
        Aqm::OpenLoop(given) => law.open_loop(given, limit, cx),
        Aqm::Coupled(coupled) => law.coupled(coupled, limit, cx),
        Aqm::DualCoupled(dual) => law.dual_coupled(dual, limit, cx),
        Aqm::DualPi2(dual) => law.dualpi2(dual, limit, cx),
        Aqm::Codel(codel) => law.codel(codel, limit, cx),
        Aqm::FqCodel(fq) => law.fq_codel(fq, limit, cx),
        Aqm::Pie(pie) => law.pie(pie, limit, cx),
        Aqm::Gred(gred) => law.gred(gred, cx),
        Aqm::Pi2(pi2) => law.pi2(pi2, limit, cx),
    }
}

/// Says how large the buffer is, and where its size comes from if it was not written.
fn refuse_tiny_buffer(buffer: Amount, bytes: Option<Ratio>, port: &Port<'_>, cx: &mut Context<'_>) {
    let (mtu, rate) = (port.mtu, in_bits(port.rate));
    let key = port.buffer_path.rsplit('.').next().unwrap_or(port.buffer_path);
    let size = bytes.map_or(0, Ratio::floor);
    let message = if cx.tree.find(port.buffer_path).is_some() {
        format!("the buffer does not hold one packet of {mtu} B: \"{buffer}\" is {size} B at {rate}")
    } else {
        format!(
            "the buffer does not hold one packet of {mtu} B: {key} is not written, and its default of {buffer} is \
             {size} B at {rate}"
        )
    };
    let raise = if buffer.dimension() == Some(Dimension::Bdp) { ", or raise the rate" } else { "" };
    let hint =
        format!("write {key} = \"100 packets\"{raise}; the smallest buffer is \"1 packets\" or \"{mtu} B\"");
    cx.error(port.buffer_path, message, hint);
}

/// A rate with the largest unit that keeps it a whole number.
fn in_bits(rate: Rate) -> String {
    let bps = rate.as_bps();
    let (size, unit) = [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1000, "kbit/s")]
        .into_iter()
        .find(|(size, _)| bps >= *size && bps.is_multiple_of(*size))
        .unwrap_or((1, "bit/s"));
    format!("{} {unit}", bps / size)
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
            Dimension::Bytes | Dimension::Rate | Dimension::Frequency => Some(value),
        }
    }

    /// As a limit or threshold of the instantaneous queue.
    fn extent(&self, amount: Amount, path: &str, cx: &mut Context<'_>) -> Option<Extent> {
        let Some(value) = amount.value() else { return Some(Extent::Unlimited) };
        match amount.dimension()? {
            Dimension::Packets => Some(Extent::Packets(u32::try_from(value.floor()).ok()?)),
            Dimension::Time => Some(Extent::Time(Span::from_picos(value.floor()))),
            Dimension::Bytes | Dimension::Rate | Dimension::Frequency => Some(Extent::Bytes(value.floor())),
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
                cx.error(path, format!("`{amount}` is out of range"), "write a smaller amount");
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

    /// A law's own limit; the link's buffer if it has none.
    fn limit(&self, limit: Option<Amount>, buffer: Extent, cx: &mut Context<'_>) -> Option<Extent> {
        let Some(limit) = limit else { return Some(buffer) };
        let extent = self.port.extent(limit, &self.at("limit"), cx)?;
        let mtu = self.port.mtu;
        if self.port.bytes(limit, mtu).is_some_and(|bytes| Ratio::whole(mtu.into()).exceeds(bytes)) {
            let hint = format!("write at least \"{mtu} B\" or \"1 packets\"");
            cx.error(&self.at("limit"), format!("the limit does not hold one packet of {mtu} B"), hint);
        }
        Some(extent)
    }

    /// A time that tc hands over in 32 bits of microseconds.
    fn tc_time(&self, time: Duration, key: &str, cx: &mut Context<'_>) -> Option<Span> {
        let span = time.span();
        if span.as_micros() > u32::MAX.into() {
            cx.error(&self.at(key), "tc counts microseconds with 32 bits", "write at most \"4294 s\"");
            return None;
        }
        if !span.is_zero() && span.as_micros() == 0 {
            cx.error(&self.at(key), "tc cuts this time to 0 us", "write at least \"1 us\"");
            return None;
        }
        Some(span)
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

/// Whether an amount or a law uses the unit BDP.
pub(super) fn uses_bdp(aqm: &Aqm, buffer: Amount) -> bool {
    let is_bdp = |amount: Amount| amount.dimension() == Some(Dimension::Bdp);
    is_bdp(buffer) || aqm.any_amount(is_bdp)
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
