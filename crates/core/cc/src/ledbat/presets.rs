//! The preset of LEDBAT and its description.

use crate::{CcConfig, Preset};
use shoal_units::{Difference, ModelDoc, ModelKind};

pub(crate) use super::config::LEDBAT;

/// The presets, in the order in which they are listed.
pub(crate) const PRESETS: &[Preset] = &[Preset::new(CcConfig::Ledbat(LEDBAT), LEDBAT_DOC)];

/// Description of `ledbat`.
const LEDBAT_DOC: ModelDoc = ModelDoc {
    name: "ledbat",
    kind: ModelKind::CongestionControl,
    summary: "Background transport: the window grows or shrinks in proportion to the distance of the queueing delay, \
              measured one way, from a target. Starts with two packets, without slow start.",
    follows: "RFC 6817 sections 2.4.2 and 2.5; RFC 7323 section 4.1 (timestamps)",
    differences: &[
        Difference {
            text: "Delays are differences of TCP timestamps, in ticks of 1 ms as Linux has them (clock_us); RFC 6817 \
                   leaves stamps and their resolution to the protocol. A target of a few ticks is met to within a \
                   tick.",
            test: "a_coarse_clock_moves_the_queue_by_at_most_a_tick",
        },
        Difference {
            text: "An ACK gives one sample, that of the first packet which it acknowledges (RFC 7323 section 4.1), \
                   however many it acknowledges; the receiver of RFC 6817 returns one for each packet. Waiting for the \
                   second packet counts as delay, in the base delay too.",
            test: "an_ack_of_several_packets_gives_one_sample",
        },
        Difference {
            text: "ACKs that acknowledge nothing new give no sample: their echo is that of an older packet. RFC 6817 \
                   takes samples of every ACK.",
            test: "duplicates_give_no_sample",
        },
        Difference {
            text: "While the endpoint repairs a loss, and in CWR, the window is the endpoint's, which takes it to \
                   half; samples are taken and change nothing. In RFC 6817 the window goes on to follow the delay.",
            test: "samples_in_recovery_leave_the_window_to_the_endpoint",
        },
        Difference {
            text: "flightsize is what the stack had in flight where its own test says that the window was not used, \
                   else the window: senders hold packets back for other reasons, too.",
            test: "the_window_exceeds_an_unused_one_by_the_allowed_increase",
        },
        Difference {
            text: "The congestion timeout is TCP's retransmission timeout. After it the next ACK brings the window \
                   back to MIN_CWND, as in RFC 6817.",
            test: "after_a_timeout_the_window_grows_from_the_smallest_on",
        },
        Difference {
            text: "A mark is answered like a loss; the algorithm of RFC 6817 section 2.4.2 has no answer to marks.",
            test: "a_loss_and_a_mark_halve_the_window_down_to_the_smallest",
        },
        Difference {
            text: "Both hosts have the same clock without drift. The law needs differences only, and a constant offset \
                   changes nothing; skew (RFC 6817 appendix A.2) does not occur.",
            test: "an_offset_of_the_clocks_changes_nothing",
        },
    ],
};
