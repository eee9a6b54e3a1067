//! Flows that queues cannot tell apart, because they go through a tunnel.

use alloc::sync::Arc;
use shoal_packet::FlowId;

/// Which flows go through a tunnel together: queues that keep flows apart see one flow in each tunnel. By default
/// there are no tunnels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tunnels {
    /// As which flow each one is seen.
    seen_as: Option<Arc<[u32]>>,
}

impl Tunnels {
    /// Flow n is seen as flow `seen_as[n]`; flows beyond the end as themselves.
    pub const fn new(seen_as: Arc<[u32]>) -> Self {
        Self { seen_as: Some(seen_as) }
    }

    /// As which flow the packets of `flow` are seen.
    #[inline]
    pub(crate) fn outer(&self, flow: FlowId) -> FlowId {
        match &self.seen_as {
            None => flow,
            Some(seen_as) => seen_as.get(flow.0 as usize).map_or(flow, |outer| FlowId(*outer)),
        }
    }
}
