//! [`AnyController`] passes every call on: a history that uses each call is the same with it and with the controller
//! alone.

use super::drive::{LINUX_3_2, LINUX_6, Stream};
use crate::dctcp::presets;
use crate::{
    AlphaAfter, AnyController, Bbr, Bbr3, CcConfig, CongestionControl, CubicArithmetic, CubicConfig,
    CutStyle, Dctcp, DctcpConfig, GrowthRules, Ledbat, LinuxCubic, PRESETS, Prague, Reno, Rfc9438Cubic,
    UndoWindow, Window,
};
use shoal_units::{Span, Time};
use std::{format, string::String, vec::Vec};

/// Everything that a controller shows.
fn look(cc: &impl CongestionControl, window: &Window) -> String {
    let of = (cc.undo_cwnd(window), cc.rate_halving_floor(window), cc.grows_in_cwr(), cc.sends_cwr());
    let pace = (cc.pacing(window, Span::from_millis(10), 30, 1448), cc.packet_bytes());
    format!("{window:?} {of:?} {pace:?} {:?}", cc.alpha())
}

/// What the controller shows after each step of a connection that uses the whole interface.
fn history(mut cc: impl CongestionControl) -> Vec<String> {
    let mut window = Window { ssthresh: 40, ..Window::in_packets(40) };
    let mut stream = Stream::with_flight(40);
    let mut seen = Vec::new();
    // The first window ends where the data begins: alpha is updated by the first ACK.
    cc.on_established(Time::ZERO, stream.snd_nxt);
    let mut grow = |cc: &mut dyn Growing, window: &mut Window, stream: &mut Stream, acks: u32, ece: bool| {
        for _ in 0..acks {
            stream.now += Span::from_millis(1);
            // Three packets an ACK, so that CUBIC's delayed-ACK ratio, which starts at two, changes.
            let ack = stream.ack(3, ece);
            cc.grow(window, &ack, stream.now, stream.snd_nxt);
            seen.push(cc.look(window));
        }
    };
    grow(&mut cc, &mut window, &mut stream, 100, false);
    let reduction = cc.on_ecn(&mut window, &stream.signal());
    // The marks are enough for a progressive reduction to reduce the window further.
    for _ in 0..50 {
        let marked = stream.ack(2, true);
        cc.on_ack(&mut window, &marked);
        cc.on_ece_in_cwr(&mut window, &marked);
    }
    cc.on_loss_in_cwr(&mut window, &stream.signal());
    cc.on_exit(&mut window, stream.now);
    grow(&mut cc, &mut window, &mut stream, 100, true);
    cc.on_loss(&mut window, &stream.signal());
    window.cwnd = window.ssthresh;
    cc.on_exit(&mut window, stream.now);
    grow(&mut cc, &mut window, &mut stream, 300, false);
    // CUBIC's epoch moves by the time since the last packet; otherwise the window would grow at once.
    stream.now += Span::from_secs(5);
    cc.on_idle_restart(&mut window, stream.now, Span::from_secs(5));
    grow(&mut cc, &mut window, &mut stream, 300, false);
    cc.on_idle_beyond_rto(&mut window, 1448);
    grow(&mut cc, &mut window, &mut stream, 1, true);
    cc.on_rto(&mut window, &stream.signal(), false);
    window.cwnd = 1;
    cc.on_exit(&mut window, stream.now);
    grow(&mut cc, &mut window, &mut stream, 300, false);
    seen.push(format!("{reduction:?}"));
    seen
}

/// The calls of `grow` above as a trait object.
trait Growing {
    fn grow(&mut self, window: &mut Window, ack: &crate::AckSample, now: Time, snd_nxt: u64);
    fn look(&self, window: &Window) -> String;
}

impl<C: CongestionControl> Growing for C {
    fn grow(&mut self, window: &mut Window, ack: &crate::AckSample, now: Time, snd_nxt: u64) {
        self.on_ack(window, ack);
        self.on_growth(window, ack);
        self.on_sent(now, ack.acked_packets, snd_nxt);
    }
    fn look(&self, window: &Window) -> String {
        look(self, window)
    }
}

fn plain(config: CcConfig, rules: GrowthRules) -> Vec<String> {
    match config {
        CcConfig::Reno(config) => history(Reno::new(config, rules)),
        CcConfig::Cubic(config) if config.arithmetic == CubicArithmetic::Linux => {
            history(LinuxCubic::new(config, rules))
        }
        CcConfig::Cubic(config) => history(Rfc9438Cubic::new(config, rules)),
        CcConfig::Dctcp(config) => history(Dctcp::new(config, rules)),
        CcConfig::Prague(config) => history(Prague::new(config, rules)),
        CcConfig::Bbr(config) => history(Bbr::new(config)),
        CcConfig::Bbr3(config) => history(Bbr3::new(config)),
        CcConfig::Ledbat(config) => history(Ledbat::new(config, rules)),
        CcConfig::External(config) => panic!("no preset is from outside: {config:?}"),
    }
}

#[test]
fn any_controller_is_the_one_inside() {
    let unusual = DctcpConfig {
        alpha_after_idle: AlphaAfter::Reinitialise,
        alpha_on_timeout: AlphaAfter::One,
        sends_cwr: false,
        ..presets::IKR
    };
    // In the Reno-friendly region the begin of the epoch would make no difference.
    let cubic = CubicConfig { reno_friendly: false, ..crate::cubic::presets::CUBIC };
    let more = [CcConfig::Dctcp(unusual), CcConfig::Cubic(cubic)];
    let configs = PRESETS.iter().map(|preset| preset.config).chain(more);
    for config in configs {
        for rules in [LINUX_3_2, LINUX_6] {
            assert_eq!(history(AnyController::new(&config, rules)), plain(config, rules), "{config:?}");
        }
    }
}

/// The defaults of the interface: CWR is sent
/// ([RFC 3168, section 6.1.2](https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2)), no growth in CWR, rate
/// halving ends at `ssthresh`, nothing is estimated.
#[test]
fn classic_controllers_keep_to_the_defaults() {
    let window = Window { ssthresh: 12, ..Window::in_packets(30) };
    let is_classic = |config: &CcConfig| !config.ecn_use().is_scalable() && !config.needs_rate_samples();
    for preset in PRESETS.iter().filter(|preset| is_classic(&preset.config)) {
        let cc = AnyController::new(&preset.config, LINUX_6);
        assert_eq!(cc.pacing(&window, Span::from_millis(10), 30, 1448), None, "{}", preset.name);
        assert_eq!(cc.packet_bytes(), None, "{}", preset.name);
        assert!(cc.sends_cwr() && !cc.grows_in_cwr(), "{}", preset.name);
        assert_eq!(cc.alpha(), None, "{}", preset.name);
        assert_eq!(cc.ecn_use(), crate::EcnUse::Classic, "{}", preset.name);
        let halves = matches!(preset.config, CcConfig::Reno(config) if config.halves_to_half_ssthresh);
        assert_eq!(cc.rate_halving_floor(&window), if halves { 6 } else { 12 }, "{}", preset.name);
    }
}

/// The policies that the endpoint reads are those of the configuration.
#[test]
fn dctcp_answers_what_its_configuration_says() {
    for says in [true, false] {
        let config = DctcpConfig { sends_cwr: says, grows_in_cwr: says, ..presets::DCTCP };
        let cc = AnyController::new(&CcConfig::Dctcp(config), LINUX_6);
        assert_eq!((cc.sends_cwr(), cc.grows_in_cwr()), (says, says));
    }
    let by_style = |cut| CcConfig::Dctcp(DctcpConfig { cut, ..presets::DCTCP }).cuts_once_a_window();
    assert!(by_style(CutStyle::OnceAtOnce) && by_style(CutStyle::OnceSpread));
    assert!(!by_style(CutStyle::Progressive) && !by_style(CutStyle::PerMark));
}

/// Linux `dctcp_init` replaces the controller by `dctcp_reno`, whose undo is DCTCP's own.
#[test]
fn without_ecn_dctcp_is_reno_with_its_own_undo() {
    for undo in [UndoWindow::AtReduction, UndoWindow::TwiceSsthresh] {
        let config = DctcpConfig { undo, ..presets::DCTCP };
        let CcConfig::Reno(reno) = CcConfig::Dctcp(config).without_ecn() else { panic!("no Reno") };
        assert_eq!(reno.undo, undo);
    }
}
