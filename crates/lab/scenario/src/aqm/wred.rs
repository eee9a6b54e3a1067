//! Keys of `wred`.

use shoal_aqm::{DecideAt, Extent, WredConfig, WredProfile, WredThresholds};
use shoal_units::Span;

use super::{Place, Resolve};
use crate::field::Section;
use crate::quantity::{Amount, Dimension, Size};

/// A queue of a switch.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Wred {
    /// ECT packets are marked by this profile.
    pub mark: Option<Profile>,
    /// Packets that are not ECT are dropped by this profile, on arrival. Without it only the buffer drops them.
    pub drop: Option<Profile>,
    /// ECT packets are dropped by this profile, on arrival, also where `mark` selects them.
    pub drop_ect: Option<Profile>,
    /// n: each profile averages what it compares, average <- average + (queue - average) 2^-n; 0 compares the queue
    /// itself.
    #[key(
        default = 0,
        unit = "0 to 15",
        source = "OpenConfig qos-mem-mgmt, wred weight; SAI saiwred.h, SAI_WRED_ATTR_WEIGHT"
    )]
    pub weight: u16,
    /// When marks are decided: on arrival by the queue that the packet finds, or on departure by the queue behind it,
    /// or for thresholds in time by its own wait. Drops are decided on arrival.
    #[key(
        default = "dequeue",
        source = "sonic-mgmt docs/testplan/ecn (Broadcom XGS and NVIDIA Spectrum: dequeue; Broadcom DNX: enqueue)"
    )]
    pub decide: DecideAt,
    /// Size of the cells of the packet memory: packets occupy whole cells, and thresholds are rounded up to whole
    /// cells. With 1 B, bytes are counted.
    #[key(default = "1 B", source = "sonic-mgmt issues 25573 and 25004 (Broadcom Trident 3: 256 B)")]
    pub cell: Size,
}

/// A slope of the probability that a packet is selected.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Profile {
    /// Minimum threshold: below it no packet is selected. A time is bytes of the line on arrival, and the packet's own
    /// wait on departure.
    #[key(source = "OpenConfig qos-mem-mgmt, min-threshold; SONiC WRED_PROFILE, green_min_threshold")]
    pub min: Amount,
    /// Maximum threshold: from it on every packet is selected. Equal to the minimum for a step.
    #[key(source = "OpenConfig qos-mem-mgmt, max-threshold; SONiC WRED_PROFILE, green_max_threshold")]
    pub max: Amount,
    /// Probability just below the maximum threshold.
    #[key(default = 1.0, unit = "0 to 1", source = "SONiC WRED_PROFILE, green_drop_probability")]
    pub max_probability: f64,
}

/// A threshold in the unit in which it is compared.
enum Threshold {
    Bytes(u64),
    Packets(u32),
    Time(Span),
}

impl Resolve for Wred {
    type Config = WredConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<WredConfig> {
        let cell_bytes = law.cell(self.cell);
        let weight = law.weight(self.weight);
        let profile = |keys: &Option<Profile>, name| match keys {
            None => Some(None),
            Some(keys) => law.table(name).profile(keys, cell_bytes.unwrap_or(1)).map(Some),
        };
        let mark = profile(&self.mark, "mark");
        let drop = profile(&self.drop, "drop");
        let drop_ect = profile(&self.drop_ect, "drop_ect");
        if self.mark.is_none() && self.drop.is_none() && self.drop_ect.is_none() {
            let hint = "this is a fifo; add mark, drop or drop_ect, as in mark = { min = \"100 kB\", max = \"400 kB\" \
                        }";
            law.keys.warning("kind", "wred without a profile neither marks nor drops", hint);
        }
        Some(WredConfig {
            mark: mark?,
            drop: drop?,
            drop_ect: drop_ect?,
            weight: weight?,
            decide: self.decide,
            cell_bytes: cell_bytes?,
            limit,
        })
    }
}

impl Place<'_> {
    fn weight(&self, weight: u16) -> Option<u8> {
        let valid = u8::try_from(weight).ok().filter(|n| *n <= 15);
        if valid.is_none() {
            let hint = "write a whole number from 0, which compares the queue itself, to 15";
            self.keys.error("weight", format!("a weight of {weight}"), hint);
        }
        valid
    }

    fn cell(&self, cell: Size) -> Option<u32> {
        let bytes = cell.bytes().and_then(|bytes| u32::try_from(bytes).ok());
        let valid = bytes.filter(|bytes| (1..=65_535).contains(bytes));
        if valid.is_none() {
            self.keys.error("cell", "a cell has 1 to 65535 B", "as in \"256 B\"; \"1 B\" counts bytes");
        }
        valid
    }

    fn profile(&self, keys: &Profile, cell_bytes: u32) -> Option<WredProfile> {
        self.probability(keys.max_probability, "max_probability");
        let (min, max) = (self.profile_threshold(keys.min, "min"), self.profile_threshold(keys.max, "max"));
        let thresholds = match (min?, max?) {
            (Threshold::Bytes(min), Threshold::Bytes(max)) => WredThresholds::Bytes { min, max },
            (Threshold::Packets(min), Threshold::Packets(max)) => WredThresholds::Packets { min, max },
            (Threshold::Time(min), Threshold::Time(max)) => WredThresholds::Time { min, max },
            _ => {
                let message = format!("min {} and max {} have different units", keys.min, keys.max);
                self.keys.error(
                    "max",
                    message,
                    "write both in bytes or BDP, both in packets, or both as times",
                );
                return None;
            }
        };
        let bytes = |amount| self.port.bytes(amount, self.port.mtu);
        if let (Some(min), Some(max)) = (bytes(keys.min), bytes(keys.max))
            && min.exceeds(max)
        {
            let message = format!("min {} is above max {}", keys.min, keys.max);
            self.keys.error("min", message, "swap them, or raise max");
            return None;
        }
        self.is_reached(keys);
        if let WredThresholds::Bytes { min, max } = thresholds
            && let WredThresholds::Bytes { min: first, max: last } = thresholds.in_cells(cell_bytes)
            && min < max
            && first == last
        {
            let message = format!("min and max fall into one cell of {cell_bytes} B: a step at {first} B");
            self.keys.warning("min", message, "move them apart, or make both the same");
        }
        Some(WredProfile { thresholds, max_probability: keys.max_probability })
    }

    /// Bytes are rounded up: a queue, itself a whole number, is at least 20937.5 B exactly when it is at least 20938 B.
    fn profile_threshold(&self, amount: Amount, key: &str) -> Option<Threshold> {
        let (Some(value), Some(dimension)) = (amount.value(), amount.dimension()) else {
            let hint = "write a threshold as in \"100 kB\"; without the whole table nothing is selected";
            self.keys.error(key, "a profile needs finite thresholds", hint);
            return None;
        };
        Some(match dimension {
            Dimension::Packets => Threshold::Packets(u32::try_from(value.ceil()).ok()?),
            Dimension::Time => Threshold::Time(Span::from_picos(value.ceil())),
            Dimension::Bdp => Threshold::Bytes(self.port.needs_bdp(amount, &self.keys.at(key))?.ceil()),
            Dimension::Bytes | Dimension::Rate | Dimension::Frequency => Threshold::Bytes(value.ceil()),
        })
    }

    /// Warns of thresholds that no queue reaches. Configurations of switches use them to switch a profile off.
    fn is_reached(&self, keys: &Profile) {
        let (buffer, mtu) = (self.buffer, self.port.mtu);
        let is_beyond = |amount| {
            let (threshold, buffer) = (self.port.bytes(amount, mtu), self.port.bytes(buffer, mtu));
            threshold.zip(buffer).is_some_and(|(threshold, buffer)| threshold.exceeds(buffer))
        };
        let hint = "raise the buffer or lower the threshold";
        if is_beyond(keys.min) {
            let message = format!("min {} is above the buffer of {buffer}: nothing is selected", keys.min);
            self.keys.warning("min", message, hint);
        } else if is_beyond(keys.max) {
            let message = format!(
                "max {} is above the buffer of {buffer}: the slope ends where the buffer is full",
                keys.max
            );
            self.keys.warning("max", message, hint);
        }
    }
}
