//! All controllers behind one type, dispatched by `match`.

/// Forwards every call of [`CongestionControl`](crate::CongestionControl) to the controller inside.
macro_rules! dispatch {
    ($any:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::CongestionControl for $any {
            #[inline]
            fn on_ack(&mut self, window: &mut $crate::Window, ack: &$crate::AckSample) {
                match self { $(Self::$variant(cc) => cc.on_ack(window, ack),)* };
            }
            #[inline]
            fn on_growth(&mut self, window: &mut $crate::Window, ack: &$crate::AckSample) {
                match self { $(Self::$variant(cc) => cc.on_growth(window, ack),)* };
            }
            fn on_ecn(&mut self, window: &mut $crate::Window, signal: &$crate::Signal) -> $crate::Reduction {
                match self { $(Self::$variant(cc) => cc.on_ecn(window, signal),)* }
            }
            #[inline]
            fn on_ece_in_cwr(&mut self, window: &mut $crate::Window, ack: &$crate::AckSample) {
                match self { $(Self::$variant(cc) => cc.on_ece_in_cwr(window, ack),)* };
            }
            fn on_loss(&mut self, window: &mut $crate::Window, signal: &$crate::Signal) {
                match self { $(Self::$variant(cc) => cc.on_loss(window, signal),)* };
            }
            fn on_loss_in_cwr(&mut self, window: &mut $crate::Window, signal: &$crate::Signal) -> bool {
                match self { $(Self::$variant(cc) => cc.on_loss_in_cwr(window, signal),)* }
            }
            fn on_rto(&mut self, window: &mut $crate::Window, signal: &$crate::Signal, already_reduced: bool) {
                match self { $(Self::$variant(cc) => cc.on_rto(window, signal, already_reduced),)* };
            }
            fn on_exit(&mut self, window: &mut $crate::Window, now: shoal_units::Time) {
                match self { $(Self::$variant(cc) => cc.on_exit(window, now),)* };
            }
            fn on_recovered(&mut self, window: &mut $crate::Window, signal: &$crate::Signal) {
                match self { $(Self::$variant(cc) => cc.on_recovered(window, signal),)* };
            }
            fn on_idle_restart(
                &mut self,
                window: &mut $crate::Window,
                now: shoal_units::Time,
                idle: shoal_units::Span,
            ) {
                match self { $(Self::$variant(cc) => cc.on_idle_restart(window, now, idle),)* };
            }
            fn on_idle_beyond_rto(&mut self, window: &mut $crate::Window, snd_nxt: u64) {
                match self { $(Self::$variant(cc) => cc.on_idle_beyond_rto(window, snd_nxt),)* };
            }
            #[inline]
            fn on_sent(&mut self, now: shoal_units::Time, packets: u32, snd_nxt: u64) {
                match self { $(Self::$variant(cc) => cc.on_sent(now, packets, snd_nxt),)* };
            }
            fn on_established(&mut self, now: shoal_units::Time, snd_nxt: u64) {
                match self { $(Self::$variant(cc) => cc.on_established(now, snd_nxt),)* };
            }
            fn undo_cwnd(&self, window: &$crate::Window) -> u32 {
                match self { $(Self::$variant(cc) => cc.undo_cwnd(window),)* }
            }
            fn rate_halving_floor(&self, window: &$crate::Window) -> u32 {
                match self { $(Self::$variant(cc) => cc.rate_halving_floor(window),)* }
            }
            #[inline]
            fn grows_in_cwr(&self) -> bool {
                match self { $(Self::$variant(cc) => cc.grows_in_cwr(),)* }
            }
            #[inline]
            fn sends_cwr(&self) -> bool {
                match self { $(Self::$variant(cc) => cc.sends_cwr(),)* }
            }
            #[inline]
            fn pacing(
                &self,
                window: &$crate::Window,
                srtt: shoal_units::Span,
                in_flight: u32,
                mss: u32,
            ) -> Option<$crate::Pace> {
                match self { $(Self::$variant(cc) => cc.pacing(window, srtt, in_flight, mss),)* }
            }
            #[inline]
            fn packet_bytes(&self) -> Option<u32> {
                match self { $(Self::$variant(cc) => cc.packet_bytes(),)* }
            }
            fn rate_based(&mut self) -> Option<&mut dyn $crate::RateBased> {
                match self { $(Self::$variant(cc) => cc.rate_based(),)* }
            }
            fn path_model(&self) -> Option<$crate::PathModel> {
                match self { $(Self::$variant(cc) => cc.path_model(),)* }
            }
            fn alpha(&self) -> Option<f64> {
                match self { $(Self::$variant(cc) => cc.alpha(),)* }
            }
        }
    };
}
pub(crate) use dispatch;

/// From the list of laws: any configuration, any controller, and the way from the one to the other.
macro_rules! controllers {
    ($($(#[doc = $doc:literal])+ $variant:ident($config:ty)),* $(,)?) => {
        /// Any controller's configuration: plain values, the factory input.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum CcConfig {
            $($(#[doc = $doc])+ $variant($config),)*
            /// A law from outside of this crate.
            External(ExternalConfig),
        }

        /// A controller of any kind.
        #[derive(Debug)]
        pub enum AnyController {
            $($(#[doc = $doc])+ $variant(<$config as Law>::Controller),)*
            /// A law from outside of this crate.
            External(alloc::boxed::Box<dyn ExternalController>),
        }

        impl AnyController {
            /// The controller that `config` describes, for a host with the growth rules `rules`.
            pub fn new(config: &CcConfig, rules: GrowthRules) -> Self {
                match *config {
                    $(CcConfig::$variant(config) => Self::$variant(config.start(rules)),)*
                    CcConfig::External(config) => Self::External(config.law().start(rules)),
                }
            }
        }

        impl AnyController {
            /// How the controller uses ECN.
            #[inline]
            pub fn ecn_use(&self) -> EcnUse {
                match self {
                    $(Self::$variant(_) => <$config as Law>::ECN_USE,)*
                    Self::External(cc) => cc.ecn_use(),
                }
            }

            /// When a timer of the law is due; [`Time::NEVER`](shoal_units::Time::NEVER) if none runs. Laws of this
            /// crate have none.
            #[inline]
            pub fn timer(&self) -> shoal_units::Time {
                match self {
                    Self::External(cc) => cc.timer(),
                    _ => shoal_units::Time::NEVER,
                }
            }

            /// Whether its law is from outside of this crate, and has failed.
            pub fn law_has_failed(&self) -> bool {
                match self {
                    Self::External(cc) => cc.has_failed(),
                    _ => false,
                }
            }

            /// The controller, if its law is from outside of this crate.
            pub fn external(&mut self) -> Option<&mut dyn ExternalController> {
                match self {
                    Self::External(cc) => Some(&mut **cc),
                    _ => None,
                }
            }
        }

        impl CcConfig {
            /// How the controller uses ECN.
            pub const fn ecn_use(&self) -> EcnUse {
                match self {
                    $(Self::$variant(_) => <$config as Law>::ECN_USE,)*
                    Self::External(config) => config.ecn_use(),
                }
            }
            /// What the flow runs instead if ECN was not negotiated: itself, or Reno.
            #[must_use]
            pub fn without_ecn(self) -> Self {
                match self {
                    $(Self::$variant(config) => config.without_ecn().map_or(self, Self::Reno),)*
                    Self::External(config) => config.without_ecn().map_or(self, Self::Reno),
                }
            }
            /// Whether the controller is driven by rate samples, and paces.
            pub const fn needs_rate_samples(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$config as Law>::NEEDS_RATE_SAMPLES,)*
                    Self::External(config) => config.needs_rate_samples(),
                }
            }
            /// Initial window in packets that the law asks for; `None`: the stack's.
            pub fn initial_window_packets(&self) -> Option<u32> {
                match self {
                    $(Self::$variant(config) => config.initial_window_packets(),)*
                    Self::External(_) => None,
                }
            }
            /// Whether a window of data brings at most one reduction.
            pub fn cuts_once_a_window(&self) -> bool {
                match self {
                    $(Self::$variant(config) => config.cuts_once_a_window(),)*
                    Self::External(_) => false,
                }
            }
        }

        crate::any::dispatch!(AnyController { $($variant,)* External });
    };
}
pub(crate) use controllers;
