//! Units and the dimensions that they measure.

/// Dimension of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    /// Time; base unit: picosecond.
    Time,
    /// Data rate; base unit: bit/s.
    Rate,
    /// Size; base unit: byte.
    Bytes,
    /// Number of packets.
    Packets,
    /// Fraction of the bandwidth-delay product.
    Bdp,
    /// Frequency of events; base unit: events per minute.
    Frequency,
}

impl Dimension {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Rate => "rate",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Bdp => "BDP",
            Self::Frequency => "frequency",
        }
    }
    pub(super) const fn with_article(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::Rate => "a rate",
            Self::Bytes => "a size in bytes",
            Self::Packets => "a number of packets",
            Self::Bdp => "a fraction of the bandwidth-delay product",
            Self::Frequency => "a frequency",
        }
    }
}

macro_rules! units {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $dimension:ident, $base:literal;)*) => {
        /// A unit of the scenario file.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Unit { $($(#[$doc])* $variant,)* }

        impl Unit {
            /// All units, the smallest first in each dimension.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Name of the unit in scenario files.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// Dimension of the unit.
            pub const fn dimension(self) -> Dimension {
                match self { $(Self::$variant => Dimension::$dimension,)* }
            }
            /// Number of base units in one such unit.
            pub const fn base_units(self) -> u128 {
                match self { $(Self::$variant => $base,)* }
            }
        }
    };
}

units! {
    /// Nanosecond.
    Nanosecond = "ns", Time, 1_000;
    /// Microsecond.
    Microsecond = "us", Time, 1_000_000;
    /// Millisecond.
    Millisecond = "ms", Time, 1_000_000_000;
    /// Second.
    Second = "s", Time, 1_000_000_000_000;
    /// Minute.
    Minute = "min", Time, 60_000_000_000_000;
    /// Bit per second.
    BitPerSecond = "bit/s", Rate, 1;
    /// Kilobit per second.
    KilobitPerSecond = "kbit/s", Rate, 1_000;
    /// Megabit per second.
    MegabitPerSecond = "Mbit/s", Rate, 1_000_000;
    /// Gigabit per second.
    GigabitPerSecond = "Gbit/s", Rate, 1_000_000_000;
    /// Byte.
    Byte = "B", Bytes, 1;
    /// 1000 bytes.
    Kilobyte = "kB", Bytes, 1_000;
    /// 1024 bytes.
    Kibibyte = "KiB", Bytes, 1_024;
    /// 10^6 bytes.
    Megabyte = "MB", Bytes, 1_000_000;
    /// 2^20 bytes.
    Mebibyte = "MiB", Bytes, 1_048_576;
    /// 10^9 bytes.
    Gigabyte = "GB", Bytes, 1_000_000_000;
    /// Packets of any size.
    Packets = "packets", Packets, 1;
    /// Bandwidth-delay product: rate of the link times the reference round-trip time.
    Bdp = "BDP", Bdp, 1;
    /// Events per minute.
    PerMinute = "per min", Frequency, 1;
    /// Events per second.
    PerSecond = "per s", Frequency, 60;
    /// Events per millisecond.
    PerMillisecond = "per ms", Frequency, 60_000;
}

impl Unit {
    /// The unit written `name`; `packet` is accepted for one packet.
    pub fn by_name(name: &str) -> Option<Self> {
        if name == "packet" {
            return Some(Self::Packets);
        }
        Self::ALL.iter().copied().find(|unit| unit.name() == name)
    }
}
