"""CUBIC in the integers of Linux 6 (https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_cubic.c).

After a reduction the window comes back to where it was, W_max, along W(t) = C (t - K)^3 + W_max: fast, then hardly,
then fast again. HyStart ends slow start. The kernel's clocks wrap after 71 minutes, and these never do.
"""

import shoal

PS_IN_US, PS_IN_MS = 10**6, 10**9
# Window after a reduction in 1/1024, and what that is for the estimate of Reno's growth, in eighths.
BETA = 717
RENO_EIGHTHS = 8 * (1024 + BETA) // 3 // (1024 - BETA)
# Ten times C in 1/1024, and the cube of the time to W_max for one packet, in 2^-30 s^3.
SCALE = 410
FACTOR = (1 << 40) // SCALE
# Starting values of the cube root for the six leading bits of its argument.
ROOTS = (
    *(0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173),
    *(176, 179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221),
    *(222, 224, 225, 227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254),
)


def cube_root(a: int) -> int:
    """Give the cube root by a table and one step of Newton, as the kernel does."""
    bits = a.bit_length()
    if bits < 7:
        return (ROOTS[a] + 35) >> 6
    third = (bits * 84 >> 8) - 1
    start = ((ROOTS[a >> third * 3] + 10) << third) >> 6
    return (2 * start + a // (start * (start - 1))) * 341 >> 10


class Cubic(shoal.Controller):
    """CUBIC as Linux 6 has it, with HyStart."""

    def __init__(self) -> None:
        """Begin without a past."""
        self.cwnd_before_cut = self.last_sent = self.round_end = self.round_start = self.last_ack = 0
        self.reset()

    def reset(self) -> None:
        """Forget what a timeout makes useless."""
        self.cnt = self.last_max_cwnd = self.last_cwnd = self.last_time = self.origin = self.to_origin = 0
        self.delay_min_us = self.ack_cnt = self.reno_cwnd = 0
        # In milliseconds; None between a reduction and the next growth.
        self.epoch_start: int | None = None
        self.round_delay_us = self.samples = 0
        self.has_ended = False

    def on_established(self, flow: shoal.Flow) -> None:
        """Begin HyStart's first round."""
        self.start_round(flow)

    def on_ack(self, flow: shoal.Flow) -> None:
        """Measure the delay, by which HyStart may end slow start."""
        if flow.rtt_ps is None:
            return
        # Samples within a second of the start of an epoch may include the queue of the recovery.
        if self.epoch_start is not None and flow.now_ps // PS_IN_MS - self.epoch_start < 1000:
            return
        delay_us = max(flow.rtt_ps // PS_IN_US, 1)
        self.delay_min_us = min(self.delay_min_us or delay_us, delay_us)
        if self.has_ended or not flow.in_slow_start:
            return
        if flow.snd_una > self.round_end:
            self.start_round(flow)
        if flow.cwnd < 16 * flow.quantum:
            return
        is_long_train = self.is_long_train(flow)
        if self.is_delayed(delay_us) or is_long_train:
            self.has_ended = True
            flow.ssthresh = flow.cwnd

    def start_round(self, flow: shoal.Flow) -> None:
        """Begin a round, which ends when what is sent next is acknowledged."""
        self.round_end = flow.snd_nxt
        self.round_start = self.last_ack = flow.now_ps // PS_IN_US
        self.round_delay_us = self.samples = 0

    def is_long_train(self, flow: shoal.Flow) -> bool:
        """Whether ACKs have come closely for half the smallest delay; where hosts pace, for all of it."""
        now = flow.now_ps // PS_IN_US
        percent = 200 if flow.cwnd < flow.ssthresh // 2 else 120
        bytes_per_rtt = flow.mss * (flow.cwnd // flow.quantum) * percent // 100
        srtt_us = flow.srtt_ps // PS_IN_US
        # Four bursts of a card at the pace, for which aggregation may be to blame.
        cushion = min(4 * 65536 * srtt_us // bytes_per_rtt, 1000) if bytes_per_rtt and srtt_us else 0
        threshold = self.delay_min_us + cushion >> (not flow.is_paced)
        if now - self.last_ack > 2000:
            return False
        self.last_ack = now
        return now - self.round_start > threshold

    def is_delayed(self, delay_us: int) -> bool:
        """Whether this round's smallest delay is an eighth above the smallest of all."""
        self.round_delay_us = min(self.round_delay_us or delay_us, delay_us)
        if self.samples < 8:
            self.samples += 1
            return False
        return self.round_delay_us > self.delay_min_us + min(max(self.delay_min_us >> 3, 4000), 16000)

    def on_growth(self, flow: shoal.Flow) -> None:
        """Let the window grow in slow start, or along the curve."""
        if flow.app_limited:
            return
        acked = flow.acked
        if flow.in_slow_start:
            acked = flow.slow_start(acked)
            if not acked:
                return
        self.update(flow.now_ps // PS_IN_MS, flow.cwnd, acked)
        flow.linear(self.cnt, acked)

    def update(self, now: int, cwnd: int, acked: int) -> None:
        """Compute how many packets make the window grow by one."""
        self.ack_cnt += acked
        if self.last_cwnd == cwnd and now - self.last_time <= 1000 // 32:
            return
        if self.epoch_start is None or now != self.last_time:
            self.last_cwnd, self.last_time = cwnd, now
            if self.epoch_start is None:
                self.epoch_start, self.ack_cnt, self.reno_cwnd = now, acked, cwnd
                self.to_origin, self.origin = 0, cwnd
                if self.last_max_cwnd > cwnd:
                    self.to_origin = cube_root(FACTOR * (self.last_max_cwnd - cwnd) & (1 << 64) - 1)
                    self.origin = self.last_max_cwnd
            self.cnt = self.cubic_count(now - self.epoch_start, cwnd)
        # Never slower than Reno with the same reduction: a packet for 1.875 windows.
        needed = max(cwnd * RENO_EIGHTHS >> 3, 1)
        if self.ack_cnt > needed:
            steps = (self.ack_cnt - 1) // needed
            self.ack_cnt -= steps * needed
            self.reno_cwnd += steps
        if self.reno_cwnd > cwnd:
            self.cnt = min(self.cnt, cwnd // (self.reno_cwnd - cwnd))
        self.cnt = max(self.cnt, 2)

    def cubic_count(self, since_epoch: int, cwnd: int) -> int:
        """Give the packets for one of growth with which the window is on the curve a round-trip time later."""
        t = (since_epoch - (-self.delay_min_us // 1000) << 10) // 1000
        distance = abs(t - self.to_origin)
        delta = (SCALE * distance**3 & (1 << 64) - 1) >> 40
        target = self.origin + (delta if t >= self.to_origin else -delta) & (1 << 32) - 1
        count = cwnd // (target - cwnd) if target > cwnd else min(cwnd * 100, (1 << 32) - 1)
        # Before the first reduction the window grows by at least 5 % each round-trip time.
        return count if self.last_max_cwnd else min(count, 20)

    def on_loss(self, flow: shoal.Flow) -> None:
        """Answer a loss, or the first ECN-Echo of an episode."""
        cwnd = self.cwnd_before_cut = flow.cwnd
        self.epoch_start = None
        # A window that is smaller than the last one leaves room for others.
        self.last_max_cwnd = cwnd * (1024 + BETA) // 2048 if cwnd < self.last_max_cwnd else cwnd
        flow.ssthresh = max(cwnd * BETA // 1024, 2 * flow.quantum)
        flow.cwnd_cnt = 0

    def on_rto(self, flow: shoal.Flow) -> None:
        """Answer a retransmission timeout."""
        if not flow.already_reduced:
            self.on_loss(flow)
        flow.cwnd_cnt = 0
        self.reset()
        self.start_round(flow)

    def on_idle_restart(self, flow: shoal.Flow) -> None:
        """Shift the epoch, so that idle time is no time of growth."""
        now = flow.now_ps // PS_IN_MS
        if self.epoch_start is not None and now > self.last_sent:
            self.epoch_start = min(self.epoch_start + now - self.last_sent, now)

    def on_sent(self, flow: shoal.Flow) -> None:
        """Note when something was sent."""
        self.last_sent = flow.now_ps // PS_IN_MS

    def undo_cwnd(self, flow: shoal.Flow) -> int:
        """Restore the window of before a spurious reduction."""
        return max(flow.cwnd, self.cwnd_before_cut)
