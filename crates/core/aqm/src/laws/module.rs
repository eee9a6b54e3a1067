//! A queue discipline of the user's own: a kernel module, which the real kernel runs, or a file, which the simulator
//! runs, or the discipline as both.
//!
//! The configuration says which discipline it is and what it is told; what it does is in the module alone. The
//! simulator refuses one without a file of its own. Where a queue is built of it all the same, as the tests of all
//! queues do, it is tail drop, see [`ModuleConfig::DOC`].

#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

use crate::shell::{Law, Single, Transmitter};
use crate::{Decision, Extent, ExternalQueue, ExternalQueueConfig, LawConfig, Store, TcError, Waiting};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter};
use shoal_packet::Packet;
use shoal_units::{Difference, ModelDoc, ModelKind, Rate, Stream, Time, Unmodelled};

/// A queue discipline that a module of the user's brings along.
#[derive(Clone, PartialEq, Debug)]
pub struct ModuleConfig {
    /// The name of the discipline: that under which a kernel module registers it.
    pub name: String,
    /// Values of the module's parameters.
    pub parameters: BTreeMap<String, ModuleValue>,
    /// Attributes within `TCA_OPTIONS` of the kernel: numbers, and values in native byte order.
    pub options: Vec<(u16, Vec<u8>)>,
    /// What the simulator runs, or why there is nothing.
    pub law: Result<ExternalQueueConfig, Unmodelled>,
    /// Waiting packets that fit into the buffer of the link; a discipline of the kernel has a limit of its own.
    pub limit: Extent,
}

/// A value of a module's parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum ModuleValue {
    /// A number.
    Number(f64),
    /// Any other text that `insmod` takes.
    Text(String),
}

/// As `insmod` takes it.
impl Display for ModuleValue {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Text(text) => out.write_str(text),
        }
    }
}

/// The law of one queue; what stands for a module where there is none marks nothing, and drops only by the limit.
#[derive(Debug)]
pub struct ModuleLaw {
    config: ModuleConfig,
    line_rate: Rate,
    line: Transmitter,
    running: Option<Box<dyn ExternalQueue>>,
}

impl ModuleLaw {
    fn start(config: ModuleConfig, line_rate: Rate) -> Self {
        let running = config.law.ok().map(|law| law.law().start(config.limit, line_rate));
        Self { config, line_rate, line: Transmitter::new(line_rate), running }
    }

    /// Whether the law from outside has failed.
    pub fn has_failed(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.has_failed())
    }
}

/// A law from outside cannot be copied with its state. Queues are copied before their first packet, and what is copied
/// later begins anew.
impl Clone for ModuleLaw {
    fn clone(&self) -> Self {
        Self::start(self.config.clone(), self.line_rate)
    }
}

impl Law for ModuleLaw {
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, now: Time, random: &mut Stream) -> Decision {
        let Some(running) = &mut self.running else { return Decision::Pass };
        // The line asked again when it was free, and found nothing.
        if self.line.idle_since(Time::ZERO, waiting.backlog(), now).is_some() {
            running.on_empty(now);
        }
        running.on_arrival(packet, waiting, now, random)
    }
    fn on_overflow(&mut self, now: Time) {
        if let Some(running) = &mut self.running {
            running.on_overflow(now);
        }
    }
    fn on_departure(
        &mut self,
        packet: &Packet,
        waiting: &Waiting,
        now: Time,
        random: &mut Stream,
    ) -> Decision {
        let Some(running) = &mut self.running else { return Decision::Pass };
        let decision = running.on_departure(packet, waiting, now, random);
        if !matches!(decision, Decision::Drop(_)) {
            self.line.on_departure(packet.size, now);
        }
        decision
    }
    fn decides_on_arrival(&self) -> bool {
        self.running.is_none()
    }
    fn on_empty(&mut self, now: Time) {
        if let Some(running) = &mut self.running {
            running.on_empty(now);
            self.line.on_empty(now);
        }
    }
    fn next_timer(&self) -> Time {
        self.running.as_ref().map_or(Time::NEVER, |running| running.next_timer())
    }
    fn on_timer(&mut self, waiting: &Store, now: Time) {
        if let Some(running) = &mut self.running {
            running.on_timer(waiting, now);
        }
    }
    fn probability(&self) -> Option<f64> {
        self.running.as_ref()?.probability()
    }
    fn average_bytes(&self) -> Option<f64> {
        self.running.as_ref()?.average_bytes()
    }
}

impl LawConfig for ModuleConfig {
    type Queue = Single<ModuleLaw>;
    const DOC: ModelDoc = ModelDoc {
        name: "module",
        kind: ModelKind::Queue,
        summary: "A queue discipline of the user's own: a file that the simulator runs, a kernel module, or both.",
        follows: "the module itself",
        differences: &[Difference {
            text: "Nothing of a kernel module is modelled: the simulator refuses it. A queue that is built of its \
                   configuration all the same is tail drop.",
            test: "without_its_module_it_is_tail_drop",
        }],
    };

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(ModuleLaw::start(self.clone(), line_rate), self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }
}
