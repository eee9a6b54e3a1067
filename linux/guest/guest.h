/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The first and only process of the guest: it builds the testbed, runs the flows, writes the results, and powers off.
 *
 * It has one thread with one event loop and starts no program but iperf3 and tc: an exec costs milliseconds of the
 * host, and a busy wait would stop the virtual clock for ever. All times are nanoseconds; CLOCK_MONOTONIC is the
 * virtual clock.
 */
#ifndef SHOAL_GUEST_H
#define SHOAL_GUEST_H

#include "clock.h"
#include "fail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_HOSTS 8192
#define MAX_FLOWS 50000
#define NEVER UINT64_MAX

/* net.c: hosts are network namespaces. */
void host_init(void); /* the initial namespace: "init" */
void host_add(const char *name);
void host_enter(int host);
int host_find(const char *name);
/* TCP paces the sockets that this host opens from now on by itself. */
void host_pace(int host);
bool host_paces(int host);
void link_up(int host, const char *device);
/* Adds a further address to a device. */
void address_add(int host, const char *device, uint32_t address);
/* Route metrics for connections; 0 leaves a metric to the kernel. */
struct metrics {
	uint32_t initial_window, quick_acks;
};
/* Adds a route; a `length` of 0 is the default route. */
void route_add(int host, uint32_t network, int length, uint32_t gateway, const struct metrics *metrics);
/* Adds a queue discipline; `options` is the content of TCA_OPTIONS. */
void qdisc_add(int host, const char *device, uint32_t parent, uint32_t handle, const char *kind, const void *options,
	       size_t size);
/* Removes every discipline that was added at the root of a device, with all below it. */
void qdiscs_remove(void);
/*
 * Captures packets that arrive at a device as those of interface `interface`; the module of the
 * lines must capture too.
 */
void capture_add(int host, const char *device, uint32_t interface);
void module_load(const char *path, const char *parameters);

/* links.c */
struct end {
	int host;
	char device[16];
	uint32_t address; /* network byte order, /30 */
};
void veth_add(const struct end *a, const struct end *b, uint32_t mtu);
/* carriers.c: devices of which the kernel must have seen the carrier. */
void carrier_note(int host, unsigned index);
/* Waits until they can send. */
void carriers_wait(void);

/* nic.c: settings of hosts, which are read back. */
/* Sets a kernel parameter; `path` is below /proc/sys. */
void sysctl_set(int host, const char *path, const char *value);
/* The same, without reading it back. */
void sysctl_write(int host, const char *path, const char *value);
/* The same, but false with errno if that is not possible. */
bool sysctl_try(int host, const char *path, const char *value);
void sysctl_read(int host, const char *path, char *into, size_t room);
void offloads_off(int host, const char *device);
/*
 * Sets mtu, gso_max_size, gso_max_segs, gro_max_size (of IPv4: gso_ipv4_max_size, gro_ipv4_max_size), or gro, gso or
 * tso (0 or 1) of a device.
 */
void nic_set(int host, const char *device, const char *name, uint32_t value);
/* The sizes of segments in the words of `ip -d link`, and the offloads in those of `ethtool -k`. */
void nic_sizes(int host, const char *device, char *into, size_t room);
void nic_offloads(int host, const char *device, char *into, size_t room);

/* shown.c: what programs would show of a host. */
void show(int host, const char *device);
void show_sysctl(int host, const char *path);
/* At the end of the experiment. */
void show_end(void);

/* paths.c: links with impairments, by their numbers in the experiment. */
void path_add(int host, const char *device, uint32_t link);
/* Records what the queue discipline of each has counted; `now` is after the start. */
void paths_report(uint64_t now);

/* cards.c: the interrupt moderation in front of hosts, by the number of the host in the experiment. */
void card_add(int router, const char *device, uint32_t handle, uint32_t node);
/* Records what each has counted; `now` is after the start. */
void cards_report(uint64_t now);

/* tc.c: lines for the program `tc`. */
void tc_run(int host, const char *const *arguments);
/* Appends kind and options of a queue discipline, as the kernel has them, to the file /queues. */
void queue_show(int host, const char *device, uint32_t parent, uint32_t handle);

/* lines.c: changes of rates and delays during the run. */
/* Appends a change: at `at` after the start, a rate in bit/s or a delay in ns. */
void line_change(uint64_t at, uint64_t value);
/* The experiment starts at `origin`. */
void lines_start(uint64_t origin);

/* flow.c: the applications of flows. */
enum app { APP_BULK, APP_TRANSFERS, APP_RATE, APP_ON_OFF, APP_FRAMES, APP_REQUESTS, APP_DATAGRAMS, APP_IPERF3 };
/* Source and destination port of flow 0. */
#define FIRST_PORT 10000
struct flow_plan {
	int sender, receiver;
	uint32_t source, destination; /* network byte order */
	/*
	 * Congestion controllers of the sender, of the connecting socket during the handshake, and of the receiver. The
	 * listening end (the receiver, or the sender of responses) has its own from the beginning.
	 */
	char cc[16], connect_cc[16], listen_cc[16];
	/* The controller of the sender from `replaced` on, after the start of the experiment; NEVER if there is none. */
	char next_cc[16];
	uint64_t replaced;
	uint64_t start, stop; /* after the start of the experiment; stop may be NEVER */
	enum app app;
	/*
	 * Parameters of each kind of application. Transfers: bytes, rounds, interval, barrier, news. Rate: bytes of a write,
	 * interval. On-off: on (interval), off. Frames: bytes of the smallest and of the largest, time in which the rate of
	 * the sender carries one (budget), interval. Requests: request, bytes of a response, rounds, think time (interval),
	 * barrier. Datagrams: bytes of an IP packet, interval, ECN field. Iperf3: its duration (interval).
	 */
	uint64_t bytes, most, budget, rounds, interval, off, request;
	uint64_t barrier; /* number of the group whose rounds wait for the slowest flow, or NEVER */
	uint64_t news;	  /* how long the sender takes to learn that a round is over */
	uint32_t ecn;
	uint32_t code_point; /* DiffServ code point of all packets of the connection */
	uint32_t read_chunk; /* bytes that wake the receiver of a long flow, the first 256 KiB apart */
	uint32_t unsent_limit; /* bytes of unsent data up to which the sender's socket accepts more */
	bool in_pieces; /* no write meets that limit, so that only the last one ends with PSH */
};
void flow_add(const struct flow_plan *plan);
/* Random times in the order of their use; without any, a time is constant. */
struct gaps {
	uint64_t *list;
	size_t count, room, next;
};
void gaps_add(struct gaps *gaps, uint64_t gap);
uint64_t gaps_next(struct gaps *gaps, uint64_t constant);
void flow_gap(uint64_t number, uint64_t gap);
void flow_code_point(uint64_t number, uint32_t code_point);
/* Another congestion controller takes over at `at` after the start of the experiment. */
void flow_replace(uint64_t number, uint64_t at, const char *cc);
/* barrier.c */
void barrier_gap(uint64_t number, uint64_t gap);
/* loop.c */
/* Runs the experiment: it starts at the next whole second and lasts for `duration`. */
void flows_run(uint64_t duration, uint64_t sample_every, uint64_t window_start);

/* output.c: the records that the host reads. */
enum record_kind {
	REC_SAMPLE = 1,
	REC_COMPLETED = 2,	/* received: duration of the transfer in ns */
	REC_FINISHED = 3,
	REC_REFUSED = 4,
	REC_END = 5,
	REC_ASKED = 6,
	REC_VALUED = REC_ASKED, /* in the kinds from here on, `received` has the meaning stated here */
	REC_ANSWERED = 7,
	REC_ROUND = 8,		/* the last flow of a barrier has arrived; received: start of the next round, or NEVER */
	REC_WRITTEN = 9,	/* a frame was written; received: bytes of the stream that the application has written */
	REC_DELIVERED = 10,	/* frames; received: bytes of the stream that the receiver has read */
	REC_SENT = 11,		/* a datagram was sent */
	REC_PATH = 13,		/* flow: number of the link; has_alpha: whether its netem counts; see paths.c */
	REC_CARD = 14,		/* flow: number of the host; see cards.c */
	REC_RECEIVED = 12,	/* a datagram arrived; received: its number; transfers_begun: its time of sending; ecn: ECN_CE */
};
/* Value of flow_record.ecn for a datagram that was marked. */
#define ECN_CE 4
/* Fixed layout, little endian as in the guest: see crates/lab/linux/src/records.rs. */
struct flow_record {
	uint64_t time_ns; /* after the start of the experiment */
	uint32_t flow;
	uint8_t kind;
	uint8_t ca_state;
	uint8_t has_alpha;
	uint8_t ecn; /* 1: negotiated, 2: an ECT packet was seen */
	uint32_t cwnd, ssthresh, srtt_us, alpha;
	uint32_t retransmissions, timeouts;
	uint32_t data_packets, acks; /* packets with data that arrived at the receiver; pure ACKs that it sent */
	uint64_t received; /* bytes in order; or as the kind states */
	uint64_t transfers_begun;
};
/* Returns a descriptor that becomes readable when the records of the lines should be moved. */
int output_open(uint64_t origin);
void output_record(const struct flow_record *record);
/* Moves the records of the lines, and captured packets, from the kernel to the files. */
void output_lines(uint64_t origin);
void output_close(void);

#endif
