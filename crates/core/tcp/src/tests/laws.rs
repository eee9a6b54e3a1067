//! Closed-form windows under forced loss and marking (claims A25, A35). The delay is constant, so the window is the
//! rate.

use crate::EndpointConfig;
use crate::testing::{Direction, Fate, Pair, config};
use shoal_cc::{CcConfig, CutStyle};
use shoal_packet::{Ecn, Packet};
use shoal_units::{Span, Stream, Time};

/// Round-trip time.
const RTT: Span = Span::from_millis(100);

/// Time average of cwnd in packets over 300 round trips, after 100 to settle. `trouble` sees every data packet with its
/// number.
fn mean_window(config: EndpointConfig, mut trouble: impl FnMut(u64, &mut Packet) -> Fate) -> f64 {
    let mut n = 0;
    let mut pair = Pair::new(config, RTT / 2, move |direction, packet: &mut Packet| {
        if direction == Direction::Ack || packet.payload == 0 {
            return Fate::Deliver;
        }
        n += 1;
        trouble(n, packet)
    });
    pair.with_sender(crate::Sender::connect);
    pair.with_sender(|s, config, now, out| s.set_greedy(config, true, now, out));
    let (start, end) = (Time::ZERO + RTT * 100, Time::ZERO + RTT * 400);
    pair.run_until(start);
    let mut area = 0.0;
    while pair.now < end {
        let (before, cwnd) = (pair.now, pair.sender.window().cwnd);
        pair.step();
        area += f64::from(cwnd) * pair.now.since(before).as_secs_f64();
    }
    area / pair.now.since(start).as_secs_f64()
}

/// Mean window when every `period`-th packet is dropped.
fn with_drops(config: EndpointConfig, period: u64) -> f64 {
    mean_window(config, move |n, _| if n % period == 0 { Fate::Drop } else { Fate::Deliver })
}

/// Mean window when each packet is marked with probability `p`.
fn with_marks(config: EndpointConfig, p: f64) -> f64 {
    let mut random = Stream::new(1, "laws");
    mean_window(config, move |_, packet| {
        if random.uniform_f64() < p {
            packet.ecn = Ecn::Ce;
        }
        Fate::Deliver
    })
}

#[test]
fn reno_constant_follows_the_ack_counting() {
    // The window climbs from W/2 to W by b packets a round trip: 1/p = 3 W^2 / (8 b), mean 3W/4 = sqrt(3 b / (2 p)). b
    // = 1 when packets are counted, or ACKs of single packets; b = 1/2 when ACKs of two packets count once (Kuehlewind
    // et al. 2014, De Schepper et al. 2015).
    for (stack, delayed_ack, constant) in [
        ("linux-3.2", true, 0.866),
        ("linux-3.2", false, 1.225),
        ("linux-3.18", true, 0.866),
        ("linux-3.18", false, 1.225),
        ("linux-6", true, 1.225),
        ("linux-6", false, 1.225),
    ] {
        let config = EndpointConfig { delayed_ack, ..config("reno", stack) };
        let measured = with_drops(config, 3200) / f64::sqrt(3200.0);
        let error = measured / constant - 1.0;
        assert!(error.abs() < 0.05, "{stack} {delayed_ack}: {measured} instead of {constant}");
        // The exponent between p = 1/3200 and 1/200 is -0.5. The bound is 0.05, as Recovery takes one round trip of a
        // cycle of only 11 at p = 1/200.
        let exponent = (with_drops(config, 200) * f64::sqrt(200.0).recip() / measured).log2() / 4.0;
        assert!(exponent.abs() < 0.05, "{stack} {delayed_ack}: exponent differs by {exponent}");
    }
}

#[test]
fn dctcp_window_is_about_two_over_p() {
    // 2/p holds if every mark takes half a packet and every round trip adds one. One cut a window and no growth in CWR
    // lower it, a lagging alpha raises it (claims A25: 1.2 to 2.8).
    for (cc, stack, delayed_ack) in [
        ("dctcp", "linux-6", true),
        ("dctcp", "linux-6", false),
        ("dctcp-linux-3.18", "linux-3.18", false),
        ("dctcp-stanford", "linux-3.2", false),
        ("dctcp-stanford", "linux-3.2", true),
    ] {
        for p in [0.05, 0.1, 0.2] {
            let config = EndpointConfig { delayed_ack, ..config(cc, stack) };
            let constant = with_marks(config, p) * p;
            assert!((1.2..2.8).contains(&constant), "{cc} {stack} {delayed_ack} p {p}: {constant}");
        }
    }
}

#[test]
fn per_ack_growth_halves_the_window_of_ikr() {
    // With delayed ACKs 3.2 adds half a packet a round trip, so about 1/p instead of 2/p; fewer ACKs also make alpha
    // slower.
    for p in [0.05, 0.1, 0.2] {
        let single =
            with_marks(EndpointConfig { delayed_ack: false, ..config("dctcp-ikr", "linux-3.2") }, p) * p;
        let delayed = with_marks(config("dctcp-ikr", "linux-3.2"), p) * p;
        assert!((0.4..0.6).contains(&(delayed / single)), "p {p}: {delayed} of {single}");
    }
}

#[test]
fn a_cut_for_every_mark_gives_two_over_p() {
    // The assumption of the law (claim A35): W p = 2, or a little less, because a cut clears the counter.
    for p in [0.02, 0.05, 0.1] {
        let mut config = EndpointConfig { delayed_ack: false, ..config("dctcp", "linux-6") };
        let CcConfig::Dctcp(dctcp) = &mut config.cc else { panic!("not DCTCP") };
        dctcp.cut = CutStyle::PerMark;
        dctcp.grows_in_cwr = true;
        dctcp.counter_on_cut = shoal_cc::CounterOnCut::KeepUnlessCut;
        let constant = with_marks(config, p) * p;
        assert!((1.7..2.2).contains(&constant), "p {p}: {constant}");
    }
}
