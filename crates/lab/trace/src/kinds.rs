//! Small vocabularies of the tables. Those that queues and endpoints use as well are in `packet`.

use shoal_packet::vocabulary;

vocabulary! {
    /// The packets that the distribution of a backlog counts.
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
    /// What an application waited for, and from when its time counts.
    DeliveryKind {
        /// A response; the time counts from its request.
        Exchange = "exchange",
        /// The slowest flow of a group; the time counts from the beginning of the round.
        Round = "round",
        /// A frame; the time counts from its write.
        Frame = "frame",
    }
}

vocabulary! {
    /// What happened to a packet at a link.
    PacketEvent {
        /// It arrived at the queue.
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
        /// The host that receives data.
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

vocabulary! {
    /// State of a controller that has a model of its path (BBR).
    PathState {
        /// The rate doubles each round trip.
        Startup = "startup",
        /// What Startup has queued leaves.
        Drain = "drain",
        /// BBR version 1: the gain goes through its cycle.
        ProbeBw = "probe_bw",
        /// BBR version 3: what the probe has queued leaves.
        ProbeBwDown = "probe_bw_down",
        /// BBR version 3: the rate stays.
        ProbeBwCruise = "probe_bw_cruise",
        /// BBR version 3: the pipe fills again.
        ProbeBwRefill = "probe_bw_refill",
        /// BBR version 3: the flow probes for bandwidth.
        ProbeBwUp = "probe_bw_up",
        /// The flow sends little, so that the smallest round-trip time shows.
        ProbeRtt = "probe_rtt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_the_codes() {
        assert_eq!(QueueClass::NotEct.as_str(), "not_ect");
        assert_eq!(FlowEvent::NAMES, ["mark", "drop", "reduction", "timeout", "retransmit"]);
        assert_eq!(PacketEvent::NAMES, ["arrive", "mark", "drop", "depart"]);
    }
}
