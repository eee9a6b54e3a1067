//! The versions of TCP Prague.

use crate::{
    CcConfig, FallbackConstants, FirstCe, IncreaseUnit, PacedWindow, PragueConfig, Preset, RttIndependence,
    WindowSteps,
};
use shoal_units::{Difference, ModelDoc, ModelKind};

pub use super::config::PRAGUE_0_7;

/// The presets, in the order in which they are listed.
pub(crate) const PRESETS: &[Preset] = &[
    Preset::new(CcConfig::Prague(PRAGUE_2020), PRAGUE_2020_DOC),
    Preset::new(CcConfig::Prague(PRAGUE_0_6), PRAGUE_0_6_DOC),
    Preset::new(CcConfig::Prague(PRAGUE_0_7_EARLY), PRAGUE_0_7_EARLY_DOC),
    Preset::new(CcConfig::Prague(PRAGUE_0_7), PRAGUE_0_7_DOC),
];

/// `prague-0.7-early`: the 24 bits of 0.7 with the constants of 20 bits, and an increase of one packet.
pub const PRAGUE_0_7_EARLY: PragueConfig = PragueConfig {
    increase_unit: IncreaseUnit::Packet,
    paced_window: PacedWindow::Cwnd,
    fallback_constants: FallbackConstants::Of20Bits,
    ..PRAGUE_0_7
};

/// `prague-0.6`: a window with a fraction, and independence of the RTT after 500 rounds.
pub const PRAGUE_0_6: PragueConfig = PragueConfig {
    alpha_bits: 20,
    initial_alpha_q10: 1024,
    first_ce: FirstCe::AsAny,
    independent_after_rounds: 500,
    paced_window: PacedWindow::Fractional,
    rate_mode_packets: 0,
    sizes_packets: false,
    fallback_constants: FallbackConstants::Scaled,
    ..PRAGUE_0_7_EARLY
};

/// `prague-2020`: version 0.5, which depends on the RTT.
pub const PRAGUE_2020: PragueConfig = PragueConfig {
    rtt_independence: RttIndependence::Off,
    rtt_target_us: 15_000,
    independent_after_rounds: 100,
    alpha_waits_for_target: false,
    cut_waits_for_target: false,
    window_steps: WindowSteps::Carry,
    paced_window: PacedWindow::Cwnd,
    ..PRAGUE_0_6
};

const IN_RECOVERY: Difference = Difference {
    text: "In fast recovery the endpoint brings cwnd to half of the window (proportional rate reduction); the kernel's \
           module has the window to itself, and takes a packet off it with each ACK.",
    test: "a_loss_halves_the_window_and_leaves_the_rest_to_the_endpoint",
};

const AFTER_TIMEOUT: Difference = Difference {
    text: "After a timeout slow start goes up to half of the window, and linear growth begins when recovery has ended \
           (grows_in_loss switches that off). In the kernel the steps by which cwnd follows the window come to the \
           same.",
    test: "after_a_timeout_slow_start_goes_up_to_what_the_cut_left",
};

const HEADERS: Difference = Difference {
    text: "A full packet is the MSS and 52 B, the headers with timestamps over IPv4, whatever the headers are.",
    test: "the_pacing_rate_is_that_of_the_window_that_the_version_takes",
};

const WAITS_FOR_MARKS: Difference = Difference {
    text: "No difference, but what a user sees who knows the formulas (rate 0.96 (1/p - 1) Mbit/s with RTTs up to \
           25 ms, window 2 (1/p - 1) packets where the law depends on the RTT): with random marks rates are 1.37 \
           times that, up to 1.45 with RTTs around 10 ms. A cut waits for a mark after the 25 ms, or the RTT, for \
           which there is none. The formulas hold where each of these brings a cut.",
    test: "waiting_for_a_mark_makes_the_rate_a_third_larger_than_the_formula",
};

const TINY_ROUND_TRIPS: Difference = Difference {
    text: "No difference, but a limit of the 20 bits: below an RTT of about 25 us the increase for a packet, (RTT / \
           25 ms)^2 / cwnd, is rounded to nothing. Only the rate mode grows there.",
    test: "at_tiny_round_trips_20_bits_cannot_hold_an_increase",
};

const EPISODES: Difference = Difference {
    text: "No difference, but an effect of CWR: a mark less than 25 ms after the last cut begins an episode without \
           one, during which there is none either. Just below an RTT of 25 ms cuts come every second RTT.",
    test: "an_episode_without_a_cut_delays_the_next_one",
};

const FALLBACK: Difference = Difference {
    text: "The indicator of the classic-ECN fallback (off by default) has averages of the RTT in units of 2^-8 us, \
           so that with thresholds of 4096 packets and more, where the gain is 2^-18, deviations of less than 0.5 \
           ms do not move them; and the least RTT is that of the connection, not of the last five minutes.",
    test: "the_slowest_average_of_the_rtt_does_not_see_less_than_half_a_millisecond",
};

const RATE_MODE: Difference = Difference {
    text: "In the rate mode growth does not ask whether the window is used, because cwnd, two packets or more, may \
           be larger than what the rate needs; the mode begins outside of slow start only.",
    test: "a_rate_grows_without_a_filled_window",
};

const RATE_WINDOW: Difference = Difference {
    text: "In the rate mode cwnd is what the faster half of a round needs (1.03 times the rate), at least two \
           packets; the source says how packets are paced there, and not this.",
    test: "with_up_to_four_packets_the_state_is_a_rate_once_ce_was_seen",
};

const RATE_UNDO: Difference = Difference {
    text: "An undo in the rate mode restores the rate if cwnd was larger than its smallest value; otherwise the \
           rate stays at half.",
    test: "a_loss_halves_the_rate_and_an_undo_restores_it",
};

const NO_OTHER_MODES: Difference = Difference {
    text: "RTT independence is off or max(RTT, target). The modes \"scalable\" and \"additive\" of the kernel up to \
           the early 0.7, which none has as its default, are not modelled.",
    test: "the_increase_is_that_of_the_ratio_squared_below_the_target_only",
};

/// Description of `prague-2020`.
pub const PRAGUE_2020_DOC: ModelDoc = ModelDoc {
    name: "prague-2020",
    kind: ModelKind::CongestionControl,
    summary: "TCP Prague 0.5, of the L4S laboratories of 2020: DCTCP with 20 bits, growth in CWR and pacing, \
              dependent on the RTT.",
    follows: "L4STeam/linux net/ipv4/tcp_prague.c at b256daedc767 (2020-08-04, version 0.5); RFC 9331",
    differences: &[IN_RECOVERY, AFTER_TIMEOUT, HEADERS, WAITS_FOR_MARKS, FALLBACK, NO_OTHER_MODES],
};

/// Description of `prague-0.6`.
pub const PRAGUE_0_6_DOC: ModelDoc = ModelDoc {
    name: "prague-0.6",
    kind: ModelKind::CongestionControl,
    summary: "TCP Prague 0.6: after 500 rounds rates do not depend on RTTs below 25 ms; a window with a fraction.",
    follows: "L4STeam/linux net/ipv4/tcp_prague.c at 02573a215581 (version 0.6); draft-briscoe-iccrg-prague-congestion-\
              control-00; RFC 9331",
    differences: &[
        IN_RECOVERY,
        AFTER_TIMEOUT,
        HEADERS,
        WAITS_FOR_MARKS,
        TINY_ROUND_TRIPS,
        EPISODES,
        FALLBACK,
        NO_OTHER_MODES,
    ],
};

/// Description of `prague-0.7-early`.
pub const PRAGUE_0_7_EARLY_DOC: ModelDoc = ModelDoc {
    name: "prague-0.7-early",
    kind: ModelKind::CongestionControl,
    summary: "TCP Prague of the 5.15 kernels of 2023 to 2025: alpha from zero, a rate mode with small packets, and a \
              fallback (off) whose constants are wrong.",
    follows: "L4STeam/tcp-prague at 90aea47f94ef; RFC 9331",
    differences: &[
        IN_RECOVERY,
        AFTER_TIMEOUT,
        HEADERS,
        WAITS_FOR_MARKS,
        TINY_ROUND_TRIPS,
        EPISODES,
        RATE_MODE,
        RATE_WINDOW,
        RATE_UNDO,
        FALLBACK,
        Difference {
            text: "No difference, but a defect of this version: its fallback, if switched on, takes any queue for a \
                   classic one, because its constants are those of an alpha of 20 bits. Deviations of the RTT above \
                   1.5 us and queues above 1.6 us count as evidence, not 750 us and 2 ms.",
            test: "a_queue_of_50_us_looks_like_l4s_with_the_right_constants_and_classic_with_the_wrong_ones",
        },
        Difference {
            text: "The window grows if it is used; in this version the kernel asks whether the application had data to \
                   send.",
            test: "only_a_flow_that_fills_its_window_grows",
        },
        NO_OTHER_MODES,
    ],
};

/// Description of `prague-0.7`.
pub const PRAGUE_0_7_DOC: ModelDoc = ModelDoc {
    name: "prague-0.7",
    kind: ModelKind::CongestionControl,
    summary: "TCP Prague 0.7: rates do not depend on RTTs below 25 ms nor on the packet size; a rate mode with small \
              packets.",
    follows: "L4STeam/linux net/ipv4/tcp_prague.c at 893e1479793e, and minuscat/rpi-6.18.y at 330b511ac19e (version \
              0.7); RFC 9331",
    differences: &[
        IN_RECOVERY,
        AFTER_TIMEOUT,
        HEADERS,
        WAITS_FOR_MARKS,
        TINY_ROUND_TRIPS,
        EPISODES,
        RATE_MODE,
        RATE_WINDOW,
        RATE_UNDO,
        Difference {
            text: "The classic-ECN fallback, which this version has no longer, can be switched on \
                   (classic_fallback), with the constants that an alpha of 24 bits needs.",
            test: "a_deep_queue_that_varies_looks_classic_after_two_rounds",
        },
        Difference {
            text: "The kernel's option to start alpha from one is initial_alpha_q10 = 1024.",
            test: "the_first_value_is_one_up_to_0_6_and_zero_in_0_7",
        },
    ],
};
