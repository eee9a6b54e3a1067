//! Description of the model: what it follows, and how it differs.

use shoal_units::{Difference, ModelDoc, ModelKind};

/// The impairments of a link (`impairments`).
pub const DOCS: &[ModelDoc] = &[ModelDoc {
    name: "impairments",
    kind: ModelKind::Path,
    summary: "What a link does to packets behind its transmitter: jitter, loss, duplication, corruption, reordering, \
              bursts, a cleared ECN field.",
    follows: "Linux net/sched/sch_netem.c, with the seed that the link's random stream gives it",
    differences: &[
        Difference {
            text: "Where the kernel draws outside its seeded generator (slots, the number before the first of \
                   correlated draws), the link's own random stream is used: there both planes agree in distribution \
                   only.",
            test: "slots_are_uniformly_apart",
        },
        Difference {
            text: "A corrupted packet is dropped at the end of its link. In the kernel it goes on to the host, whose \
                   checksum refuses it; if the flipped bit is in the source address of Ethernet (6 bytes of the \
                   frame), it is delivered.",
            test: "corrupted_packets_leave_the_path_and_do_not_arrive",
        },
        Difference {
            text: "No difference, but what a user may not expect: jitter_correlation has no effect, here as in the \
                   kernel (tabledist). Draws of 32 bits are correlated, and the delay is the remainder of a draw by \
                   twice the jitter in ns, or by the 4096 entries of a table, which has no correlation left. Only a \
                   correlation so close to 1 that draws move by less than this divisor comes through (above 0.9991 \
                   for a jitter of 2 ms). loss_correlation acts: there the draw itself is compared.",
            test: "a_correlation_of_jitter_is_lost_in_the_remainder",
        },
        Difference {
            text: "clear_ecn does not exist in netem: it stands for a router that writes the whole byte of the type \
                   of service. The kernel plane refuses it.",
            test: "a_cleared_field_is_all_that_changes",
        },
        Difference {
            text: "There is no limit to the packets that are delayed; netem drops beyond its own.",
            test: "no_packet_vanishes",
        },
    ],
}];

#[cfg(test)]
mod tests {
    use super::DOCS;
    use std::format;

    const TESTS: &str = include_str!("netem/tests.rs");

    #[test]
    fn every_difference_is_pinned_by_a_test_that_exists() {
        for difference in DOCS.iter().flat_map(|doc| doc.differences) {
            assert!(TESTS.contains(&format!("fn {}(", difference.test)), "{}", difference.test);
        }
    }
}
