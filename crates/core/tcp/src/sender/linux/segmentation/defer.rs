//! Whether a segment waits until more of it may be sent (Linux `tcp_tso_should_defer`).

use crate::sender::linux::CaState;
use crate::{Offload, Tso};
use shoal_units::{Span, Time};

/// No segment waits longer than this since the last departure (current Linux).
const RECENT: Span = Span::from_millis(1);
/// A jiffy of the older kernels, HZ 250 as distributions have it.
const JIFFY_US: u64 = 4000;
/// Packets that may leave at once without a divisor (Linux `tcp_max_tso_deferred_mss`, in 3.2 `tcp_max_burst`).
const MOST_DEFERRED: u64 = 3;

/// What decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub now: Time,
    pub state: CaState,
    /// Time since the last segment left.
    pub since_departure: Span,
    /// Bytes that the peer's window allows.
    pub send_window: u64,
    /// Bytes that `cwnd` allows.
    pub cwnd_window: u64,
    /// The smaller of both windows, in flight or not.
    pub whole_window: u64,
    /// Bytes of the largest segment.
    pub most_bytes: u64,
    pub mss: u64,
    /// Bytes of the segment.
    pub bytes: u64,
    pub is_tail: bool,
    pub fin: bool,
    /// When the ACK of the oldest packet in flight is expected; `None` if nothing is.
    pub next_ack: Option<Time>,
    pub srtt: Span,
}

/// What becomes of the segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    Send,
    /// It waits for the next ACK; whether `cwnd` is the reason.
    Defer {
        for_cwnd: bool,
    },
}

/// Since when a segment waits, in the older kernels (Linux `tso_deferred`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Deferral(Option<Time>);

/// Decides whether a segment of several packets waits.
pub(super) fn decide(rule: Tso, offload: &Offload, wait: &Wait, deferral: &mut Deferral) -> Decision {
    let goes = match rule {
        Tso::Linux6 => goes_now(offload, wait),
        Tso::Linux32 | Tso::Linux318 => goes_now_in_3(rule, offload, wait, *deferral),
    };
    if goes {
        deferral.0 = None;
        return Decision::Send;
    }
    // 3.2 begins to wait anew whenever it looks.
    if deferral.0.is_none() || rule == Tso::Linux32 {
        deferral.0 = Some(wait.now);
    }
    let for_cwnd = wait.cwnd_window < wait.send_window && wait.cwnd_window <= wait.bytes;
    Decision::Defer { for_cwnd }
}

fn goes_now(offload: &Offload, wait: &Wait) -> bool {
    let limit = wait.send_window.min(wait.cwnd_window);
    let tail_is_complete = || {
        let held = if wait.cwnd_window < wait.send_window { wait.cwnd_window } else { wait.send_window };
        wait.fin && held > wait.bytes
    };
    wait.state >= CaState::Recovery
        || wait.since_departure > RECENT
        || limit >= wait.most_bytes
        || (!wait.is_tail && limit >= wait.bytes)
        || limit >= threshold(offload, wait)
        || wait.next_ack.is_none_or(|ack| ack > wait.now + (wait.srtt / 2).min(RECENT))
        || tail_is_complete()
}

fn goes_now_in_3(rule: Tso, offload: &Offload, wait: &Wait, deferral: Deferral) -> bool {
    let limit = wait.send_window.min(wait.cwnd_window);
    let jiffies = |time: Time| time.as_micros() / JIFFY_US;
    let device = u64::from(offload.gso_max_size_bytes);
    let most = if rule == Tso::Linux32 { device } else { device.min(wait.most_bytes) };
    wait.fin
        || wait.state != CaState::Open
        || deferral.0.is_some_and(|since| jiffies(wait.now) - jiffies(since) > 1)
        || limit >= most
        || (!wait.is_tail && limit >= wait.bytes)
        || limit >= threshold(offload, wait)
}

/// Bytes that are worth sending at once.
fn threshold(offload: &Offload, wait: &Wait) -> u64 {
    match offload.tso_win_divisor {
        0 => MOST_DEFERRED * wait.mss + 1,
        divisor => wait.whole_window / u64::from(divisor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// A window of 30 packets with 25 in flight; the ACK of the oldest comes in 100 us of an RTT of 1 ms; 45 packets of
    /// data and more behind them.
    fn wait() -> Wait {
        Wait {
            now: at(10_000),
            state: CaState::Open,
            since_departure: Span::from_micros(50),
            send_window: 1 << 26,
            cwnd_window: 5 * MSS,
            whole_window: 30 * MSS,
            most_bytes: 45 * MSS,
            mss: MSS,
            bytes: 45 * MSS,
            is_tail: false,
            fin: false,
            next_ack: Some(at(10_100)),
            srtt: Span::from_millis(1),
        }
    }

    fn decision(rule: Tso, wait: &Wait) -> Decision {
        decide(rule, &Offload::LINUX, wait, &mut Deferral::default())
    }

    #[test]
    fn less_than_a_third_of_the_window_waits() {
        let held = Decision::Defer { for_cwnd: true };
        for rule in [Tso::Linux32, Tso::Linux318, Tso::Linux6] {
            assert_eq!(decision(rule, &wait()), held, "{rule:?}");
            let third = Wait { cwnd_window: 10 * MSS, ..wait() };
            assert_eq!(decision(rule, &third), Decision::Send, "{rule:?}: 10 of 30");
            let complete = Wait { bytes: 5 * MSS, ..wait() };
            assert_eq!(decision(rule, &complete), Decision::Send, "{rule:?}: a segment with a successor");
            let tail = Wait { bytes: 5 * MSS, is_tail: true, ..wait() };
            assert_eq!(decision(rule, &tail), held, "{rule:?}: the last segment may still grow");
        }
    }

    #[test]
    fn in_cwr_only_current_kernels_wait() {
        let reducing = Wait { state: CaState::Cwr, ..wait() };
        assert_eq!(decision(Tso::Linux32, &reducing), Decision::Send);
        assert_eq!(decision(Tso::Linux318, &reducing), Decision::Send);
        assert_eq!(decision(Tso::Linux6, &reducing), Decision::Defer { for_cwnd: true });
        let recovering = Wait { state: CaState::Recovery, ..wait() };
        assert_eq!(decision(Tso::Linux6, &recovering), Decision::Send);
    }

    #[test]
    fn nothing_waits_for_an_ack_that_is_far() {
        // Half of the SRTT of 1 ms: an ACK in 500 us is near enough, one in 501 us is not.
        let near = Wait { next_ack: Some(at(10_500)), ..wait() };
        assert_eq!(decision(Tso::Linux6, &near), Decision::Defer { for_cwnd: true });
        let far = Wait { next_ack: Some(at(10_501)), ..wait() };
        assert_eq!(decision(Tso::Linux6, &far), Decision::Send);
        let none = Wait { next_ack: None, ..wait() };
        assert_eq!(decision(Tso::Linux6, &none), Decision::Send);
        let long_ago = Wait { since_departure: Span::from_micros(1001), ..wait() };
        assert_eq!(decision(Tso::Linux6, &long_ago), Decision::Send);
    }

    #[test]
    fn older_kernels_wait_two_jiffies_and_3_2_begins_anew() {
        for (rule, expected) in
            [(Tso::Linux318, Decision::Send), (Tso::Linux32, Decision::Defer { for_cwnd: true })]
        {
            let mut deferral = Deferral::default();
            for us in [0, 4000] {
                let wait = Wait { now: at(us), ..wait() };
                let held = Decision::Defer { for_cwnd: true };
                assert_eq!(decide(rule, &Offload::LINUX, &wait, &mut deferral), held);
            }
            // Two jiffies of 4 ms after the first look, one after the second.
            let later = Wait { now: at(8000), ..wait() };
            assert_eq!(decide(rule, &Offload::LINUX, &later, &mut deferral), expected, "{rule:?}");
        }
    }
}
