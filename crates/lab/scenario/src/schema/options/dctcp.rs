//! The policies of DCTCP.

use serde_json::{Value as Json, json};
use shoal_cc::{
    AlphaAfter, AlphaInRecovery, AlphaResolution, AlphaUpdate, CounterOnCut, CutRounding, CutStyle,
    DctcpConfig, FirstMark, Gain, LossBase, LossResponse, MarkCounting, ObservationEnd, SsthreshAfterCut,
    UndoWindow,
};

use crate::field::{Field, Section, choices, suggest};
use crate::report::Report;
use crate::tree::{Node, Value};

/// Policies of DCTCP.
#[derive(Clone, PartialEq, Debug, Section)]
pub(super) struct DctcpOptions {
    /// Resolution of alpha.
    #[key(source = "Stanford patch to Linux 3.2; tcp_dctcp.c; Kuehlewind et al. 2014 section III-A")]
    pub alpha_resolution: Option<AlphaResolution>,
    /// When alpha is updated.
    #[key(source = "RFC 8257 section 3.3; Kuehlewind et al. 2014 section III-B")]
    pub alpha_update: Option<AlphaUpdate>,
    /// What the marked fraction counts.
    #[key(source = "RFC 8257 section 3.3; Kuehlewind et al. 2014 section III-B")]
    pub counting: Option<MarkCounting>,
    /// Gain of the moving average: { shift = 4 } is 2^-4, { per_window_in_flight = 4 } divides it by the packets in
    /// flight.
    #[key(
        unit = "{ shift } | { per_window_in_flight }",
        source = "RFC 8257 section 4.2; Kuehlewind et al. 2014 section III-B"
    )]
    pub gain: Option<Gain>,
    /// When ECN-Echo changes, the first packet of the ACK that reports it counts with the previous state. Only if bytes
    /// are counted.
    #[key(source = "FreeBSD dctcp_ack_received")]
    pub corrects_edges: Option<bool>,
    /// Which ACK ends an observation window: the one that reaches its end, or the first one beyond.
    #[key(source = "tcp_dctcp.c next_seq; FreeBSD save_sndnxt")]
    pub observation_ends: Option<ObservationEnd>,
    /// First value of alpha, in 1/1024.
    #[key(unit = "0 to 1024", source = "RFC 8257 section 4.1; Stanford patch to Linux 3.2 (zeroed memory)")]
    pub initial_alpha_q10: Option<AlphaQ10>,
    /// Alpha when sending resumes after an idle period longer than the RTO.
    #[key(source = "Kato et al. 2015 section 4.2.2")]
    pub alpha_after_idle: Option<AlphaAfter>,
    /// Alpha on a retransmission timeout.
    #[key(source = "Linux 3.18 dctcp_clamp_alpha_on_loss; Kato et al. 2015 section 4.2.3")]
    pub alpha_on_timeout: Option<AlphaAfter>,
    /// Alpha when duplicate ACKs lead into fast recovery.
    #[key(source = "Kato et al. 2015 section 4.2.3")]
    pub alpha_on_loss: Option<AlphaAfter>,
    /// Whether observation windows end in fast recovery; hold-then-ack: with the ACK that ends it.
    #[key(source = "FreeBSD dctcp_ack_received")]
    pub alpha_in_recovery: Option<AlphaInRecovery>,
    /// Alpha when recovery ends. Only FreeBSD stacks report that to the controller.
    #[key(source = "FreeBSD dctcp_post_recovery")]
    pub alpha_after_recovery: Option<AlphaAfter>,
    /// Whether a duplicate ACK counts in the marked fraction.
    #[key(source = "RFC 8257 section 3.3; Stanford patch to Linux 3.2")]
    pub counts_duplicates: Option<bool>,
    /// Most bytes that a duplicate ACK counts as, if bytes are counted.
    #[key(unit = "bytes", source = "Linux icsk_ack.rcv_mss without incoming data (TCP_MSS_DEFAULT)")]
    pub duplicate_bytes_max: Option<u32>,
    /// How a reduction is made.
    #[key(
        source = "RFC 8257 section 3.3; Linux tcp_enter_cwr; Kuehlewind et al. 2014 section III-B; De Schepper et al. \
                  2015"
    )]
    pub cut: Option<CutStyle>,
    /// How the window after a cut is rounded, where windows count bytes.
    #[key(source = "FreeBSD dctcp_cong_signal of 2015 and since 2019")]
    pub cut_rounding: Option<CutRounding>,
    /// Response to the first mark: as to all others, or halve the window and set alpha to one.
    #[key(source = "FreeBSD net.inet.tcp.cc.dctcp.slowstart")]
    pub first_mark: Option<FirstMark>,
    /// Value of ssthresh after a cut.
    #[key(source = "Kuehlewind et al. 2014 section III-A")]
    pub ssthresh_after_cut: Option<SsthreshAfterCut>,
    /// Whether the window grows in CWR.
    #[key(source = "Kuehlewind et al. 2014 section III-A; Kato et al. 2015 section 4.1")]
    pub grows_in_cwr: Option<bool>,
    /// What happens to the linear-increase counter at an ECN episode.
    #[key(source = "Kuehlewind et al. 2014 section III-A")]
    pub counter_on_cut: Option<CounterOnCut>,
    /// Response to packet loss.
    #[key(source = "RFC 8257 section 3.4; tcp_dctcp.c before 5.1")]
    pub loss: Option<LossResponse>,
    /// Whether loss detected in CWR cuts ssthresh once more.
    #[key(source = "tcp_dctcp.c dctcp_state, since 5.1; FreeBSD CC_NDUPACK")]
    pub cuts_again_on_loss_in_cwr: Option<bool>,
    /// Window from which that cut is computed: the present one, or the one before the cut of the last mark.
    #[key(source = "FreeBSD snd_cwnd_prev")]
    pub loss_base: Option<LossBase>,
    /// Whether proportional rate reduction counts from the window of such a loss, if that is larger than the one with
    /// which CWR began.
    #[key(source = "RFC 6937 section 3; the cure of docs/findings/dctcp-storm, which no kernel has")]
    pub raises_prr_base_on_loss: Option<bool>,
    /// Window restored when a reduction turns out spurious.
    #[key(source = "tcp_cong.c; tcp_dctcp.c since 4.9")]
    pub undo: Option<UndoWindow>,
    /// Whether CWR is sent.
    #[key(source = "RFC 3168 section 6.1.2; Kato et al. 2015 section 3.1")]
    pub sends_cwr: Option<bool>,
    /// Lowest window after a cut, in packets.
    #[key(unit = "packets", source = "tcp_dctcp.c dctcp_ssthresh")]
    pub floor_packets: Option<FloorPackets>,
}
overrides!(DctcpOptions of DctcpConfig {
    alpha_resolution, alpha_update, counting, gain, corrects_edges, observation_ends, initial_alpha_q10,
    alpha_after_idle, alpha_on_timeout, alpha_on_loss, alpha_in_recovery, alpha_after_recovery, counts_duplicates,
    duplicate_bytes_max, cut, cut_rounding, first_mark, ssthresh_after_cut, grows_in_cwr, counter_on_cut, loss,
    cuts_again_on_loss_in_cwr, loss_base, raises_prr_base_on_loss, undo, sends_cwr, floor_packets,
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
