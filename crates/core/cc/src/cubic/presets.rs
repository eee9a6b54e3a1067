//! The presets `cubic` and `cubic-rfc9438`.

use crate::{CcConfig, CubicArithmetic, CubicConfig, Preset};
use shoal_units::{Difference, ModelDoc, ModelKind};

/// The presets, in the order in which they are listed.
pub(crate) const PRESETS: &[Preset] = &[
    Preset::new(CcConfig::Cubic(CUBIC), CUBIC_DOC),
    Preset::new(CcConfig::Cubic(CUBIC_RFC9438), CUBIC_RFC9438_DOC),
];

/// `cubic`: the Linux module with its defaults.
pub const CUBIC: CubicConfig = CubicConfig {
    arithmetic: CubicArithmetic::Linux,
    fast_convergence: true,
    reno_friendly: true,
    hystart: true,
};

/// `cubic-rfc9438`: the formulas. HyStart is not part of that document (its section 4.10 leaves slow start
/// open).
pub const CUBIC_RFC9438: CubicConfig = CubicConfig {
    arithmetic: CubicArithmetic::Rfc9438,
    fast_convergence: true,
    reno_friendly: true,
    hystart: false,
};

/// Description of `cubic`.
pub const CUBIC_DOC: ModelDoc = ModelDoc {
    name: "cubic",
    kind: ModelKind::CongestionControl,
    summary: "CUBIC in the integers of Linux, beta 717/1024, C = 410/1024; version by the host stack.",
    follows: "Linux net/ipv4/tcp_cubic.c of 3.2, 3.18 and 6.x",
    differences: &[
        Difference {
            text: "The start of an epoch is an option, not a clock value of which zero means none: no special case \
                   when the 32-bit jiffies pass zero.",
            test: "an_epoch_may_start_at_clock_zero",
        },
        Difference {
            text: "Outside an epoch 3.2 compares the clock itself with one second and so ignores all RTT samples \
                   while its 32-bit jiffies are negative (300 s after boot, then every 25 days); here samples always \
                   count outside an epoch, as in later versions.",
            test: "rtt_has_the_resolution_of_the_kernels_clock",
        },
        Difference {
            text: "Kernels from 4.0 to 5.5 (packets counted, HyStart in milliseconds) are not told apart from 6.x.",
            test: "later_samples_of_a_round_count_since_6_x_only",
        },
        Difference {
            text: "Before 4.0 the delayed-ACK ratio follows ACKs in Open only; here also in Disorder, which a \
                   controller does not see.",
            test: "the_delayed_ack_ratio_scales_growth_before_4_0",
        },
        Difference {
            text: "No difference, but to be known when slopes are fitted: from p = 3e-5 to 1e-3 at 100 ms the window \
                   goes with p to -0.72, not -0.75, because the estimate of Reno takes over at the upper end. \
                   reno_friendly = false gives -0.74; HyStart and the integer cube root have no part in it \
                   (cubic-rfc9438: -0.71 and -0.75).",
            test: "the_reno_friendly_region_flattens_cubics_law",
        },
    ],
};

/// Description of `cubic-rfc9438`.
pub const CUBIC_RFC9438_DOC: ModelDoc = ModelDoc {
    name: "cubic-rfc9438",
    kind: ModelKind::CongestionControl,
    summary: "CUBIC by the formulas of its RFC in floating point, beta 0.7, C = 0.4.",
    follows: "RFC 9438",
    differences: &[
        Difference {
            text: "On a host that counts packets (Linux since 4.0) an ACK for n packets grows the window by n times \
                   the increment of section 4.2, which the document gives an ACK.",
            test: "an_ack_is_worth_what_the_host_counts",
        },
        Difference {
            text: "An undo restores the window but not W_max, K and the epoch (section 4.9 restores all).",
            test: "undo_restores_the_window_only",
        },
    ],
};
