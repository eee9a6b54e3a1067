// SPDX-License-Identifier: GPL-2.0-only
/* Replays prague.tsv: the law of tcp_prague_shoal against the model in crates/core/cc. */

#define _GNU_SOURCE
#include "../law/prague.h"
#include "replay.h"

static struct law_prague_policy policy;
static struct law_prague law;
static struct law_window win;
/* The ACK that was counted last. */
static struct law_prague_ack ack;

static void configure(const struct row *row)
{
	policy = (struct law_prague_policy){
		.alpha_bits = number_at(row, 1),
		.alpha_from_one = number_at(row, 2),
		.halve_first = number_at(row, 3),
		.target_us = number_at(row, 4),
		.independent_after = number_at(row, 5),
		.carry = number_at(row, 6),
		.bytes_1500 = number_at(row, 7),
		.paced = number_at(row, 8),
		.rate_mode = number_at(row, 9),
	};
	law_prague_init(&law, &policy, number_at(row, 10), number_at(row, 11));
	/* 0x7fffffff: no threshold yet. */
	win = (struct law_window){ .cwnd = 10,
				   .ssthresh = 0x7fffffff,
				   .clamp = number_at(row, 12) };
	ack = (struct law_prague_ack){ 0 };
}

static void on_ack(const struct row *row)
{
	ack = (struct law_prague_ack){
		.snd_una = number_at(row, 1),
		.snd_nxt = number_at(row, 2),
		.delivered = number_at(row, 3),
		.marked = number_at(row, 4),
		.now_us = number_at(row, 5),
		.srtt = number_at(row, 6),
		.mtu = number_at(row, 7),
	};
	law_prague_on_ack(&law, &policy, &win, &ack);
}

/* Returns the number of arguments of the row. */
static int apply(const struct row *row)
{
	switch (row->field[0][0]) {
	case 'k':
		on_ack(row);
		return 7;
	case 'e':
		law_prague_on_ecn(&law, &policy, &win, number_at(row, 1));
		return 1;
	case 'g':
		law_prague_on_growth(&law, &policy, &win, &ack, number_at(row, 1),
				     number_at(row, 2));
		return 2;
	case 'l':
		law_prague_on_loss(&law, &policy, &win);
		return 0;
	case 't':
		law_prague_on_timeout(&law, &policy, &win, number_at(row, 1));
		return 1;
	case 'x':
		law_prague_on_exit(&law, &win);
		return 0;
	case 'u':
		expect_number(row, "undo", number_at(row, 1), law_prague_undo(&law, &win), 0);
		return 1;
	case 'p':
		expect_number(row, "pace", number_at(row, 4),
			      law_prague_pace(&law, &policy, &win, number_at(row, 1),
					      number_at(row, 2), number_at(row, 3)), 0);
		return 4;
	case 'w':
		win.cwnd = number_at(row, 1);
		return 1;
	default:
		fail(row, "unknown operation");
	}
}

static void step(const struct row *row)
{
	int at;

	if (row_is(row, "config")) {
		configure(row);
		return;
	}
	at = 1 + apply(row);
	expect_number(row, "alpha", number_at(row, at), law_prague_alpha(&law), 0);
	expect_number(row, "cwnd", number_at(row, at + 1), win.cwnd, 0);
	expect_number(row, "ssthresh", number_at(row, at + 2), win.ssthresh, 0);
	expect_number(row, "packet", number_at(row, at + 3), law.packet, 0);
}

int main(int argc, char **argv)
{
	return replay(argc, argv, step, "tcp_prague_shoal");
}
