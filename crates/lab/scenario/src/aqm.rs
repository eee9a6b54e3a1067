//! `[bottleneck.aqm]` and the `aqm` of other links: the keys of each law and what they are in base units, one file a
//! law.
//!
//! Fractions of the BDP become bytes. Limits and step thresholds are whole bytes, rounded down, which changes nothing:
//! a backlog, itself a whole number, exceeds 20937.5 B exactly when it exceeds 20937 B. RED thresholds stay fractional,
//! because they are compared with an average; those of `wred` are rounded up, as switches do.

mod classes;
mod codel;
mod coupled;
mod ds_selector;
mod dual_coupled;
mod dual_red;
mod dualpi2;
mod fifo;
mod fq_codel;
mod gred;
mod linux_red;
mod module;
mod open_loop;
mod pi2;
mod pie;
mod place;
mod protection;
mod red;
mod scheduler;
mod step;
mod wred;

pub(crate) use classes::{check_shapers, without_headroom};
pub use fifo::Fifo;
pub(crate) use place::Port;

use place::Place;
use shoal_aqm::{Extent, QueueConfig, for_each_law};
use shoal_units::Rate;

use crate::field::{Field, Kinds};
use crate::quantity::{Amount, Dimension, Ratio};
use crate::remarks::Table;

/// How the keys of a law become its configuration.
trait Resolve {
    type Config;

    /// `buffer` is that of the link, for laws without a limit of their own. What is wrong is reported.
    fn resolve(&self, law: &Place<'_>, buffer: Extent) -> Option<Self::Config>;
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:literal => $law:ident($config:ident) in $module:ident,)+) => {
        /// Marking and dropping law of a queue.
        #[derive(Clone, PartialEq, Debug, Kinds)]
        #[allow(clippy::large_enum_variant, reason = "a scenario has few of them, and none is moved about")]
        pub enum Aqm { $($(#[doc = $doc])+ #[kind($kind)] $law($module::$law),)+ }

        impl Resolve for Aqm {
            type Config = QueueConfig;

            fn resolve(&self, law: &Place<'_>, buffer: Extent) -> Option<QueueConfig> {
                match self { $(Self::$law(keys) => keys.resolve(law, buffer).map(QueueConfig::$law),)+ }
            }
        }
    };
}

for_each_law!(kinds);

/// The queue of a port.
pub(crate) fn queue(aqm: &Aqm, buffer: Amount, port: &Port<'_>) -> Option<QueueConfig> {
    let limit = port.extent(buffer, port.buffer_path)?;
    let buffer_bytes = port.bytes(buffer, port.mtu);
    if buffer_bytes.is_some_and(|bytes| Ratio::whole(port.mtu.into()).exceeds(bytes)) {
        refuse_tiny_buffer(buffer, buffer_bytes, port);
    }
    let keys = Table { path: port.aqm_path.to_owned(), remarks: port.remarks };
    aqm.resolve(&Place { port, buffer, keys }, limit)
}

/// Says how large the buffer is, and where its size comes from if it was not written.
fn refuse_tiny_buffer(buffer: Amount, bytes: Option<Ratio>, port: &Port<'_>) {
    let (mtu, rate) = (port.mtu, in_bits(port.rate));
    let key = port.buffer_path.rsplit('.').next().unwrap_or(port.buffer_path);
    let size = bytes.map_or(0, Ratio::floor);
    let message = if port.remarks.is_written(port.buffer_path) {
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
    port.remarks.error(port.buffer_path, message, hint);
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

/// Whether an amount or a law uses the unit BDP.
pub(crate) fn uses_bdp(aqm: &Aqm, buffer: Amount) -> bool {
    let is_bdp = |amount: Amount| amount.dimension() == Some(Dimension::Bdp);
    is_bdp(buffer) || aqm.any_amount(is_bdp)
}
