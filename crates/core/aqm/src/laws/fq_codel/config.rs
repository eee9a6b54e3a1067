//! The configuration of fair queueing with CoDel.

use super::{FqCodel, doc};
use crate::{CodelParameters, Extent, LawConfig, TcError};
use alloc::boxed::Box;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate};

/// Fair queueing with CoDel ([RFC 8290](https://www.rfc-editor.org/rfc/rfc8290); Linux
/// [`net/sched/sch_fq_codel.c`](https://elixir.bootlin.com/linux/v7.3/source/net/sched/sch_fq_codel.c)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelConfig {
    /// The law of every queue.
    pub law: CodelParameters,
    /// How packets find their queue.
    pub flows: FlowQueues,
    /// Bytes that a queue may send in one turn; at least 256 are used.
    pub quantum_bytes: u32,
    /// Capacity of all queues together; beyond it the longest queue loses packets.
    pub limit: Extent,
    /// Capacity of all queues together in bytes, in addition to `limit`.
    pub memory_limit_bytes: u64,
    /// Most packets that one such cut drops; at least 1.
    pub drop_batch: u32,
}

/// How the packets of a fair queue find their queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowQueues {
    /// A hash of the flow chooses one of this many queues, 1 to 65536; flows may collide.
    Hashed(u32),
    /// Every flow has a queue of its own.
    PerFlow,
}

impl LawConfig for FqCodelConfig {
    type Queue = Box<FqCodel>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Box::new(FqCodel::new(self, line_rate)))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, codepoint: Ecn) -> Option<Extent> {
        self.law.marks_from(codepoint)
    }
}
