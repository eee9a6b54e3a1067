//! Configuration of a connection.

use crate::{CwrAck, EcnFeedback, EcnOption, Misbehaviour, Offload, Profile};
use shoal_cc::{CcConfig, EcnUse};
use shoal_packet::Ecn;
use shoal_units::cast::{fit_u8, fit_u16};

/// Properties of a receiver that differ from the sender's side of the flow group; `None` means no difference.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ReceiverConfig {
    /// Host stack of the receiver, if it is not the sender's.
    pub stack: Option<Profile>,
    /// ECN feedback, if it is not what the sender's controller needs.
    pub feedback: Option<EcnFeedback>,
    /// When data with CWR is acknowledged, if not by the stack's rule.
    pub cwr_ack: Option<CwrAck>,
    /// What it does wrong, if it does.
    pub misbehaviour: Option<Misbehaviour>,
}

/// Whether the flow requests ECN. DCTCP controllers always use ECN; `Off` with DCTCP falls back to Reno as in
/// the kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnSetting {
    /// Not negotiated.
    Off,
    /// Negotiated ([RFC 3168](https://www.rfc-editor.org/rfc/rfc3168)), with the DCTCP echo if the controller
    /// needs it.
    On,
}

/// Bytes of IPv4 and TCP headers without options.
const HEADER_BYTES_WITHOUT_OPTIONS: u16 = 20 + 20;

/// Configuration of a connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EndpointConfig {
    /// Host stack of the sender, and of the receiver unless `receiver` names another.
    pub stack: Profile,
    /// Properties of the receiver that differ.
    pub receiver: ReceiverConfig,
    /// Controller of the sender.
    pub cc: CcConfig,
    /// Whether ECN is requested.
    pub ecn: EcnSetting,
    /// When both ends send the option of accurate ECN, if they use that.
    pub ecn_option: EcnOption,
    /// Size of a full IP packet in bytes.
    pub mtu_bytes: u16,
    /// Bytes of IP and TCP headers with the timestamp option (52 for IPv4).
    pub header_bytes: u16,
    /// Whether SACK is negotiated.
    pub sack: bool,
    /// Whether the receiver delays ACKs.
    pub delayed_ack: bool,
    /// Initial window in packets, if it is not the stack's.
    pub initial_window: Option<u32>,
    /// Receive buffer in bytes, which bounds the data in flight.
    pub receive_window_bytes: u32,
    /// Upper bound of `cwnd` in packets.
    pub cwnd_clamp_packets: u32,
    /// Whether what the application writes leaves at once however small it is (`TCP_NODELAY`), as applications of
    /// scenarios ask for; otherwise Nagle's algorithm applies. Profiles of FreeBSD have none.
    pub no_delay: bool,
    /// Bytes of unsent data up to which the application of an endless stream writes on, if packets are handed over on
    /// their own (`TCP_NOTSENT_LOWAT`).
    pub unsent_bytes: u32,
    /// Segmentation offload of the sender; `None` if every packet is handed over on its own.
    pub offload: Option<Offload>,
}

impl EndpointConfig {
    /// Host stack of the receiver.
    #[inline]
    pub const fn receiver_stack(&self) -> &Profile {
        match &self.receiver.stack {
            Some(stack) => stack,
            None => &self.stack,
        }
    }
    /// Feedback of the receiver on marks if ECN is negotiated: as its own side configures, else as the
    /// sender's controller needs.
    pub const fn feedback(&self) -> EcnFeedback {
        match (self.receiver.feedback, self.cc.ecn_use()) {
            (Some(feedback), _) => feedback,
            (None, EcnUse::L4s) => EcnFeedback::Accurate,
            (None, EcnUse::Dctcp) => EcnFeedback::Dctcp,
            (None, EcnUse::Classic) => EcnFeedback::Classic,
        }
    }
    /// Whether the connection asks for accurate ECN, and its server grants it.
    pub fn is_accurate(&self) -> bool {
        self.ecn == EcnSetting::On && self.feedback() == EcnFeedback::Accurate
    }
    /// The controller of its connections: the configured one, or what takes its place without the feedback that it
    /// needs (Linux `dctcp_init`). The first SYN is taken to arrive.
    pub fn negotiated_cc(&self) -> CcConfig {
        let suffices = self.cc.ecn_use().suffices(self.ecn == EcnSetting::On, self.is_accurate());
        if suffices { self.cc } else { self.cc.without_ecn() }
    }
    /// Codepoint of data packets. The first SYN is taken to arrive.
    pub fn codepoint(&self) -> Ecn {
        match self.negotiated_cc().ecn_use() {
            _ if self.ecn == EcnSetting::Off => Ecn::NotEct,
            EcnUse::Classic | EcnUse::Dctcp => Ecn::Ect0,
            EcnUse::L4s => Ecn::Ect1,
        }
    }
    /// Bytes of TCP options that every packet has: timestamps.
    pub(crate) const fn option_bytes(&self) -> u16 {
        self.header_bytes.saturating_sub(HEADER_BYTES_WITHOUT_OPTIONS)
    }
    /// When the receiver acknowledges data with CWR.
    pub const fn cwr_ack(&self) -> CwrAck {
        match self.receiver.cwr_ack {
            Some(rule) => rule,
            None => self.receiver_stack().cwr_ack,
        }
    }
    /// Initial window of the connection in packets.
    #[inline]
    pub const fn initial_window_packets(&self) -> u32 {
        match self.initial_window {
            Some(packets) => packets,
            None => self.stack.initial_window,
        }
    }
    /// Maximum segment size: payload of a full packet, bytes.
    #[inline]
    pub const fn mss(&self) -> u16 {
        self.mtu_bytes - self.header_bytes
    }
    /// Maximum segment size as SYN and SYN/ACK announce it: the MTU less the IP and TCP headers without any
    /// options, which senders deduct themselves
    /// ([RFC 6691, section 2](https://www.rfc-editor.org/rfc/rfc6691#section-2)). Linux (`tcp_advertise_mss`)
    /// and FreeBSD (`tcp_mssopt`) alike.
    #[inline]
    pub const fn announced_mss(&self) -> u16 {
        self.mtu_bytes.saturating_sub(HEADER_BYTES_WITHOUT_OPTIONS)
    }
    /// Window scale ([RFC 7323](https://www.rfc-editor.org/rfc/rfc7323)): the smallest that can express the
    /// receive window in 16 bits, at most 14.
    #[inline]
    pub const fn window_scale(&self) -> u8 {
        let bits = u32::BITS - self.receive_window_bytes.leading_zeros();
        let scale = bits.saturating_sub(16);
        if scale > 14 { 14 } else { fit_u8(scale) }
    }
    /// The receive window in SYN and SYN/ACK, which is never scaled (RFC 7323 section 2.2).
    #[inline]
    pub const fn syn_window(&self) -> u16 {
        if self.receive_window_bytes > 0xffff { 0xffff } else { fit_u16(self.receive_window_bytes as u64) }
    }
    /// The receive window as on the wire. It is constant, because the application reads immediately and
    /// out-of-order data lie inside it.
    #[inline]
    pub const fn advertised_window(&self) -> u16 {
        let scaled = self.receive_window_bytes >> self.window_scale();
        if scaled > 0xffff { 0xffff } else { fit_u16(scaled as u64) }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::config;

    #[test]
    fn the_window_scale_is_the_smallest_that_expresses_the_window() {
        for bytes in
            [0, 1, 0xffff, 0x1_0000, 0x1_ffff, 0x2_0000, 64 << 20, 1 << 29, (1 << 30) - 1, 1 << 30, u32::MAX]
        {
            let scale = crate::EndpointConfig { receive_window_bytes: bytes, ..config("reno", "linux-6") }
                .window_scale();
            // RFC 7323, section 2.3: at most 14.
            assert!(scale <= 14 && (bytes >> scale <= 0xffff || scale == 14), "{bytes}: {scale}");
            assert!(
                scale == 0 || bytes >> (scale - 1) > 0xffff,
                "{bytes}: a scale of {scale} is not the smallest"
            );
        }
    }
}
