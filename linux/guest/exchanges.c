/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The client connects, sends a request, waits for the last byte of the response, thinks, and sends the next request;
 * the server responds immediately. Both directions share one connection.
 */
#include "flow.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static const char request[1 << 16];

/* Writes as much of the request as the socket takes. */
static void send_request(struct flow *flow)
{
	while (flow->connected && flow->asking) {
		size_t size = flow->asking < sizeof(request) ? flow->asking : sizeof(request);
		ssize_t sent = send(flow->receiver, request, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EAGAIN)
			return;
		if (sent < 0)
			fail_errno("cannot send a request");
		flow->asking -= (uint64_t)sent;
	}
}

static bool is_waiting(const struct flow *flow)
{
	return flow->completed < flow->begun;
}

static void close_client(struct flow *flow)
{
	flow->stopped = true;
	if (flow->receiver >= 0 && flow->connected)
		shutdown(flow->receiver, SHUT_WR);
}

void exchange_begin(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];

	if (flow->stopped)
		return;
	flow->begun++;
	report(number, REC_ASKED, now, now - origin);
	flow->asking += flow->plan.request;
	send_request(flow);
}

void exchange_stop(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];

	(void)now;
	/* A client still waits for the last response. */
	if (is_waiting(flow))
		flow->closing = true;
	else
		close_client(flow);
}

static void answered(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];
	const struct flow_plan *plan = &flow->plan;

	flow->completed++;
	report(number, REC_ANSWERED, now, 0);
	if (flow->completed >= plan->rounds || flow->closing)
		close_client(flow);
	if (plan->barrier != NEVER)
		barrier_arrive(number, now);
	else if (!flow->stopped)
		agenda_add(now + gaps_next(&flow->gaps, plan->interval), TASK_WORK, number);
}

void client_event(uint32_t number, uint32_t events, uint64_t now)
{
	struct flow *flow = &flows[number];
	ssize_t size;

	if (events & EPOLLOUT) {
		if (!flow->connected) {
			flow->connected = true;
			open_window(flow->receiver);
			if (strcmp(flow->plan.listen_cc, flow->plan.connect_cc) != 0)
				use_cc(flow->receiver, flow->plan.listen_cc);
			if (flow->stopped)
				shutdown(flow->receiver, SHUT_WR);
		}
		send_request(flow);
	}
	while ((size = discard(flow->receiver)) > 0) {
		flow->delivered += (uint64_t)size;
		if (is_waiting(flow) && flow->delivered >= flow->plan.bytes * flow->begun)
			answered(number, now);
	}
	/* The server closes its end after the client has closed. */
	if (size == 0 && flow->stopped && !flow->finished) {
		finish(number, now);
		close(flow->receiver);
		close(flow->sender);
		flow->receiver = flow->sender = -1;
	}
}

void server_event(uint32_t number, uint32_t events, uint64_t now)
{
	struct flow *flow = &flows[number];
	ssize_t size;

	(void)now;
	while ((size = discard(flow->sender)) > 0) {
		flow->asked += (uint64_t)size;
		while (flow->asked >= flow->plan.request) {
			flow->asked -= flow->plan.request;
			flow->to_write += flow->plan.bytes;
		}
	}
	if (events & EPOLLOUT || flow->to_write)
		write_more(flow);
	/*
	 * Only once: every call wakes the watcher of the socket, which would be repeated for ever
	 * at the same virtual time.
	 */
	if (size == 0 && !flow->hung_up) {
		flow->hung_up = true;
		shutdown(flow->sender, SHUT_WR);
	}
}
