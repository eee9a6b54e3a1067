use super::drive::{FREEBSD, LINUX_3_2, LINUX_3_18, LINUX_6};
use crate::testing::{Model, Operation};
use crate::{
    CcConfig, CutStyle, DctcpConfig, Gain, LossResponse, MarkCounting, PRESETS, PacedWindow, PragueConfig,
    UndoWindow, WindowSteps, dctcp::presets, prague,
};
use proptest::prelude::*;
use std::vec::Vec;

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        20 => (1u8..20, prop::bool::weighted(0.2)).prop_map(|(packets, ece)| Operation::Ack { packets, ece }),
        3 => any::<bool>().prop_map(|ece| Operation::Duplicate { ece }),
        1 => Just(Operation::Loss),
        1 => Just(Operation::Timeout),
        1 => (0u16..3000).prop_map(|ms| Operation::Wait { ms }),
        1 => (0u16..3000).prop_map(|ms| Operation::Idle { ms }),
        1 => Just(Operation::Undo),
    ]
}

/// All presets, and policies that no preset has yet.
fn configs() -> Vec<CcConfig> {
    let per_mark = DctcpConfig { cut: CutStyle::PerMark, ..presets::IKR };
    let normalised = DctcpConfig {
        gain: Gain::PerWindowInFlight(4),
        counting: MarkCounting::Bytes,
        alpha_on_timeout: crate::AlphaAfter::Update,
        alpha_after_idle: crate::AlphaAfter::Reinitialise,
        ..presets::IKR
    };
    let exact = DctcpConfig {
        alpha_resolution: crate::AlphaResolution::Exact,
        alpha_on_timeout: crate::AlphaAfter::One,
        ..presets::DCTCP
    };
    let mut all: Vec<_> = PRESETS.iter().map(|preset| preset.config).collect();
    all.extend([per_mark, normalised, exact].map(CcConfig::Dctcp));
    let unbounded = PragueConfig {
        rate_mode_packets: 255,
        lowest_rate_kbps: 1,
        smallest_packet: 53,
        classic_fallback: true,
        window_steps: WindowSteps::Carry,
        undo: UndoWindow::TwiceSsthresh,
        ..prague::presets::PRAGUE_0_7_EARLY
    };
    let coarse = PragueConfig {
        alpha_bits: 10,
        gain_shift: 7,
        keeps_remainder: false,
        independent_after_rounds: 0,
        grows_in_cwr: false,
        grows_in_loss: true,
        loss: LossResponse::Alpha,
        lowest_window: 3,
        paced_window: PacedWindow::Fractional,
        ..prague::presets::PRAGUE_0_7
    };
    all.extend([unbounded, coarse].map(CcConfig::Prague));
    all
}

proptest! {
    #[test]
    fn invariants_hold_for_every_preset_and_host(operations in prop::collection::vec(operation(), 1..400)) {
        for config in configs() {
            for rules in [LINUX_3_2, LINUX_3_18, LINUX_6] {
                let mut model = Model::new(&config, rules, 1);
                for operation in &operations {
                    model.apply(*operation);
                }
            }
        }
    }

    #[test]
    fn reductions_keep_to_their_floors_in_bytes(operations in prop::collection::vec(operation(), 1..200)) {
        // With the growth of a host that counts bytes, and with that of one that counts packets, which is slower.
        for config in configs() {
            for rules in [FREEBSD, LINUX_6] {
                let mut model = Model::new(&config, rules, crate::testing::MSS);
                for operation in &operations {
                    model.apply(*operation);
                }
            }
        }
    }

    #[test]
    fn every_three_bytes_are_an_operation(bytes in any::<[u8; 3]>()) {
        let mut model = Model::new(&CcConfig::Dctcp(presets::IKR), LINUX_3_2, 1);
        model.apply(Operation::from_bytes(bytes));
    }
}

#[test]
fn the_model_sees_reductions() {
    // A model without reductions would pass the checks above.
    // Laws of rate samples answer no signals.
    for config in configs().into_iter().filter(|config| !config.needs_rate_samples()) {
        let mut model = Model::new(&config, LINUX_3_2, 1);
        for i in 0..200 {
            model.apply(Operation::Ack { packets: 2, ece: i % 3 == 0 });
        }
        // With few packets Prague reduces a rate, of which the model sees nothing.
        assert!(model.reductions() >= 3, "{config:?}: {}", model.reductions());
    }
}
