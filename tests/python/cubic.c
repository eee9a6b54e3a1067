/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * CUBIC on Linux 6 (net/ipv4/tcp_cubic.c, https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_cubic.c) without
 * HyStart, as material of tests: unchanged it gives the bytes of the built-in law with `hystart = false`.
 */
#include "shoal_law.h"

SHOAL_DESCRIBE("{ \"abi\": 1, \"kind\": \"controller\", \"summary\": \"CUBIC as Linux has it, without HyStart.\" }")

static uint32_t count, last_max, last_cwnd, last_time, origin, time_to_origin, delay_min, epoch_start, acks, reno, sent;
static uint32_t before_cut;
static int has_epoch;

/* Starting values of the kernel's cube root, for the six leading bits. */
static const uint8_t start[64] = {
	0,   54,  54,  54,  118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173,
	176, 179, 181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222,
	224, 225, 227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
};

static uint32_t cube_root(uint64_t a)
{
	uint32_t bits = a ? 64 - (uint32_t)__builtin_clzll(a) : 0, third;
	uint64_t root;

	if (bits < 7)
		return (start[a] + 35u) >> 6;
	third = (bits * 84 >> 8) - 1;
	root = ((start[a >> third * 3] + 10u) << third) >> 6;
	return (uint32_t)((2 * root + a / (root * (root - 1))) * 341 >> 10);
}

static uint32_t jiffies(void)
{
	return (uint32_t)(shoal.now_ps / 1000000000);
}

static void begin_epoch(uint32_t now, uint32_t cwnd, uint32_t acked)
{
	has_epoch = 1;
	epoch_start = now;
	acks = acked;
	reno = cwnd;
	time_to_origin = last_max <= cwnd ? 0 : cube_root(((1ull << 40) / 410) * (last_max - cwnd));
	origin = last_max <= cwnd ? cwnd : last_max;
}

static void update(uint32_t now, uint32_t cwnd, uint32_t acked)
{
	acks += acked;
	if (last_cwnd == cwnd && (int32_t)(now - last_time) <= 1000 / 32)
		return;
	if (!has_epoch || now != last_time) {
		uint64_t t, distance;
		uint32_t target;

		last_cwnd = cwnd;
		last_time = now;
		if (!has_epoch)
			begin_epoch(now, cwnd, acked);
		t = (((uint64_t)(now - epoch_start) + (delay_min + 999) / 1000) << 10) / 1000;
		distance = t < time_to_origin ? time_to_origin - t : t - time_to_origin;
		target = (uint32_t)(410 * distance * distance * distance >> 40);
		target = t < time_to_origin ? origin - target : origin + target;
		count = target > cwnd ? cwnd / (target - cwnd) : cwnd * 100;
		if (!last_max)
			count = (uint32_t)shoal_min(count, 20);
	}
	for (uint32_t needed = (uint32_t)shoal_max(cwnd * 15ull >> 3, 1); acks > needed; acks -= needed)
		reno++;
	if (reno > cwnd)
		count = (uint32_t)shoal_min(count, cwnd / (reno - cwnd));
	count = (uint32_t)shoal_max(count, 2);
}

static void cut(void)
{
	uint64_t cwnd = shoal.cwnd;

	has_epoch = 0;
	before_cut = (uint32_t)cwnd;
	last_max = (uint32_t)(cwnd < last_max ? cwnd * (1024 + 717) / 2048 : cwnd);
	shoal.ssthresh = shoal_max(cwnd * 717 / 1024, 2);
	shoal.cwnd_cnt = 0;
}

SHOAL_CALL(on_ack)
{
	uint32_t delay;

	if (shoal.rtt_ps == SHOAL_NONE || (has_epoch && (int32_t)(jiffies() - epoch_start) < 1000))
		return 0;
	delay = (uint32_t)shoal_max(shoal.rtt_ps / 1000000, 1);
	if (!delay_min || delay_min > delay)
		delay_min = delay;
	return 0;
}

SHOAL_CALL(on_growth)
{
	uint64_t acked = shoal_acked();

	if (shoal.app_limited)
		return 0;
	if (shoal_in_slow_start() && !(acked = shoal_slow_start(acked)))
		return 0;
	update(jiffies(), (uint32_t)shoal.cwnd, (uint32_t)acked);
	shoal_linear(count, acked);
	return 0;
}

SHOAL_CALL(on_loss)
{
	cut();
	return 0;
}

SHOAL_CALL(on_loss_in_cwr)
{
	return 0;
}

SHOAL_CALL(on_rto)
{
	if (!shoal.already_reduced)
		cut();
	shoal.cwnd_cnt = 0;
	count = last_max = last_cwnd = last_time = origin = time_to_origin = delay_min = acks = reno = 0;
	has_epoch = 0;
	return 0;
}

SHOAL_CALL(on_idle_restart)
{
	int32_t idle = (int32_t)(jiffies() - sent);

	if (has_epoch && idle > 0) {
		epoch_start += (uint32_t)idle;
		if ((int32_t)(epoch_start - jiffies()) > 0)
			epoch_start = jiffies();
	}
	return 0;
}

SHOAL_CALL(on_sent)
{
	sent = jiffies();
	return 0;
}

SHOAL_CALL(undo_cwnd)
{
	return (int32_t)shoal_max(shoal.cwnd, before_cut);
}
