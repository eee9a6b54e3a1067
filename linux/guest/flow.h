/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* State that the parts of the event loop share: flows, their sockets, their applications. */
#ifndef SHOAL_FLOW_H
#define SHOAL_FLOW_H

#include "agenda.h"
#include "guest.h"

#include <sys/epoll.h>
#include <sys/types.h>

struct flow {
	struct flow_plan plan;
	/*
	 * Sockets at both ends of the data; `listener` is at the end that accepts the connection.
	 */
	int sender, listener, receiver;
	bool greedy, stopped, finished, has_alpha, connected;
	bool closing;			/* close once all pending data are written */
	bool hung_up;			/* the server has closed its direction */
	uint64_t first_at, began_at, next_at;
	uint64_t begun, completed;	/* counts of transfers, exchanges, frames or datagrams */
	uint64_t to_write, target, sent;
	uint64_t delivered;		/* bytes that the receiver has read */
	uint64_t asked;			/* bytes of a request that the server has read */
	uint64_t asking;		/* bytes of requests that the client has yet to write */
	struct gaps gaps;
	struct flow_record last;	/* values that must survive the socket */
};

extern struct flow flows[MAX_FLOWS];
extern uint32_t flow_count;
/* Time at which the experiment starts. */
extern uint64_t origin;

/* flow.c */
void read_facts(struct flow *flow);
void report(uint32_t number, enum record_kind kind, uint64_t now, uint64_t value);
void finish(uint32_t number, uint64_t now);
/* Bytes of the next frame of a flow. */
uint64_t frame_bytes(const struct flow *flow);

/* stream.c */
void write_more(struct flow *flow);
/* Ends the writing of a flow. */
void stop(struct flow *flow);

/* sockets.c: the sockets of all hosts, in one epoll set. */
enum role { ROLE_SENDER, ROLE_LISTENER, ROLE_RECEIVER, ROLE_TIMER, ROLE_SINK, ROLE_RECORDS };
void sockets_open(void);
void watch(int fd, uint32_t events, enum role role, uint32_t flow);
/*
 * Requests one more event that a sender has room: at once if it has room, else as soon as it has.
 */
void watch_sender_again(const struct flow *flow);
int wait_for_events(struct epoll_event *events, int count);
void use_cc(int fd, const char *cc);
/* Listens at the end that accepts the flow's connection, or connects from the other end. */
void listen_for(uint32_t number);
void connect_flow(uint32_t number);
/* Opens the whole receive window at once. */
void open_window(int fd);
/* Accepts the connection; returns its socket or -1. */
int accept_from(struct flow *flow);
/*
 * Discards received data in the kernel. Returns the bytes, 0 at the end of the stream, or -1 if
 * there are none.
 */
ssize_t discard(int fd);
/* The receiver is woken once for each chunk from now on. */
void read_in_chunks(const struct flow *flow);

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
/* Takes descriptors of the sockets of all connections that exist now. */
void iperf3_look(void);

#endif
