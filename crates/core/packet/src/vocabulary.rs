//! The words that queues, endpoints and measurements share.

use crate::Packet;

/// Declares an enumeration whose variants have a word each: the one that results and tables show.
#[macro_export]
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// All words, in the order of their codes.
            pub const NAMES: &'static [&'static str] = &[$($text),+];
            /// The word in results and tables.
            pub const fn as_str(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}

vocabulary! {
    /// Why a packet was marked or dropped.
    Reason {
        /// The buffer was full.
        Buffer = "buffer",
        /// The instantaneous queue was above a fixed threshold.
        Threshold = "threshold",
        /// A random early decision.
        Early = "early",
        /// The averaged queue was above its upper limit.
        Forced = "forced",
        /// A random decision with the probability that couples scalable to classic congestion control.
        Coupled = "coupled",
        /// The sojourn time was above its target for too long (CoDel).
        Sojourn = "sojourn",
        /// The memory that the port shares with others had no room for it.
        SharedBuffer = "shared_buffer",
    }
}

vocabulary! {
    /// The two classes that measurements keep apart, by the ECN codepoint on arrival.
    Class {
        /// ECN-capable packets.
        Ect = "ect",
        /// Packets that are not ECN-capable.
        NotEct = "not_ect",
    }
}

impl Class {
    /// The class of a packet.
    #[inline]
    pub const fn of(packet: &Packet) -> Self {
        if packet.ecn.is_capable() { Self::Ect } else { Self::NotEct }
    }
}

vocabulary! {
    /// State of a sender's recovery (Linux `enum tcp_ca_state`,
    /// <https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/tcp.h>).
    ///
    /// ```text
    ///          dup ACK / SACK              3 dup ACKs or RACK
    ///   Open <----------------> Disorder ---------------------> Recovery
    ///    |  \                      |                               |
    ///    |   `--- ECN-Echo --> CWR +--- all acknowledged ----------+--> Open
    ///    `------- timeout from any state --> Loss --- all acknowledged --> Open
    /// ```
    CaState {
        /// Nothing suspicious.
        Open = "open",
        /// Duplicate ACKs or SACKs, not yet enough to act on.
        Disorder = "disorder",
        /// Reducing after an ECN-Echo, for one window of data.
        Cwr = "cwr",
        /// Fast retransmit and recovery.
        Recovery = "recovery",
        /// After a retransmission timeout.
        Loss = "loss",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ecn, FlowId};

    #[test]
    fn words_follow_the_codes() {
        assert_eq!(Class::NotEct.as_str(), "not_ect");
        assert_eq!(Reason::Forced.as_str(), "forced");
        assert_eq!(CaState::Loss.as_str(), "loss");
        assert_eq!(Reason::NAMES[Reason::SharedBuffer as usize], "shared_buffer");
    }

    #[test]
    fn marked_packets_are_ecn_capable() {
        let class = |ecn| Class::of(&Packet { ecn, ..Packet::empty(FlowId(0), 1500) });
        assert_eq!(
            [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].map(class),
            [Class::NotEct, Class::Ect, Class::Ect, Class::Ect]
        );
    }
}
