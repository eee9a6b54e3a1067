//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "pi2",
    kind: ModelKind::Queue,
    summary: "One queue with a PI controller: scalable packets are marked with p, others marked or dropped with \
              (p/k)^2.",
    follows: "De Schepper, Bondarenko, Tsang and Briscoe, PI2, CoNEXT 2016; their sch_pi2 module for Linux (2015), \
              without its second queue",
    differences: &[
        Difference {
            text: "Counts the bytes of the IP packet, without 14 bytes of Ethernet; no byte mode.",
            test: "small_backlogs_are_left_alone",
        },
        Difference {
            text: "The departure rate is smoothed in the module's integers, whose truncation leaves it up to seven \
                   units above the true rate: the delay is estimated too short at low rates.",
            test: "the_departure_rate_gives_the_delay",
        },
    ],
};
