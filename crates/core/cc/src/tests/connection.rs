//! A connection as laws with rate samples read it.

use super::drive::MSS;
use crate::{Connection, RecoveryState};
use shoal_units::{Span, Time};

/// A connection that has just been opened by a handshake of `rtt`: the SYN is delivered, and nothing is in flight.
pub(crate) fn after_handshake(rtt: Span) -> Connection {
    Connection {
        now: Time::ZERO,
        delivered: 1,
        delivered_at: Time::ZERO,
        lost: 0,
        in_flight: 0,
        srtt: rtt,
        min_rtt: Some(rtt),
        mss: MSS,
        recovery: RecoveryState::Open,
        departure: Time::ZERO,
        is_app_limited: false,
        is_cwnd_limited: true,
        has_sack: true,
    }
}
