//! The tables, each declared once. Times are seconds since the start of the experiment unless the name says otherwise.

use crate::{
    Cell, Column, ColumnSpec, DeliveryKind, FlowEnd, FlowEvent, GroupIndex, LinkIndex, PacketEvent,
    PathState, QueueClass, Row, SegmentEvent, TableSpec,
};
use shoal_packet::{CaState, Class, Ecn};

macro_rules! tables {
    ($(
        $( #[doc = $doc:literal] )+
        $table:literal => $row:ident {
            $( $( #[doc = $column_doc:literal] )+ $column:ident: $type:ty [$unit:literal], )+
        }
    )+) => {
        $(
            $( #[doc = $doc] )+
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub struct $row { $( $( #[doc = $column_doc] )+ pub $column: $type, )+ }

            impl Row for $row {
                const SPEC: TableSpec = TableSpec {
                    name: $table,
                    doc: concat!($($doc),+).trim_ascii(),
                    columns: &[$(ColumnSpec {
                        name: stringify!($column),
                        kind: <$type as Cell>::KIND,
                        unit: $unit,
                        doc: concat!($($column_doc),+).trim_ascii(),
                    }),+],
                };
                #[inline]
                fn append(self, columns: &mut [Column]) {
                    let mut columns = columns.iter_mut();
                    $( self.$column.append(columns.next().expect("a column for each field")); )+
                    debug_assert!(columns.next().is_none(), "a field for each column");
                }
            }
        )+

        /// All tables.
        pub const TABLES: &[TableSpec] = &[$($row::SPEC),+];
    };
}

tables! {
    /// State of a monitored link, one row a link and bin.
    "queue" => QueueRow {
        /// End of the bin.
        time_s: f64 ["s"],
        /// Name of the link.
        link: LinkIndex [""],
        /// Waiting packets, time average of the bin.
        packets: f64 ["packets"],
        /// Waiting bytes, time average of the bin.
        bytes: f64 ["B"],
        /// The queue's own average at the end of the bin, if it keeps one.
        average_bytes: Option<f64> ["B"],
        /// The probability that controls the queue's law at the end of the bin, if there is one.
        probability: Option<f64> [""],
        /// Packets marked in the bin.
        marks: u32 ["packets"],
        /// Packets dropped in the bin.
        drops: u32 ["packets"],
        /// Fraction of the bin in which the link transmitted.
        utilisation: f64 [""],
    }

    /// State of a flow, one row a flow and bin.
    "flows" => FlowRow {
        /// End of the bin.
        time_s: f64 ["s"],
        /// Number of the flow.
        flow: u32 [""],
        /// Name of its group.
        group: GroupIndex [""],
        /// Payload delivered in order in the bin, a second.
        goodput_bps: f64 ["bit/s"],
        /// Bits on the bottleneck's wire in the bin, a second.
        wire_bps: f64 ["bit/s"],
        /// Congestion window at the end of the bin.
        cwnd_packets: u32 ["packets"],
        /// Slow-start threshold at the end of the bin; none while it is unlimited.
        ssthresh_packets: Option<f64> ["packets"],
        /// DCTCP's estimate of the marked fraction at the end of the bin.
        alpha: Option<f64> [""],
        /// Smoothed round-trip time at the end of the bin.
        srtt_s: Option<f64> ["s"],
        /// State of the sender's recovery machine at the end of the bin.
        state: CaState [""],
    }

    /// Every change of a sender's congestion window, threshold, alpha or state, of the flows that
    /// `trace.controller_flows` chooses; the file's metadata and `Result.coverage` name them.
    "controller" => ControllerRow {
        /// When it changed.
        time_s: f64 ["s"],
        /// Number of the flow.
        flow: u32 [""],
        /// Congestion window from then on.
        cwnd_packets: u32 ["packets"],
        /// Slow-start threshold from then on; none while it is unlimited.
        ssthresh_packets: Option<f64> ["packets"],
        /// DCTCP's estimate of the marked fraction from then on.
        alpha: Option<f64> [""],
        /// State of the sender's recovery machine from then on.
        state: CaState [""],
    }

    /// Every change of a controller's model of its path, of the flows that `trace.controller_flows` chooses and whose
    /// controllers have one (BBR), in the simulator; the file's metadata and `Result.coverage` name them.
    "path_model" => PathModelRow {
        /// When it changed.
        time_s: f64 ["s"],
        /// Number of the flow.
        flow: u32 [""],
        /// State of the controller from then on.
        state: PathState [""],
        /// Pacing rate from then on, in bits of payload.
        pacing_bps: f64 ["bit/s"],
        /// Estimate of the bandwidth from then on, in bits of payload.
        bandwidth_bps: f64 ["bit/s"],
        /// Estimate of the round-trip time without queues from then on; none before the first.
        min_rtt_s: Option<f64> ["s"],
        /// Long-term bound of the packets in flight from then on; none while there is none.
        inflight_longterm_packets: Option<f64> ["packets"],
        /// Short-term bound of the packets in flight from then on; none while there is none.
        inflight_shortterm_packets: Option<f64> ["packets"],
        /// Whether the path was found to be filled: 1, or 0.
        full_bandwidth_reached: u32 [""],
        /// Packets in flight then.
        in_flight_packets: u32 ["packets"],
    }

    /// What happened to the flows that `trace.controller_flows` chooses: their packets' marks and drops at monitored
    /// links, and what their senders did. Nothing is in it of other flows: the file's metadata and `Result.coverage`
    /// name those that are covered, marks and drops of all flows are counted in `queue` and in the result, and
    /// `packets` holds each of them.
    "events" => EventRow {
        /// When it happened.
        time_s: f64 ["s"],
        /// Number of the flow.
        flow: u32 [""],
        /// What happened.
        kind: FlowEvent [""],
    }

    /// What applications waited for, one row an exchange, round or frame that was complete at the receiver.
    "deliveries" => DeliveryRow {
        /// When it was complete.
        time_s: f64 ["s"],
        /// Number of the flow. For a round: the flow that finished last.
        flow: u32 [""],
        /// Name of its group.
        group: GroupIndex [""],
        /// What it was.
        kind: DeliveryKind [""],
        /// How long it took.
        took_s: f64 ["s"],
        /// How long after its deadline, 0 if before; none if it had none.
        late_s: Option<f64> ["s"],
    }

    /// What happened to every packet at the monitored links.
    "packets" => PacketRow {
        /// When it happened.
        time_ps: u64 ["ps"],
        /// Name of the link.
        link: LinkIndex [""],
        /// Number of the flow.
        flow: u32 [""],
        /// What happened.
        event: PacketEvent [""],
        /// Size of the IP packet.
        size: u32 ["B"],
        /// ECN codepoint after the event.
        ecn: Ecn [""],
        /// Sequence number of the first payload byte.
        seq: u32 [""],
        /// Waiting bytes after the event. An arrival comes before the queue's decision: its own packet does not wait
        /// yet.
        backlog_bytes: u64 ["B"],
        /// Time in the queue so far.
        sojourn_ps: u64 ["ps"],
    }

    /// What the ends of a flow sent and received, as captures at both hosts show it, of the flows that
    /// `trace.segment_flows` chooses; the file's metadata and `Result.coverage` name them.
    "segments" => SegmentRow {
        /// When it happened.
        time_ps: u64 ["ps"],
        /// Number of the flow.
        flow: u32 [""],
        /// At which end.
        end: FlowEnd [""],
        /// What happened.
        event: SegmentEvent [""],
        /// Sequence number of the first payload byte.
        seq: u32 [""],
        /// Payload.
        payload: u32 ["B"],
        /// Next sequence number expected; valid with the flag ACK.
        ack: u32 [""],
        /// TCP flags as on the wire: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, ECE 64, CWR 128, AE 256.
        flags: u32 [""],
        /// ECN codepoint.
        ecn: Ecn [""],
        /// Timestamp value of the packet: tells copies of a segment apart.
        ts_val: u32 ["us"],
    }

    /// Distribution of the queueing delay of packets in the measurement window, one row a link, class and bucket.
    "delay_distribution" => DelayBucketRow {
        /// Name of the link.
        link: LinkIndex [""],
        /// Class of the packets.
        class: Class [""],
        /// Shortest delay of the bucket.
        low_s: f64 ["s"],
        /// Longest delay of the bucket.
        high_s: f64 ["s"],
        /// Packets in the bucket.
        packets: u64 ["packets"],
    }

    /// Distribution of the waiting bytes over the measurement window, one row a link and bucket.
    "queue_distribution" => QueueBucketRow {
        /// Name of the link.
        link: LinkIndex [""],
        /// Fewest bytes of the bucket.
        low_bytes: u64 ["B"],
        /// Most bytes of the bucket.
        high_bytes: u64 ["B"],
        /// Time spent in the bucket.
        time_s: f64 ["s"],
    }

    /// Distribution of the waiting packets over the measurement window, one row a link, class and bucket.
    "backlog_distribution" => BacklogBucketRow {
        /// Name of the link.
        link: LinkIndex [""],
        /// Which packets are counted.
        class: QueueClass [""],
        /// Fewest packets of the bucket.
        low_packets: u64 ["packets"],
        /// Most packets of the bucket.
        high_packets: u64 ["packets"],
        /// Time spent in the bucket.
        time_s: f64 ["s"],
    }

    /// Distribution of the waiting packets over windows of `trace.windows`, one row a window, link, class and
    /// bucket.
    "backlog_windows" => BacklogWindowRow {
        /// Start of the window.
        start_s: f64 ["s"],
        /// End of the window; the last one may be shorter.
        end_s: f64 ["s"],
        /// Name of the link.
        link: LinkIndex [""],
        /// Which packets are counted.
        class: QueueClass [""],
        /// Fewest packets of the bucket.
        low_packets: u64 ["packets"],
        /// Most packets of the bucket.
        high_packets: u64 ["packets"],
        /// Time spent in the bucket.
        time_s: f64 ["s"],
    }

    /// Distribution of the queueing delay over windows of `trace.windows`, one row a window, link, class and bucket.
    "delay_windows" => DelayWindowRow {
        /// Start of the window.
        start_s: f64 ["s"],
        /// End of the window; the last one may be shorter.
        end_s: f64 ["s"],
        /// Name of the link.
        link: LinkIndex [""],
        /// Class of the packets.
        class: QueueClass [""],
        /// Shortest delay of the bucket.
        low_s: f64 ["s"],
        /// Longest delay of the bucket.
        high_s: f64 ["s"],
        /// Packets in the bucket.
        packets: u64 ["packets"],
    }
}

/// The reference page of all tables.
pub fn schema_markdown() -> String {
    let mut text = String::new();
    for table in TABLES {
        text += &format!(
            "## `{}`\n\n{}\n\n| column | type | unit | meaning |\n|---|---|---|---|\n",
            table.name, table.doc
        );
        for column in table.columns {
            text += &format!(
                "| `{}` | {} | {} | {} |\n",
                column.name,
                column.kind.describe(),
                column.unit,
                column.doc
            );
        }
        text.push('\n');
    }
    text
}
