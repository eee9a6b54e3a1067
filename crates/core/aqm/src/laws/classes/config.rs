//! The configuration of queues for traffic classes.

use super::{Classes, doc};
use crate::{Extent, LawConfig, Level, MemoryShare, QueueConfig, ShaperConfig, TcError};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate};

/// Queues for traffic classes behind one line (IEEE 802.1Q, clause 8.6.8; Linux
/// [`net/sched/sch_ets.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_ets.c)).
#[derive(Clone, PartialEq, Debug)]
pub struct ClassesConfig {
    /// The queues; of strict ones the first comes first.
    pub queues: Arc<[ClassConfig]>,
    /// The queue of each DiffServ code point
    /// ([RFC 2474, section 3](https://www.rfc-editor.org/rfc/rfc2474#section-3)).
    pub queue_of: [u8; 64],
    /// The code point of each flow, by its number; flows beyond the end have 0. Ports share it. A packet has no room
    /// for a code point of its own.
    pub codepoints: Arc<[u8]>,
    /// Memory that all queues share, in bytes, with what is reserved for each; `None`: each has only its own limit.
    pub memory_bytes: Option<u64>,
}

/// A queue for a traffic class.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassConfig {
    /// Name in results.
    pub name: String,
    /// When it sends.
    pub service: Service,
    /// What it sends at most, whatever else waits.
    pub shaper: Option<ShaperConfig>,
    /// Its law, with its limit; not again one of traffic classes.
    pub law: QueueConfig,
    /// Multiple of the free memory that it may hold of what queues share; `None`: as usual there.
    pub alpha: Option<f64>,
    /// Bytes of the memory that no other queue may hold; `None`: as usual there.
    pub reserved_bytes: Option<u64>,
}

impl ClassConfig {
    /// What it may hold of memory that queues share, in which `usual` holds where it has nothing of its own.
    pub fn memory(&self, usual: MemoryShare) -> MemoryShare {
        MemoryShare {
            alpha: self.alpha.unwrap_or(usual.alpha),
            reserved_bytes: self.reserved_bytes.unwrap_or(usual.reserved_bytes),
        }
    }
}

/// When a queue sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// Before all queues that come later in the list, and before all weighted ones.
    Strict,
    /// In turn with the other weighted queues.
    Weighted {
        /// What a turn adds to the bytes that it may send; shares are in proportion to it.
        quantum_bytes: u32,
    },
}

impl ClassesConfig {
    /// The queue of a flow's packets, by the flow's number.
    #[inline]
    pub fn queue_of(&self, flow: u32) -> u8 {
        let codepoint = self.codepoints.get(flow as usize).copied().unwrap_or(0);
        self.queue_of[usize::from(codepoint & 63)]
    }
}

impl LawConfig for ClassesConfig {
    type Queue = Box<Classes>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Box::new(Classes::new(self, line_rate)?))
    }

    /// Each queue has its own limit; the memory that all share depends on what each holds.
    fn limit(&self) -> Extent {
        Extent::Unlimited
    }

    /// Which queue a packet joins is a matter of its traffic class.
    fn marks_from(&self, codepoint: Ecn) -> Option<Extent> {
        let marks = self.queues.iter().any(|queue| queue.law.marks_from(codepoint).is_some());
        marks.then_some(crate::laws::ANY_BACKLOG)
    }

    fn has_protection(&self) -> bool {
        self.queues.iter().any(|queue| queue.law.has_protection())
    }

    fn levels(&self) -> Vec<Level> {
        let of_queue = |queue: &ClassConfig| {
            let name = queue.name.clone();
            let levels = queue.law.levels().into_iter();
            levels.map(move |level| Level { label: format!("{name}: {}", level.label), ..level })
        };
        self.queues.iter().flat_map(of_queue).collect()
    }
}
