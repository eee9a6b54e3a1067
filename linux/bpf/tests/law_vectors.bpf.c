// SPDX-License-Identifier: GPL-2.0-only
/*
 * The law of DCTCP as the kernel runs it, one operation of the vectors a call: the counterpart of
 * linux/modules/tests/replay_dctcp.c. The kernel does not test-run struct_ops programs, so that
 * this one is of the kind "syscall", which it runs on request; the law's lines are the same.
 */

#include "../stack.h"
#include "../../modules/law/dctcp.h"

char _license[] SEC("license") = "GPL";

/* A row of the vectors in, and the state after it out; loader/examples/replay_vectors.rs writes and reads it. */
struct operation {
	/* The letter of the row, or 'c' for a configuration. */
	u32 letter;
	u32 field[16];
	u32 alpha;
	u32 cwnd;
	u32 ssthresh;
	u32 counter;
	u32 undo;
};

struct law_dctcp_policy policy;
struct law_dctcp law;
struct law_window win;
u32 growth;

static void configure(const struct operation *row)
{
	policy = (struct law_dctcp_policy){
		.alpha_bits = row->field[0],
		.alpha_on_init = row->field[1],
		.gain_shift = row->field[2],
		.counting = row->field[3],
		.alpha_per_ack = row->field[4],
		.gain_per_window = row->field[5],
		.progressive = row->field[6],
		.ssthresh_minus_one = row->field[7],
		.counter = row->field[8],
		.alpha_reset_after_idle = row->field[9],
		.alpha_update_on_timeout = row->field[10],
		.alpha_update_on_loss = row->field[11],
		.cut_on_loss_in_cwr = row->field[12],
	};
	growth = row->field[13];
	law_dctcp_init(&law, &policy, row->field[14]);
	win = (struct law_window){ .cwnd = 10, .ssthresh = 0x7fffffff, .clamp = row->field[15] };
}

static void on_ack(const struct operation *row)
{
	const struct law_dctcp_ack ack = {
		.snd_una = row->field[0],
		.snd_nxt = row->field[1],
		.delivered = row->field[2],
		.marked = row->field[3],
		.flight = row->field[4],
		.advanced = row->field[5],
		.duplicate = row->field[6],
		.ece = row->field[7],
	};

	law_dctcp_on_ack(&law, &policy, &ack);
}

SEC("syscall")
int carry_out(struct operation *row)
{
	switch (row->letter) {
	case 'c':
		configure(row);
		break;
	case 'k':
		on_ack(row);
		break;
	case 'e':
		law_dctcp_on_ecn(&law, &policy, &win);
		break;
	case 'm':
		law_dctcp_on_ece_in_cwr(&law, &policy, &win);
		break;
	case 'g':
		law_grow(&win, growth, row->field[0]);
		break;
	case 'l':
		law_dctcp_on_loss(&law, &policy, &win, row->field[0], row->field[1]);
		break;
	case 't':
		law_dctcp_on_timeout(&law, &policy, &win, row->field[0], row->field[1],
				     row->field[2]);
		break;
	case 'x':
		law_dctcp_on_exit(&law);
		break;
	case 'i':
		law_dctcp_after_idle(&law, &policy);
		break;
	case 'u':
		row->undo = law_dctcp_undo(&law, &win);
		break;
	case 'w':
		win.cwnd = row->field[0];
		break;
	default:
		return -1;
	}
	row->alpha = law.alpha;
	row->cwnd = win.cwnd;
	row->ssthresh = win.ssthresh;
	row->counter = win.cnt;
	return 0;
}
