//! Packet scripts, one behaviour a file; closed-form and property tests.

mod script;

mod accurate_ecn;
mod bbr;
mod compressed_acks;
mod cwr;
mod dctcp_echo;
mod dctcp_presets;
mod delayed_ack;
mod documentation;
mod ecn_latch;
mod endpoint;
mod fast_recovery;
mod freebsd_ecn;
mod freebsd_growth;
mod freebsd_receiver;
mod freebsd_recovery;
mod growth;
mod handshake;
mod idle;
mod laws;
mod loss_in_cwr;
mod merged_packets;
mod misbehaviour;
mod new_reno;
mod probe;
mod properties;
mod rack;
mod reordering;
mod sending;
mod small_queue;
mod timeout;
mod undo;
