/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The first and only process of the guest: builds the testbed, runs the flows, writes the results, switches off.
 *
 * One thread, one event loop, no program started: an exec costs milliseconds of the host, a busy wait would stop the
 * virtual clock for ever. All times are nanoseconds; CLOCK_MONOTONIC is the virtual clock.
 */
#ifndef SHOAL_GUEST_H
#define SHOAL_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_HOSTS 8192
#define MAX_FLOWS 50000
#define NEVER UINT64_MAX

/* Ends the guest with a message on the console: the host shows it. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, with the reason of errno. */
_Noreturn void fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void power_off(void);
uint64_t now_ns(void);
/* Makes /dev. */
void mount_devices(void);

/* net.c: hosts are network namespaces. */
void host_init(void); /* the namespace that is there already: "init" */
void host_add(const char *name);
void host_enter(int host);
int host_find(const char *name);
void sysctl_write(int host, const char *path, const char *value);
struct end {
	int host;
	char device[16];
	uint32_t address; /* network byte order, /30 */
};
void veth_add(const struct end *a, const struct end *b, uint32_t mtu);
/* How many packets TCP hands over as one. */
void gso_max_segs(int host, const char *device, uint32_t count);
/* One more address of a device. */
void address_add(int host, const char *device, uint32_t address);
/* What a route says about its connections; 0 leaves it to the kernel. */
struct metrics {
	uint32_t initial_window, quick_acks;
};
/* `length` 0 is the default route. */
void route_add(int host, uint32_t network, int length, uint32_t gateway, const struct metrics *metrics);
/* `options` is the content of TCA_OPTIONS. */
void qdisc_add(int host, const char *device, uint32_t parent, uint32_t handle, const char *kind, const void *options,
	       size_t size);
void module_load(const char *path, const char *parameters);
/* Packets that reach a device are captured as those of interface `interface`; the lines' module must capture. */
void capture_add(int host, const char *device, uint32_t interface);

/* flow.c: what the applications do. */
enum app { APP_BULK, APP_TRANSFERS, APP_RATE, APP_ON_OFF, APP_FRAMES, APP_REQUESTS, APP_DATAGRAMS, APP_IPERF3 };
/* Source and destination port of flow 0. */
#define FIRST_PORT 10000
struct flow_plan {
	int sender, receiver;
	uint32_t source, destination; /* network byte order */
	/*
	 * Congestion controls: of the sender, of whoever connects while it does, of the receiver. Who listens has its own from
	 * the beginning: the receiver, or the sender of responses.
	 */
	char cc[16], connect_cc[16], listen_cc[16];
	uint64_t start, stop; /* after the start of the experiment; stop may be NEVER */
	enum app app;
	/*
	 * Transfers: bytes, rounds, interval, barrier, news. Rate: bytes of a write, interval. On-off: on (interval), off.
	 * Frames: bytes, interval. Requests: request, bytes of a response, rounds, time to think (interval), barrier.
	 * Datagrams: bytes of an IP packet, interval, ECN field. Iperf3: its seconds (interval).
	 */
	uint64_t bytes, rounds, interval, off, request;
	uint64_t barrier; /* number of the group that waits for its slowest flow, or NEVER */
	uint64_t news;	  /* how long the sender takes to learn that a round is over */
	uint32_t ecn;
	uint32_t read_chunk; /* the receiver is woken for this many bytes */
};
void flow_add(const struct flow_plan *plan);
/* Random times, in the order of their use; without any a time is constant. */
struct gaps {
	uint64_t *list;
	size_t count, room, next;
};
void gaps_add(struct gaps *gaps, uint64_t gap);
uint64_t gaps_next(struct gaps *gaps, uint64_t constant);
void flow_gap(uint64_t number, uint64_t gap);
/* barrier.c */
void barrier_gap(uint64_t number, uint64_t gap);
/* Runs everything from now + what is left of the second to that + duration. */
void flows_run(uint64_t duration, uint64_t sample_every, uint64_t window_start);

/* output.c: what the host reads. */
enum record_kind {
	REC_SAMPLE = 1,
	REC_COMPLETED = 2,	/* received: nanoseconds of the transfer */
	REC_FINISHED = 3,
	REC_REFUSED = 4,
	REC_END = 5,
	REC_ASKED = 6,
	REC_VALUED = REC_ASKED, /* from here on `received` is what is said here */
	REC_ANSWERED = 7,
	REC_ROUND = 8,		/* the last flow of a barrier has arrived; when the next round begins, or NEVER */
	REC_WRITTEN = 9,	/* a frame */
	REC_DELIVERED = 10,	/* frames; bytes of the stream that the receiver has read */
	REC_SENT = 11,		/* a datagram */
	REC_RECEIVED = 12,	/* a datagram: its number; transfers_begun: when it was sent; ecn: ECN_CE */
};
/* flow_record.ecn of a datagram that was marked. */
#define ECN_CE 4
/* Fixed layout, little endian as the guest: see crates/lab/linux/src/record.rs. */
struct flow_record {
	uint64_t time_ns; /* after the start of the experiment */
	uint32_t flow;
	uint8_t kind;
	uint8_t ca_state;
	uint8_t has_alpha;
	uint8_t ecn; /* 1: negotiated, 2: an ECT packet was seen */
	uint32_t cwnd, ssthresh, srtt_us, alpha;
	uint32_t retransmissions, timeouts;
	uint32_t data_packets, acks; /* that arrived at the receiver; without data, that it sent */
	uint64_t received; /* in order, bytes; or what the kind says */
	uint64_t transfers_begun;
};
/* Gives the file that becomes readable when what the lines have recorded should be moved. */
int output_open(uint64_t origin);
void output_record(const struct flow_record *record);
/* Moves what the lines recorded, and what was captured, from the kernel to the files. */
void output_lines(uint64_t origin);
void output_close(void);

#endif
