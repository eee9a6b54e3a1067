//! The coupled queue, and the dual one.

use super::script::{Outcomes, Script, limit_row};
use crate::vectors::check;
use shoal_aqm::{
    CoupledConfig, CoupledSlope, CouplingInput, DecideAt, DualCoupledConfig, Extent, LawConfig, Queue,
    SchedulerConfig,
};
use shoal_packet::Ecn;
use shoal_units::{Rate, Span};
use std::fmt::Write;

const ECN: [Ecn; 5] = [Ecn::NotEct, Ecn::NotEct, Ecn::NotEct, Ecn::Ect0, Ecn::Ce];

/// k as the module has it, in 2^-16.
const fn linear(saturation: Extent, coupling_q16: u32) -> CoupledSlope {
    CoupledSlope::Linear { saturation, coupling: coupling_q16 as f64 / 65_536.0 }
}

const fn shift(drop_bits: u8, mark_bits: u8, unit: Extent) -> CoupledSlope {
    CoupledSlope::Shift { drop_bits, mark_bits, unit }
}

/// Measure of the module (time in ns, bytes, packets) and the amount.
fn measured(extent: Extent) -> (u8, u64) {
    match extent {
        Extent::Time(span) => (0, span.as_picos() / 1000),
        Extent::Bytes(bytes) => (1, bytes),
        Extent::Packets(packets) => (2, packets.into()),
        Extent::Unlimited => panic!("the module has no unlimited slopes"),
    }
}

/// measure, form, saturation, coupling, drop bits, mark bits, unit.
fn slope_row(slope: CoupledSlope) -> String {
    match slope {
        CoupledSlope::Linear { saturation, coupling } => {
            let (measure, saturation) = measured(saturation);
            format!("{measure}\t0\t{saturation}\t{}\t0\t0\t1", (coupling * 65_536.0) as u32)
        }
        CoupledSlope::Shift { drop_bits, mark_bits, unit } => {
            let (measure, unit) = measured(unit);
            format!("{measure}\t1\t1\t65536\t{drop_bits}\t{mark_bits}\t{unit}")
        }
    }
}

fn p_q32<Q: Queue>(queue: &Q) -> String {
    format!("{}", (queue.probability().unwrap_or(0.0) * 4_294_967_296.0) as u64)
}

const MS_20: Extent = Extent::Time(Span::from_millis(20));
const NS: Extent = Extent::Time(Span::from_nanos(1));

#[test]
fn coupled() {
    let line = Rate::from_bps(40_000_000);
    // 1.63 = 106,824 / 65,536.
    let cases = [
        (linear(MS_20, 106_824), DecideAt::Enqueue, Extent::Packets(60)),
        (linear(MS_20, 106_824), DecideAt::Dequeue, Extent::Packets(60)),
        (linear(Extent::Bytes(50_000), 2 << 16), DecideAt::Enqueue, Extent::Bytes(60_000)),
        (linear(Extent::Packets(30), 65_536 * 3 / 2), DecideAt::Dequeue, Extent::Packets(50)),
        // The integers of the slides: 2^32 ns >> 8 = 17 ms, and packets.
        (shift(7, 8, NS), DecideAt::Dequeue, Extent::Packets(60)),
        (shift(26, 27, Extent::Packets(1)), DecideAt::Enqueue, Extent::Packets(40)),
        // Every packet that is not ECT is dropped, except the last one.
        (linear(Extent::Packets(1), 1 << 16), DecideAt::Dequeue, Extent::Packets(50)),
    ];
    let mut text = String::from(
        "# sch_coupled against shoal_aqm::Coupled.\n\
         # config: limit packets, limit bytes, rate B/s, decide at dequeue, measure, form, saturation, coupling, drop \
         bits, mark \
         bits, unit\n\
         # a(rrival), d(equeue): time ns, size, ECT, random numbers drawn, outcome, p of the last decision in 2^-32\n",
    );
    let mut outcomes = Outcomes::default();
    for ((slope, decide, limit), seed) in cases.into_iter().zip(1..) {
        let rate = line.as_bps() / 8;
        let dequeue = u8::from(decide == DecideAt::Dequeue);
        writeln!(text, "config\t{}\t{rate}\t{dequeue}\t{}", limit_row(limit), slope_row(slope)).unwrap();
        let queue = CoupledConfig { slope, decide, limit }.build(line).unwrap();
        Script::new(queue, line, &ECN, seed, &mut text, &mut outcomes).run(700, p_q32);
    }
    outcomes.require(15, "a: queued mark-coupled drop-early drop-buffer");
    outcomes.require(15, "d: mark-coupled drop-early");
    check("coupled.tsv", &text);
}

fn scheduler_row(scheduler: SchedulerConfig) -> String {
    match scheduler {
        SchedulerConfig::StrictPriority => "0\t10\t0".to_owned(),
        SchedulerConfig::Weighted { classic_percent } => format!("1\t{classic_percent}\t0"),
        SchedulerConfig::TimeShifted { shift } => format!("2\t10\t{}", shift.as_picos() / 1000),
    }
}

#[test]
fn dualq_coupled() {
    let line = Rate::from_bps(40_000_000);
    let strict = DualCoupledConfig {
        slope: linear(MS_20, 8 << 16),
        input: CouplingInput::Classic,
        threshold: Extent::Packets(5),
        decide: DecideAt::Dequeue,
        scheduler: SchedulerConfig::StrictPriority,
        mtu: 1500,
        protection: None,
        limit: Extent::Packets(80),
    };
    let ms = |ms| Extent::Time(Span::from_millis(ms));
    let weighted = SchedulerConfig::Weighted { classic_percent: 10 };
    let cases = [
        strict,
        // The variant of the slides by queue size: 90/10, S_d = S_r + 3.
        DualCoupledConfig {
            slope: shift(17, 20, Extent::Bytes(1)),
            scheduler: weighted,
            limit: Extent::Bytes(60_000),
            ..strict
        },
        DualCoupledConfig { slope: shift(5, 8, NS), threshold: Extent::Bytes(4000), ..strict },
        DualCoupledConfig {
            decide: DecideAt::Enqueue,
            scheduler: SchedulerConfig::Weighted { classic_percent: 35 },
            threshold: ms(2),
            ..strict
        },
        DualCoupledConfig {
            scheduler: SchedulerConfig::TimeShifted { shift: Span::from_millis(3) },
            // Five packets of 1500 B take that long, so that some waits equal it.
            threshold: Extent::Time(Span::from_micros(1500)),
            input: CouplingInput::Total,
            slope: linear(MS_20, 65_536 * 3 / 2),
            limit: Extent::Packets(40),
            ..strict
        },
        DualCoupledConfig {
            input: CouplingInput::Total,
            slope: linear(Extent::Packets(30), 2 << 16),
            decide: DecideAt::Enqueue,
            scheduler: weighted,
            threshold: Extent::Packets(20),
            limit: Extent::Packets(40),
            ..strict
        },
        DualCoupledConfig {
            input: CouplingInput::Total,
            slope: linear(Extent::Packets(1), 1 << 16),
            threshold: Extent::Packets(50),
            ..strict
        },
    ];
    let mut text = String::from(
        "# sch_dualq_coupled against shoal_aqm::DualCoupled.\n\
         # config: limit packets, limit bytes, rate B/s, decide at dequeue, measure, form, saturation, coupling, drop \
         bits, mark \
         bits, unit, threshold measure, threshold, total, scheduler, classic percent, shift ns, mtu\n\
         # a(rrival), d(equeue): time ns, size, ECT, random numbers drawn, outcome, p of the last decision in 2^-32\n",
    );
    let mut outcomes = Outcomes::default();
    for (config, seed) in cases.iter().zip(1..) {
        let (threshold_measure, threshold) = measured(config.threshold);
        writeln!(
            text,
            "config\t{}\t{}\t{}\t{}\t{threshold_measure}\t{threshold}\t{}\t{}\t{}",
            limit_row(config.limit),
            line.as_bps() / 8,
            u8::from(config.decide == DecideAt::Dequeue),
            slope_row(config.slope),
            u8::from(config.input == CouplingInput::Total),
            scheduler_row(config.scheduler),
            config.mtu
        )
        .unwrap();
        let queue = *config.build(line).unwrap();
        Script::new(queue, line, &ECN, seed, &mut text, &mut outcomes).run(900, p_q32);
    }
    outcomes.require(15, "a: queued mark-coupled mark-threshold drop-early drop-buffer");
    outcomes.require(15, "d: sent empty mark-coupled mark-threshold drop-early");
    check("dualq-coupled.tsv", &text);
}
