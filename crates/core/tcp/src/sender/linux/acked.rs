//! The content of an acknowledgement, and the transmissions that its processing requests.

use super::segment::Delivery;

/// Content of one ACK, with the flags of Linux `tcp_ack`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub delivery: Delivery,
    /// `snd_una` before the ACK.
    pub prior_una: u64,
    /// Whether it acknowledged new data cumulatively.
    pub advanced: bool,
    /// Whether it carries ECN-Echo on an ECN connection, or reports new marks by accurate ECN.
    pub ece: bool,
    /// Packets that it reports to have been marked.
    pub marked_packets: u32,
    /// Whether it is a duplicate: same position, no data, no window update.
    pub duplicate: bool,
    /// Whether it reports data that were received twice.
    pub dsack: bool,
    /// Echoed timestamp.
    pub ts_ecr: u32,
    /// Deliveries inferred from a duplicate on a connection without SACK.
    pub reno_delivered: u32,
    /// Packets ever declared lost before the ACK.
    pub prior_losses: u64,
}

impl Acked {
    /// An ACK that says nothing new, when everything up to `snd_una` was acknowledged and `losses` packets declared
    /// lost.
    pub(super) const fn nothing(snd_una: u64, losses: u64) -> Self {
        Self {
            delivery: Delivery::NOTHING,
            prior_una: snd_una,
            advanced: false,
            ece: false,
            marked_packets: 0,
            duplicate: false,
            dsack: false,
            ts_ecr: 0,
            reno_delivered: 0,
            prior_losses: losses,
        }
    }
}

/// Transmissions that the processing of an ACK requests, before new data as the window allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resend {
    /// No transmission.
    Nothing,
    /// New data; if there are none, lost segments (F-RTO, Linux `REXMIT_NEW`).
    New,
    /// Lost segments (Linux `REXMIT_LOST`).
    Lost,
}
