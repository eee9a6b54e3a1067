//! The FreeBSD stacks: what their kernels do that no other does, and the two profiles.

use super::{CwrAck, EchoChange, Kernel, Profile};
use shoal_cc::{AckCounting, GrowthRules, SlowStartTest};
use shoal_units::Span;

/// In what the modelled FreeBSD kernels differ from each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreeBsd {
    /// Added to every retransmission timeout (`net.inet.tcp.rexmit_slop`, `TCPTV_CPU_VAR`).
    pub rto_slop: Span,
    /// The first five SYNs are as far apart as two (`tcp_syn_backoff` before 2019); else their distance doubles.
    pub syns_keep_pace: bool,
    /// Reductions follow PRR (`net.inet.tcp.do_prr`); else recovery starts at one segment and congestion recovery at its target.
    pub prr: bool,
    /// SACKed bytes beyond two segments begin recovery, and flight is what RFC 6675 says (`net.inet.tcp.sack.revised`).
    pub rfc6675: bool,
    /// Segments repeated by SACK recovery are ECT: the test was whether `snd_nxt` lies before `snd_max`.
    pub ect_on_sack_retransmissions: bool,
    /// CWR goes out with any segment; else only with new data (RFC 3168 section 6.1.2).
    pub cwr_on_any_segment: bool,
    /// A timeout is announced by CWR whatever the controller; else only DCTCP does so.
    pub cwr_on_timeout: bool,
    /// ECN-Echo on the acknowledgement of the data with CWR begins a new episode; else it is ignored like all in the episode.
    pub echo_of_cwr_counts: bool,
    /// Most segments that one ACK counts in congestion avoidance (`net.inet.tcp.abc_l_var`); none since 2019.
    pub avoidance_limit: Option<u32>,
    /// Idle means that nothing was sent either for an RTO; else only that nothing arrived.
    pub idle_counts_sending: bool,
    /// The window after idle is that of RFC 3390, and `ssthresh` stays; else the initial window, with `ssthresh` raised to
    /// three quarters of the old one (RFC 2861).
    pub restarts_by_rfc3390: bool,
    /// A timeout was spurious if the next ACK echoes an older timestamp; else if that ACK comes within half an SRTT.
    pub undoes_by_timestamp: bool,
    /// Data received twice is reported (RFC 2883).
    pub reports_dsack: bool,
}

const GROWTH: GrowthRules = GrowthRules {
    counting: AckCounting::Bytes,
    slow_start_test: SlowStartTest::BelowOrAt,
    slow_start_counting: AckCounting::Bytes,
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
