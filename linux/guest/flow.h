/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the parts of the event loop share: the state of flows, their sockets, their applications. */
#ifndef SHOAL_FLOW_H
#define SHOAL_FLOW_H

#include "agenda.h"
#include "guest.h"

#include <sys/epoll.h>
#include <sys/types.h>

struct flow {
	struct flow_plan plan;
	/* Of the data, which the sender sends; whoever listens does so at `listener`. */
	int sender, listener, receiver;
	bool greedy, stopped, finished, is_dctcp, connected;
	bool closing;			/* once what waits is written */
	bool hung_up;			/* the server, which sends no more */
	uint64_t first_at, began_at, next_at;
	uint64_t begun, completed;	/* transfers, exchanges, frames or datagrams */
	uint64_t to_write, target, sent;
	uint64_t delivered;		/* bytes that the receiver has read */
	uint64_t asked;			/* bytes of a request that the server has read */
	uint64_t asking;		/* bytes of requests that the client has yet to write */
	struct gaps gaps;
	struct flow_record last;	/* what does not vanish with a socket */
};

extern struct flow flows[MAX_FLOWS];
extern uint32_t flow_count;
/* The start of the experiment. */
extern uint64_t origin;

/* flow.c */
void report(uint32_t number, enum record_kind kind, uint64_t now, uint64_t value);
void finish(uint32_t number, uint64_t now);
void write_more(struct flow *flow);
/* Nothing more is written. */
void stop(struct flow *flow);
void begin_transfer(uint32_t number, uint64_t now);

/* sockets.c: all of them in one epoll set. */
enum role { ROLE_SENDER, ROLE_LISTENER, ROLE_RECEIVER, ROLE_TIMER, ROLE_SINK, ROLE_RECORDS };
void sockets_open(void);
void watch(int fd, uint32_t events, enum role role, uint32_t flow);
/* The event that a sender has room comes once more: now if it has, else when it gets some. */
void watch_sender_again(const struct flow *flow);
int wait_for_events(struct epoll_event *events, int count);
void use_cc(int fd, const char *cc);
/* Listens at the end where the flow's connection is accepted, connects from the other. */
void listen_for(uint32_t number);
void connect_flow(uint32_t number);
/* The whole receive window from now on. */
void open_window(int fd);
/* Unsent bytes up to which a sender's socket takes more. */
int unsent_limit(const struct flow_plan *plan);
/* Takes the connection; gives its socket or -1. */
int accept_from(struct flow *flow);
/* Throws what has arrived away, in the kernel. Bytes, 0 at the end of the stream, -1 if there is nothing. */
ssize_t discard(int fd);

/* exchanges.c: requests and responses. The receiver's end is the client. */
void exchange_begin(uint32_t number, uint64_t now);
void exchange_stop(uint32_t number, uint64_t now);
void server_event(uint32_t number, uint32_t events, uint64_t now);
void client_event(uint32_t number, uint32_t events, uint64_t now);

/* barrier.c: rounds that wait for the slowest flow of their group. */
void barrier_join(uint32_t number);
void barrier_arrive(uint32_t number, uint64_t now);

/* datagrams.c: packets without a connection. */
void datagrams_open(uint32_t number, uint64_t now);
void datagram_send(uint32_t number, uint64_t now);
void datagrams_receive(uint32_t number, uint64_t now);

/* iperf3.c: flows that iperf3 drives. */
void iperf3_listen(uint32_t number);
void iperf3_start(uint32_t number);
/* Borrows the sockets of connections that are there now. */
void iperf3_look(void);

#endif
