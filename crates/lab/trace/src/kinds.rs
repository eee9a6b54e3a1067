//! The small vocabularies of measurements. `trace` may not see `aqm` and `tcp`, so it has its own; callers convert.

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
    /// The two classes that measurements keep apart, by the ECN codepoint on arrival.
    TrafficClass {
        /// ECN-capable packets.
        Ect = "ect",
        /// Packets that are not ECN-capable.
        NotEct = "not_ect",
    }
}

vocabulary! {
    /// What the distribution of a backlog is about.
    QueueClass {
        /// All packets.
        All = "all",
        /// ECN-capable packets.
        Ect = "ect",
        /// Packets that are not ECN-capable.
        NotEct = "not_ect",
    }
}

vocabulary! {
    /// Why a packet was dropped.
    DropReason {
        /// The buffer was full.
        Buffer = "buffer",
        /// The instantaneous queue was above a fixed threshold.
        Threshold = "threshold",
        /// A random early decision.
        Early = "early",
        /// The averaged queue was above its upper limit.
        Forced = "forced",
        /// The sojourn time was above its target for too long.
        Sojourn = "sojourn",
        /// The memory that the port shares with others had no room for it.
        SharedBuffer = "shared_buffer",
    }
}

vocabulary! {
    /// Why a packet was marked.
    MarkReason {
        /// The instantaneous queue was above a fixed threshold.
        Threshold = "threshold",
        /// A random early decision.
        Early = "early",
        /// The averaged queue was above its upper limit.
        Forced = "forced",
        /// A random decision coupled to that about classic traffic.
        Coupled = "coupled",
        /// The sojourn time was above its target for too long.
        Sojourn = "sojourn",
    }
}

vocabulary! {
    /// State of a sender's recovery machine (Linux `enum tcp_ca_state`).
    FlowState {
        /// Nothing unusual.
        Open = "open",
        /// Duplicate ACKs or SACKs, not yet enough for recovery.
        Disorder = "disorder",
        /// Reducing the window after an ECN-Echo.
        Cwr = "cwr",
        /// Fast recovery.
        Recovery = "recovery",
        /// After a retransmission timeout.
        Loss = "loss",
    }
}

vocabulary! {
    /// What happened to a flow.
    FlowEvent {
        /// One of its packets was marked by a queue.
        Mark = "mark",
        /// One of its packets was dropped by a queue.
        Drop = "drop",
        /// The sender began a window reduction.
        Reduction = "reduction",
        /// The retransmission timer expired.
        Timeout = "timeout",
        /// A segment was sent again.
        Retransmit = "retransmit",
    }
}

vocabulary! {
    /// What an application waited for.
    DeliveryKind {
        /// A response, since its request.
        Exchange = "exchange",
        /// The slowest flow of a group, since the round began.
        Round = "round",
        /// A frame, since it was written.
        Frame = "frame",
    }
}

vocabulary! {
    /// What happened to a packet at a link.
    PacketEvent {
        /// It came to the queue.
        Arrive = "arrive",
        /// The queue set CE.
        Mark = "mark",
        /// The queue dropped it.
        Drop = "drop",
        /// Its transmission began.
        Depart = "depart",
    }
}

vocabulary! {
    /// One end of a flow.
    FlowEnd {
        /// The host that sends data.
        Sender = "sender",
        /// The host that receives them.
        Receiver = "receiver",
    }
}

vocabulary! {
    /// What happened to a packet at a host.
    SegmentEvent {
        /// The host sent it.
        Send = "send",
        /// The host received it.
        Receive = "receive",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_the_codes() {
        assert_eq!(TrafficClass::NotEct.as_str(), "not_ect");
        assert_eq!(DropReason::Forced.as_str(), "forced");
        assert_eq!(FlowState::Loss.as_str(), "loss");
        assert_eq!(FlowEvent::NAMES, ["mark", "drop", "reduction", "timeout", "retransmit"]);
        assert_eq!(PacketEvent::NAMES, ["arrive", "mark", "drop", "depart"]);
    }
}
