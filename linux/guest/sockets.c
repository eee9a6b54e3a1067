/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sockets of all hosts belong to this process and to one epoll set, so that nothing needs polling.
 *
 * A sender keeps little unsent data in its socket (TCP_NOTSENT_LOWAT), so that only the window decides what is sent and
 * memory stays bounded. A receiver discards data in the kernel (MSG_TRUNC). In long flows it is soon woken once for
 * each chunk only (SO_RCVLOWAT), which costs less and changes no ACK but that of a packet with PSH, which waits for the
 * read.
 */
#define _GNU_SOURCE
#include "flow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* SOF_TIMESTAMPING_OPT_ID_TCP, which exists since Linux 6.2. */
#define OPT_ID_TCP (1 << 16)

static int epoll;

void sockets_open(void)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		fail_errno("cannot make the event loop");
}

void watch(int fd, uint32_t events, enum role role, uint32_t flow)
{
	struct epoll_event event = { .events = events, .data.u64 = (uint64_t)role << 32 | flow };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		fail_errno("cannot watch a socket");
}

#define SENDER_EVENTS (EPOLLOUT | EPOLLRDHUP | EPOLLET)
/* A server reads, too, and so does a client. */
#define PEER_EVENTS (EPOLLIN | SENDER_EVENTS)

void watch_sender_again(const struct flow *flow)
{
	struct epoll_event event = {
		.events = flow->plan.app == APP_REQUESTS ? PEER_EVENTS : SENDER_EVENTS,
		.data.u64 = (uint64_t)ROLE_SENDER << 32 | (uint32_t)(flow - flows),
	};

	if (epoll_ctl(epoll, EPOLL_CTL_MOD, flow->sender, &event))
		fail_errno("cannot watch a socket");
}

int wait_for_events(struct epoll_event *events, int count)
{
	return epoll_wait(epoll, events, count, -1);
}

static void option(int fd, int level, int name, int value, const char *what)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		fail_errno("cannot set %s", what);
}

void use_cc(int fd, const char *cc)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, (socklen_t)strlen(cc)))
		fail_errno("the kernel has no congestion control `%s`", cc);
}

/*
 * Lets TCP pace the socket itself. It does so for every rate that is set as the largest one, but for the value that
 * means "no limit" (`sk_setsockopt`); this one limits as little.
 */
static void pace(int fd)
{
	unsigned long limit = ~0UL - 1;

	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &limit, sizeof(limit)))
		fail_errno("cannot pace a socket");
}

/* The two bits of ECN are the kernel's own (`__ip_sock_set_tos`). */
static void use_code_point(int fd, uint32_t code_point)
{
	int tos = (int)code_point << 2;

	if (tos && setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)))
		fail_errno("cannot set the code point of a socket");
}

static int tcp_socket(int host, const char *cc, uint32_t code_point)
{
	int fd;

	host_enter(host);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fail_errno("cannot make a socket");
	use_cc(fd, cc);
	use_code_point(fd, code_point);
	if (host_paces(host))
		pace(fd);
	return fd;
}

/* More than any window (65535 << 14). */
#define ANY_WINDOW (1 << 30)

static void window(int fd, const struct tcp_repair_window *value)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_WINDOW, value, sizeof(*value)))
		fail_errno("cannot set the window of a socket");
}

/*
 * A receiver acknowledges every packet while its window may grow (`tcp_grow_window`: quick |= 1), and the larger its
 * buffer, the longer it does. The models have no buffers that grow, and the size of this buffer must not influence a
 * measurement; so the window is fully open from the first packet on. TCP_WINDOW_CLAMP raises `rcv_ssthresh`, the
 * variable that grows, up to the offered window, which TCP_REPAIR_WINDOW makes large for that moment. Nothing is sent
 * meanwhile, and the bound by memory (`tcp_space`) stays in force.
 */
void open_window(int fd)
{
	struct tcp_repair_window own, lent;
	socklen_t size = sizeof(own);

	option(fd, IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_ON, "the repair");
	if (getsockopt(fd, IPPROTO_TCP, TCP_REPAIR_WINDOW, &own, &size))
		fail_errno("cannot read the window of a socket");
	lent = own;
	lent.rcv_wnd = ANY_WINDOW;
	window(fd, &lent);
	option(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, ANY_WINDOW, "the bound of the window");
	window(fd, &own);
	/* Ends the repair without the window probe that it would otherwise send. */
	option(fd, IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_OFF_NO_WP, "the end of the repair");
}

static struct sockaddr_in place(uint32_t number, uint32_t address)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)(FIRST_PORT + number)),
		.sin_addr.s_addr = address,
	};
}

static bool client_asks(const struct flow *flow)
{
	return flow->plan.app == APP_REQUESTS;
}

void listen_for(uint32_t number)
{
	struct flow *flow = &flows[number];
	const struct flow_plan *plan = &flow->plan;
	bool server = client_asks(flow);
	struct sockaddr_in address = place(number, server ? plan->source : plan->destination);

	flow->listener = tcp_socket(server ? plan->sender : plan->receiver, server ? plan->cc : plan->listen_cc,
				    plan->code_point);
	if (bind(flow->listener, (void *)&address, sizeof(address)) || listen(flow->listener, 1))
		fail_errno("cannot listen");
	watch(flow->listener, EPOLLIN, ROLE_LISTENER, number);
}

/* Prepares the socket of the end that writes data. */
static void prepare_writer(struct flow *flow)
{
	option(flow->sender, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)flow->plan.unsent_limit, "the unsent limit");
	/* Small writes are sent immediately. */
	option(flow->sender, IPPROTO_TCP, TCP_NODELAY, 1, "no delay");
}

void connect_flow(uint32_t number)
{
	struct flow *flow = &flows[number];
	const struct flow_plan *plan = &flow->plan;
	bool asks = client_asks(flow);
	struct sockaddr_in own = place(number, asks ? plan->destination : plan->source);
	struct sockaddr_in there = place(number, asks ? plan->source : plan->destination);
	int fd = tcp_socket(asks ? plan->receiver : plan->sender, plan->connect_cc, plan->code_point);

	/* The source port identifies the flow too: nothing is left to the kernel's choice. */
	if (bind(fd, (void *)&own, sizeof(own)))
		fail_errno("cannot bind");
	if (asks) {
		flow->receiver = fd;
		option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "no delay");
	} else {
		flow->sender = fd;
		prepare_writer(flow);
	}
	if (connect(fd, (void *)&there, sizeof(there)) && errno != EINPROGRESS)
		fail_errno("cannot connect");
	/*
	 * Positions count from the first byte of the stream, so the socket must have its sequence
	 * number already.
	 */
	if (plan->app == APP_TRANSFERS && plan->barrier == NEVER)
		option(fd, SOL_SOCKET, SO_TIMESTAMPING,
		       SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_OPT_ID | OPT_ID_TCP | SOF_TIMESTAMPING_OPT_TSONLY |
		       SOF_TIMESTAMPING_SOFTWARE, "timestamps");
	if (asks)
		watch(fd, PEER_EVENTS, ROLE_RECEIVER, number);
	else
		watch(fd, SENDER_EVENTS, ROLE_SENDER, number);
}

int accept_from(struct flow *flow)
{
	uint32_t number = (uint32_t)(flow - flows);
	int fd = accept4(flow->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return -1;
	close(flow->listener);
	flow->listener = -1;
	if (client_asks(flow)) {
		flow->sender = fd;
		prepare_writer(flow);
		watch(fd, PEER_EVENTS, ROLE_SENDER, number);
		return fd;
	}
	flow->receiver = fd;
	open_window(fd);
	watch(fd, EPOLLIN | EPOLLRDHUP, ROLE_RECEIVER, number);
	return fd;
}

void read_in_chunks(const struct flow *flow)
{
	option(flow->receiver, SOL_SOCKET, SO_RCVLOWAT, (int)flow->plan.read_chunk, "the read chunk");
}

ssize_t discard(int fd)
{
	static char nothing;

	/* With MSG_TRUNC the kernel copies nothing. */
	return recv(fd, &nothing, 1 << 30, MSG_TRUNC | MSG_DONTWAIT);
}
