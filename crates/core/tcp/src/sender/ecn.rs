//! The sender's side of ECN signalling (RFC 3168 section 6.1, <https://www.rfc-editor.org/rfc/rfc3168#section-6.1>; RFC
//! 9768 section 3.1, <https://www.rfc-editor.org/rfc/rfc9768#section-3.1>).

use crate::accurate::{AccurateEcn, Acknowledged, Agreed, Answer, reflect, with_ace};
use crate::{EcnSetting, EndpointConfig};
use alloc::boxed::Box;
use shoal_cc::{AnyController, CcConfig, CongestionControl, EcnUse};
use shoal_packet::{Ecn, Flags, Packet};
use shoal_units::{Span, Time};

/// Whether ECN is in use, and whether a reduction still has to be announced.
#[derive(Clone, Debug, Default)]
pub(super) struct EcnSignalling {
    /// Whether ECN of RFC 3168 was negotiated.
    pub classic: bool,
    /// Whether CWR has to be sent.
    pub cwr_pending: bool,
    /// Accurate ECN, if that was negotiated.
    pub accurate: Option<Box<AccurateEcn>>,
}

impl EcnSignalling {
    pub(super) const NONE: Self = Self { classic: false, cwr_pending: false, accurate: None };

    /// Codepoint of a SYN. RFC 3168 section 6.1.1 forbids ECT on SYN; DCTCP stacks set it on every packet (Linux
    /// `INET_ECN_xmit`).
    pub(super) fn of_syn(cc: &AnyController) -> Ecn {
        match cc.ecn_use() {
            EcnUse::Classic => Ecn::NotEct,
            EcnUse::Dctcp => Ecn::Ect0,
            EcnUse::L4s => Ecn::Ect1,
        }
    }

    /// Reads the SYN/ACK. ECE without CWR accepts ECN of RFC 3168 (section 6.1.1), and a SYN that asked for accurate
    /// ECN is answered by the table of RFC 9768.
    pub(super) fn negotiate(&mut self, config: &EndpointConfig, syn_ack: &Packet, cc: &mut AnyController) {
        if config.is_accurate() && config.stack.linux().is_some() {
            match Answer::of(syn_ack.flags) {
                Answer::Nothing => {}
                Answer::Classic => self.classic = true,
                Answer::Accurate(syn_arrived) => self.accept_accurate(config, syn_ack, syn_arrived, cc),
            }
        } else {
            let accepted = syn_ack.flags.has(Flags::ECE) && !syn_ack.flags.has(Flags::CWR);
            self.classic = config.ecn == EcnSetting::On && accepted;
        }
        self.suit(config, cc);
    }

    /// Takes over what the receiving half of this end has agreed on.
    pub(super) fn adopt(&mut self, config: &EndpointConfig, agreed: Agreed, cc: &mut AnyController) {
        match agreed {
            Agreed::Nothing => {}
            Agreed::Classic => self.classic = true,
            Agreed::Accurate(accurate) => self.accurate = Some(accurate),
        }
        self.suit(config, cc);
    }
    /// What was agreed on, for the receiving half.
    pub(super) fn agreed(&self) -> Agreed {
        match &self.accurate {
            Some(accurate) => Agreed::Accurate(accurate.clone()),
            None if self.classic => Agreed::Classic,
            None => Agreed::Nothing,
        }
    }

    /// Without the feedback that it needs a controller gives way to Reno (Linux `dctcp_init`).
    fn suit(&self, config: &EndpointConfig, cc: &mut AnyController) {
        if !self.suffices(cc.ecn_use()) {
            *cc = AnyController::new(&config.cc.without_ecn(), config.stack.growth);
        }
    }
    /// The controller, or what takes its place without the feedback that it needs.
    pub(super) fn suited(&self, cc: CcConfig) -> CcConfig {
        if self.suffices(cc.ecn_use()) { cc } else { cc.without_ecn() }
    }
    fn suffices(&self, ecn_use: EcnUse) -> bool {
        ecn_use.suffices(self.is_negotiated(), self.accurate.is_some())
    }

    /// The server uses accurate ECN, and says that the SYN has arrived with `syn_arrived`. If the SYN/ACK is marked,
    /// what cannot become of a SYN on the way shows that something changes the codepoint, and nothing is sent with ECT
    /// (Linux `tcp_ecn_rcv_synack`).
    fn accept_accurate(
        &mut self,
        config: &EndpointConfig,
        syn_ack: &Packet,
        syn_arrived: Option<Ecn>,
        cc: &AnyController,
    ) {
        let mut accurate = AccurateEcn::new(config, syn_ack.ecn);
        if syn_ack.ecn.is_ce() {
            match syn_arrived {
                Some(arrived) if !crate::accurate::may_become(Self::of_syn(cc), arrived) => {
                    accurate.give_up_ect();
                }
                _ => accurate.count_marked_syn_ack(),
            }
        }
        accurate.see_option(syn_ack);
        self.accurate = Some(Box::new(accurate));
    }

    /// Bytes of heap memory.
    pub(super) fn heap_bytes(&self) -> usize {
        self.accurate.as_deref().map_or(0, size_of_val)
    }

    /// Whether ECN of any kind was negotiated.
    #[inline]
    pub(super) fn is_negotiated(&self) -> bool {
        self.classic || self.accurate.is_some()
    }

    /// Whether `packet` echoes a mark as in RFC 3168.
    #[inline]
    pub(super) fn echoed_by(&self, packet: &Packet) -> bool {
        self.classic && packet.flags.has(Flags::ECE)
    }

    /// Reads the accurate feedback of an ACK. Returns how many packets with CE it reports.
    #[cold]
    pub(super) fn read(&mut self, packet: &Packet, acknowledged: &Acknowledged) -> u32 {
        match &mut self.accurate {
            Some(accurate) => {
                let marked = accurate.read(packet, acknowledged);
                accurate.note_arrival(packet.ecn, 0, 1);
                marked
            }
            None => 0,
        }
    }

    /// Whether ECN of RFC 3168 is used as DCTCP uses it: with ECT on every packet.
    #[inline]
    pub(super) fn is_dctcp(&self, cc: &AnyController) -> bool {
        self.classic && cc.ecn_use() == EcnUse::Dctcp
    }

    /// Writes the feedback of accurate ECN into a segment.
    #[inline]
    pub(super) fn write_accurate(
        &mut self,
        config: &EndpointConfig,
        packet: &mut Packet,
        now: Time,
        srtt: Span,
    ) {
        if let Some(accurate) = &mut self.accurate {
            accurate.write(config, packet, now, srtt);
        }
    }

    /// Has the ACK of the SYN/ACK say with which codepoint that arrived (RFC 9768 section 3.2.1).
    pub(super) fn reflect(&self, syn_ack: &Packet, ack: &mut Packet) {
        if self.accurate.is_some() {
            ack.flags = with_ace(ack.flags, reflect(syn_ack.ecn));
        }
    }

    /// Announces a reduction: CWR is sent with the next segment that may carry it (Linux
    /// `tcp_ecn_queue_cwr`).
    pub(super) fn queue_cwr(&mut self, cc: &AnyController) {
        if self.classic && cc.sends_cwr() {
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
            assert_eq!((ecn.classic, cc.ecn_use() == EcnUse::Dctcp), (negotiated, negotiated));
            ecn.queue_cwr(&cc);
            let mut packet = Packet::empty(FlowId(1), 1500);
            ecn.attach_cwr(&mut packet);
            assert_eq!(packet.flags.has(Flags::CWR), negotiated);
            assert!(!ecn.cwr_pending, "announced once");
        }
    }
}
