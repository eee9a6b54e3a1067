//! Dual RED.

use super::script::Script;
use crate::vectors::check;
use shoal_aqm::{AverageScope, Class, DualRedConfig, Extent, LawConfig, MarkSpacing, RedParameters};
use shoal_packet::Ecn;
use shoal_units::Rate;
use std::collections::BTreeMap;
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

struct Case {
    not_ect: Instance,
    ect: Instance,
    average: AverageScope,
    /// 0: none.
    limit_packets: u32,
    limit_bytes: u32,
    rate_bps: u64,
}

const CASES: [Case; 6] = [
    // Kuehlewind et al.'s threshold study: step for ECT, shared average.
    Case {
        not_ect: SLOPE,
        ect: STEP,
        average: AverageScope::Shared,
        limit_packets: 40,
        limit_bytes: 0,
        rate_bps: 10_000_000,
    },
    // Kuehlewind et al.'s slope study, both averages slow; equal inputs, separate counters.
    Case {
        not_ect: SLOW,
        ect: Instance { max_p: ONE, min: 1500, max: 8000, ..SLOW },
        average: AverageScope::Shared,
        limit_packets: 0,
        limit_bytes: 40_000,
        rate_bps: 10_000_000,
    },
    Case {
        not_ect: SLOPE,
        ect: Instance { max_p: ONE / 3, ..SLOPE },
        average: AverageScope::PerClass,
        limit_packets: 25,
        limit_bytes: 0,
        rate_bps: 40_000_000,
    },
    Case {
        not_ect: Instance { gentle: true, ..SLOPE },
        ect: Instance { gentle: true, independent: true, ..SLOPE },
        average: AverageScope::Shared,
        limit_packets: 0,
        limit_bytes: 60_000,
        rate_bps: 40_000_000,
    },
    Case {
        not_ect: Instance { independent: true, weight: ONE / 8, ..SLOPE },
        ect: Instance { weight: ONE, min: 3000, max: 12_000, ..SLOPE },
        average: AverageScope::Shared,
        limit_packets: 30,
        limit_bytes: 0,
        rate_bps: 1_000_000,
    },
    Case {
        not_ect: Instance { weight: 3 * ONE / 4, min: 4500, max: 6000, ..SLOPE },
        ect: STEP,
        average: AverageScope::PerClass,
        limit_packets: 12,
        limit_bytes: 0,
        rate_bps: 1_000_000_000,
    },
];

const MEAN_PACKET: u32 = 1000;

#[test]
fn dualred() {
    let mut text = String::from(
        "# sch_dualred against shoal_aqm::DualRed.\n\
         # config: limit packets, limit bytes, rate B/s, mean packet, per class; then for not-ECT and ECT: min, max, max_p, \
         weight, gentle, independent\n\
         # a(rrival), d(equeue): time ns, size, ECT, random numbers drawn, outcome, average not-ECT, average ECT (bytes)\n",
    );
    let mut outcomes = BTreeMap::new();
    for (case, seed) in CASES.iter().zip(1..) {
        run(case, seed, &mut text, &mut outcomes);
    }
    for outcome in [
        "a queued",
        "a mark-threshold",
        "a mark-early",
        "a mark-forced",
        "a drop-early",
        "a drop-forced",
        "a drop-buffer",
        "d empty",
        "d sent",
    ] {
        assert!(outcomes.get(outcome).is_some_and(|count| *count >= 25), "{outcome}: {outcomes:?}");
    }
    check("dualred.tsv", &text);
}

fn run(case: &Case, seed: u64, text: &mut String, outcomes: &mut BTreeMap<String, u32>) {
    let line = Rate::from_bps(case.rate_bps);
    let config = DualRedConfig {
        not_ect: case.not_ect.parameters(),
        ect: case.ect.parameters(),
        average: case.average,
        limit: match (case.limit_packets, case.limit_bytes) {
            (0, bytes) => Extent::Bytes(bytes.into()),
            (packets, _) => Extent::Packets(packets),
        },
        rate: line,
        mean_packet_bytes: MEAN_PACKET,
    };
    writeln!(
        text,
        "config\t{}\t{}\t{}\t{MEAN_PACKET}\t{}\t{}\t{}",
        case.limit_packets,
        case.limit_bytes,
        case.rate_bps / 8,
        u8::from(case.average == AverageScope::PerClass),
        case.not_ect.row(),
        case.ect.row()
    )
    .unwrap();
    let ecn = [Ecn::NotEct, Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
    Script::new(config.build(line).unwrap(), line, &ecn, seed, text, outcomes).run(900, |queue| {
        let average = |class| queue.law().class_average_bytes(class);
        format!("{:.4}\t{:.4}", average(Class::NotEct), average(Class::Ect))
    });
}
