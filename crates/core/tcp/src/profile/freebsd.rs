//! The FreeBSD stacks: rules that only their kernels have, and the two profiles.

use super::{CwrAck, EchoChange, Kernel, Profile};
use shoal_cc::{AckCounting, GrowthRules, SlowStartTest};
use shoal_units::Span;

/// Differences between the modelled FreeBSD kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreeBsd {
    /// Time added to every retransmission timeout (`net.inet.tcp.rexmit_slop`, `TCPTV_CPU_VAR`).
    pub rto_slop: Span,
    /// Whether the first five SYNs are equally spaced (`tcp_syn_backoff` before 2019); otherwise their
    /// distance doubles.
    pub syns_keep_pace: bool,
    /// Whether reductions follow PRR (`net.inet.tcp.do_prr`); otherwise recovery starts at one segment and
    /// congestion recovery at its target.
    pub prr: bool,
    /// Whether more than two SACKed segments begin recovery, and the flight is computed as in
    /// [RFC 6675](https://www.rfc-editor.org/rfc/rfc6675) (`net.inet.tcp.sack.revised`).
    pub rfc6675: bool,
    /// Whether segments that SACK recovery retransmits are ECT: the kernel tested whether `snd_nxt` is below
    /// `snd_max`.
    pub ect_on_sack_retransmissions: bool,
    /// Whether any segment may carry CWR; otherwise only new data
    /// ([RFC 3168, section 6.1.2](https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2)).
    pub cwr_on_any_segment: bool,
    /// Whether CWR announces a timeout with every controller; otherwise only with DCTCP.
    pub cwr_on_timeout: bool,
    /// Whether ECN-Echo on the acknowledgement of the data with CWR begins a new episode; otherwise it is
    /// ignored like every ECN-Echo in the episode.
    pub echo_of_cwr_counts: bool,
    /// Most segments that one ACK counts in congestion avoidance (`net.inet.tcp.abc_l_var`); no limit since
    /// 2019.
    pub avoidance_limit: Option<u32>,
    /// Whether a connection is idle only if it has not sent for an RTO either; otherwise if nothing has
    /// arrived.
    pub idle_counts_sending: bool,
    /// Whether the window after idle is that of [RFC 3390](https://www.rfc-editor.org/rfc/rfc3390), with an
    /// unchanged `ssthresh`; otherwise it is the initial window, with `ssthresh` raised to three quarters of
    /// the old window ([RFC 2861](https://www.rfc-editor.org/rfc/rfc2861)).
    pub restarts_by_rfc3390: bool,
    /// Whether a timeout is spurious if the next ACK echoes an older timestamp; otherwise if that ACK arrives
    /// within half an SRTT.
    pub undoes_by_timestamp: bool,
    /// Whether data that were received twice are reported
    /// ([RFC 2883](https://www.rfc-editor.org/rfc/rfc2883)).
    pub reports_dsack: bool,
}

const GROWTH: GrowthRules = GrowthRules {
    counting: AckCounting::Bytes,
    slow_start_test: SlowStartTest::BelowOrAt,
    slow_start_counting: AckCounting::Bytes,
    is_paced: false,
};

impl Profile {
    /// FreeBSD-CURRENT of 2014/15: the kernel of Kato et al. 2015.
    pub const FREEBSD_2015: Self = Self {
        name: "freebsd-2015",
        kernel: Kernel::FreeBsd(FreeBsd {
            rto_slop: Span::from_millis(200),
            syns_keep_pace: true,
            prr: false,
            rfc6675: false,
            ect_on_sack_retransmissions: true,
            cwr_on_any_segment: true,
            cwr_on_timeout: false,
            echo_of_cwr_counts: false,
            avoidance_limit: Some(2),
            idle_counts_sending: false,
            restarts_by_rfc3390: true,
            undoes_by_timestamp: false,
            reports_dsack: false,
        }),
        growth: GROWTH,
        // TCPTV_MIN = hz/33 ticks of 1 ms.
        rto_min: Span::from_millis(30),
        rto_max: Span::from_secs(64),
        rto_initial: Span::from_secs(3),
        delack_max: Span::from_millis(100),
        initial_window: 10,
        echo_change: EchoChange::Ack,
        not_ect_clears_echo: false,
        cwr_ack: CwrAck::Delayed,
    };
    /// FreeBSD 14.
    pub const FREEBSD_14: Self = Self {
        name: "freebsd-14",
        kernel: Kernel::FreeBsd(FreeBsd {
            rto_slop: Span::from_millis(200),
            syns_keep_pace: false,
            prr: true,
            rfc6675: true,
            ect_on_sack_retransmissions: false,
            cwr_on_any_segment: false,
            cwr_on_timeout: true,
            echo_of_cwr_counts: true,
            avoidance_limit: None,
            idle_counts_sending: true,
            restarts_by_rfc3390: false,
            undoes_by_timestamp: true,
            reports_dsack: true,
        }),
        rto_initial: Span::from_secs(1),
        delack_max: Span::from_millis(40),
        not_ect_clears_echo: true,
        cwr_ack: CwrAck::AtOnce,
        ..Self::FREEBSD_2015
    };
}
