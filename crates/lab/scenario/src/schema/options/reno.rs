//! The policies of Reno.

use shoal_cc::{RenoConfig, UndoWindow};

use crate::field::Section;

/// Policies of Reno.
#[derive(Clone, PartialEq, Debug, Section)]
pub(super) struct RenoOptions {
    /// Rate halving in CWR may take cwnd down to half of ssthresh (Linux 3.2) instead of ssthresh.
    #[key(source = "Linux 3.2 tcp_reno_min_cwnd")]
    pub halves_to_half_ssthresh: Option<bool>,
    /// Window restored when a reduction turns out spurious.
    #[key(source = "Linux tcp_undo_cwr before 4.15; tcp_reno_undo_cwnd since")]
    pub undo: Option<UndoWindow>,
}
overrides!(RenoOptions of RenoConfig { halves_to_half_ssthresh, undo });
