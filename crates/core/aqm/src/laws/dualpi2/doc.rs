//! What users read about it, and its known differences.

use crate::shell::PROTECTION;
use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "dualpi2",
    kind: ModelKind::Queue,
    summary: "Two queues and one PI controller: low-latency packets are marked with k p', classic ones dropped with \
              p'^2.",
    follows: "Linux net/sched/sch_dualpi2.c (6.18) in its integers; options of RFC 9332 appendix A, of RFC 9957, \
              and of L4STeam/linux",
    differences: &[
        Difference {
            text: "There are no filters, and no class of low-latency packets that is never marked: the codepoint \
                   alone decides.",
            test: "the_mask_says_what_is_low_latency",
        },
        Difference {
            text: "Counts the bytes of the IP packet; the kernel adds 14 bytes on Ethernet, to packets and to the MTU \
                   alike, and its memlimit counts the memory of buffers.",
            test: "both_limits_count_both_queues",
        },
        Difference {
            text: "The controller runs at exact multiples of Tupdate from time 0; the kernel's timer adds its latency \
                   each time.",
            test: "the_oldest_head_drives_the_controller",
        },
        Difference {
            text: "A packet that the step and the coupling mark counts as one of the step.",
            test: "the_step_looks_at_the_packets_own_wait",
        },
        Difference {
            text: "RFC 9332 suppresses the ramp for a queue of one packet; whether the leaving packet counts is not \
                   clear from its pseudocode. Here it does.",
            test: "the_ramp_rises_with_the_wait",
        },
        Difference {
            text: "Defaults are Linux'. RFC 9332 appendix A has Tupdate = 15 ms with gains of 0.15 and 3 Hz, the ramp \
                   instead of the step, and recur for the low-latency queue; one key each. Its p_Cmax = 1/k^2 is \
                   where k p' exceeds 1: the same overload.",
            test: "the_ramp_rises_with_the_wait",
        },
        Difference {
            text: "With ramp, recur and time-shifted the controller still computes in Linux' integers, not in the \
                   RFC's real numbers.",
            test: "the_larger_likelihood_marks",
        },
        Difference {
            text: "form = \"l4steam\" follows L4STeam/linux at 29c297fd79dd (2019 to 2021) where that differs in \
                   what it computes: gains are scaled as in mainline and then divided by 127, each product by \
                   itself, where mainline divides by 64: 0.16 and 3.2 Hz act as 0.0807 and 1.611 Hz. The first \
                   update comes half a second after set-up, and the step spares packets that met less than two. \
                   ECT(0) in the classic queue is marked, and dropped on overload, in both. Its largest gain of \
                   40000 Hz is not checked.",
            test: "gains_act_as_about_half",
        },
        Difference {
            text: "The L4S team's module updates by a timer that counts jiffies and takes the next slot: 16 ms become \
                   17 ms with HZ = 1000 and 20 ms with HZ = 250, and the first comes after 504 ms with HZ = 1000. \
                   Here updates come every tupdate: write tupdate = \"17 ms\" or \"20 ms\" for them.",
            test: "the_first_update_is_half_a_second_after_set_up",
        },
        Difference {
            text: "native = \"docsis-ramp\" is the ramp of RFC 9957 with the bytes of the low-latency queue at the \
                   line's rate, the arriving packet included, as downstream in DOCSIS; upstream it takes a virtual \
                   queue. The coupled probability is dualpi2's, not that of DOCSIS' PIE.",
            test: "arrivals_are_marked_by_the_bytes_that_they_meet",
        },
        PROTECTION,
        Difference {
            text: "No difference, but what a user of RFC 9332 may not expect: gains are rounded down twice, by tc to \
                   multiples of 1/256 Hz and by the kernel to such of 10^9 / 2^38 Hz, about 1/275. An alpha of 0.15 Hz \
                   acts as 0.1455 Hz, a beta of 3 Hz as 2.998 Hz, and the defaults as 0.1601 and 3.1978 Hz (0.1602 and \
                   3.1992 written). Runs say it where the difference is above 1 %.",
            test: "gains_that_act_are_rounded_twice",
        },
        Difference {
            text: "No difference, but what a user sees first at base RTTs of 50 to 100 ms: DCTCP's W p is two to \
                   three times what it is at short ones. Marks are then rarer than 3 %, where the kernel's integers \
                   lose alpha (`shoal describe dctcp`); with alpha_resolution = \"exact\" W p stays near 2. The step \
                   of 1 ms does not cause it: without the step the excess is larger.",
            test: "dctcps_integers_raise_its_window_at_long_round_trips",
        },
    ],
};
