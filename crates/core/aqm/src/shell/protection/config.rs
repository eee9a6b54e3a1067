//! The parameters of queue protection.

use shoal_units::Span;

/// The ramp of low-latency queues in DOCSIS
/// ([RFC 9957, section 4.1](https://www.rfc-editor.org/rfc/rfc9957#section-4.1)): MINTH = max(MAXTH - RANGE, FLOOR) and
/// MAXTH = MINTH + RANGE. The delay is that of the queue's bytes, an arriving packet included, at the line's rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayRampConfig {
    /// MAXTH: from this delay on every packet is marked.
    pub max: Span,
    /// RANGE: length of the ramp.
    pub range: Span,
    /// FLOOR: marking does not begin before the line needs the time of so many bytes, of which the RFC takes two frames
    /// of 2000 B.
    pub floor_bytes: u32,
}

impl DelayRampConfig {
    /// The RFC's: to 1 ms, over 2^19 ns, from two frames on.
    pub const RFC_9957: Self =
        Self { max: Span::from_millis(1), range: Span::from_nanos(1 << 19), floor_bytes: 4000 };
}

/// The parameters of queue protection ([RFC 9957](https://www.rfc-editor.org/rfc/rfc9957)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProtectionConfig {
    /// The probability with which bytes count, whatever marks packets.
    pub ramp: DelayRampConfig,
    /// `CRITICALqL`: nothing is redirected for its score up to this delay. `None`: the end of the ramp.
    pub critical_delay: Option<Span>,
    /// `CRITICALqLSCORE`: the score that is too high at the critical delay; at twice the delay half of it is.
    pub critical_score: Span,
    /// `LG_AGING`, 2 to 30: a score fades by 2^n bytes in 2^30 ns.
    pub lg_aging: u8,
    /// `qLSCORE_MAX`: a score does not grow beyond this, and whose score is there is redirected at any delay.
    pub ceiling: Span,
    /// `BI_SIZE`, at most 16: there are 2^n buckets that flows own.
    pub bucket_bits: u8,
    /// `ATTEMPTS`: buckets in which a flow looks for a place.
    pub attempts: u8,
}

impl ProtectionConfig {
    /// The RFC's defaults.
    pub const RFC_9957: Self = Self {
        ramp: DelayRampConfig::RFC_9957,
        critical_delay: None,
        critical_score: Span::from_millis(4),
        lg_aging: 19,
        ceiling: Span::from_secs(5),
        bucket_bits: 5,
        attempts: 2,
    };
}
