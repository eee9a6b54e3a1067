//! Description of shared memory: what it does, and how it differs from a switch's.

use shoal_units::{Difference, ModelDoc, ModelKind};

/// The paper of Choudhury and Hahne.
const PAPER: &str = "Choudhury and Hahne, Dynamic Queue Length Thresholds for Shared-Memory Packet Switches, IEEE/ACM \
                     ToN 6(2), 1998";

/// Memory that ports share (`topology.shared_buffer`, `topology.shared_buffers`).
pub const MEMORY_DOCS: &[ModelDoc] = &[ModelDoc {
    name: "shared-buffer",
    kind: ModelKind::Queue,
    summary: "Memory that the ports of a switch share by dynamic thresholds: each may hold up to alpha times what is \
              free. Queues for traffic classes (`classes`) take from it by themselves.",
    follows: PAPER,
    differences: &[
        Difference {
            text: "Counted are bytes of IP packets that wait. A switch holds a packet until its transmission has \
                   ended, and counts whole cells of some 200 bytes.",
            test: "one_hot_port_holds_its_share_of_the_pool",
        },
        Difference {
            text: "The threshold is compared with what the port would hold with the arriving packet; the paper \
                   compares what it holds.",
            test: "thresholds_hold_while_two_ports_compete",
        },
        Difference {
            text: "Only what waits for an output counts, and links do not pause: headroom is never filled, only taken \
                   off the memory.",
            test: "headroom_is_taken_off_the_memory",
        },
        Difference {
            text: "The law of the queue is asked only about packets that the memory admits; a mark by a threshold \
                   does not depend on what other ports hold.",
            test: "admissions_are_those_of_an_eager_switch",
        },
    ],
}];

#[cfg(test)]
mod tests {
    use super::MEMORY_DOCS;

    const TESTS: &str = include_str!("../../../../tests/rust/tests/shared_buffer.rs");

    #[test]
    fn every_difference_is_pinned_by_a_test_that_exists() {
        for difference in MEMORY_DOCS.iter().flat_map(|doc| doc.differences) {
            assert!(TESTS.contains(&format!("fn {}(", difference.test)), "{}", difference.test);
        }
    }

    #[test]
    fn the_keys_and_defaults_are_those_of_the_schema() {
        let schema = shoal_scenario::json_schema();
        let kinds = schema["properties"]["topology"]["oneOf"].as_array().unwrap();
        let graph = kinds.iter().find(|kind| kind["title"] == "graph").unwrap();
        let table = &graph["properties"]["shared_buffers"]["items"];
        let described = shoal_scenario::keys_of(&MEMORY_DOCS[0]);
        assert_eq!(table["properties"].as_object().unwrap().len(), described.len());
        crate::docs::tests::assert_described_as_in_the_schema(&described, table);
    }
}
