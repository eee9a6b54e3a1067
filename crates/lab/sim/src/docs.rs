//! Descriptions of the applications: what they do, and how they differ from real ones.

use shoal_units::{Difference, ModelDoc, ModelKind};

/// All applications (`flows.app`).
pub const DOCS: &[ModelDoc] = &[
    ModelDoc {
        name: "bulk",
        kind: ModelKind::Application,
        summary: "Always data to send; at a stop nothing beyond what was sent is written.",
        follows: "iperf in its default mode",
        differences: &[Difference {
            text: "The stop takes back what waits unsent, as if the socket held nothing; a real one empties its send \
                   buffer first.",
            test: "stopped_flow_finishes_what_it_has_sent",
        }],
    },
    ModelDoc {
        name: "transfers",
        kind: ModelKind::Application,
        summary: "Transfers of a given or drawn size, one after the other; the completion times of each (fct_s).",
        follows: "file transfers over a persistent connection; incast as in the benchmarks of DCTCP (Alizadeh et al. \
                  2010)",
        differences: &[
            Difference {
                text: "A time ends when the sender knows of the last byte's delivery, not at the receiver; at a \
                       barrier at the receiver.",
                test: "transfer_within_the_initial_window",
            },
            Difference {
                text: "At a barrier senders know of the next round after the propagation delay of their way back: the \
                       news has no size and meets no queue. Where that matters, use requests.",
                test: "a_round_ends_when_the_last_flow_has_delivered",
            },
        ],
    },
    ModelDoc {
        name: "requests",
        kind: ModelKind::Application,
        summary: "A client at the receiving end asks, the server answers; times from request to last byte of the \
                  response (exchanges).",
        follows: "request and response over a persistent connection, as HTTP/1.1 without pipelining (RFC 9112 section \
                  9.3)",
        differences: &[
            Difference {
                text: "Requests have a connection of their own, opened at the same time, with the group's stack and \
                       controller: two handshakes, and two windows that count their idle times apart. Data of one \
                       carry the ACKs of the other, but no SACK blocks.",
                test: "the_ack_of_a_request_travels_with_the_response",
            },
            Difference {
                text: "The server answers at once. The first exchange begins before the handshake and includes it.",
                test: "the_ack_of_a_request_travels_with_the_response",
            },
            Difference {
                text: "A client that stops still waits for the response that is under way; a real one may reset the \
                       connection.",
                test: "a_stopped_client_gets_its_last_response",
            },
        ],
    },
    ModelDoc {
        name: "pages",
        kind: ModelKind::Application,
        summary: "Pages of objects over several connections, each of which asks for the next object when its last one \
                  has come; how long pages take, and each object of them (exchanges).",
        follows: "RFC 7928 section 7.2 (at least 50 objects, six connections); HTTP/1.1 with persistent connections, \
                  RFC 9112 section 9.3",
        differences: &[
            Difference {
                text: "All objects are known when a page begins. In a browser most of them are named by the first one, \
                       which therefore takes one exchange alone.",
                test: "a_page_takes_as_many_exchanges_in_a_row_as_each_connection_has_objects",
            },
            Difference {
                text: "Connections stay open from page to page, with the window that they have then; after a pause it \
                       is that of the stack's rule for idle connections. Browsers close them after a while.",
                test: "connections_stay_open_between_pages",
            },
            Difference {
                text: "No request is sent before the response to the one before has come (no pipelining), and there is \
                       no TLS: RFC 7928 asks for neither.",
                test: "a_page_takes_as_many_exchanges_in_a_row_as_each_connection_has_objects",
            },
        ],
    },
    ModelDoc {
        name: "frames",
        kind: ModelKind::Application,
        summary: "Frames at equal distances, each of use within a deadline; how many come in time, how late, how \
                  often a player stalls.",
        follows: "video over TCP: deadlines as a live picture has them, stalls as a player that waits (playback delay \
                  = deadline)",
        differences: &[
            Difference {
                text: "Frames of one size have no key frames among them. An encoder adapts at each frame to the rate \
                       of its sender, without the delay and the steps of a real one, and skips none.",
                test: "an_encoder_follows_the_rate_of_its_sender",
            },
            Difference {
                text: "No frame is left out, however late it is: what waits at the sender grows without limit, and a \
                       flow that falls behind stays behind. Applications in real time would skip frames.",
                test: "frames_beyond_the_rate_fall_behind",
            },
            Difference {
                text: "The first frame is written when the flow connects and waits for the handshake.",
                test: "frames_within_the_window_take_their_time_on_the_wire",
            },
        ],
    },
    ModelDoc {
        name: "constant-rate",
        kind: ModelKind::Application,
        summary: "Writes of equal size at equal distances over a connection: a flow that the application limits.",
        follows: "iperf with a bandwidth limit",
        differences: &[],
    },
    ModelDoc {
        name: "on-off",
        kind: ModelKind::Application,
        summary: "Bulk for a while, then silence; the connection stays.",
        follows: "on-off sources with periods of constant length",
        differences: &[Difference {
            text: "An off period begins at once: what waits unsent is taken back, while a real application's socket \
                   would be emptied.",
            test: "silence_between_bursts_is_silent",
        }],
    },
    ModelDoc {
        name: "unresponsive",
        kind: ModelKind::Application,
        summary: "Packets without a connection: nothing answers, nothing is sent again; one-way delays, losses and \
                  marks (datagrams).",
        follows: "UDP (RFC 768) over IPv4",
        differences: &[Difference {
            text: "Packets that do not fit the link's queue are lost without any word to the sender, which a real \
                   socket may get (ENOBUFS).",
            test: "overload_loses_the_excess_and_marks_without_an_answer",
        }],
    },
];

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Files that contain the tests named by differences.
    const TESTS: &[&str] = &[
        include_str!("../../../../tests/rust/tests/applications.rs"),
        include_str!("../../../../tests/rust/tests/barriers.rs"),
        include_str!("../../../../tests/rust/tests/exact_times.rs"),
        include_str!("../../../../tests/rust/tests/frames.rs"),
        include_str!("../../../../tests/rust/tests/pages.rs"),
        include_str!("../../../../tests/rust/tests/requests.rs"),
        include_str!("../../../../tests/rust/tests/unresponsive.rs"),
    ];

    #[test]
    fn every_difference_is_pinned_by_a_test_that_exists() {
        for doc in DOCS {
            for difference in doc.differences {
                let function = format!("fn {}()", difference.test);
                assert!(
                    TESTS.iter().any(|file| file.contains(&function)),
                    "{}: {}",
                    doc.name,
                    difference.test
                );
            }
        }
    }

    /// Required keys have no default; one in the schema is the one described.
    pub(crate) fn assert_described_as_in_the_schema(
        described: &[shoal_scenario::KeyDoc],
        table: &serde_json::Value,
    ) {
        for key in described {
            let default = &table["properties"][&key.name]["default"];
            let written = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
            let required = table["required"].as_array().unwrap().iter().any(|name| *name == key.name);
            assert_eq!(required, key.default.is_empty(), "{}", key.name);
            assert!(default.is_null() || written == key.default, "{}", key.name);
        }
    }

    #[test]
    fn every_form_of_an_application_is_described() {
        let schema = shoal_scenario::json_schema();
        let forms = schema["properties"]["flows"]["items"]["properties"]["app"]["oneOf"].as_array().unwrap();
        // One of the forms is the word "bulk", which has no keys.
        assert_eq!(forms.len(), DOCS.len());
        for doc in DOCS.iter().filter(|doc| doc.name != "bulk") {
            let described = shoal_scenario::keys_of(doc);
            let is_of = |form: &&serde_json::Value| {
                form["properties"].as_object().is_some_and(|keys| {
                    keys.len() == described.len() && described.iter().all(|key| keys.contains_key(&key.name))
                })
            };
            let found: Vec<_> = forms.iter().filter(is_of).collect();
            assert_eq!(found.len(), 1, "{}", doc.name);
            assert_described_as_in_the_schema(&described, found[0]);
        }
    }
}
