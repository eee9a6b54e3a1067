//! A token bucket: at most a burst and then a rate
//! ([RFC 2697](https://www.rfc-editor.org/rfc/rfc2697) with one rate and one burst; Linux `sch_tbf.c`,
//! <https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_tbf.c>).

use shoal_units::{Rate, Serialiser, Span, Time};

/// At most this rate, over any time that is long against the burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShaperConfig {
    /// Rate at which the bucket fills.
    pub rate: Rate,
    /// Size of the bucket in bytes: what may be sent at once after a pause.
    pub burst_bytes: u32,
}

/// The bucket. Instead of its level it keeps the time at which it will be full, so that it needs no update while
/// nothing is sent: the virtual scheduling of the generic cell rate algorithm (ITU-T I.371, annex A).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    serialiser: Serialiser,
    /// Time in which the empty bucket fills.
    burst: Span,
    full_at: Time,
}

impl TokenBucket {
    /// A full bucket.
    ///
    /// # Panics
    /// If the rate is zero.
    pub(crate) fn new(config: ShaperConfig) -> Self {
        let serialiser = Serialiser::new(config.rate);
        Self { serialiser, burst: serialiser.span(config.burst_bytes), full_at: Time::ZERO }
    }

    /// Whether the bucket allows a packet of `bytes` at `now`; if not, when it will, if nothing is sent until then. A
    /// packet that is larger than the bucket needs a full one.
    #[inline]
    pub(crate) fn wait_for(&self, bytes: u16, now: Time) -> Option<Time> {
        let beyond = self.burst.saturating_sub(self.serialiser.span(bytes.into()));
        let ready = Time::ZERO + self.full_at.since(Time::ZERO + beyond);
        (ready > now).then_some(ready)
    }

    /// A packet of `bytes` is sent at `now`.
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: u16, now: Time) {
        self.full_at = self.full_at.max(now).saturating_add(self.serialiser.span(bytes.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// 8 Mbit/s: a byte takes 1 us. A bucket of 2500 B allows 1500 B at 0; 1000 B are left, so that the next 1500 B
    /// wait for 500 B: 500 us. After that the bucket is empty, and 1500 B take 1500 us.
    #[test]
    fn a_burst_and_then_the_rate() {
        let mut bucket =
            TokenBucket::new(ShaperConfig { rate: Rate::from_bps(8_000_000), burst_bytes: 2500 });
        assert_eq!(bucket.wait_for(1500, us(0)), None);
        bucket.on_sent(1500, us(0));
        assert_eq!(bucket.wait_for(1000, us(0)), None);
        assert_eq!(bucket.wait_for(1500, us(0)), Some(us(500)));
        assert_eq!(bucket.wait_for(1500, us(499)), Some(us(500)));
        assert_eq!(bucket.wait_for(1500, us(500)), None);
        bucket.on_sent(1500, us(500));
        assert_eq!(bucket.wait_for(1500, us(500)), Some(us(2000)));
        bucket.on_sent(1500, us(2000));
        // A pause of 2500 us fills it, and a longer one adds nothing.
        bucket.on_sent(1500, us(100_000));
        assert_eq!(bucket.wait_for(1000, us(100_000)), None);
        assert_eq!(bucket.wait_for(1001, us(100_000)), Some(us(100_001)));
    }

    /// A packet of 4000 B leaves a bucket of 2500 B when it is full, and is paid for afterwards.
    #[test]
    fn a_packet_larger_than_the_bucket_needs_a_full_one() {
        let mut bucket =
            TokenBucket::new(ShaperConfig { rate: Rate::from_bps(8_000_000), burst_bytes: 2500 });
        assert_eq!(bucket.wait_for(4000, us(0)), None);
        bucket.on_sent(4000, us(0));
        assert_eq!(bucket.wait_for(4000, us(0)), Some(us(4000)));
        assert_eq!(bucket.wait_for(2500, us(0)), Some(us(4000)));
        assert_eq!(bucket.wait_for(1500, us(0)), Some(us(3000)));
    }
}
