//! The round trip as a receiver of Linux knows it, by which it holds ACKs back (`tcp_rcv_rtt_measure_ts`,
//! `tcp_rcv_rtt_measure`): most of it comes from timestamps, whose ticks are longer than many round trips.

use crate::EndpointConfig;
use crate::timestamps::{echoed, echoes_tick};
use shoal_packet::Packet;
use shoal_units::cast::fit_u32;
use shoal_units::{Span, Time};

/// No tick has been echoed. A connection that is echoed this one first, 36 minutes after the start of the experiment,
/// lacks a sample.
const NEVER_ECHOED: u32 = 1 << 31;

/// The estimate beside the RTT of the handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttEstimate {
    /// In eighths of a microsecond; zero if there is none (`rcv_rtt_est.rtt_us`).
    eighths_us: u32,
    /// Tick of the timestamp that was echoed last: others of it tell nothing new (`rcv_rtt_last_tsecr`).
    echoed: u32,
    /// Position behind the first window of the connection (`rcv_rtt_est.seq`).
    first_window_end: u32,
    /// When the first data came (`rcv_rtt_est.time`).
    first_data: Time,
}

impl RttEstimate {
    pub(super) const fn new() -> Self {
        Self { eighths_us: 0, echoed: NEVER_ECHOED, first_window_end: 0, first_data: Time::NEVER }
    }

    /// The estimate; zero while nothing has been measured.
    pub(super) fn span(&self) -> Span {
        Span::from_micros(self.eighths_us.into()) / 8
    }

    /// Takes a data packet, before it is put among the others. `is_read`: the application has read all that came in
    /// order before.
    #[inline]
    pub(super) fn on_data(&mut self, config: &EndpointConfig, packet: &Packet, is_read: bool, now: Time) {
        if !echoes_tick(packet.ts_ecr, self.echoed) {
            self.on_echo(config, packet, is_read, now);
        }
    }

    #[inline(never)]
    fn on_echo(&mut self, config: &EndpointConfig, packet: &Packet, is_read: bool, now: Time) {
        let Some(echoed) = echoed(packet, now) else { return };
        self.echoed = echoed.tick;
        // An echo from the present tick tells nothing (Linux since 6.16).
        if packet.payload >= config.mss() && echoed.age_us > 0 {
            let sample = fit_u32(echoed.age_us).min(u32::MAX / 8);
            if self.eighths_us == 0 || sample * 8 < self.eighths_us {
                self.eighths_us = sample * 8;
            } else if is_read {
                self.eighths_us = self.eighths_us - self.eighths_us / 8 + sample;
            }
        }
    }

    /// Data have come in order, up to `position`. The time in which the first window of a connection came bounds the
    /// RTT, since the sender must have had ACKs in between. Later windows last too long to tell anything that the
    /// handshake has not.
    #[inline]
    pub(super) fn on_progress(&mut self, config: &EndpointConfig, position: u64, now: Time) {
        if self.eighths_us == 0 {
            self.measure_first_window(config, position, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn measure_first_window(&mut self, config: &EndpointConfig, position: u64, now: Time) {
        if self.first_data == Time::NEVER {
            self.first_data = now;
            self.first_window_end = fit_u32(position + u64::from(config.syn_window()));
        } else if position >= self.first_window_end.into() {
            self.eighths_us = fit_u32(now.since(self.first_data).as_micros().max(1)).min(u32::MAX / 8) * 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config;
    use crate::timestamps::timestamp;
    use shoal_packet::FlowId;

    fn at_us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// The estimate after data at `now_us` that echo `echo_us`, in microseconds.
    fn after(estimate: &mut RttEstimate, echo_us: u64, now_us: u64, is_read: bool) -> u64 {
        let config = config("reno", "linux-6");
        let packet =
            Packet { ts_ecr: timestamp(at_us(echo_us)), payload: 1448, ..Packet::empty(FlowId(0), 1500) };
        estimate.on_data(&config, &packet, is_read, at_us(now_us));
        estimate.span().as_micros()
    }

    /// The smallest sample counts at once, larger ones with an eighth: 2000 x 7/8 + 3000 / 8 = 2125.
    #[test]
    fn an_estimate_falls_at_once_and_rises_slowly() {
        let mut rtt = RttEstimate::new();
        assert_eq!(after(&mut rtt, 1900, 4100, true), 3000);
        assert_eq!(after(&mut rtt, 1000, 5000, true), 3000, "the tick has been echoed");
        assert_eq!(after(&mut rtt, 4900, 6100, true), 2000);
        assert_eq!(after(&mut rtt, 7000, 10_000, true), 2125);
        assert_eq!(after(&mut rtt, 8000, 20_000, false), 2125, "what waits to be read may have been delayed");
        assert_eq!(after(&mut rtt, 20_100, 20_900, true), 2125, "no tick");
    }

    /// 65,535 bytes after the first segment, 46 segments, bound the RTT where echoes show none.
    #[test]
    fn the_first_window_bounds_the_rtt() {
        let config = config("reno", "linux-6");
        let mut rtt = RttEstimate::new();
        for segments in 1..47 {
            rtt.on_progress(&config, 1 + segments * 1448, at_us(10 * segments));
            assert!(rtt.span().is_zero());
        }
        rtt.on_progress(&config, 1 + 47 * 1448, at_us(470));
        assert_eq!(rtt.span(), Span::from_micros(460));
        rtt.on_progress(&config, 1 + 94 * 1448, at_us(480));
        assert_eq!(rtt.span(), Span::from_micros(460), "once");
    }
}
