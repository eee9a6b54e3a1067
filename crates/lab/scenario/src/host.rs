//! End hosts: what happens between TCP and the network card.

use serde_json::{Value as Json, json};
use shoal_units::{Difference, ModelDoc, ModelKind};

use crate::field::{Field, choice};
use crate::report::Report;
use crate::tree::Node;

/// How the hosts of a flow group hand packets to their network card. [`Host::doc`] describes each kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Host {
    /// Packet by packet, without segmentation offload.
    Ideal,
    /// As the kernel of a stock host does, with segmentation offload.
    Linux,
}

/// Descriptions of all kinds of hosts (`flows.host`).
pub const HOST_DOCS: &[ModelDoc] = &[
    ModelDoc {
        name: "ideal",
        kind: ModelKind::Host,
        summary: "Packet by packet: TCP sends a segment as soon as the window allows it.",
        follows: "on both planes; on Linux gso_max_segs 1, without which TCP hands over several segments as one",
        differences: &[shoal_tcp::SEGMENTS],
    },
    ModelDoc {
        name: "linux",
        kind: ModelKind::Host,
        summary: "As the kernel of a stock host does it: TCP hands over several segments as one, up to 64 KiB, and holds data back \
                  to fill them; the device splits them into packets. On Linux only: the simulator refuses it.",
        follows: "net/ipv4/tcp_output.c (tcp_tso_autosize, tcp_tso_should_defer, tcp_cwnd_test), net/core/sock.c \
                  (sk_setup_caps), net/core/dev.c (validate_xmit_skb) of the kernel that runs; all devices at their defaults",
        differences: &[
            Difference::new(
                "The wire of a host has no rate in a dumbbell: the packets of a segment arrive at the bottleneck at one instant, where \
                 a card would send them at its rate. A topology whose hosts have links of their own gives them one.",
                "test_packets_of_a_segment_follow_each_other_at_the_rate_of_the_access_line",
            ),
            Difference::new(
                "Receivers take every packet on its own: the device has no NAPI, so that nothing is merged (GRO), and no interrupt \
                 waits for more packets (coalescing). Real receivers of fast links acknowledge less often.",
                "test_receivers_merge_nothing",
            ),
            Difference::new(
                "The card has no ring, no queues and no byte limits (BQL), and the host no queue discipline, so that nothing paces and \
                 nothing waits in the host.",
                "test_explain_says_what_is_set_on_each_host",
            ),
        ],
    },
];

impl Host {
    /// All kinds of hosts, in the order of [`HOST_DOCS`].
    pub const ALL: &[Self] = &[Self::Ideal, Self::Linux];

    /// Description of the kind, which also owns its name.
    pub const fn doc(self) -> &'static ModelDoc {
        &HOST_DOCS[self as usize]
    }

    /// Name of the kind in scenario files.
    pub const fn name(self) -> &'static str {
        self.doc().name
    }
}

impl Field for Host {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let named: Vec<_> = Self::ALL.iter().map(|host| (host.name(), *host)).collect();
        choice(node, "host", &named, report)
    }
    fn write(&self) -> Option<Json> {
        Some(self.name().into())
    }
    fn schema() -> Json {
        json!({ "enum": Self::ALL.iter().map(|host| host.name()).collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files that contain the tests named by differences.
    const TESTS: &[&str] = &[
        include_str!("../../../core/tcp/src/tests/sending.rs"),
        include_str!("../../../../tests/linux/test_hosts.py"),
    ];

    #[test]
    fn every_host_is_described_once() {
        assert_eq!(Host::ALL.len(), HOST_DOCS.len());
        for (number, host) in Host::ALL.iter().enumerate() {
            assert_eq!(*host as usize, number);
            assert_eq!(Host::ALL.iter().filter(|other| other.name() == host.name()).count(), 1);
        }
    }

    #[test]
    fn every_difference_is_pinned_by_a_test_that_exists() {
        for difference in HOST_DOCS.iter().flat_map(|doc| doc.differences) {
            let exists = |file: &&str| {
                file.contains(&format!("fn {}()", difference.test))
                    || file.contains(&format!("def {}(", difference.test))
            };
            assert!(TESTS.iter().any(exists), "{}", difference.test);
        }
    }
}
