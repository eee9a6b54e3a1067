"""Reno (RFC 5681, https://www.rfc-editor.org/rfc/rfc5681)."""

import shoal


class Reno(shoal.Controller):
    """Reno as Linux has it: a packet more each window, half of it on a loss."""

    def on_growth(self, flow: shoal.Flow) -> None:
        """Let the window grow: an ACK acknowledged new data."""
        flow.reno()

    def on_loss(self, flow: shoal.Flow) -> None:
        """Answer a loss, or the first ECN-Echo of an episode. The endpoint brings cwnd to ssthresh."""
        flow.ssthresh = flow.part(1, 2)
        flow.cwnd_cnt = 0

    def on_rto(self, flow: shoal.Flow) -> None:
        """Answer a retransmission timeout."""
        if not flow.already_reduced:
            self.on_loss(flow)
        flow.cwnd_cnt = 0

    def rate_halving_floor(self, flow: shoal.Flow) -> int:
        """Let hosts that halve their rate over a window (Linux 3.2) go below ssthresh."""
        return flow.ssthresh // 2
