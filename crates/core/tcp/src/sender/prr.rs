//! Proportional rate reduction (RFC 6937 section 3.1, <https://www.rfc-editor.org/rfc/rfc6937#section-3.1>): what both
//! kernels have of it, in the unit of the window.

/// An episode in which the window comes down: packets (Linux `prr_delivered`, `prr_out`, `prior_cwnd`) or bytes
/// (FreeBSD `sackhint`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    delivered: u64,
    sent: u64,
    /// Window or flight before the reduction, never zero.
    prior: u64,
}

impl Prr {
    /// No episode yet.
    pub(super) const NONE: Self = Self { delivered: 0, sent: 0, prior: 1 };

    /// An episode begins with a window or flight of `prior`, of which `delivered` have arrived.
    pub(super) fn begin(&mut self, prior: u64, delivered: u64) {
        *self = Self { delivered, sent: 0, prior: prior.max(1) };
    }
    /// What may be sent is counted from `prior`, if that is larger.
    pub(super) fn raise_prior(&mut self, prior: u64) {
        self.prior = self.prior.max(prior);
    }
    #[inline]
    pub(super) fn note_sent(&mut self, amount: u64) {
        self.sent += amount;
    }
    #[inline]
    pub(super) fn note_delivered(&mut self, amount: u64) {
        self.delivered += amount;
    }
    pub(super) fn has_sent(&self) -> bool {
        self.sent > 0
    }

    /// What may be sent while the flight is above `ssthresh`: ssthresh / prior of what was delivered.
    #[inline]
    pub(super) fn proportional(&self, ssthresh: u64) -> u64 {
        (ssthresh * self.delivered).div_ceil(self.prior).saturating_sub(self.sent)
    }

    /// What may be sent below `ssthresh`: what was delivered and not yet replaced, at least what this ACK delivers.
    #[inline]
    pub(super) fn replacement(&self, newly: u64) -> u64 {
        self.delivered.saturating_sub(self.sent).max(newly)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_window_leaves_for_what_is_delivered() {
        // From 10 to 5: 5/10 of what was delivered, rounded up: 1 of 1, 1 of 2, 2 of 3.
        let mut prr = Prr::NONE;
        prr.begin(10, 0);
        let mut sent = Vec::new();
        for _ in 0..6 {
            prr.note_delivered(1);
            let now = prr.proportional(5);
            prr.note_sent(now);
            sent.push(now);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0]);
        assert!(prr.has_sent());
    }

    #[test]
    fn below_the_threshold_all_that_left_is_replaced() {
        let mut prr = Prr::NONE;
        prr.begin(10, 4);
        prr.note_sent(1);
        assert_eq!(prr.replacement(1), 3);
        prr.note_sent(5);
        assert_eq!(prr.replacement(2), 2, "at least what the ACK delivers");
        assert_eq!(prr.proportional(5), 0, "more was sent than proportional");
    }
}
