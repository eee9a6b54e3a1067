//! What the stack profiles are, for `shoal describe`.

use shoal_units::{Difference, ModelDoc, ModelKind, ParameterDoc};

const PARAMETERS: &[ParameterDoc] = &[];

const COMMON: &[Difference] = &[];

/// All profiles.
pub const DOCS: &[ModelDoc] = &[ModelDoc {
    name: "linux-3.2",
    kind: ModelKind::Stack,
    summary: "Linux 3.2: counts ACKs, slow start at cwnd <= ssthresh, rate halving in CWR, PRR in recovery, FACK.",
    follows: "net/ipv4/tcp_input.c, tcp_output.c, tcp_cong.c of Linux 3.2",
    parameters: PARAMETERS,
    differences: COMMON,
}];
