//! The policies of DCTCP.

use serde_json::{Value as Json, json};
use shoal_cc::{
    AlphaAfter, AlphaInRecovery, AlphaResolution, AlphaUpdate, CounterOnCut, CutRounding, CutStyle,
    DctcpConfig, FirstMark, Gain, LossBase, LossResponse, MarkCounting, ObservationEnd, SsthreshAfterCut,
    UndoWindow,
};

use crate::field::{Field, choices, section, suggest};
use crate::report::Report;
use crate::tree::{Node, Value};

section! {
    /// Policies of DCTCP.
    DctcpOptions {
        /// Resolution of alpha.
        #[source = "Stanford patch to Linux 3.2; tcp_dctcp.c; Kuehlewind et al. 2014 section III-A"]
        alpha_resolution: Option<AlphaResolution>,
        /// When alpha is updated.
        #[source = "RFC 8257 section 3.3; Kuehlewind et al. 2014 section III-B"]
        alpha_update: Option<AlphaUpdate>,
        /// What the marked fraction counts.
        #[source = "RFC 8257 section 3.3; Kuehlewind et al. 2014 section III-B"]
        counting: Option<MarkCounting>,
        /// Gain of the moving average: { shift = 4 } is 2^-4, { per_window_in_flight = 4 } divides it by the packets in flight.
        #[source = "RFC 8257 section 4.2; Kuehlewind et al. 2014 section III-B"]
        #[unit = "{ shift } | { per_window_in_flight }"]
        gain: Option<Gain>,
        /// When ECN-Echo changes, the first packet of the ACK that reports it counts with the previous state.
        /// Only if bytes are counted.
        #[source = "FreeBSD dctcp_ack_received"]
        corrects_edges: Option<bool>,
        /// Which ACK ends an observation window: the one that reaches its end, or the first one beyond.
        #[source = "tcp_dctcp.c next_seq; FreeBSD save_sndnxt"]
        observation_ends: Option<ObservationEnd>,
        /// First value of alpha, in 1/1024.
        #[source = "RFC 8257 section 4.1; Stanford patch to Linux 3.2 (zeroed memory)"]
        #[unit = "0 to 1024"]
        initial_alpha_q10: Option<AlphaQ10>,
        /// Alpha when sending resumes after an idle period longer than the RTO.
        #[source = "Kato et al. 2015 section 4.2.2"]
        alpha_after_idle: Option<AlphaAfter>,
        /// Alpha on a retransmission timeout.
        #[source = "Linux 3.18 dctcp_clamp_alpha_on_loss; Kato et al. 2015 section 4.2.3"]
        alpha_on_timeout: Option<AlphaAfter>,
        /// Alpha when duplicate ACKs lead into fast recovery.
        #[source = "Kato et al. 2015 section 4.2.3"]
        alpha_on_loss: Option<AlphaAfter>,
        /// Whether observation windows end in fast recovery; hold-then-ack: with the ACK that ends it.
        #[source = "FreeBSD dctcp_ack_received"]
        alpha_in_recovery: Option<AlphaInRecovery>,
        /// Alpha when recovery ends. Only FreeBSD stacks report that to the controller.
        #[source = "FreeBSD dctcp_post_recovery"]
        alpha_after_recovery: Option<AlphaAfter>,
        /// Whether a duplicate ACK counts in the marked fraction.
        #[source = "RFC 8257 section 3.3; Stanford patch to Linux 3.2"]
        counts_duplicates: Option<bool>,
        /// Most bytes that a duplicate ACK counts as, if bytes are counted.
        #[source = "Linux icsk_ack.rcv_mss without incoming data (TCP_MSS_DEFAULT)"]
        #[unit = "bytes"]
        duplicate_bytes_max: Option<u32>,
        /// How a reduction is made.
        #[source = "RFC 8257 section 3.3; Linux tcp_enter_cwr; Kuehlewind et al. 2014 section III-B; De Schepper et al. 2015"]
        cut: Option<CutStyle>,
        /// How the window after a cut is rounded, where windows count bytes.
        #[source = "FreeBSD dctcp_cong_signal of 2015 and since 2019"]
        cut_rounding: Option<CutRounding>,
        /// Response to the first mark: as to all others, or halve the window and set alpha to one.
        #[source = "FreeBSD net.inet.tcp.cc.dctcp.slowstart"]
        first_mark: Option<FirstMark>,
        /// Value of ssthresh after a cut.
        #[source = "Kuehlewind et al. 2014 section III-A"]
        ssthresh_after_cut: Option<SsthreshAfterCut>,
        /// Whether the window grows in CWR.
        #[source = "Kuehlewind et al. 2014 section III-A; Kato et al. 2015 section 4.1"]
        grows_in_cwr: Option<bool>,
        /// What happens to the linear-increase counter at an ECN episode.
        #[source = "Kuehlewind et al. 2014 section III-A"]
        counter_on_cut: Option<CounterOnCut>,
        /// Response to packet loss.
        #[source = "RFC 8257 section 3.4; tcp_dctcp.c before 5.1"]
        loss: Option<LossResponse>,
        /// Whether loss detected in CWR cuts ssthresh once more.
        #[source = "tcp_dctcp.c dctcp_state, since 5.1; FreeBSD CC_NDUPACK"]
        cuts_again_on_loss_in_cwr: Option<bool>,
        /// Window from which that cut is computed: the present one, or the one before the cut of the last
        /// mark.
        #[source = "FreeBSD snd_cwnd_prev"]
        loss_base: Option<LossBase>,
        /// Window restored when a reduction turns out spurious.
        #[source = "tcp_cong.c; tcp_dctcp.c since 4.9"]
        undo: Option<UndoWindow>,
        /// Whether CWR is sent.
        #[source = "RFC 3168 section 6.1.2; Kato et al. 2015 section 3.1"]
        sends_cwr: Option<bool>,
        /// Lowest window after a cut, in packets.
        #[source = "tcp_dctcp.c dctcp_ssthresh"]
        #[unit = "packets"]
        floor_packets: Option<FloorPackets>,
    }
}
overrides!(DctcpOptions of DctcpConfig {
    alpha_resolution, alpha_update, counting, gain, corrects_edges, observation_ends, initial_alpha_q10,
    alpha_after_idle, alpha_on_timeout, alpha_on_loss, alpha_in_recovery, alpha_after_recovery, counts_duplicates,
    duplicate_bytes_max, cut, cut_rounding, first_mark, ssthresh_after_cut, grows_in_cwr, counter_on_cut, loss,
    cuts_again_on_loss_in_cwr, loss_base, undo, sends_cwr, floor_packets,
});

choices!(AlphaResolution {
    "bits10" => Self::Bits10,
    "bits10-min-not-zero" => Self::Bits10MinNotZero,
    "bits20" => Self::Bits20,
    "exact" => Self::Exact,
});
choices!(AlphaUpdate { "per-window" => Self::PerWindow, "per-ack" => Self::PerAck, });
choices!(MarkCounting { "packets" => Self::Packets, "bytes" => Self::Bytes, "acks" => Self::Acks, });
choices!(AlphaAfter {
    "keep" => Self::Keep,
    "reinitialise" => Self::Reinitialise,
    "one" => Self::One,
    "update" => Self::Update,
});
choices!(ObservationEnd { "at-end" => Self::AtEnd, "beyond-end" => Self::BeyondEnd, });
choices!(AlphaInRecovery {
    "continue" => Self::Continue,
    "hold" => Self::Hold,
    "hold-then-ack" => Self::HoldThenAck,
});
choices!(FirstMark { "as-any" => Self::AsAny, "halve" => Self::Halve, });
choices!(CutRounding { "exact" => Self::Exact, "whole-packets" => Self::WholePackets, });
choices!(LossBase { "window" => Self::Window, "at-last-mark" => Self::AtLastMark, });
choices!(CutStyle {
    "once-at-once" => Self::OnceAtOnce,
    "once-spread" => Self::OnceSpread,
    "progressive" => Self::Progressive,
    "per-mark" => Self::PerMark,
});
choices!(SsthreshAfterCut { "cwnd" => Self::Cwnd, "cwnd-minus-one" => Self::CwndMinusOne, });
choices!(CounterOnCut {
    "clear" => Self::Clear,
    "keep-unless-cut" => Self::KeepUnlessCut,
    "keep" => Self::Keep,
});
choices!(LossResponse { "halve" => Self::Halve, "alpha" => Self::Alpha, });

bounded!(
    /// Alpha with ten fractional bits.
    AlphaQ10(u16), 0..=1024, "alpha goes from 0 to 1024, which is one"
);
bounded!(
    /// A window that can still send.
    FloorPackets(u32), 1..=u32::MAX, "the window needs at least one packet"
);

impl Field for Gain {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        const KEYS: &[&str] = &["shift", "per_window_in_flight"];
        const HINT: &str = "as in { shift = 4 } or { per_window_in_flight = 4 }";
        let [entry] = crate::field::entries(node, HINT, report)? else {
            report.error(&node.mark, "a gain has one key", HINT);
            return None;
        };
        let shift = match entry.node.value {
            Value::Integer(n @ 0..=10) => n as u8,
            _ => {
                // Linux accepts 0..=10 for dctcp_shift_g; the per-ACK gain in Kühlewind et al. 2014 is 8.
                report.error(&entry.node.mark, "not a usable shift", "a whole number from 0 to 10");
                return None;
            }
        };
        match entry.key.as_str() {
            "shift" => Some(Self::Shift(shift)),
            "per_window_in_flight" => Some(Self::PerWindowInFlight(shift)),
            key => {
                report.error(&entry.key_mark, format!("unknown gain `{key}`"), suggest(key, KEYS));
                None
            }
        }
    }
    fn write(&self) -> Option<Json> {
        Some(match self {
            Self::Shift(n) => json!({ "shift": n }),
            Self::PerWindowInFlight(n) => json!({ "per_window_in_flight": n }),
        })
    }
    fn schema() -> Json {
        let shift = json!({ "type": "integer", "minimum": 0, "maximum": 10 });
        json!({ "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
                "properties": { "shift": shift, "per_window_in_flight": shift } })
    }
}
