"""DCTCP (RFC 8257, https://www.rfc-editor.org/rfc/rfc8257) in the integers of Linux."""

import shoal


class Dctcp(shoal.Controller):
    """DCTCP as Linux has it: the window shrinks in proportion to the fraction of packets that were marked."""

    ecn = "dctcp"
    gain_shift = shoal.parameter(
        4, least=0, most=10, whole=True, text="A window counts one part in two to the power of this."
    )

    def __init__(self) -> None:
        """Begin with the estimate that all packets are marked, in 1/1024."""
        self.estimate = 1024
        self.marked = self.total = self.window_end = 0
        # For the case that a reduction turns out to be spurious.
        self.cwnd_before = 0

    def on_init(self, flow: shoal.Flow) -> None:
        """Show the estimate in results."""
        flow.alpha = self.estimate / 1024

    def on_established(self, flow: shoal.Flow) -> None:
        """Begin the first observation window."""
        self.window_end = flow.snd_nxt

    def on_ack(self, flow: shoal.Flow) -> None:
        """Count marks; at the end of a window, estimate their fraction."""
        self.marked += flow.marked_packets
        self.total += flow.delivered_packets
        if flow.snd_una >= self.window_end:
            # A decay that would be rounded to nothing takes all that is left.
            decay = self.estimate >> self.gain_shift or self.estimate
            grown = (self.marked << 10) // (max(self.total, 1) << self.gain_shift)
            self.estimate = min(self.estimate - decay + grown, 1024)
            self.marked = self.total = 0
            self.window_end = flow.snd_nxt
            flow.alpha = self.estimate / 1024

    def on_growth(self, flow: shoal.Flow) -> None:
        """Grow as Reno."""
        flow.reno()

    def on_ecn(self, flow: shoal.Flow) -> None:
        """Answer the first ECN-Echo of an episode."""
        self.cwnd_before = flow.cwnd
        flow.ssthresh = max(flow.cwnd - (flow.cwnd * self.estimate >> 11), 2 * flow.quantum)
        flow.cwnd_cnt = 0

    def on_loss(self, flow: shoal.Flow) -> None:
        """Answer a loss with half the window."""
        self.cwnd_before = flow.cwnd
        flow.ssthresh = max(flow.cwnd // 2, 2 * flow.quantum)
        flow.cwnd_cnt = 0

    def on_loss_in_cwr(self, flow: shoal.Flow) -> None:
        """Answer a loss during a reduction for ECN."""
        self.on_loss(flow)

    def on_rto(self, flow: shoal.Flow) -> None:
        """Answer a retransmission timeout."""
        if not flow.already_reduced:
            self.on_loss(flow)
        flow.cwnd_cnt = 0

    def undo_cwnd(self, flow: shoal.Flow) -> int:
        """Restore the window of before a spurious reduction."""
        return max(flow.cwnd, self.cwnd_before)
