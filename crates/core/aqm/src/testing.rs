//! A model that drives any queue with arbitrary operations and checks the invariants of all queues.
//!
//! Property tests and the fuzz target share it: [`run`] turns any bytes into a configuration and operations.
//! Each law states in its own folder which configurations exist and what they guarantee (`Checked`).

#[cfg(test)]
pub(crate) mod bench;
mod decode;
mod model;
mod promise;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod shells;

pub use decode::Input;
pub use model::{Model, Operation};
pub(crate) use promise::{Limit, Order, Promise, Promises};

use crate::{AnyQueue, LawConfig, QueueConfig, for_each_law};
use shoal_units::{Rate, Stream};

/// The functions by which a law's configuration takes part in the tests of all queues.
pub(crate) trait Checked: LawConfig {
    /// An arbitrary configuration, including those that `tc` refuses.
    fn arbitrary(input: &mut Input<'_>, line_rate: Rate) -> Self;

    /// Properties of its queue, computed without the queue.
    fn promise(&self) -> Promise;

    /// Properties of each of its queues, if the law has whole queues of their own for different flows.
    fn promises(&self) -> Promises {
        Promises::of_one(self.promise())
    }

    /// Whether the queue may hold packets back although the transmitter asks for one.
    fn holds_back(&self) -> bool {
        false
    }
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:literal => $law:ident($config:ident) in $module:ident,)+) => {
        /// The kind of queue.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Kind {
            $($(#[doc = $doc])+ $law,)+
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$law),+];
        }

        impl Input<'_> {
            /// A configuration of `kind`.
            pub fn config(&mut self, kind: Kind, line_rate: Rate) -> QueueConfig {
                match kind { $(Kind::$law => crate::$config::arbitrary(self, line_rate).into(),)+ }
            }
        }

        impl QueueConfig {
            /// Properties of its queue.
            pub(crate) fn promise(&self) -> Promise {
                match self { $(Self::$law(config) => config.promise(),)+ }
            }

            /// [`Checked::promises`].
            pub(crate) fn promises(&self) -> Promises {
                match self { $(Self::$law(config) => config.promises(),)+ }
            }

            /// [`Checked::holds_back`].
            pub(crate) fn holds_back(&self) -> bool {
                match self { $(Self::$law(config) => config.holds_back(),)+ }
            }
        }
    };
}

for_each_law!(kinds);

/// Drives the queue of `kind` that `bytes` describe and, from the middle on, a copy of it, which must behave
/// identically. Returns a digest of all outcomes; `None` if `tc` refuses the configuration.
///
/// # Panics
/// If the queue breaks an invariant.
pub fn run(kind: Kind, bytes: &[u8]) -> Option<u64> {
    let mut input = Input::new(bytes);
    let line_rate = input.rate();
    let config = input.config(kind, line_rate);
    // tc may refuse; that checking a configuration does not panic is tested too.
    let queue = AnyQueue::try_new(&config, line_rate).ok()?;
    let random = Stream::new(u64::from(input.byte()), "model");
    let mut model = Model::new(queue, &config, line_rate, random);
    let operations: Vec<Operation> = core::iter::from_fn(|| input.operation()).collect();
    let (first, second) = operations.split_at(operations.len() / 2);
    let finish = |mut model: Model, rest: &[Operation]| {
        for &operation in rest {
            model.apply(operation);
        }
        model.drain();
        model.digest()
    };
    for &operation in first {
        model.apply(operation);
    }
    let copy = finish(model.clone(), second);
    let digest = finish(model, second);
    assert_eq!(digest, copy, "a copy of the queue behaved differently");
    Some(digest)
}
