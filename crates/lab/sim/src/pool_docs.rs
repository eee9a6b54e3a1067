//! What shared memory is, what its keys mean, and where it is not like a switch's.

use shoal_units::{Difference, ModelDoc, ModelKind, ParameterDoc};

/// Choudhury and Hahne.
const PAPER: &str = "Choudhury and Hahne, Dynamic Queue Length Thresholds for Shared-Memory Packet Switches, IEEE/ACM ToN 6(2), 1998";

/// Memory that ports share (`topology.shared_buffer`, `topology.shared_buffers`).
pub const MEMORY_DOCS: &[ModelDoc] = &[ModelDoc {
    name: "shared-buffer",
    kind: ModelKind::Queue,
    summary: "Memory that the ports of a switch share by dynamic thresholds: each may hold up to alpha times what is free.",
    follows: PAPER,
    parameters: &[
        ParameterDoc {
            name: "size",
            unit: "bytes",
            default: "",
            doc: "All of the memory; the link's buffer and its queue's law limit a single port besides.",
            source: "Choudhury and Hahne 1998, section II",
        },
        ParameterDoc {
            name: "alpha",
            unit: "number",
            default: "1.0",
            doc: "Multiple of the free memory that a port may hold: with n busy ports each gets alpha / (1 + n alpha) of it.",
            source: "Choudhury and Hahne 1998, equations 1 and 3; switches offer powers of two from 1/128 to 8",
        },
        ParameterDoc {
            name: "reserved",
            unit: "bytes",
            default: "0 B",
            doc: "What each port has for itself, out of the size; dynamic thresholds divide the rest.",
            source: "minimum guarantees of the switches that the paper describes in its section VI",
        },
        ParameterDoc {
            name: "node",
            unit: "text",
            default: "",
            doc: "The switch, in a graph; a star and a leaf-spine network have the same memory at each of theirs.",
            source: "",
        },
    ],
    differences: &[
        Difference {
            text: "Counted are bytes of IP packets that wait. A switch holds a packet until its transmission has ended, and counts whole \
                   cells of some 200 bytes.",
            test: "one_hot_port_holds_its_share_of_the_pool",
        },
        Difference {
            text: "The threshold is compared with what the port would hold with the arriving packet; the paper compares what it holds.",
            test: "thresholds_hold_while_two_ports_compete",
        },
        Difference {
            text: "One queue a port counts: no priorities with an alpha of their own, no headroom of an ingress side, no flow control.",
            test: "admissions_are_those_of_an_eager_switch",
        },
        Difference {
            text: "The law of the queue is asked only about packets that the memory admits; a mark by a threshold does not depend on \
                   what other ports hold.",
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
        let keys = &graph["properties"]["shared_buffers"]["items"];
        let described = MEMORY_DOCS[0].parameters;
        assert_eq!(keys["properties"].as_object().unwrap().len(), described.len());
        for parameter in described {
            let default = &keys["properties"][parameter.name]["default"];
            let written = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
            assert!(default.is_null() == parameter.default.is_empty(), "{}", parameter.name);
            assert!(default.is_null() || written == parameter.default, "{}", parameter.name);
        }
    }
}
