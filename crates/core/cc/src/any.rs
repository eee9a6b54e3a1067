//! All controllers behind one type, dispatched by `match`.

use crate::cubic::{LinuxCubic, Rfc9438Cubic};
use crate::{
    AckSample, CcConfig, CongestionControl, CubicArithmetic, Dctcp, EcnUse, GrowthRules, Reduction, Reno,
    Signal, Window,
};
use shoal_units::{Span, Time};

/// A controller of any kind.
#[derive(Clone, Copy, Debug)]
pub enum AnyController {
    /// Reno.
    Reno(Reno),
    /// CUBIC in the integers of Linux.
    Cubic(LinuxCubic),
    /// CUBIC by the formulas of [RFC 9438](https://www.rfc-editor.org/rfc/rfc9438).
    CubicRfc9438(Rfc9438Cubic),
    /// DCTCP.
    Dctcp(Dctcp),
}

// There is one controller for each flow, and the state of 40,000 flows has to fit into the caches: at most 2
// KiB a flow in all.
const _: () = assert!(size_of::<AnyController>() <= 192);

impl AnyController {
    /// The controller that `config` describes, for a host with the growth rules `rules`.
    pub fn new(config: &CcConfig, rules: GrowthRules) -> Self {
        match *config {
            CcConfig::Reno(config) => Self::Reno(Reno::new(config, rules)),
            CcConfig::Cubic(config) => match config.arithmetic {
                CubicArithmetic::Linux => Self::Cubic(LinuxCubic::new(config, rules)),
                CubicArithmetic::Rfc9438 => Self::CubicRfc9438(Rfc9438Cubic::new(config, rules)),
            },
            CcConfig::Dctcp(config) => Self::Dctcp(Dctcp::new(config, rules)),
        }
    }
}

/// Forwards one call to the controller inside.
macro_rules! forward {
    ($self:ident, $controller:ident => $call:expr) => {
        match $self {
            Self::Reno($controller) => $call,
            Self::Cubic($controller) => $call,
            Self::CubicRfc9438($controller) => $call,
            Self::Dctcp($controller) => $call,
        }
    };
}

impl CongestionControl for AnyController {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        forward!(self, cc => cc.on_ack(window, ack));
    }
    #[inline]
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample) {
        forward!(self, cc => cc.on_growth(window, ack));
    }
    fn on_ecn(&mut self, window: &mut Window, signal: &Signal) -> Reduction {
        forward!(self, cc => cc.on_ecn(window, signal))
    }
    #[inline]
    fn on_ece_in_cwr(&mut self, window: &mut Window, ack: &AckSample) {
        forward!(self, cc => cc.on_ece_in_cwr(window, ack));
    }
    fn on_loss(&mut self, window: &mut Window, signal: &Signal) {
        forward!(self, cc => cc.on_loss(window, signal));
    }
    fn on_loss_in_cwr(&mut self, window: &mut Window, signal: &Signal) {
        forward!(self, cc => cc.on_loss_in_cwr(window, signal));
    }
    fn on_rto(&mut self, window: &mut Window, signal: &Signal, already_reduced: bool) {
        forward!(self, cc => cc.on_rto(window, signal, already_reduced));
    }
    fn on_exit(&mut self, window: &mut Window, now: Time) {
        forward!(self, cc => cc.on_exit(window, now));
    }
    fn on_recovered(&mut self, window: &mut Window, signal: &Signal) {
        forward!(self, cc => cc.on_recovered(window, signal));
    }
    fn on_idle_restart(&mut self, window: &mut Window, now: Time, idle: Span) {
        forward!(self, cc => cc.on_idle_restart(window, now, idle));
    }
    fn on_idle_beyond_rto(&mut self, window: &mut Window, snd_nxt: u64) {
        forward!(self, cc => cc.on_idle_beyond_rto(window, snd_nxt));
    }
    #[inline]
    fn on_sent(&mut self, now: Time, packets: u32, snd_nxt: u64) {
        forward!(self, cc => cc.on_sent(now, packets, snd_nxt));
    }
    fn on_established(&mut self, now: Time, snd_nxt: u64) {
        forward!(self, cc => cc.on_established(now, snd_nxt));
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        forward!(self, cc => cc.undo_cwnd(window))
    }
    fn rate_halving_floor(&self, window: &Window) -> u32 {
        forward!(self, cc => cc.rate_halving_floor(window))
    }
    #[inline]
    fn grows_in_cwr(&self) -> bool {
        forward!(self, cc => cc.grows_in_cwr())
    }
    #[inline]
    fn sends_cwr(&self) -> bool {
        forward!(self, cc => cc.sends_cwr())
    }
    #[inline]
    fn ecn_use(&self) -> EcnUse {
        forward!(self, cc => cc.ecn_use())
    }
    fn alpha(&self) -> Option<f64> {
        forward!(self, cc => cc.alpha())
    }
}
