//! The sender's side of ECN signalling (RFC 3168 section 6.1, <https://www.rfc-editor.org/rfc/rfc3168#section-6.1>).

use crate::{EcnSetting, EndpointConfig};
use shoal_cc::{AnyController, CongestionControl, EcnUse};
use shoal_packet::{Flags, Packet};

/// Whether ECN is in use, and whether a reduction still has to be announced.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnSignalling {
    /// Whether ECN was negotiated.
    pub negotiated: bool,
    /// Whether CWR has to be sent.
    pub cwr_pending: bool,
}

impl EcnSignalling {
    pub(super) const NONE: Self = Self { negotiated: false, cwr_pending: false };

    /// ECE without CWR in the SYN/ACK accepts ECN (RFC 3168 section 6.1.1). Without ECN a controller that needs it
    /// gives way to Reno (Linux `dctcp_init`).
    pub(super) fn negotiate(&mut self, config: &EndpointConfig, syn_ack: &Packet, cc: &mut AnyController) {
        let accepted = syn_ack.flags.has(Flags::ECE) && !syn_ack.flags.has(Flags::CWR);
        self.negotiated = config.ecn == EcnSetting::On && accepted;
        if !self.negotiated {
            *cc = AnyController::new(&config.cc.without_ecn(), config.stack.growth);
        }
    }

    /// Whether `packet` echoes a mark.
    #[inline]
    pub(super) fn echoed_by(&self, packet: &Packet) -> bool {
        self.negotiated && packet.flags.has(Flags::ECE)
    }

    /// Whether ECN is used as DCTCP uses it.
    #[inline]
    pub(super) fn is_dctcp(&self, cc: &AnyController) -> bool {
        self.negotiated && cc.ecn_use() == EcnUse::Dctcp
    }

    /// Announces a reduction: CWR is sent with the next segment that may carry it (Linux
    /// `tcp_ecn_queue_cwr`).
    pub(super) fn queue_cwr(&mut self, cc: &AnyController) {
        if self.negotiated && cc.sends_cwr() {
            self.cwr_pending = true;
        }
    }

    /// Sets CWR, if it is pending, in a segment that may carry it.
    #[inline]
    pub(super) fn attach_cwr(&mut self, packet: &mut Packet) {
        if self.cwr_pending {
            packet.flags = packet.flags.with(Flags::CWR);
            self.cwr_pending = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config;
    use shoal_packet::FlowId;

    fn syn_ack(flags: Flags) -> Packet {
        let mut packet = Packet::empty(FlowId(1), 60);
        packet.flags = Flags::SYN.with(Flags::ACK).with(flags);
        packet
    }

    #[test]
    fn without_ecn_reno_replaces_dctcp_and_announces_no_reduction() {
        let config = config("dctcp", "linux-6");
        for (flags, negotiated) in
            [(Flags::ECE, true), (Flags::ECE.with(Flags::CWR), false), (Flags::ACK, false)]
        {
            let mut cc = AnyController::new(&config.cc, config.stack.growth);
            let mut ecn = EcnSignalling::default();
            ecn.negotiate(&config, &syn_ack(flags), &mut cc);
            assert_eq!((ecn.negotiated, cc.ecn_use() == EcnUse::Dctcp), (negotiated, negotiated));
            ecn.queue_cwr(&cc);
            let mut packet = Packet::empty(FlowId(1), 1500);
            ecn.attach_cwr(&mut packet);
            assert_eq!(packet.flags.has(Flags::CWR), negotiated);
            assert!(!ecn.cwr_pending, "announced once");
        }
    }
}
