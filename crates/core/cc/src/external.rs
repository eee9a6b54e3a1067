//! Laws from outside of this crate: what a file or a program brings along.
//!
//! A law of this crate is a value; one from outside is known by reference alone. It is kept for the life of the process
//! (whoever loads laws keeps one copy of equal ones), so that configurations stay plain values that are copied.

use crate::{
    AckSample, CongestionControl, EcnUse, GrowthRules, Pace, PathModel, RateBased, Reduction, RenoConfig,
    Signal, UndoWindow, Window,
};
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::{self, Debug, Formatter};
use shoal_units::{Parameter, Span, Time, Unmodelled};

/// A law from outside, with values for its parameters.
pub trait ExternalLaw: Debug + Send + Sync {
    /// One sentence for users.
    fn summary(&self) -> &str;
    /// How its controllers use ECN.
    fn ecn_use(&self) -> EcnUse;
    /// Whether its controllers are driven by samples of the delivery rate.
    fn needs_rate_samples(&self) -> bool;
    /// Its parameters with their values, in the order in which it declares them.
    fn parameters(&self) -> &[(Parameter, f64)];
    /// This law with other values for some parameters.
    ///
    /// # Errors
    /// Why the law has no such parameter, or refuses the value: a sentence without a full stop.
    fn with(&self, values: &[(&str, f64)]) -> Result<ExternalConfig, String>;
    /// Why the simulator cannot run it, if it cannot. Such a law takes parameters of any name: which there are only
    /// its program says.
    fn unmodelled(&self) -> Option<Unmodelled> {
        None
    }
    /// Whether the simulator can run it.
    fn has_model(&self) -> bool {
        self.unmodelled().is_none()
    }
    /// The controller of a new connection on a host with `rules`.
    fn start(&self, rules: GrowthRules) -> Box<dyn ExternalController>;
}

/// The controller of one connection by a law from outside.
pub trait ExternalController: CongestionControl + Debug + Send {
    /// When its timer is due; [`Time::NEVER`] if none runs.
    fn timer(&self) -> Time;
    /// The timer is due. Called before the endpoint sends what the window then allows.
    fn on_timer(&mut self, window: &mut Window, now: Time, in_flight: u32);
    /// Whether the law has failed in this controller.
    fn has_failed(&self) -> bool;
}

/// A law from outside as a configuration.
#[derive(Clone, Copy)]
pub struct ExternalConfig {
    law: &'static dyn ExternalLaw,
    ecn_use: EcnUse,
    needs_rate_samples: bool,
}

impl ExternalConfig {
    /// The configuration that stands for `law`.
    pub fn new(law: &'static dyn ExternalLaw) -> Self {
        Self { law, ecn_use: law.ecn_use(), needs_rate_samples: law.needs_rate_samples() }
    }

    /// How its controllers use ECN.
    pub(crate) const fn ecn_use(&self) -> EcnUse {
        self.ecn_use
    }

    /// Whether its controllers are driven by rate samples.
    pub(crate) const fn needs_rate_samples(&self) -> bool {
        self.needs_rate_samples
    }

    /// The law.
    pub const fn law(&self) -> &'static dyn ExternalLaw {
        self.law
    }

    /// What runs in the place of a law that is nothing without ECN, where the peer refuses that: Linux' Reno.
    pub(crate) fn without_ecn(&self) -> Option<RenoConfig> {
        let reno = RenoConfig { halves_to_half_ssthresh: true, undo: UndoWindow::AtReduction };
        self.ecn_use.is_scalable().then_some(reno)
    }
}

/// Equal laws with equal values are one law, so that the place decides.
impl PartialEq for ExternalConfig {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::addr_eq(self.law, other.law)
    }
}

impl Debug for ExternalConfig {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.law.fmt(out)
    }
}

/// A controller by a law from outside, with copies of what senders ask it for each packet: those of other laws are not
/// to pay for calls that they never make.
#[derive(Debug)]
pub struct External {
    controller: Box<dyn ExternalController>,
    ecn_use: EcnUse,
    grows_in_cwr: bool,
    sends_cwr: bool,
    timer: Time,
}

impl External {
    /// The controller of a new connection on a host with `rules`.
    #[cold]
    pub(crate) fn start(config: &ExternalConfig, rules: GrowthRules) -> Self {
        let controller = config.law.start(rules);
        Self {
            ecn_use: config.ecn_use,
            grows_in_cwr: controller.grows_in_cwr(),
            sends_cwr: controller.sends_cwr(),
            timer: controller.timer(),
            controller,
        }
    }
    /// How it uses ECN.
    #[inline]
    pub(crate) const fn ecn_use(&self) -> EcnUse {
        self.ecn_use
    }
    /// When its timer is due.
    #[inline]
    pub(crate) const fn timer(&self) -> Time {
        self.timer
    }
    /// Whether the law has failed.
    #[cold]
    pub(crate) fn has_failed(&self) -> bool {
        self.controller.has_failed()
    }
    /// The timer is due ([`ExternalController::on_timer`]).
    #[cold]
    pub fn on_timer(&mut self, window: &mut Window, now: Time, in_flight: u32) {
        self.call(|controller| controller.on_timer(window, now, in_flight));
    }

    #[cold]
    #[inline(never)]
    fn call<T>(&mut self, call: impl FnOnce(&mut dyn ExternalController) -> T) -> T {
        let answer = call(&mut *self.controller);
        self.timer = self.controller.timer();
        answer
    }
}

impl CongestionControl for External {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.call(|controller| controller.on_ack(window, ack));
    }
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample) {
        self.call(|controller| controller.on_growth(window, ack));
    }
    fn on_ecn(&mut self, window: &mut Window, signal: &Signal) -> Reduction {
        self.call(|controller| controller.on_ecn(window, signal))
    }
    fn on_ece_in_cwr(&mut self, window: &mut Window, ack: &AckSample) {
        self.call(|controller| controller.on_ece_in_cwr(window, ack));
    }
    fn on_loss(&mut self, window: &mut Window, signal: &Signal) {
        self.call(|controller| controller.on_loss(window, signal));
    }
    fn on_loss_in_cwr(&mut self, window: &mut Window, signal: &Signal) -> bool {
        self.call(|controller| controller.on_loss_in_cwr(window, signal))
    }
    fn on_rto(&mut self, window: &mut Window, signal: &Signal, already_reduced: bool) {
        self.call(|controller| controller.on_rto(window, signal, already_reduced));
    }
    fn on_exit(&mut self, window: &mut Window, now: Time) {
        self.call(|controller| controller.on_exit(window, now));
    }
    fn on_recovered(&mut self, window: &mut Window, signal: &Signal) {
        self.call(|controller| controller.on_recovered(window, signal));
    }
    fn on_idle_restart(&mut self, window: &mut Window, now: Time, idle: Span) {
        self.call(|controller| controller.on_idle_restart(window, now, idle));
    }
    fn on_idle_beyond_rto(&mut self, window: &mut Window, snd_nxt: u64) {
        self.call(|controller| controller.on_idle_beyond_rto(window, snd_nxt));
    }
    fn on_sent(&mut self, now: Time, packets: u32, snd_nxt: u64) {
        self.call(|controller| controller.on_sent(now, packets, snd_nxt));
    }
    fn on_established(&mut self, now: Time, snd_nxt: u64) {
        self.call(|controller| controller.on_established(now, snd_nxt));
    }
    #[cold]
    fn undo_cwnd(&self, window: &Window) -> u32 {
        self.controller.undo_cwnd(window)
    }
    #[cold]
    fn rate_halving_floor(&self, window: &Window) -> u32 {
        self.controller.rate_halving_floor(window)
    }
    #[inline]
    fn grows_in_cwr(&self) -> bool {
        self.grows_in_cwr
    }
    #[inline]
    fn sends_cwr(&self) -> bool {
        self.sends_cwr
    }
    #[cold]
    #[inline(never)]
    fn pacing(&self, window: &Window, srtt: Span, in_flight: u32, mss: u32) -> Option<Pace> {
        self.controller.pacing(window, srtt, in_flight, mss)
    }
    #[cold]
    #[inline(never)]
    fn rate_based(&mut self) -> Option<&mut dyn RateBased> {
        self.controller.rate_based()
    }
    #[cold]
    #[inline(never)]
    fn path_model(&self) -> Option<PathModel> {
        self.controller.path_model()
    }
    #[cold]
    #[inline(never)]
    fn alpha(&self) -> Option<f64> {
        self.controller.alpha()
    }
}
