/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of struct tcp_congestion_ops as BPF programs: those of linux/modules/dctcp_sock.h,
 * traced if the loader wants it. A program that includes this defines dctcp_parameters, and says by
 * DCTCP_DESCRIBE which of them there are.
 */
#ifndef _SHOAL_BPF_DCTCP_PROGRAM_H
#define _SHOAL_BPF_DCTCP_PROGRAM_H

#include "../modules/dctcp_sock.h"
#include "parameter.h"
#include "trace.h"

char _license[] SEC("license") = "GPL";

/* Least, most and step of each kind of the lists in dctcp_ikr.h and dctcp_onesided.h. */
#define DCTCP_KIND_BITS		10, 20, 10
#define DCTCP_KIND_ALPHA	0, LAW_ALPHA_MAX, 1
#define DCTCP_KIND_SHIFT	0, LAW_GAIN_SHIFT_MAX, 1
#define DCTCP_KIND_CHOICE	0, 1, 1
#define DCTCP_KIND_SWITCH	0, 1, 1
#define DCTCP_DESCRIBE(name, place, kind, text) \
	{ #name, __builtin_offsetof(struct dctcp_parameters, place), \
	  sizeof(((struct dctcp_parameters *)0)->place), DCTCP_KIND_##kind, text },

/* Set by the loader before the program is loaded; without it the verifier drops what traces. */
const volatile bool dctcp_traces;
/* Records for which the buffer had no room. */
u64 dctcp_trace_lost SEC(".data.lost");
/* Nobody reads it; the compiler describes the record to the loader because of it. */
struct dctcp_call_record *dctcp_record;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} dctcp_trace SEC(".maps");

/* Carries out a call, between two halves of its record if it is traced; result is what it returns. */
#define DCTCP_TRACED(sk, which, argument, rs, result, action) do { \
	struct dctcp_call_record *record = NULL; \
\
	if (dctcp_traces) { \
		record = bpf_ringbuf_reserve(&dctcp_trace, sizeof(*record), 0); \
		if (!record) \
			__sync_fetch_and_add(&dctcp_trace_lost, 1); \
	} \
	if (record) { \
		record->time_ns = bpf_ktime_get_ns(); \
		dctcp_trace_before(record, sk, which, argument); \
		if (rs) { \
			record->acked_sacked = ((const struct rate_sample *)(rs))->acked_sacked; \
			record->losses = ((const struct rate_sample *)(rs))->losses; \
		} \
	} \
	action; \
	if (record) { \
		dctcp_trace_after(record, sk, result); \
		bpf_ringbuf_submit(record, 0); \
	} \
} while (0)

/* Members by the names of the kernel; it finds them by name. Those of newer kernels are optional. */
struct tcp_congestion_ops {
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	/* Since Linux 7.0 in place of the event CA_EVENT_TX_START. */
	void (*cwnd_event_tx_start)(struct sock *sk);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
	u32 flags;
};

#define TCP_CONG_NEEDS_ECN	2

SEC("struct_ops")
void BPF_PROG(dctcp_bpf_init, struct sock *sk)
{
	DCTCP_TRACED(sk, DCTCP_INIT, 0, NULL, 0, dctcp_sock_init(sk, NULL));
}

SEC("struct_ops")
void BPF_PROG(dctcp_bpf_in_ack_event, struct sock *sk, u32 flags)
{
	DCTCP_TRACED(sk, DCTCP_ACK_EVENT, flags, NULL, 0, dctcp_in_ack_event(sk, flags));
}

SEC("struct_ops")
void BPF_PROG(dctcp_bpf_cong_control, struct sock *sk, u32 ack, int flag,
	      const struct rate_sample *rs)
{
	DCTCP_TRACED(sk, DCTCP_CONTROL, 0, rs, 0, dctcp_cong_control(sk, ack, flag, rs));
}

SEC("struct_ops")
void BPF_PROG(dctcp_bpf_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	DCTCP_TRACED(sk, DCTCP_EVENT, event, NULL, 0, dctcp_cwnd_event(sk, event));
}

SEC("struct_ops")
void BPF_PROG(dctcp_bpf_tx_start, struct sock *sk)
{
	DCTCP_TRACED(sk, DCTCP_TX_START, 0, NULL, 0, dctcp_tx_start(sk));
}

SEC("struct_ops")
u32 BPF_PROG(dctcp_bpf_ssthresh, struct sock *sk)
{
	u32 threshold;

	DCTCP_TRACED(sk, DCTCP_SSTHRESH, 0, NULL, threshold, threshold = dctcp_ssthresh(sk));
	return threshold;
}

SEC("struct_ops")
u32 BPF_PROG(dctcp_bpf_undo_cwnd, struct sock *sk)
{
	u32 cwnd;

	DCTCP_TRACED(sk, DCTCP_UNDO, 0, NULL, cwnd, cwnd = dctcp_undo_cwnd(sk));
	return cwnd;
}

SEC("struct_ops")
void BPF_PROG(dctcp_bpf_set_state, struct sock *sk, u8 new_state)
{
	DCTCP_TRACED(sk, DCTCP_STATE, new_state, NULL, 0, dctcp_set_state(sk, new_state));
}

#define DCTCP_BPF_OPS \
	.init = (void *)dctcp_bpf_init, \
	.in_ack_event = (void *)dctcp_bpf_in_ack_event, \
	.cong_control = (void *)dctcp_bpf_cong_control, \
	.cwnd_event = (void *)dctcp_bpf_cwnd_event, \
	.cwnd_event_tx_start = (void *)dctcp_bpf_tx_start, \
	.ssthresh = (void *)dctcp_bpf_ssthresh, \
	.undo_cwnd = (void *)dctcp_bpf_undo_cwnd, \
	.set_state = (void *)dctcp_bpf_set_state

#endif
