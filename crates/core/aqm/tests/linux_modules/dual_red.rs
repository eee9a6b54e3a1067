//! Dual RED.

use super::script::{Outcomes, Script, limit_row};
use crate::vectors::check;
use shoal_aqm::{AverageScope, Class, DualRedConfig, Extent, LawConfig, MarkSpacing, RedParameters};
use shoal_packet::Ecn;
use shoal_units::Rate;
use std::fmt::Write;

/// A RED instance as the module has it: integers, probabilities and weights in 2^-32.
#[derive(Clone, Copy)]
struct Instance {
    min: u32,
    max: u32,
    max_p: u64,
    weight: u64,
    gentle: bool,
    independent: bool,
}

const ONE: u64 = 1 << 32;
const SLOPE: Instance =
    Instance { min: 6000, max: 18_000, max_p: ONE / 10, weight: ONE / 64, gentle: false, independent: false };
/// Kuehlewind et al. 2014: w = 0.002, which no shift expresses.
const SLOW: Instance = Instance { weight: 8_589_935, max_p: ONE / 2, min: 3000, max: 9000, ..SLOPE };
const STEP: Instance = Instance { min: 7500, max: 7500, max_p: ONE, weight: ONE, ..SLOPE };

impl Instance {
    fn parameters(self) -> RedParameters {
        RedParameters {
            min_bytes: self.min.into(),
            max_bytes: self.max.into(),
            max_probability: self.max_p as f64 / ONE as f64,
            weight: self.weight as f64 / ONE as f64,
            gentle: self.gentle,
            spacing: if self.independent { MarkSpacing::Independent } else { MarkSpacing::Uniformised },
        }
    }

    fn row(self) -> String {
        let Self { min, max, max_p, weight, gentle, independent } = self;
        format!("{min}\t{max}\t{max_p}\t{weight}\t{}\t{}", u8::from(gentle), u8::from(independent))
    }
}

/// Instances for packets that are not ECT and for those that are, the scope of their averages, limit, rate in bit/s.
type Case = (Instance, Instance, AverageScope, Extent, u64);

const CASES: [Case; 6] = {
    use AverageScope::{PerClass, Shared};
    use Extent::{Bytes, Packets};
    [
        // Kuehlewind et al.'s threshold study: step for ECT, shared average.
        (SLOPE, STEP, Shared, Packets(40), 10_000_000),
        // Kuehlewind et al.'s slope study, both averages slow; equal inputs, separate counters.
        (SLOW, Instance { max_p: ONE, min: 1500, max: 8000, ..SLOW }, Shared, Bytes(40_000), 10_000_000),
        (SLOPE, Instance { max_p: ONE / 3, ..SLOPE }, PerClass, Packets(25), 40_000_000),
        (
            Instance { gentle: true, ..SLOPE },
            Instance { gentle: true, independent: true, ..SLOPE },
            Shared,
            Bytes(60_000),
            40_000_000,
        ),
        (
            Instance { independent: true, weight: ONE / 8, ..SLOPE },
            Instance { weight: ONE, min: 3000, max: 12_000, ..SLOPE },
            Shared,
            Packets(30),
            1_000_000,
        ),
        (
            Instance { weight: 3 * ONE / 4, min: 4500, max: 6000, ..SLOPE },
            STEP,
            PerClass,
            Packets(12),
            1_000_000_000,
        ),
    ]
};

const MEAN_PACKET: u32 = 1000;

#[test]
fn dualred() {
    let mut text = String::from(
        "# sch_dualred against shoal_aqm::DualRed.\n\
         # config: limit packets, limit bytes, rate B/s, mean packet, per class; then for not-ECT and ECT: min, max, \
         max_p, \
         weight, gentle, independent\n\
         # a(rrival), d(equeue): time ns, size, ECT, random numbers drawn, outcome, average not-ECT, average ECT \
         (bytes)\n",
    );
    let mut outcomes = Outcomes::default();
    for (case, seed) in CASES.into_iter().zip(1..) {
        run(case, seed, &mut text, &mut outcomes);
    }
    outcomes
        .require(25, "a: queued mark-threshold mark-early mark-forced drop-early drop-forced drop-buffer");
    outcomes.require(25, "d: empty sent");
    check("dualred.tsv", &text);
}

fn run(case: Case, seed: u64, text: &mut String, outcomes: &mut Outcomes) {
    let (not_ect, ect, average, limit, rate_bps) = case;
    let line = Rate::from_bps(rate_bps);
    let config = DualRedConfig {
        not_ect: not_ect.parameters(),
        ect: ect.parameters(),
        average,
        limit,
        rate: line,
        mean_packet_bytes: MEAN_PACKET,
    };
    let per_class = u8::from(average == AverageScope::PerClass);
    write!(text, "config\t{}\t{}\t{MEAN_PACKET}", limit_row(limit), rate_bps / 8).unwrap();
    writeln!(text, "\t{per_class}\t{}\t{}", not_ect.row(), ect.row()).unwrap();
    let ecn = [Ecn::NotEct, Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
    Script::new(config.build(line).unwrap(), line, &ecn, seed, text, outcomes).run(900, |queue| {
        let average = |class| queue.law().class_average_bytes(class);
        format!("{:.4}\t{:.4}", average(Class::NotEct), average(Class::Ect))
    });
}
