//! A full queue in front of the host's own card (Linux `NET_XMIT_DROP` in `__tcp_transmit_skb`): nothing is lost, since
//! TCP keeps what is refused, and the window is reduced as for a mark.

use crate::Output;
use crate::sender::linux::{CaState, Call, LinuxSender};

impl LinuxSender {
    /// Whether the queue in front of the card refuses a segment of `payload` bytes. Then the window is reduced, unless
    /// it is being reduced already (Linux `tcp_enter_cwr`).
    pub(in crate::sender::linux) fn is_refused(
        &mut self,
        call: &mut Call<'_, impl Output>,
        payload: u64,
    ) -> bool {
        if call.config.offload.is_none() {
            return false;
        }
        let packets = payload.div_ceil(u64::from(call.mss)).max(1);
        let bytes = payload + packets * u64::from(call.config.header_bytes);
        if call.takes(bytes) {
            return false;
        }
        if self.state < CaState::Cwr {
            self.enter_cwr(call);
        } else {
            self.undo.forbid();
        }
        true
    }
}
