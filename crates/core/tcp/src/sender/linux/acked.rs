//! What one acknowledgement said, and what the judgement of it asks for.

use super::segment::Delivery;

/// What one ACK said; the flags of Linux `tcp_ack`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub delivery: Delivery,
    /// `snd_una` before it.
    pub prior_una: u64,
    /// It acknowledged new data cumulatively.
    pub advanced: bool,
    /// It carries ECN-Echo on an ECN connection.
    pub ece: bool,
    /// It says nothing new: same position, no data, no window update.
    pub duplicate: bool,
    /// It reports data received twice.
    pub dsack: bool,
    /// Echoed timestamp.
    pub ts_ecr: u32,
    /// Deliveries inferred from a duplicate on a connection without SACK.
    pub reno_delivered: u32,
    /// Packets ever declared lost before it.
    pub prior_losses: u64,
}

/// What the judgement of an ACK wants to be sent, before new data as the window allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resend {
    /// Nothing.
    Nothing,
    /// New data; if there is none, what is lost (F-RTO, Linux `REXMIT_NEW`).
    New,
    /// What is lost (Linux `REXMIT_LOST`).
    Lost,
}
