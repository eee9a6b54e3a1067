//! The two implementations of DualPI2 whose controllers differ.

/// Whose DualPI2 it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DualPi2Form {
    /// That of Linux since 6.17
    /// ([`net/sched/sch_dualpi2.c`](https://elixir.bootlin.com/linux/v6.18/source/net/sched/sch_dualpi2.c)).
    Mainline,
    /// That of the L4S team's trees of 2019 to 2021
    /// ([`net/sched/sch_dualpi2.c`](https://github.com/L4STeam/linux/blob/29c297fd79ddb1289cda47b6ba59c41171aaa07e/net/sched/sch_dualpi2.c)).
    L4sTeam,
}

/// Fractional bits of the gains beyond those of the probability.
const GRANULARITY: u32 = 6;

impl DualPi2Form {
    /// What the sum of both products of a gain and a delay is divided by, for a change of the probability. Both scale
    /// gains alike, so that the L4S team's act as 64/127 of what was written.
    const fn divisor(self) -> i64 {
        match self {
            Self::Mainline => 1 << GRANULARITY,
            // `(1 << (ALPHA_BETA_GRANULARITY + 1)) - 1`.
            Self::L4sTeam => (1 << (GRANULARITY + 1)) - 1,
        }
    }

    /// The change of the probability for the two products of a gain and a delay: mainline divides their sum, the L4S
    /// team each of them; both round towards zero.
    pub(super) const fn change(self, integral: i64, proportional: i64) -> i64 {
        let by = self.divisor();
        match self {
            Self::Mainline => integral.wrapping_add(proportional) / by,
            Self::L4sTeam => integral / by + proportional / by,
        }
    }

    /// A scaled gain as it acts on the probability for a nanosecond of delay.
    pub(super) fn acting(self, scaled: u32) -> f64 {
        f64::from(scaled) / self.divisor() as f64
    }
}
