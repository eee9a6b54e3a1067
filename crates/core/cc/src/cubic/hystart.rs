//! HyStart (Ha and Rhee 2008) as in
//! [`tcp_cubic.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_cubic.c): leave slow start on a
//! long ACK train or on a rising delay.

use super::clock::{Era, elapsed, jiffies, micros};
use crate::{AckSample, GrowthRules, Window};
use shoal_units::Time;

/// Smallest window at which HyStart tests (`hystart_low_window`).
const LOW_WINDOW_PACKETS: u32 = 16;
/// RTT samples in a round that precede the delay test (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u8 = 8;
/// Largest spacing of ACKs in a train: 2 ms (`hystart_ack_delta`, `hystart_ack_delta_us`).
const ACK_DELTA_MS: i32 = 2;
const ACK_DELTA_US: i32 = 2000;
/// Limits of the delay threshold: 4 ms and 16 ms (`HYSTART_DELAY_MIN`, `_MAX`), in eighths of a ms and in us.
const DELAY_LIMITS_MS8: (u32, u32) = (4 << 3, 16 << 3);
const DELAY_LIMITS_US: (u32, u32) = (4000, 16_000);
/// Four times the largest segment that the host may hand to its network card (`sk_gso_max_size`, 64 KiB), in
/// bytes.
const FOUR_BURSTS_BYTES: u64 = 4 * 65_536;

/// State of HyStart during one slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// Stream position whose acknowledgement ends the round.
    round_end: u64,
    /// Clock at the start of the round and at the last ACK of the train: in ms before 6.x, in us since.
    round_start: u32,
    last_ack: u32,
    /// Smallest delay in this round; zero before the first sample.
    round_delay: u32,
    samples: u8,
    found: bool,
}

impl HyStart {
    pub(super) const fn new() -> Self {
        Self { round_end: 0, round_start: 0, last_ack: 0, round_delay: 0, samples: 0, found: false }
    }

    /// Starts a new round.
    pub(super) fn start_round(&mut self, era: Era, now: Time, snd_nxt: u64) {
        let clock = clock(era, now);
        *self = Self {
            round_end: snd_nxt,
            round_start: clock,
            last_ack: clock,
            round_delay: 0,
            samples: 0,
            found: self.found,
        };
    }

    #[cfg(test)]
    pub(super) fn round_end(&self) -> u64 {
        self.round_end
    }

    /// Before 6.x, `cong_avoid` detects the start of a round.
    #[inline]
    pub(super) fn on_slow_start(&mut self, era: Era, ack: &AckSample) {
        if era != Era::V6 && ack.snd_una > self.round_end {
            self.start_round(era, ack.now, ack.snd_nxt);
        }
    }

    /// Handles an RTT sample: sets `ssthresh` to `cwnd` if slow start should end.
    pub(super) fn on_delay(
        &mut self,
        era: Era,
        rules: &GrowthRules,
        window: &mut Window,
        ack: &AckSample,
        delay: u32,
        delay_min: u32,
    ) {
        if self.found || !rules.in_slow_start(window) {
            return;
        }
        // Also below the smallest window: a round begins with a window of data, whatever its size.
        if era == Era::V6 && ack.snd_una > self.round_end {
            self.start_round(era, ack.now, ack.snd_nxt);
        }
        if window.cwnd < LOW_WINDOW_PACKETS * window.quantum {
            return;
        }
        let train = self.is_long_train(era, rules, window, ack, delay_min);
        let late = self.is_delayed(era, delay, delay_min);
        if train || late {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    /// Whether closely spaced ACKs have arrived for half an RTT since the round began; for a whole one if the host
    /// paces, which alone spreads them over half of it.
    fn is_long_train(
        &mut self,
        era: Era,
        rules: &GrowthRules,
        window: &Window,
        ack: &AckSample,
        delay_min: u32,
    ) -> bool {
        let now = clock(era, ack.now);
        let (spacing, threshold) = match era {
            Era::V6 => {
                let cushion = ack_delay_us(window, ack);
                (ACK_DELTA_US, delay_min.saturating_add(cushion) >> u32::from(!rules.is_paced))
            }
            Era::V3_18 | Era::V3_2 => (ACK_DELTA_MS, delay_min >> 4),
        };
        if elapsed(now, self.last_ack) > spacing {
            return false;
        }
        self.last_ack = now;
        i64::from(elapsed(now, self.round_start)) > i64::from(threshold)
    }

    /// Whether the smallest delay of the round exceeds the smallest delay of the connection by an eighth (a
    /// sixteenth before 6.x).
    fn is_delayed(&mut self, era: Era, delay: u32, delay_min: u32) -> bool {
        let first = self.round_delay == 0 || self.round_delay > delay;
        // Before 6.x only the first samples of a round count; since then the later ones count too.
        if first && (era == Era::V6 || self.samples < MIN_SAMPLES) {
            self.round_delay = delay;
        }
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let margin = match era {
            Era::V6 => (delay_min >> 3).clamp(DELAY_LIMITS_US.0, DELAY_LIMITS_US.1),
            Era::V3_18 | Era::V3_2 => (delay_min >> 4).clamp(DELAY_LIMITS_MS8.0, DELAY_LIMITS_MS8.1),
        };
        self.round_delay > delay_min.saturating_add(margin)
    }
}

#[inline]
fn clock(era: Era, now: Time) -> u32 {
    match era {
        Era::V6 => micros(now),
        Era::V3_18 | Era::V3_2 => jiffies(now),
    }
}

/// Allowance for aggregation in microseconds (`hystart_ack_delay`): four bursts at the pacing rate, which the
/// kernel computes even without pacing (`tcp_update_pacing_rate`: twice `cwnd` per RTT up to half of
/// `ssthresh`, then 1.2 times), at most 1 ms.
fn ack_delay_us(window: &Window, ack: &AckSample) -> u32 {
    let percent = if window.cwnd < window.ssthresh / 2 { 200 } else { 120 };
    let bytes_per_srtt = u64::from(ack.mss) * u64::from(window.cwnd / window.quantum) * percent / 100;
    let srtt_us = ack.srtt.as_micros();
    if bytes_per_srtt == 0 || srtt_us == 0 {
        return 0;
    }
    (FOUR_BURSTS_BYTES.saturating_mul(srtt_us) / bytes_per_srtt).min(1000) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::drive::Stream;
    use shoal_units::Span;

    fn allowance_us(cwnd: u32, ssthresh: u32, srtt_us: u64) -> u32 {
        let window = Window { ssthresh, ..Window::in_packets(cwnd) };
        let ack = AckSample { srtt: Span::from_micros(srtt_us), ..Stream::with_flight(cwnd).ack(1, false) };
        ack_delay_us(&window, &ack)
    }

    #[test]
    fn allowance_is_four_bursts_at_the_computed_pacing_rate() {
        // 4 x 65,536 B at 2 x 100 x 1448 B an RTT of 1 ms: 262,144 / 289,600 ms.
        assert_eq!(allowance_us(100, 1000, 1000), 905);
        // From half of ssthresh on 1.2 x: 262,144 / 173,760 x 0.5 ms, and with 1 ms more than the limit.
        assert_eq!(allowance_us(100, 200, 500), 754);
        assert_eq!(allowance_us(100, 200, 1000), 1000);
        // Without an RTT or a window there is no allowance.
        assert_eq!(allowance_us(100, 1000, 0), 0);
        assert_eq!(allowance_us(0, 1000, 1000), 0);
    }

    #[test]
    fn allowance_is_the_same_for_a_window_in_bytes() {
        let packets = Window { ssthresh: 1000, ..Window::in_packets(100) };
        let bytes = Window { cwnd: 100 * 1448, ssthresh: 1000 * 1448, quantum: 1448, ..packets };
        let ack = AckSample { srtt: Span::from_millis(1), ..Stream::with_flight(100).ack(1, false) };
        assert_eq!(ack_delay_us(&bytes, &ack), ack_delay_us(&packets, &ack));
    }
}
