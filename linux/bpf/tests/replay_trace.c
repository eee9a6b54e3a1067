// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives the calls of a trace to the same code in user space, one after the other: what the loaded
 * BPF program left in each socket (windows, thresholds, counters, alpha, pacing rate, the receiver's
 * flags) must be what linux/modules/dctcp_sock.h and the law, compiled by the C compiler, leave
 * there. The state of a congestion control is never read from the trace, so that it has to agree
 * over the whole life of a connection.
 */

#define _GNU_SOURCE
#include <stddef.h>

#include "noted.h"
#include "../../modules/dctcp_ikr.h"
#include "../../modules/dctcp_onesided.h"
#include "../../modules/tests/replay.h"
#include "../trace.h"

#define MAX_FLOWS	256
/* https://elixir.bootlin.com/linux/v6.12/source/include/net/tcp_states.h */
#define TCP_ESTABLISHED	1

struct dctcp_parameters dctcp_parameters;

struct flow {
	u32 local_port;
	u32 remote_port;
	struct tcp_sock socket;
	u64 calls;
};

static struct flow flows[MAX_FLOWS];
static struct flow *now;
static struct net network;
static u32 initial_window;
static bool ran_reno;
/* Calls in which the receiver asked the stack for an ACK of what came before. */
static u64 acks_sent;
/* Calls before which the stack had changed the window that the call before had left. */
static u64 changed_by_stack;

static u32 shoal_route_window(struct sock *sk)
{
	(void)sk;
	return initial_window;
}

/* As in the stack, no ACK is pending after one of all that has arrived. */
static void shoal_send_ack(struct sock *sk, u32 rcv_nxt)
{
	if (rcv_nxt == tcp_sk(sk)->rcv_nxt)
		inet_csk(sk)->icsk_ack.pending = 0;
	acks_sent++;
}

static void shoal_run_reno(struct sock *sk, struct tcp_congestion_ops *reno)
{
	(void)sk;
	(void)reno;
	ran_reno = true;
}

/* Operations of the law go here, for the model. */
static FILE *operations;

static void note(const char *operation, const struct law_window *before,
		 const struct law_window *after, const char *arguments)
{
	const struct dctcp_sock *ca = inet_csk_ca(&now->socket);
	const struct tcp_sock *tp = &now->socket;

	if (operations)
		fprintf(operations, "%td\t%s%s\t%u\t%u\t%u\t%u\t%u\t%u\n", now - flows, operation,
			arguments, before ? before->cwnd : tp->snd_cwnd,
			before ? before->ssthresh : tp->snd_ssthresh, ca->law.alpha,
			after ? after->cwnd : tp->snd_cwnd,
			after ? after->ssthresh : tp->snd_ssthresh, after ? after->cnt : ca->cnt);
}

static u32 growth_counts(void)
{
	return dctcp_parameters.host.ack_counting;
}

static u32 upper_bound(void)
{
	return now->socket.snd_cwnd_clamp;
}

/* Columns by their names in the first line. */
#define MOST_COLUMNS	64
static char names[MOST_COLUMNS][32];
static int columns;

static u64 at(u64 *values, const char *name)
{
	for (int i = 0; i < columns; i++)
		if (!strcmp(names[i], name))
			return values[i];
	fprintf(stderr, "the trace has no column %s\n", name);
	exit(1);
}

static struct flow *flow_of(u32 local_port, u32 remote_port)
{
	for (int i = 0; i < MAX_FLOWS; i++) {
		struct flow *flow = &flows[i];

		if (!flow->local_port) {
			flow->local_port = local_port;
			flow->remote_port = remote_port;
		}
		if (flow->local_port == local_port && flow->remote_port == remote_port)
			return flow;
	}
	fprintf(stderr, "more than %d connections\n", MAX_FLOWS);
	exit(1);
}

/* What the call reads, apart from the state that it has left in the call before. */
static void read_socket(u64 *row)
{
	struct tcp_sock *tp = &now->socket;
	struct inet_connection_sock *icsk = inet_csk(tp);
	struct sock *sk = (struct sock *)tp;

	if (now->calls && tp->snd_cwnd != at(row, "cwnd"))
		changed_by_stack++;
	network.ipv4.sysctl_tcp_slow_start_after_idle = at(row, "restarts_after_idle");
	network.ipv4.sysctl_tcp_pacing_ss_ratio = at(row, "pacing_ss_percent");
	network.ipv4.sysctl_tcp_pacing_ca_ratio = at(row, "pacing_ca_percent");
	initial_window = at(row, "initial_window");
	sk->__sk_common.skc_net.net = &network;
	sk->__sk_common.skc_state = at(row, "socket_state");
	sk->sk_max_pacing_rate = at(row, "max_pacing_rate");
	icsk->icsk_ca_state = at(row, "ca_state");
	icsk->icsk_rto = at(row, "rto_jiffies");
	icsk->icsk_ack.pending = at(row, "ack_pending");
	tp->snd_una = at(row, "snd_una");
	tp->snd_nxt = at(row, "snd_nxt");
	tp->snd_cwnd = at(row, "cwnd");
	tp->snd_cwnd_clamp = at(row, "clamp");
	tp->snd_ssthresh = at(row, "ssthresh");
	tp->mss_cache = at(row, "mss");
	tp->srtt_us = at(row, "srtt_us8");
	tp->packets_out = at(row, "packets_out");
	tp->max_packets_out = at(row, "max_packets_out");
	tp->sacked_out = at(row, "sacked_out");
	tp->lost_out = at(row, "lost_out");
	tp->retrans_out = at(row, "retrans_out");
	tp->prr_out = at(row, "prr_out");
	tp->delivered = at(row, "delivered");
	tp->delivered_ce = at(row, "delivered_ce");
	tp->rcv_nxt = at(row, "rcv_nxt");
	tp->undo_marker = at(row, "undo_marker");
	tp->ecn_flags = at(row, "ecn_flags");
	tp->is_cwnd_limited = at(row, "cwnd_limited");
	tcp_jiffies32 = at(row, "idle_jiffies");
	tp->lsndtime = 0;
}

static u32 carry_out(u64 *row)
{
	struct sock *sk = (struct sock *)&now->socket;
	u32 argument = at(row, "argument");
	const struct rate_sample rs = {
		.losses = (int)at(row, "losses"),
		.acked_sacked = at(row, "acked_sacked"),
	};

	switch (at(row, "call")) {
	case DCTCP_INIT:
		dctcp_sock_init(sk, NULL);
		return 0;
	case DCTCP_ACK_EVENT:
		dctcp_in_ack_event(sk, argument);
		return 0;
	case DCTCP_CONTROL:
		dctcp_cong_control(sk, 0, 0, &rs);
		return 0;
	case DCTCP_EVENT:
		dctcp_cwnd_event(sk, argument);
		return 0;
	case DCTCP_TX_START:
		dctcp_tx_start(sk);
		return 0;
	case DCTCP_SSTHRESH:
		return dctcp_ssthresh(sk);
	case DCTCP_UNDO:
		return dctcp_undo_cwnd(sk);
	case DCTCP_STATE:
		dctcp_set_state(sk, argument);
		return 0;
	default:
		fprintf(stderr, "the trace has an unknown call\n");
		exit(1);
	}
}

static void same(const struct row *row, const char *what, u64 kernel, u64 here)
{
	if (kernel != here)
		fail(row, "%s: the program in the kernel left %" PRIu64 ", the module's code %" PRIu64,
		     what, kernel, here);
}

static void compare(const struct row *line, u64 *row, u32 returned)
{
	const struct tcp_sock *tp = &now->socket;
	const struct dctcp_sock *ca = inet_csk_ca(tp);

	same(line, "cwnd", at(row, "cwnd_after"), tp->snd_cwnd);
	same(line, "ssthresh", at(row, "ssthresh_after"), tp->snd_ssthresh);
	same(line, "ecn_flags", at(row, "ecn_flags_after"), tp->ecn_flags);
	same(line, "pending ACK", at(row, "ack_pending_after"), inet_csk(tp)->icsk_ack.pending);
	same(line, "alpha", at(row, "alpha_after"), ca->law.alpha);
	same(line, "returned", at(row, "returned"), returned);
	/* The stack clears its counter and sets the pacing rate by itself, too. */
	if (at(row, "call") == DCTCP_CONTROL) {
		same(line, "counter", at(row, "counter_after"), tp->snd_cwnd_cnt);
		if (tp->srtt_us)
			same(line, "pacing rate", at(row, "pacing_rate_after"),
			     ((const struct sock *)tp)->sk_pacing_rate);
	}
}

static void step(const struct row *line)
{
	u64 row[MOST_COLUMNS];
	u32 returned;

	if (!columns) {
		columns = line->fields;
		for (int i = 0; i < columns; i++)
			snprintf(names[i], sizeof(names[i]), "%s", line->field[i]);
		return;
	}
	for (int i = 0; i < columns; i++)
		row[i] = number_at(line, i);
	now = flow_of(at(row, "local_port"), at(row, "remote_port"));
	if (at(row, "call") == DCTCP_INIT) {
		/* A port may be used again; the stack clears the state of a congestion control. */
		memset(&now->socket, 0, sizeof(now->socket));
		now->calls = 0;
	} else if (!now->calls && at(row, "socket_state") == TCP_ESTABLISHED) {
		/* In the handshake calls come before that of DCTCP_INIT. */
		fail(line, "a connection that began before its trace");
	}
	read_socket(row);
	returned = carry_out(row);
	if (ran_reno)
		fail(line, "a connection without ECN");
	compare(line, row, returned);
	now->calls++;
}

static const struct parameter {
	const char *name;
	size_t at;
	size_t bytes;
} ikr[] = {
#define DESCRIBE(name, place, kind, text) \
	{ #name, offsetof(struct dctcp_parameters, place), \
	  sizeof(((struct dctcp_parameters *)0)->place) },
	DCTCP_IKR_PARAMETERS(DESCRIBE)
	{ 0 },
}, onesided[] = {
	DCTCP_ONESIDED_PARAMETERS(DESCRIBE)
	{ 0 },
};

static void set(const struct parameter *parameters, char *text)
{
	const char *name = strsep(&text, "=");

	for (const struct parameter *p = parameters; p->name && text; p++) {
		u32 value = strtoul(text, NULL, 10);

		if (!strcmp(p->name, name)) {
			memcpy((char *)&dctcp_parameters + p->at, &value, p->bytes);
			return;
		}
	}
	fprintf(stderr, "no parameter: %s\n", name);
	exit(2);
}

/* replay_trace TRACE dctcp_ikr|dctcp_onesided OPERATIONS [PARAMETER=VALUE ...] */
int main(int argc, char **argv)
{
	static const struct dctcp_parameters of_ikr = {
		.policy = DCTCP_IKR_POLICY, .host = DCTCP_IKR_HOST,
	}, of_onesided = {
		.policy = DCTCP_ONESIDED_POLICY, .host = DCTCP_ONESIDED_HOST,
	};
	bool is_ikr = argc > 2 && !strcmp(argv[2], "dctcp_ikr");
	struct row row = { 0 };
	u64 calls = 0, connections = 0;
	FILE *in = argc > 3 ? fopen(argv[1], "r") : NULL;

	if (!in) {
		perror(argc > 3 ? argv[1] : "usage: replay_trace TRACE PROGRAM OPERATIONS");
		return 2;
	}
	operations = fopen(argv[3], "w");
	if (!operations) {
		perror(argv[3]);
		return 2;
	}
	dctcp_parameters = is_ikr ? of_ikr : of_onesided;
	for (int i = 4; i < argc; i++)
		set(is_ikr ? ikr : onesided, argv[i]);
	row.file = argv[1];
	while (next_row(in, &row)) {
		step(&row);
		calls++;
	}
	fclose(in);
	if (fclose(operations)) {
		perror(argv[3]);
		return 1;
	}
	for (int i = 0; i < MAX_FLOWS; i++)
		connections += flows[i].calls > 0;
	if (calls < 2 || !connections) {
		fprintf(stderr, "%s: no calls\n", argv[1]);
		return 1;
	}
	printf("%s: %" PRIu64 " calls of %" PRIu64 " connections agree; the stack had changed the window "
	       "before %" PRIu64 ", and sent an ACK at once in %" PRIu64 "\n",
	       argv[2], calls - 1, connections, changed_by_stack, acks_sent);
	return 0;
}
