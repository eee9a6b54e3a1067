//! The side of a law that is written in Rust.

use crate::words::{WORDS, Words};
use core::cell::UnsafeCell;
use core::ffi::CStr;
use shoal_cc::GrowthRules;

/// The block of a module. A module has one controller, and one thread.
#[derive(Debug)]
pub struct Block(UnsafeCell<Words>);

/// The controller of a module, once it is made.
#[derive(Debug)]
pub struct Held<C>(UnsafeCell<Option<C>>);

/// Makes a controller for the growth rules of a host and the values of the parameters, or says what is wrong with them.
pub type Start<C> = fn(GrowthRules, &Words) -> Result<C, &'static CStr>;

// SAFETY: a WebAssembly module without shared memory has one thread.
#[expect(unsafe_code, reason = "statics of a module, which has one thread")]
unsafe impl Sync for Block {}
// SAFETY: see above.
#[expect(unsafe_code, reason = "statics of a module, which has one thread")]
unsafe impl<C> Sync for Held<C> {}

#[expect(
    unsafe_code,
    clippy::new_without_default,
    clippy::mut_from_ref,
    reason = "statics of a module, which has one thread; the host never calls into a call"
)]
impl Block {
    /// A block of zeros.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(Words([0; WORDS])))
    }
    /// Its address in the module's memory.
    pub fn address(&self) -> i32 {
        self.0.get().addr() as i32
    }
    /// The words, which the host reads and writes between two calls.
    pub fn words(&self) -> &mut Words {
        // SAFETY: the functions of a module call each other nowhere, so that each has the words alone.
        unsafe { &mut *self.0.get() }
    }
}

#[expect(
    unsafe_code,
    clippy::new_without_default,
    clippy::mut_from_ref,
    reason = "statics of a module, which has one thread; the host never calls into a call"
)]
impl<C> Held<C> {
    /// No controller yet.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }
    /// Keeps the controller.
    pub fn keep(&self, controller: C) {
        // SAFETY: see `Block::words`.
        unsafe { *self.0.get() = Some(controller) }
    }
    /// The controller.
    ///
    /// # Panics
    /// Before there is one: the host calls `on_init` first.
    pub fn get(&self) -> &mut C {
        // SAFETY: see `Block::words`.
        unsafe { (*self.0.get()).as_mut().expect("the host has called on_init") }
    }
}

/// Makes a module of a controller.
///
/// `describe` is the module's description, a JSON text; `start` gives the controller for a host's growth rules and the
/// values of the parameters; `calls` are those of [`Calls`](crate::Calls) that the module exports. A call that is not
/// among them costs nothing.
///
/// ```ignore
/// use shoal_law::cc::{GrowthRules, RENO, Reno};
///
/// shoal_law::controller! {
///     Reno,
///     describe: r#"{ "abi": 1, "kind": "controller", "summary": "Reno" }"#,
///     start: |rules, _| Ok(Reno::new(RENO, rules)),
///     calls: [on_growth, on_ecn, on_loss, on_rto, undo_cwnd],
/// }
/// ```
#[macro_export]
macro_rules! controller {
    ($controller:ty, describe: $describe:expr, start: $start:expr, calls: [$($call:ident),* $(,)?] $(,)?) => {
        static BLOCK: $crate::Block = $crate::Block::new();
        static LAW: $crate::Held<$controller> = $crate::Held::new();

        #[unsafe(no_mangle)]
        extern "C" fn shoal_io() -> i32 {
            BLOCK.address()
        }
        #[unsafe(no_mangle)]
        extern "C" fn shoal_describe() -> i32 {
            concat!($describe, "\0").as_ptr().addr() as i32
        }
        #[unsafe(no_mangle)]
        extern "C" fn on_init() -> i32 {
            let start: $crate::Start<$controller> = $start;
            match start(BLOCK.words().rules(), BLOCK.words()) {
                Ok(controller) => {
                    let alpha = $crate::cc::CongestionControl::alpha(&controller);
                    BLOCK.words().set($crate::Word::alpha, alpha.unwrap_or(f64::NAN));
                    LAW.keep(controller);
                    0
                }
                Err(why) => why.as_ptr().addr() as i32,
            }
        }
        $($crate::call!($call);)*
    };
}

/// One exported function.
#[doc(hidden)]
#[macro_export]
macro_rules! call {
    (@export $name:ident, |$law:ident, $window:ident, $words:ident| $answer:expr) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> i32 {
            let ($law, $words) = (LAW.get(), BLOCK.words());
            let mut window = $words.window();
            let $window = &mut window;
            let answer: i32 = $answer;
            $words.set_window(&window);
            // Not a number stands for no estimate.
            $words.set($crate::Word::alpha, $crate::cc::CongestionControl::alpha($law).unwrap_or(f64::NAN));
            answer
        }
    };
    (@told $name:ident, $record:ident) => {
        $crate::call!(@export $name, |law, window, words| {
            $crate::cc::CongestionControl::$name(law, window, &words.$record());
            0
        });
    };
    (@asked $name:ident) => {
        $crate::call!(@export $name, |law, window, _words| {
            $crate::cc::CongestionControl::$name(law, window) as i32
        });
    };
    (on_established) => {
        $crate::call!(@export on_established, |law, _window, words| {
            let (now, snd_nxt) = (words.get($crate::Word::now_ps), words.get($crate::Word::snd_nxt));
            $crate::cc::CongestionControl::on_established(law, now, snd_nxt);
            0
        });
    };
    (on_ack) => {
        $crate::call!(@told on_ack, ack);
    };
    (on_growth) => {
        $crate::call!(@told on_growth, ack);
    };
    (on_ecn) => {
        $crate::call!(@export on_ecn, |law, window, words| {
            let reduction = $crate::cc::CongestionControl::on_ecn(law, window, &words.signal());
            i32::from(reduction == $crate::cc::Reduction::Done)
        });
    };
    (on_ece_in_cwr) => {
        $crate::call!(@told on_ece_in_cwr, ack);
    };
    (on_loss) => {
        $crate::call!(@told on_loss, signal);
    };
    (on_loss_in_cwr) => {
        $crate::call!(@export on_loss_in_cwr, |law, window, words| {
            i32::from($crate::cc::CongestionControl::on_loss_in_cwr(law, window, &words.signal()))
        });
    };
    (on_rto) => {
        $crate::call!(@export on_rto, |law, window, words| {
            let already_reduced = words.get($crate::Word::already_reduced);
            $crate::cc::CongestionControl::on_rto(law, window, &words.signal(), already_reduced);
            0
        });
    };
    (on_exit) => {
        $crate::call!(@export on_exit, |law, window, words| {
            $crate::cc::CongestionControl::on_exit(law, window, words.get($crate::Word::now_ps));
            0
        });
    };
    (on_recovered) => {
        $crate::call!(@told on_recovered, signal);
    };
    (on_idle_restart) => {
        $crate::call!(@export on_idle_restart, |law, window, words| {
            let (now, idle) = (words.get($crate::Word::now_ps), words.get($crate::Word::idle_ps));
            $crate::cc::CongestionControl::on_idle_restart(law, window, now, idle);
            0
        });
    };
    (on_idle_beyond_rto) => {
        $crate::call!(@export on_idle_beyond_rto, |law, window, words| {
            $crate::cc::CongestionControl::on_idle_beyond_rto(law, window, words.get($crate::Word::snd_nxt));
            0
        });
    };
    (on_sent) => {
        $crate::call!(@export on_sent, |law, _window, words| {
            let (now, packets) = (words.get($crate::Word::now_ps), words.get($crate::Word::packets));
            $crate::cc::CongestionControl::on_sent(law, now, packets, words.get($crate::Word::snd_nxt));
            0
        });
    };
    (undo_cwnd) => {
        $crate::call!(@asked undo_cwnd);
    };
    (rate_halving_floor) => {
        $crate::call!(@asked rate_halving_floor);
    };
}
