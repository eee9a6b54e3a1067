//! What every call of a sender carries: the configuration, the rules of its kernel, the time, and the way out for packets.

use crate::{EndpointConfig, Output};
use core::ops::Deref;
use shoal_packet::Packet;
use shoal_units::Time;

/// When a sender is called and by which rules. A function that takes only this cannot send.
pub(super) struct Moment<'a, R> {
    /// The connection's configuration.
    pub config: &'a EndpointConfig,
    /// What only the sender's own kernel does.
    pub rules: &'a R,
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
        Self { moment: Moment { config, rules, now }, out }
    }
    /// A packet leaves the host.
    #[inline]
    pub(super) fn transmit(&mut self, packet: Packet) {
        self.out.transmit(packet);
    }
}

impl<'a, R, O> Deref for Call<'a, R, O> {
    type Target = Moment<'a, R>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.moment
    }
}
