//! The arguments of every call of a sender: configuration, rules of its kernel, time, and output of packets.

use crate::{EndpointConfig, Output};
use core::ops::Deref;
use shoal_packet::Packet;
use shoal_units::Time;

/// Time of a call, and the rules that apply. A function that takes only this cannot send.
pub(super) struct Moment<'a, R> {
    /// The connection's configuration.
    pub config: &'a EndpointConfig,
    /// Rules that only the sender's own kernel has.
    pub rules: &'a R,
    /// Maximum segment size in bytes: [`EndpointConfig::mss`], less an option that segments have now.
    pub mss: u16,
    /// The time of the call.
    pub now: Time,
}

/// A [`Moment`] in which packets may leave.
pub(super) struct Call<'a, R, O> {
    moment: Moment<'a, R>,
    out: &'a mut O,
}

impl<'a, R, O: Output> Call<'a, R, O> {
    #[inline]
    pub(super) fn new(config: &'a EndpointConfig, rules: &'a R, now: Time, out: &'a mut O) -> Self {
        Self { moment: Moment { config, rules, mss: config.mss(), now }, out }
    }
    /// Segments have `mss` bytes at most.
    #[inline]
    pub(super) fn set_mss(&mut self, mss: u16) {
        self.moment.mss = mss;
    }
    /// Sends a packet.
    #[inline]
    pub(super) fn transmit(&mut self, packet: Packet) {
        self.out.transmit(packet);
    }
    /// Time at which the host's card will have sent everything that it was given.
    pub(super) fn card_free(&self) -> Time {
        self.out.card_free()
    }
    /// Whether the queue in front of the host's card takes a whole segment of `bytes`, which must follow if it does.
    pub(super) fn takes(&mut self, bytes: u64) -> bool {
        self.out.takes(bytes)
    }
    /// What is sent until [`Self::end_segment`] is one segment, which may leave at `departure`.
    pub(super) fn begin_segment(&mut self, departure: Time) {
        self.out.begin_segment(departure);
    }
    /// Number of segments of the connection that have left the host since the segment began.
    pub(super) fn end_segment(&mut self) -> u32 {
        self.out.end_segment()
    }
}

impl<'a, R, O> Deref for Call<'a, R, O> {
    type Target = Moment<'a, R>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.moment
    }
}
