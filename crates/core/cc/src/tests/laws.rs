//! Claims A25 and A35: windows under a forced marking probability, without a network. An ACK for `per_ack` packets
//! comes every `per_ack/cwnd` of an RTT, a reduction takes effect at once, and an episode lasts for one window of data.

use super::drive::{Flow, LINUX_3_2, LINUX_6, MSS};
use crate::cubic::presets::{CUBIC, CUBIC_RFC9438};
use crate::dctcp::presets;
use crate::{
    AlphaResolution, AnyController, CcConfig, CongestionControl, CubicConfig, CutStyle, DctcpConfig, Gain,
    GrowthRules, Reduction, reno::RENO,
};
use shoal_units::{Probability, Span, Stream as Random};

/// Which packets are marked.
enum Marker {
    /// Every n-th packet.
    Spaced(u64),
    /// Each packet independently with a probability.
    Coin(Probability, Random),
    /// All packets of every n-th round trip (claim A25 "on-off").
    Rounds(u64),
}

struct OpenLoop {
    flow: Flow<AnyController>,
    marker: Marker,
    packets: u64,
    rounds: u64,
    round_end: u64,
    high_seq: Option<u64>,
    /// Numbers of marks and of RTTs, for the mean window and the marks in an RTT.
    marks: u64,
    rtts: f64,
}

impl OpenLoop {
    fn new(config: CcConfig, rules: GrowthRules, cwnd: u32, per_ack: u32, marker: Marker) -> Self {
        let flow = Flow { per_ack, ..Flow::in_avoidance(AnyController::new(&config, rules), cwnd, RTT) };
        Self { flow, marker, packets: 0, rounds: 0, round_end: 0, high_seq: None, marks: 0, rtts: 0.0 }
    }

    fn marked(&mut self) -> bool {
        let before = self.packets;
        self.packets += u64::from(self.flow.per_ack);
        match &mut self.marker {
            Marker::Spaced(n) => self.packets / *n > before / *n,
            Marker::Coin(p, random) => {
                (0..self.flow.per_ack).fold(false, |any, _| p.happens(random.uniform_u32()) | any)
            }
            // Except the last packet: it ends the episode, and a mark on it would begin another.
            Marker::Rounds(n) => {
                self.rounds.is_multiple_of(*n)
                    && self.flow.stream.snd_una + u64::from(self.flow.per_ack * MSS) < self.round_end
            }
        }
    }

    fn ack(&mut self) {
        let part = f64::from(self.flow.per_ack) / f64::from(self.flow.window.cwnd);
        self.rtts += part;
        self.flow.stream.now += Span::from_picos(
            self.flow.stream.rtt.as_picos() * u64::from(self.flow.per_ack) / u64::from(self.flow.window.cwnd),
        );
        // As much is in flight as the window allows.
        self.flow.stream.snd_nxt =
            self.flow.stream.snd_una + u64::from(self.flow.window.cwnd) * u64::from(MSS);
        if self.flow.stream.snd_una >= self.round_end {
            self.round_end = self.flow.stream.snd_nxt;
            self.rounds += 1;
        }
        let ece = self.marked();
        self.marks += u64::from(ece);
        let sample = self.flow.stream.ack(self.flow.per_ack, ece);
        self.flow.cc.on_ack(&mut self.flow.window, &sample);
        if self.high_seq.is_some_and(|high_seq| sample.snd_una >= high_seq) {
            self.high_seq = None;
            self.flow.cc.on_exit(&mut self.flow.window, sample.now);
        }
        if self.flow.cc.grows_in_cwr() || self.high_seq.is_none() && !ece {
            self.flow.cc.on_growth(&mut self.flow.window, &sample);
        }
        if !ece {
            return;
        }
        if self.high_seq.is_some() {
            self.flow.cc.on_ece_in_cwr(&mut self.flow.window, &sample);
        } else {
            self.high_seq = Some(sample.snd_nxt);
            if self.flow.cc.on_ecn(&mut self.flow.window, &self.flow.stream.signal()) == Reduction::Spread {
                self.flow.window.cwnd = self.flow.window.ssthresh;
            }
        }
    }

    /// Mean window over time, after `skip` packets, for `measure` packets.
    fn mean(&mut self, skip: u64, measure: u64) -> f64 {
        for _ in 0..skip / u64::from(self.flow.per_ack) {
            self.ack();
        }
        (self.marks, self.rtts) = (0, 0.0);
        let start = self.packets;
        while self.packets - start < measure {
            self.ack();
        }
        (self.packets - start) as f64 / self.rtts
    }
}

const RTT: Span = Span::from_millis(100);

/// Slope of log `y(x)` against log `x` by least squares.
fn slope<const N: usize>(points: [f64; N], mut y: impl FnMut(f64) -> f64) -> f64 {
    let logs = points.map(|x| (libm::log(x), libm::log(y(x))));
    let (sx, sy) = logs.iter().fold((0.0, 0.0), |(sx, sy), (x, y)| (sx + x, sy + y));
    let (mx, my) = (sx / N as f64, sy / N as f64);
    let (xy, xx) =
        logs.iter().fold((0.0, 0.0), |(xy, xx), (x, y)| (xy + (x - mx) * (y - my), xx + (x - mx) * (x - mx)));
    xy / xx
}

#[test]
fn reno_window_is_1_22_by_the_root_of_p() {
    // The window grows by one packet an RTT and is halved every 1/p packets: its mean is sqrt(3/2) / sqrt(p). Where
    // ACKs are counted (3.2), two packets an ACK make it grow by half a packet an RTT: sqrt(3/4) = 0.87.
    for (rules, per_ack, constant) in
        [(LINUX_6, 1, 1.2247), (LINUX_6, 2, 1.2247), (LINUX_3_2, 1, 1.2247), (LINUX_3_2, 2, 0.8660)]
    {
        let exponent = slope([1.0 / 5_000.0, 1.0 / 20_000.0, 1.0 / 80_000.0], |p| {
            let (spacing, law) = ((1.0 / p).round() as u64, constant / libm::sqrt(p));
            let marker = Marker::Spaced(spacing);
            let mut flow = OpenLoop::new(CcConfig::Reno(RENO), rules, law as u32, per_ack, marker);
            let mean = flow.mean(20 * spacing, 20 * spacing);
            let error = mean / law - 1.0;
            assert!(error.abs() < 0.05, "{rules:?}, {per_ack} an ACK, p {p}: {mean} against {law}");
            mean
        });
        assert!((exponent + 0.5).abs() < 0.05, "{exponent}");
    }
}

#[test]
fn cubic_window_is_1_054_by_p_to_three_quarters() {
    // RFC 9438 (https://www.rfc-editor.org/rfc/rfc9438) equation 7: (C (3 + beta) / (4 (1 - beta)))^(1/4)
    // RTT^(3/4) / p^(3/4), 1.054 for C = 0.4 and beta = 0.7. The mean is (3 + beta)/4 of the maximum.
    let constant = libm::pow(0.4 * 3.7 / 1.2, 0.25);
    assert!((constant - 1.054).abs() < 0.001);
    // The law is that of CUBIC without fast convergence.
    let formulas = CubicConfig { fast_convergence: false, ..CUBIC_RFC9438 };
    let integers = CubicConfig { hystart: false, fast_convergence: false, ..CUBIC };
    // The curve is flat where the window is cut, so that a maximum above that of the law falls by C (K - T)^3 in a
    // cycle only, which is less than a packet; with integers it does not fall any more where that is rounded to zero.
    // Hence limits above one after 120 cycles.
    for (config, rules, per_ack, limit) in
        [(formulas, LINUX_6, 1, 1.08), (integers, LINUX_6, 1, 1.16), (integers, LINUX_3_2, 2, 1.16)]
    {
        let exponent = slope([1.0 / 10_000.0, 1.0 / 30_000.0, 1.0 / 100_000.0], |p| {
            let (spacing, law) = ((1.0 / p).round() as u64, constant * libm::pow(0.1 / p, 0.75));
            let (start, marker) = ((law * 4.0 / 3.7 * 1.1) as u32, Marker::Spaced(spacing));
            let mut flow = OpenLoop::new(CcConfig::Cubic(config), rules, start, per_ack, marker);
            // The first packet is marked.
            flow.packets = spacing - 1;
            let mean = flow.mean(120 * spacing, 20 * spacing);
            assert!((0.98..limit).contains(&(mean / law)), "{config:?}, p {p}: {mean} against {law}");
            mean
        });
        assert!((exponent + 0.75).abs() < 0.05, "{config:?}: {exponent}");
    }
}

/// The assumptions of the law 2/p: each mark takes half a packet off the window, and the window grows with every ACK.
const PER_MARK: DctcpConfig = DctcpConfig { cut: CutStyle::PerMark, ..presets::IKR };

fn random_window(config: DctcpConfig, p: f64) -> (f64, f64) {
    let marker = Marker::Coin(Probability::from_f64(p), Random::new(1, "laws"));
    let mut flow = OpenLoop::new(CcConfig::Dctcp(config), LINUX_6, (2.0 / p) as u32, 1, marker);
    let mean = flow.mean(100_000, 4_000_000);
    (mean, flow.marks as f64 / flow.rtts)
}

#[test]
fn two_marks_an_rtt_if_each_takes_half_a_packet() {
    // Claim A35: a growth of one packet an RTT equals p W half packets, so that there are p W = 2 marks an RTT, and W =
    // 2/p.
    let exponent = slope([0.02, 0.05, 0.1], |p| {
        let (mean, marks_per_rtt) = random_window(PER_MARK, p);
        assert!((marks_per_rtt - 2.0).abs() < 0.1, "{p}: {marks_per_rtt}");
        mean
    });
    assert!((exponent + 1.0).abs() < 0.05, "{exponent}");
}

#[test]
fn random_marking_gives_a_window_by_1_over_p() {
    // Claim A25: W p is in [1.2, 2.8] for p in [.05, .2], and the slope is -1.
    let exact = DctcpConfig { alpha_resolution: AlphaResolution::Exact, ..presets::DCTCP };
    for config in [presets::DCTCP, exact] {
        let exponent = slope([0.05, 0.1, 0.2], |p| {
            let (mean, _) = random_window(config, p);
            assert!((1.2..2.8).contains(&(mean * p)), "{config:?} at {p}: {}", mean * p);
            mean
        });
        assert!((exponent + 1.0).abs() < 0.15, "{config:?}: {exponent}");
    }
}

/// With rare marks the kernel's alpha falls to zero. A window of W packets adds (dce << 6) / W, in whole 1024ths, to an
/// alpha that decays by 1/16: one mark in more than 64 packets adds nothing, and alpha falls from 15/1024 to 0 at once
/// (min_not_zero). Below p = 3 % this holds for most windows, so that the window is not cut, and W p is far above its
/// value from 5 % on. With an exact alpha it keeps that value.
#[test]
fn rare_marks_fall_through_the_integers_of_alpha() {
    let exact = DctcpConfig { alpha_resolution: AlphaResolution::Exact, ..presets::DCTCP };
    let constant = |config, p| random_window(config, p).0 * p;
    let often = constant(presets::DCTCP, 0.1);
    // W p as measured: 3.70 and 4.74 with integers, 1.82 and 1.83 with an exact alpha, 1.85 at 10 %.
    for p in [0.01, 0.02] {
        let (integers, real) = (constant(presets::DCTCP, p), constant(exact, p));
        assert!((1.8..3.0).contains(&(integers / often)), "{p}: {integers} against {often}");
        assert!((0.95..1.05).contains(&(real / often)), "{p}: {real} against {often}");
    }
}

/// Where CUBIC's window and its estimate of Reno's are about the same, at 100 ms about at p = 1e-3, the window falls
/// more slowly with p than by CUBIC's law (-3/4), because Reno's law (-1/2) begins to hold. Neither HyStart, which acts
/// in slow start only, nor the integer cube root makes a difference.
#[test]
fn the_reno_friendly_region_flattens_cubics_law() {
    let of = |config: CubicConfig| {
        slope([0.0002, 0.0005, 0.001], |p| {
            let marker = Marker::Coin(Probability::from_f64(p), Random::new(1, "laws"));
            let start = (1.054 * libm::pow(0.1 / p, 0.75)) as u32;
            let mut flow = OpenLoop::new(CcConfig::Cubic(config), LINUX_6, start, 1, marker);
            flow.mean((50.0 / p) as u64, (500.0 / p) as u64)
        })
    };
    let linux = of(CUBIC);
    let without_hystart = of(CubicConfig { hystart: false, ..CUBIC });
    let unfriendly = of(CubicConfig { reno_friendly: false, ..CUBIC });
    let formulas = of(CUBIC_RFC9438);
    let unfriendly_formulas = of(CubicConfig { reno_friendly: false, ..CUBIC_RFC9438 });
    let all = [linux, unfriendly, formulas, unfriendly_formulas];
    assert_eq!(linux, without_hystart);
    for (friendly, alone) in [(linux, unfriendly), (formulas, unfriendly_formulas)] {
        assert!(friendly > alone + 0.03, "{all:?}");
        assert!((-0.85..-0.65).contains(&alone), "{all:?}");
    }
    assert!((linux - formulas).abs() < 0.06, "{all:?}");
}

#[test]
fn growth_in_cwr_gains_a_packet_a_window() {
    // An expected difference from claim A25: the variant of Kuehlewind et al. grows in CWR, by one packet a window, and
    // its cut is W alpha/2 rounded down. The mean cut is one packet where W alpha/2 is 3/2 on average, as rounding
    // takes half a packet off it: W p = 3 instead of 2. This holds where nearly every window has a mark and alpha still
    // varies by more than the rounding.
    let exponent = slope([0.05, 0.1, 0.2], |p| {
        let (mean, _) = random_window(presets::IKR, p);
        if p == 0.1 {
            assert!((mean * p / 3.0 - 1.0).abs() < 0.06, "{p}: {}", mean * p);
        } else {
            assert!((1.2..2.8).contains(&(mean * p)), "{p}: {}", mean * p);
        }
        // Without growth in CWR it is like the other variants.
        let still = DctcpConfig { grows_in_cwr: false, ..presets::IKR };
        let (still, _) = random_window(still, p);
        assert!((1.2..2.8).contains(&(still * p)), "{p}, no growth in CWR: {}", still * p);
        mean
    });
    assert!((exponent + 1.0).abs() < 0.15, "{exponent}");
}

#[test]
fn on_off_marking_gives_a_window_by_1_over_p_squared() {
    // Claim A25: one round trip in n is fully marked, p = 1/n, and the cut W alpha/2 equals the growth in n RTTs. With
    // alpha = p that gives a maximum of 2/p^2 and a mean lower by n/2.
    let window = |shift: u8, n: u64| {
        let config = DctcpConfig {
            alpha_resolution: AlphaResolution::Exact,
            gain: Gain::Shift(shift),
            grows_in_cwr: true,
            ..presets::DCTCP
        };
        let start = 2 * n * n;
        let mut flow = OpenLoop::new(CcConfig::Dctcp(config), LINUX_6, start as u32, 1, Marker::Rounds(n));
        flow.mean(3_000_000, 3_000_000)
    };
    // A small gain keeps alpha at p between the marked rounds.
    let exponent = slope([1.0 / 4.0, 1.0 / 6.0, 1.0 / 8.0, 1.0 / 12.0], |p| {
        let (mean, law) = (window(8, (1.0 / p).round() as u64), 2.0 / (p * p) - 0.5 / p);
        assert!((mean / law - 1.0).abs() < 0.1, "{p}: {mean} against {law}");
        mean
    });
    assert!((exponent + 2.0).abs() < 0.1, "{exponent}");
    // With g = 1/16 the cut comes before the round is averaged in, when alpha is lowest:
    // g (1-g)^(n-1) / (1 - (1-g)^n), and the window is larger than the law says.
    for n in [4u64, 8, 12] {
        let (g, rounds) = (1.0 / 16.0, n as f64);
        let lowest = g * libm::pow(1.0 - g, rounds - 1.0) / (1.0 - libm::pow(1.0 - g, rounds));
        let theory = 2.0 * rounds / lowest - rounds / 2.0;
        let mean = window(4, n);
        assert!((mean / theory - 1.0).abs() < 0.1, "{n}: {mean} against {theory}");
    }
}
