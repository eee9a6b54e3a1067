//! Weighted round robin by credit (Linux
//! [`net/sched/sch_dualpi2.c`](https://elixir.bootlin.com/linux/v6.17/source/net/sched/sch_dualpi2.c),
//! `dequeue_packet`).

use super::Lane;

/// Two queues share the line by weights in percent of its bytes while both are backlogged.
///
/// The sign of the credit says whose turn it is, the size of what is sent how far it moves: a classic packet costs its
/// bytes times the weight of the other queue, a low-latency packet earns its bytes times the classic weight. With
/// weight 0 the credit stays where it begins, below zero: strict priority.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreditRoundRobin {
    classic_weight: i32,
    low_weight: i32,
    /// Credit in bytes times percent. The low-latency queue sends while it is not positive.
    credit: i32,
    /// Initial credit, restored when the line has found both queues empty.
    initial: i32,
}

impl CreditRoundRobin {
    /// The classic queue gets `classic_percent`, at most 100; `mtu` is the link's, in bytes.
    pub(crate) fn new(classic_percent: u8, mtu: u32) -> Self {
        let classic_weight = i32::from(classic_percent.min(100));
        let low_weight = 100 - classic_weight;
        let mtu = i32::try_from(mtu.min(65_535)).expect("16 bits");
        let initial = mtu * (classic_weight - low_weight);
        Self { classic_weight, low_weight, credit: initial, initial }
    }

    /// Which of two backlogged queues sends.
    #[inline]
    pub(crate) const fn pick(&self) -> Lane {
        if self.credit <= 0 { Lane::Low } else { Lane::Classic }
    }

    /// A packet of `bytes` is sent while both queues are backlogged.
    ///
    /// The credit cannot leave 32 bits: it moves up only from zero or below and down only from above.
    #[inline]
    pub(crate) fn charge(&mut self, lane: Lane, bytes: u16) {
        self.credit += match lane {
            Lane::Low => self.classic_weight * i32::from(bytes),
            Lane::Classic => -self.low_weight * i32::from(bytes),
        };
    }

    /// Called when both queues are empty and the line is free.
    #[inline]
    pub(crate) const fn reset(&mut self) {
        self.credit = self.initial;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends packets of the given sizes from queues that never run empty. Returns each queue and the credit after its
    /// packet.
    fn script(mut scheduler: CreditRoundRobin, low: u16, classic: u16, packets: usize) -> Vec<(Lane, i32)> {
        (0..packets)
            .map(|_| {
                let lane = scheduler.pick();
                scheduler.charge(lane, if lane == Lane::Low { low } else { classic });
                (lane, scheduler.credit)
            })
            .collect()
    }

    /// Linux' default: wc = 10, wl = 90, MTU 1500.
    #[test]
    fn credit_to_the_digit() {
        use Lane::{Classic, Low};
        let scheduler = CreditRoundRobin::new(10, 1500);
        // 1500 * (10 - 90).
        assert_eq!(scheduler.credit, -120_000);
        // A low-latency packet adds 10 * 1500 = 15,000: eight of them reach 0, with which the ninth still goes first.
        // A classic packet takes 90 * 1500 = 135,000.
        let expected = [
            (Low, -105_000),
            (Low, -90_000),
            (Low, -75_000),
            (Low, -60_000),
            (Low, -45_000),
            (Low, -30_000),
            (Low, -15_000),
            (Low, 0),
            (Low, 15_000),
            (Classic, -120_000),
            (Low, -105_000),
        ];
        assert_eq!(script(scheduler, 1500, 1500, 11), expected);
    }

    /// Shares are of bytes, whatever the sizes of packets.
    #[test]
    fn backlogged_queues_share_bytes_by_weight() {
        for (percent, low, classic) in
            [(10u8, 1500u16, 1500u16), (10, 100, 1500), (10, 1500, 40), (35, 9000, 700), (50, 1, 1500)]
        {
            let picks = script(CreditRoundRobin::new(percent, 1500), low, classic, 200_000);
            let sent =
                |lane, size: u16| picks.iter().filter(|(l, _)| *l == lane).count() as f64 * f64::from(size);
            let (low, classic) = (sent(Lane::Low, low), sent(Lane::Classic, classic));
            let share = classic / (low + classic);
            assert!((share - f64::from(percent) / 100.0).abs() < 0.005, "{percent} %: {share}");
        }
    }

    #[test]
    fn the_ends_of_the_range_are_strict() {
        for (percent, only) in [(0, Lane::Low), (100, Lane::Classic)] {
            let picks = script(CreditRoundRobin::new(percent, 1500), 9000, 40, 1000);
            assert!(picks.iter().all(|(lane, _)| *lane == only), "{percent} %");
        }
    }
}
