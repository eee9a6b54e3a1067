//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "wred",
    kind: ModelKind::Queue,
    summary: "One queue of a switch: ECT packets are marked and others dropped by profiles of their own, in bytes, \
              cells or time.",
    follows: "OpenConfig qos-mem-mgmt 0.11 (wred); SONiC WRED_PROFILE with SAI saiwred.h; Cisco NX-OS and Arista EOS \
              random-detect",
    differences: &[
        Difference {
            text: "Drops are decided on arrival, whatever decide says: OpenConfig speaks of packets that are admitted \
                   to the queue. That chips which mark on departure drop on arrival, too, is an assumption; their \
                   public documents do not say.",
            test: "drops_are_decided_on_arrival",
        },
        Difference {
            text: "On arrival the packet itself does not count, as in RED; switches do not say. The law step counts \
                   it: K packets there are min = max = K packets here.",
            test: "a_step_on_arrival_is_the_law_step",
        },
        Difference {
            text: "A packet leaves the queue when its transmission begins; the memory of a switch holds it until the \
                   end.",
            test: "on_departure_the_queue_is_what_is_behind",
        },
        Difference {
            text: "An average moves with packets only, each profile's with every packet that passes where it decides, \
                   and stays as it is while the line is idle: no document says otherwise. Chips that sample the queue \
                   in fixed intervals forget in that time.",
            test: "an_idle_line_does_not_age_an_average",
        },
        Difference {
            text: "Each packet is selected by a coin of its own. Switches do not say how they spread marks and drops; \
                   RED counts packets between them.",
            test: "marks_are_binomial_with_the_probability_of_the_profile",
        },
        Difference {
            text: "There are no colours: all traffic is green, the ECN field alone chooses the profile.",
            test: "the_ecn_field_alone_chooses_the_profile",
        },
        Difference {
            text: "The limit counts bytes where profiles count cells, and packets are IP packets: in a switch the \
                   frame's headers take cells, too.",
            test: "the_limit_counts_bytes",
        },
        Difference {
            text: "Thresholds are rounded up to one cell and weights are exact powers of two; NVIDIA Spectrum goes on \
                   to 64 cells and to thousandths.",
            test: "packets_and_thresholds_take_whole_cells",
        },
    ],
};
