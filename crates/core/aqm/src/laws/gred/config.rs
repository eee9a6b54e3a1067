//! GRED: several RED queues in one FIFO.

use super::{Gred, doc};
use crate::shell::Single;
use crate::{Extent, LawConfig, Level, LinuxRedConfig, TcError};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate};

/// Number of virtual queues: one for each ECN codepoint, by which packets are classified here.
pub const GRED_QUEUES: usize = 4;

/// Generic RED (Linux
/// [`net/sched/sch_gred.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_gred.c)): one FIFO,
/// packets of several virtual queues with a RED law each.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GredConfig {
    /// Largest limit of any virtual queue in bytes, and the limit for packets without a virtual queue.
    pub limit_bytes: u32,
    /// Whether priorities are used: equal ones make it WRED, different ones RIO. Otherwise all virtual queues
    /// are independent.
    pub grio: bool,
    /// The virtual queues.
    pub queues: [Option<GredQueueConfig>; GRED_QUEUES],
    /// Virtual queue of a packet, by the two bits of its ECN field.
    pub queue_of: [u8; 4],
}

/// One virtual queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GredQueueConfig {
    /// RED parameters as tc accepts them. `nodrop` and `adaptive` do not exist here.
    pub red: LinuxRedConfig,
    /// Priority of the virtual queue; lower numbers come first.
    pub priority: u8,
}

/// How the averages of the virtual queues depend on each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GredMode {
    /// Every virtual queue averages its own packets only.
    Separate,
    /// To the average of a virtual queue, those of queues with lower priority numbers are added.
    Rio,
    /// All virtual queues share one average of the whole queue.
    Wred,
}

impl GredConfig {
    /// With `grio` the kernel chooses WRED as soon as any two priorities are equal (`gred_wred_mode_check`).
    pub fn mode(&self) -> GredMode {
        if !self.grio {
            return GredMode::Separate;
        }
        let priorities = self.queues.iter().flatten().map(|queue| queue.priority);
        let equal = |priority| priorities.clone().filter(|&other| other == priority).count() > 1;
        if priorities.clone().any(equal) { GredMode::Wred } else { GredMode::Rio }
    }
}

impl LawConfig for GredConfig {
    type Queue = Box<Single<Gred>>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        // The law checks the limits itself: each virtual queue has its own, and together they may hold more
        // than `limit_bytes`.
        Ok(Box::new(Single::new(Gred::new(self)?, Extent::Unlimited, line_rate)))
    }

    fn limit(&self) -> Extent {
        Extent::Bytes(self.limit_bytes.into())
    }

    fn marks_from(&self, codepoint: Ecn) -> Option<Extent> {
        let queue = self.queues.get(usize::from(self.queue_of[usize::from(codepoint.bits())]))?.as_ref()?;
        queue.red.ecn.then_some(Extent::Bytes(queue.red.min_bytes.into()))
    }

    fn levels(&self) -> Vec<Level> {
        let queues = ["not-ECT", "ECT"].into_iter().zip(&self.queues);
        let queues = queues.filter_map(|(class, queue)| Some((class, queue.as_ref()?.red)));
        let levels = queues.map(|(class, red)| {
            let level = |name: &str, bytes: u32| Level::of_bytes(format!("{name} {class}"), bytes.into());
            [level("min", red.min_bytes), level("max", red.max_bytes)]
        });
        levels.flatten().collect()
    }
}
