/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Senders and receivers. The sockets of all hosts live in this process and one epoll set; nobody polls.
 *
 * A sender keeps little unsent data in its socket (TCP_NOTSENT_LOWAT), so that the window alone decides what is sent and
 * memory stays bounded. A receiver throws data away in the kernel (MSG_TRUNC) and is woken once a chunk (SO_RCVLOWAT): the
 * ACKs do not depend on it (`__tcp_ack_snd_check` looks at rcv_lowat), the cost does.
 */
#define _GNU_SOURCE
#include "guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <linux/sockios.h>
#include <unistd.h>

#define FIRST_PORT 10000
#define UNSENT_BULK (128 << 10)
/* What is already in the socket is sent even if the application stops. */
#define UNSENT_EXACT 4096
#define WRITE_SIZE (1 << 18)
/* SOF_TIMESTAMPING_OPT_ID_TCP of Linux 6.2. */
#define OPT_ID_TCP (1 << 16)

/* Of include/uapi/linux/tcp.h up to what is read here; the header of the build machine may be older. */
struct tcp_facts {
	uint8_t state, ca_state, retransmits, probes, backoff, options, scales, flags;
	uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
	uint32_t last[4];
	uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering, rcv_rtt, rcv_space;
	uint32_t total_retrans;
	uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
	uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
	uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
	uint32_t delivered, delivered_ce;
	uint64_t bytes_sent, bytes_retrans;
	uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd, rcv_wnd, rehash;
	uint16_t total_rto, total_rto_recoveries;
};
_Static_assert(offsetof(struct tcp_facts, total_rto) == 240, "layout of struct tcp_info");

/* Of include/uapi/linux/inet_diag.h. */
struct dctcp_facts {
	uint16_t enabled, ce_state;
	uint32_t alpha, ab_ecn, ab_tot;
};

/* What happens at a time. */
enum task { TASK_START, TASK_STOP, TASK_WRITE, TASK_SAMPLE, TASK_END };
struct entry {
	uint64_t at;
	uint64_t order; /* equal times: first in, first out */
	enum task task;
	uint32_t flow;
};

struct flow {
	struct flow_plan plan;
	int sender, listener, receiver;
	bool greedy, stopped, finished, is_dctcp, connected;
	uint64_t first_at, began_at, next_at;
	uint64_t begun, completed;	/* transfers */
	uint64_t to_write, target, sent;
	struct flow_record last;	/* what does not vanish with a socket */
};

static struct flow flows[MAX_FLOWS];
static uint32_t flow_count;
static struct entry heap[4 * MAX_FLOWS];
static size_t heap_size;
static uint64_t order, origin;
static int epoll, timer;
static char zeros[WRITE_SIZE];

void flow_add(const struct flow_plan *plan)
{
	if (flow_count == MAX_FLOWS)
		fail("more than %d flows", MAX_FLOWS);
	flows[flow_count].plan = *plan;
	flows[flow_count].sender = flows[flow_count].listener = flows[flow_count].receiver = -1;
	flows[flow_count].is_dctcp = strncmp(plan->cc, "dctcp", 5) == 0;
	flow_count++;
}

/* The agenda. */

static bool before(const struct entry *a, const struct entry *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void at(uint64_t when, enum task task, uint32_t flow)
{
	size_t i = heap_size++;
	struct entry entry = { .at = when, .order = order++, .task = task, .flow = flow };

	if (heap_size > sizeof(heap) / sizeof(*heap))
		fail("the agenda is full");
	for (; i && before(&entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = entry;
}

static struct entry next(void)
{
	struct entry first = heap[0], last = heap[--heap_size];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < heap_size) {
		if (child + 1 < heap_size && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

/* Sockets. */

static void option(int fd, int level, int name, int value, const char *what)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		fail_errno("cannot set %s", what);
}

static void use_cc(int fd, const char *cc)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, (socklen_t)strlen(cc)))
		fail_errno("the kernel has no congestion control `%s`", cc);
}

static int tcp_socket(int host, const char *cc)
{
	int fd;

	host_enter(host);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fail_errno("cannot make a socket");
	use_cc(fd, cc);
	return fd;
}

enum role { ROLE_SENDER, ROLE_LISTENER, ROLE_RECEIVER, ROLE_TIMER };

static void watch(int fd, uint32_t events, enum role role, uint32_t flow)
{
	struct epoll_event event = { .events = events, .data.u64 = (uint64_t)role << 32 | flow };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		fail_errno("cannot watch a socket");
}

static void listen_for(uint32_t number)
{
	struct flow *flow = &flows[number];
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)(FIRST_PORT + number)),
		.sin_addr.s_addr = flow->plan.destination,
	};

	flow->listener = tcp_socket(flow->plan.receiver, flow->plan.listen_cc);
	if (bind(flow->listener, (void *)&address, sizeof(address)) || listen(flow->listener, 1))
		fail_errno("cannot listen");
	watch(flow->listener, EPOLLIN, ROLE_LISTENER, number);
}

static bool is_exact(const struct flow_plan *plan)
{
	return plan->app == APP_ON_OFF || plan->stop != NEVER;
}

static void connect_flow(uint32_t number)
{
	struct flow *flow = &flows[number];
	const struct flow_plan *plan = &flow->plan;
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)(FIRST_PORT + number)),
		.sin_addr.s_addr = plan->source,
	};

	flow->sender = tcp_socket(plan->sender, plan->connect_cc);
	/* The source port names the flow too: nothing is left to the kernel's choice. */
	if (bind(flow->sender, (void *)&address, sizeof(address)))
		fail_errno("cannot bind");
	option(flow->sender, IPPROTO_TCP, TCP_NOTSENT_LOWAT, is_exact(plan) ? UNSENT_EXACT : UNSENT_BULK, "the unsent limit");
	/* Small writes leave when they are written. */
	option(flow->sender, IPPROTO_TCP, TCP_NODELAY, 1, "no delay");
	address.sin_addr.s_addr = plan->destination;
	if (connect(flow->sender, (void *)&address, sizeof(address)) && errno != EINPROGRESS)
		fail_errno("cannot connect");
	/* Positions are counted from the first byte of the stream, so the socket must have a sequence number already. */
	if (plan->app == APP_TRANSFERS)
		option(flow->sender, SOL_SOCKET, SO_TIMESTAMPING,
		       SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_OPT_ID | OPT_ID_TCP | SOF_TIMESTAMPING_OPT_TSONLY |
		       SOF_TIMESTAMPING_SOFTWARE, "timestamps");
	watch(flow->sender, EPOLLOUT | EPOLLRDHUP | EPOLLET, ROLE_SENDER, number);
}

/* Measurements. */

static void read_facts(struct flow *flow)
{
	struct tcp_facts tcp;
	struct dctcp_facts dctcp;
	socklen_t size = sizeof(tcp);
	struct flow_record *r = &flow->last;

	if (flow->sender >= 0 && getsockopt(flow->sender, IPPROTO_TCP, TCP_INFO, &tcp, &size) == 0) {
		r->ca_state = tcp.ca_state;
		r->ecn = (tcp.options & TCPI_OPT_ECN ? 1 : 0) | (tcp.options & TCPI_OPT_ECN_SEEN ? 2 : 0);
		r->cwnd = tcp.snd_cwnd;
		r->ssthresh = tcp.snd_ssthresh;
		r->srtt_us = tcp.rtt;
		r->retransmissions = tcp.total_retrans;
		r->timeouts = size >= 242 ? tcp.total_rto : 0;
		r->delivered = tcp.delivered;
		r->delivered_ce = tcp.delivered_ce;
		size = sizeof(dctcp);
		r->has_alpha = flow->is_dctcp &&
			       getsockopt(flow->sender, IPPROTO_TCP, TCP_CC_INFO, &dctcp, &size) == 0 &&
			       size == sizeof(dctcp) && dctcp.enabled;
		r->alpha = r->has_alpha ? dctcp.alpha : 0;
	}
	size = sizeof(tcp);
	if (flow->receiver >= 0 && getsockopt(flow->receiver, IPPROTO_TCP, TCP_INFO, &tcp, &size) == 0)
		/* The kernel counts the FIN. */
		r->received = tcp.bytes_received - (tcp.state != TCP_ESTABLISHED);
}

static void report(uint32_t number, enum record_kind kind, uint64_t now, uint64_t value)
{
	struct flow_record record = flows[number].last;

	record.time_ns = now - origin;
	record.flow = number;
	record.kind = (uint8_t)kind;
	record.transfers_begun = flows[number].begun;
	if (kind == REC_COMPLETED)
		record.received = value;
	output_record(&record);
}

static void sample(uint64_t now)
{
	for (uint32_t i = 0; i < flow_count; i++) {
		/* What has ended says nothing new. */
		if (flows[i].sender < 0 || flows[i].finished)
			continue;
		read_facts(&flows[i]);
		report(i, REC_SAMPLE, now, 0);
	}
	output_lines(origin);
}

/* Applications. */

static void finish(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];

	if (flow->finished)
		return;
	flow->finished = true;
	read_facts(flow);
	report(number, REC_FINISHED, now, 0);
}

static void stop(struct flow *flow)
{
	if (flow->stopped)
		return;
	flow->stopped = true;
	flow->greedy = false;
	flow->to_write = 0;
	if (flow->connected)
		shutdown(flow->sender, SHUT_WR);
}

/*
 * What an endless stream writes next: whole segments up to the unsent limit. The end of a write, and a write that meets the limit,
 * has PSH, which a receiver answers at once (`tcp_measure_rcv_mss`, `__tcp_cleanup_rbuf`): how often would be this program's
 * choice. The call after that finds no room, and the kernel says when there is some.
 */
static uint64_t stream_piece(const struct flow *flow)
{
	int limit = is_exact(&flow->plan) ? UNSENT_EXACT : UNSENT_BULK, unsent, mss;
	socklen_t size = sizeof(mss);

	if (ioctl(flow->sender, SIOCOUTQNSD, &unsent) || getsockopt(flow->sender, IPPROTO_TCP, TCP_MAXSEG, &mss, &size))
		fail_errno("cannot ask how much is unsent");
	return (uint64_t)mss * (unsent + mss < limit ? (unsigned int)((limit - unsent) / mss) : 1);
}

static void write_more(struct flow *flow)
{
	if (!flow->connected)
		return;
	while (!flow->stopped && (flow->greedy || flow->to_write)) {
		uint64_t want = flow->greedy ? stream_piece(flow) : flow->to_write;
		bool last = !flow->greedy && flow->plan.app == APP_TRANSFERS && flow->begun == flow->plan.rounds &&
			    want <= WRITE_SIZE;
		ssize_t size = send(flow->sender, zeros, want < WRITE_SIZE ? want : WRITE_SIZE,
				    MSG_NOSIGNAL | (flow->greedy || last ? MSG_MORE : 0));

		if (size < 0) {
			if (errno == EAGAIN)
				return;
			fail_errno("cannot send");
		}
		flow->sent += (uint64_t)size;
		if (!flow->greedy)
			flow->to_write -= (uint64_t)size;
		/* The FIN travels with the last data. */
		if (last && !flow->to_write)
			stop(flow);
	}
}

static void begin_transfer(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];

	if (flow->stopped)
		return;
	flow->begun++;
	flow->began_at = now;
	flow->target += flow->plan.bytes;
	flow->to_write += flow->plan.bytes;
	write_more(flow);
}

/* The last byte of the transfer under way was acknowledged. */
static void transfer_done(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];
	const struct flow_plan *plan = &flow->plan;

	flow->completed++;
	report(number, REC_COMPLETED, now, now - flow->began_at);
	if (flow->begun < plan->rounds && !flow->stopped) {
		uint64_t due = flow->first_at + plan->interval * flow->begun;

		if (due > now)
			at(due, TASK_WRITE, number);
		else
			begin_transfer(number, now);
	} else {
		finish(number, now);
	}
}

static void work(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];
	const struct flow_plan *plan = &flow->plan;

	switch (plan->app) {
	case APP_BULK:
		flow->greedy = true;
		write_more(flow);
		break;
	case APP_TRANSFERS:
		begin_transfer(number, now);
		break;
	case APP_RATE:
		flow->to_write += plan->bytes;
		write_more(flow);
		flow->next_at += plan->interval;
		if (!flow->stopped)
			at(flow->next_at, TASK_WRITE, number);
		break;
	case APP_ON_OFF:
		flow->greedy = !flow->greedy;
		write_more(flow);
		flow->next_at += flow->greedy ? plan->interval : plan->off;
		if (!flow->stopped)
			at(flow->next_at, TASK_WRITE, number);
		break;
	}
}

/* Events of sockets. */

static void read_acknowledgements(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];

	for (;;) {
		char control[512];
		struct msghdr message = { .msg_control = control, .msg_controllen = sizeof(control) };

		if (recvmsg(flow->sender, &message, MSG_ERRQUEUE) < 0)
			return;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
			const struct sock_extended_err *error = (const void *)CMSG_DATA(c);

			/* ee_data: position of the last byte, counted from the first after the option was set; 32 bits. */
			if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR &&
			    error->ee_origin == SO_EE_ORIGIN_TIMESTAMPING && flow->completed < flow->begun &&
			    error->ee_data + 1 == (uint32_t)flow->target && !flow->to_write)
				transfer_done(number, now);
		}
	}
}

static void become_connected(struct flow *flow)
{
	flow->connected = true;
	if (strcmp(flow->plan.cc, flow->plan.connect_cc) != 0)
		use_cc(flow->sender, flow->plan.cc);
	/* It was stopped before. */
	if (flow->stopped)
		shutdown(flow->sender, SHUT_WR);
}

static void sender_event(uint32_t number, uint32_t events, uint64_t now)
{
	struct flow *flow = &flows[number];

	if (events & EPOLLERR) {
		int error = 0;
		socklen_t size = sizeof(error);

		read_acknowledgements(number, now);
		getsockopt(flow->sender, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error) {
			/* The connection failed (or timed out): the flow ends, and the host says so. */
			flow->stopped = true;
			flow->finished = true;
			report(number, REC_REFUSED, now, 0);
			return;
		}
	}
	if (events & EPOLLOUT) {
		if (!flow->connected)
			become_connected(flow);
		write_more(flow);
	}
	/* The receiver closes when it has everything. */
	if (events & (EPOLLRDHUP | EPOLLHUP) && flow->stopped) {
		finish(number, now);
		close(flow->sender);
		flow->sender = -1;
	}
}

static void accept_flow(uint32_t number)
{
	struct flow *flow = &flows[number];
	int fd = accept4(flow->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	flow->receiver = fd;
	close(flow->listener);
	flow->listener = -1;
	if (flow->plan.read_chunk > 1)
		option(fd, SOL_SOCKET, SO_RCVLOWAT, (int)flow->plan.read_chunk, "the read chunk");
	watch(fd, EPOLLIN | EPOLLRDHUP, ROLE_RECEIVER, number);
}

static void receive(uint32_t number)
{
	struct flow *flow = &flows[number];
	/* With MSG_TRUNC the kernel copies nothing. */
	ssize_t size = recv(flow->receiver, zeros, 1 << 30, MSG_TRUNC | MSG_DONTWAIT);

	if (size > 0 || (size < 0 && errno == EAGAIN))
		return;
	read_facts(flow);
	close(flow->receiver);
	flow->receiver = -1;
}

static void arm(uint64_t when)
{
	struct itimerspec spec = { .it_value = { .tv_sec = (time_t)(when / 1000000000), .tv_nsec = (long)(when % 1000000000) } };

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL))
		fail_errno("cannot set the timer");
}

static void start(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];

	flow->first_at = flow->next_at = now;
	listen_for(number);
	connect_flow(number);
	work(number, now);
}

/* Does what is due; false when the experiment is over. */
static bool agenda(uint64_t duration, uint64_t every)
{
	static uint64_t shown;
	uint64_t now = now_ns();

	while (heap_size && heap[0].at <= now) {
		struct entry entry = next();

		switch (entry.task) {
		case TASK_START:
			start(entry.flow, entry.at);
			break;
		case TASK_STOP:
			stop(&flows[entry.flow]);
			break;
		case TASK_WRITE:
			if (flows[entry.flow].plan.app == APP_TRANSFERS)
				begin_transfer(entry.flow, entry.at);
			else
				work(entry.flow, entry.at);
			break;
		case TASK_SAMPLE:
			sample(entry.at);
			/* A flow of UINT32_MAX marks the one at which the window opens: it does not repeat. */
			if (entry.flow == 0 && entry.at + every < origin + duration)
				at(entry.at + every, TASK_SAMPLE, 0);
			if ((entry.at - origin) * 50 / duration > shown) {
				shown = (entry.at - origin) * 50 / duration;
				printf("shoal-progress %llu\n", (unsigned long long)(2 * shown));
			}
			break;
		case TASK_END:
			sample(entry.at);
			return false;
		}
	}
	arm(heap[0].at);
	return true;
}

void flows_run(uint64_t duration, uint64_t every, uint64_t window_start)
{
	struct epoll_event events[256];
	struct flow_record end = { .kind = REC_END };

	epoll = epoll_create1(EPOLL_CLOEXEC);
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (epoll < 0 || timer < 0)
		fail_errno("cannot make the event loop");
	watch(timer, EPOLLIN | EPOLLET, ROLE_TIMER, 0);
	/* A whole second: the same phase of all kernel timers whatever the set-up took. */
	origin = (now_ns() / 1000000000 + 2) * 1000000000;
	output_open(origin);
	at(origin + window_start, TASK_SAMPLE, UINT32_MAX);
	at(origin + every, TASK_SAMPLE, 0);
	for (uint32_t i = 0; i < flow_count; i++) {
		if (flows[i].plan.start < duration)
			at(origin + flows[i].plan.start, TASK_START, i);
		if (flows[i].plan.stop < duration)
			at(origin + flows[i].plan.stop, TASK_STOP, i);
	}
	at(origin + duration, TASK_END, 0);
	while (agenda(duration, every)) {
		int count = epoll_wait(epoll, events, sizeof(events) / sizeof(*events), -1);
		uint64_t now = now_ns();

		for (int i = 0; i < count; i++) {
			uint32_t flow = (uint32_t)events[i].data.u64;

			switch ((enum role)(events[i].data.u64 >> 32)) {
			case ROLE_SENDER:
				sender_event(flow, events[i].events, now);
				break;
			case ROLE_LISTENER:
				accept_flow(flow);
				break;
			case ROLE_RECEIVER:
				receive(flow);
				break;
			case ROLE_TIMER:
				break;
			}
		}
	}
	end.time_ns = duration;
	output_record(&end);
	output_close();
}
