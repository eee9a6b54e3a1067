//! Data arrives in order, exactly once and in bounded time over any network, and the endpoints keep their invariants
//! with any peer.

use crate::testing::{Direction, Fate, Pair, config, drive_hostile};
use crate::{CwrAck, EcnFeedback, EndpointConfig, Profile, ReceiverConfig};
use proptest::prelude::*;
use shoal_cc::{CcConfig, PRESETS};
use shoal_packet::{Ecn, Packet};
use shoal_units::{Span, Time};

/// Delay one way.
const DELAY: Span = Span::from_millis(10);

fn any_config() -> impl Strategy<Value = EndpointConfig> {
    (0..Profile::ALL.len(), 0..PRESETS.len(), any::<bool>(), any::<bool>(), 12u32..17, any_receiver())
        .prop_map(|(stack, cc, sack, delayed_ack, window, receiver)| EndpointConfig {
            sack,
            delayed_ack,
            receiver,
            receive_window_bytes: 3 << window,
            ..config(PRESETS[cc].name, Profile::ALL[stack].name)
        })
}

/// Mostly like the sender; else with a stack and feedback of its own.
fn any_receiver() -> impl Strategy<Value = ReceiverConfig> {
    let feedback =
        prop_oneof![Just(EcnFeedback::Classic), Just(EcnFeedback::Dctcp), Just(EcnFeedback::Accurate)];
    let cwr_ack = prop_oneof![Just(CwrAck::AsUsual), Just(CwrAck::AtOnce), Just(CwrAck::Delayed)];
    let stack = (0..Profile::ALL.len()).prop_map(|index| Profile::ALL[index]);
    (prop::option::of(stack), prop::option::of(feedback), prop::option::of(cwr_ack)).prop_map(
        |(stack, feedback, cwr_ack)| ReceiverConfig { stack, feedback, cwr_ack, misbehaviour: None },
    )
}

/// What one byte does to a packet: mostly nothing. `badness` is the percentage of packets that are lost, late, doubled
/// or marked.
fn fate(byte: u8, badness: u8, packet: &mut Packet) -> Fate {
    if u16::from(byte % 100) >= u16::from(badness) {
        return Fate::Deliver;
    }
    match byte % 5 {
        0 => Fate::Late(Span::from_millis(u64::from(byte))),
        1 => Fate::Twice(Span::from_millis(u64::from(byte) / 4)),
        2 if packet.ecn.is_capable() => {
            packet.ecn = Ecn::Ce;
            Fate::Deliver
        }
        _ => Fate::Drop,
    }
}

/// At most one ECN cut a window: between two entries into CWR everything in flight at the first is acknowledged.
struct OneCutAWindow {
    reductions: u32,
    until: u64,
}

impl OneCutAWindow {
    /// After a step that began with `snd_nxt`.
    fn check<H>(&mut self, pair: &Pair<H>, snd_nxt: u64) {
        let reductions = pair.sender.counters().cwr_reductions;
        if reductions > self.reductions {
            assert_eq!(reductions, self.reductions + 1);
            assert!(pair.sender.snd_una() > self.until, "two cuts in one window");
            self.until = snd_nxt;
            self.reductions = reductions;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_data_arrives(
        config in any_config(),
        badness in 0u8..40,
        pattern in prop::collection::vec(any::<u8>(), 1..400),
        bytes in 1u64..400_000,
    ) {
        let mut n = 0;
        let mut pair = Pair::new(config, DELAY, move |_, packet: &mut Packet| {
            n += 1;
            // The pattern ends, as data cannot arrive over a network that loses the same packet again and again.
            pattern.get(n - 1).map_or(Fate::Deliver, |&byte| fate(byte, badness, packet))
        });
        // 400 packets may be lost, each for a backed-off timeout of at most 2 minutes; 1 h is never needed in practice.
        pair.transfer(bytes, Time::ZERO + Span::from_secs(3600));
        prop_assert_eq!(pair.receiver.delivered_bytes(), bytes);
        prop_assert_eq!(pair.sender.counters().acked_bytes, bytes);
        prop_assert_eq!(pair.sender.in_flight(), 0);
    }

    #[test]
    fn one_cut_a_window(config in any_config(), pattern in prop::collection::vec(any::<u8>(), 200..600)) {
        let mut n = 0;
        let mut pair = Pair::new(config, DELAY, move |direction, packet: &mut Packet| {
            if direction == Direction::Data && packet.ecn.is_capable() {
                n = (n + 1) % pattern.len();
                if pattern[n] < 40 {
                    packet.ecn = Ecn::Ce;
                }
            }
            Fate::Deliver
        });
        pair.with_sender(crate::Sender::connect);
        pair.with_sender(|s, config, now, out| s.set_greedy(config, true, now, out));
        let mut cuts = OneCutAWindow { reductions: 0, until: 0 };
        while pair.now < Time::ZERO + Span::from_millis(800) {
            let snd_nxt = pair.sender.snd_nxt();
            pair.step();
            cuts.check(&pair, snd_nxt);
        }
        prop_assert!(pair.sender.counters().acked_bytes > 0);
        if matches!(config.cc, CcConfig::Dctcp(_)) {
            prop_assert!(pair.sender.counters().cwr_reductions > 0);
        }
        prop_assert_eq!(pair.sender.losses(), 0, "marks were taken for losses");
    }

    #[test]
    fn hostile_peers_break_nothing(input in prop::collection::vec(any::<u8>(), 4..2000)) {
        drive_hostile(&input);
    }
}
