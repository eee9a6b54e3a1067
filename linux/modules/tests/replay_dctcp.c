// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays dctcp.tsv: the law of tcp_dctcp_ikr and tcp_dctcp_onesided against the
 * model in crates/core/cc.
 */

#define _GNU_SOURCE
#include "../law/dctcp.h"
#include "replay.h"

static struct law_dctcp_policy policy;
static struct law_dctcp law;
static struct law_window win;
static enum law_counting growth;

static void configure(const struct row *row)
{
	policy = (struct law_dctcp_policy){
		.alpha_bits = number_at(row, 1),
		.alpha_on_init = number_at(row, 2),
		.gain_shift = number_at(row, 3),
		.counting = number_at(row, 4),
		.alpha_per_ack = number_at(row, 5),
		.gain_per_window = number_at(row, 6),
		.progressive = number_at(row, 7),
		.ssthresh_minus_one = number_at(row, 8),
		.counter = number_at(row, 9),
		.alpha_reset_after_idle = number_at(row, 10),
		.alpha_update_on_timeout = number_at(row, 11),
		.alpha_update_on_loss = number_at(row, 12),
		.cut_on_loss_in_cwr = number_at(row, 13),
	};
	growth = number_at(row, 14);
	law_dctcp_init(&law, &policy, number_at(row, 15));
	/* 0x7fffffff: no threshold yet. */
	win = (struct law_window){ .cwnd = 10,
				   .ssthresh = 0x7fffffff,
				   .clamp = number_at(row, 16) };
}

static void on_ack(const struct row *row)
{
	const struct law_dctcp_ack ack = {
		.snd_una = number_at(row, 1),
		.snd_nxt = number_at(row, 2),
		.delivered = number_at(row, 3),
		.marked = number_at(row, 4),
		.flight = number_at(row, 5),
		.advanced = number_at(row, 6),
		.duplicate = number_at(row, 7),
		.ece = number_at(row, 8),
	};

	law_dctcp_on_ack(&law, &policy, &ack);
}

/* Returns the number of arguments of the row. */
static int apply(const struct row *row)
{
	switch (row->field[0][0]) {
	case 'k':
		on_ack(row);
		return 8;
	case 'e':
		law_dctcp_on_ecn(&law, &policy, &win);
		return 0;
	case 'm':
		law_dctcp_on_ece_in_cwr(&law, &policy, &win);
		return 0;
	case 'g':
		law_grow(&win, growth, number_at(row, 1));
		return 1;
	case 'l':
		law_dctcp_on_loss(&law, &policy, &win, number_at(row, 1), number_at(row, 2));
		return 2;
	case 't':
		law_dctcp_on_timeout(&law, &policy, &win, number_at(row, 1), number_at(row, 2),
				     number_at(row, 3));
		return 3;
	case 'x':
		law_dctcp_on_exit(&law);
		return 0;
	case 'i':
		law_dctcp_after_idle(&law, &policy);
		return 0;
	case 'u':
		expect_number(row, "undo", number_at(row, 1), law_dctcp_undo(&law, &win), 0);
		return 1;
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
	expect_number(row, "alpha", number_at(row, at), law.alpha, 0);
	expect_number(row, "cwnd", number_at(row, at + 1), win.cwnd, 0);
	expect_number(row, "ssthresh", number_at(row, at + 2), win.ssthresh, 0);
	expect_number(row, "counter", number_at(row, at + 3), win.cnt, 0);
}

int main(int argc, char **argv)
{
	return replay(argc, argv, step, "tcp_dctcp_ikr, tcp_dctcp_onesided");
}
