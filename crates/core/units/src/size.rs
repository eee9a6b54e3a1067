//! Amounts of data.

use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};

macro_rules! amount {
    ($name:ident, $unit:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(u64);
        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);
            /// More than anything; used for "unlimited".
            pub const MAX: Self = Self(u64::MAX);
            /// `n` of them.
            pub const fn new(n: u64) -> Self {
                Self(n)
            }
            /// The number.
            pub const fn get(self) -> u64 {
                self.0
            }
        }
        impl Add for $name {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl Sub for $name {
            type Output = Self;
            #[inline]
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{} ", $unit), self.0)
            }
        }
    };
}

amount!(Bytes, "B", "A number of bytes.");
amount!(Packets, "packets", "A number of packets.");
