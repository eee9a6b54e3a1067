/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The event loop: senders and receivers of streams, samples, and timed entries. */
#define _GNU_SOURCE
#include "flow.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/*
 * Bytes that every receiver reads at once: more than a sender writes before the first ACK, when half of the SYN's
 * window is enough for a PSH (`forced_push`), which the receiver acknowledges as soon as it has read it.
 */
#define READ_AT_ONCE (256 << 10)

static int timer;

static void sample(uint64_t now)
{
	iperf3_look();
	for (uint32_t i = 0; i < flow_count; i++) {
		/* A flow that has ended has nothing new to report. */
		if (flows[i].sender < 0 || flows[i].finished)
			continue;
		read_facts(&flows[i]);
		report(i, REC_SAMPLE, now, 0);
	}
	output_lines(origin);
}

/* Called at the stop time of a flow. Frames that wait are still sent, because they count. */
static void stop_at(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];

	if (flow->plan.app == APP_REQUESTS) {
		exchange_stop(number, now);
	} else if (flow->plan.app == APP_DATAGRAMS) {
		flow->stopped = true;
		finish(number, now);
	} else if (flow->plan.app == APP_FRAMES && flow->to_write) {
		flow->closing = true;
	} else {
		stop(flow);
	}
}

/* Another controller takes over; a flow that has ended keeps its own. */
static void replace_at(uint32_t number)
{
	struct flow *flow = &flows[number];

	memcpy(flow->plan.cc, flow->plan.next_cc, sizeof(flow->plan.cc));
	if (flow->sender >= 0)
		use_cc(flow->sender, flow->plan.cc);
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

/* The last byte of the current transfer was acknowledged. */
static void transfer_done(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];
	const struct flow_plan *plan = &flow->plan;

	flow->completed++;
	report(number, REC_COMPLETED, now, now - flow->began_at);
	if (flow->begun < plan->rounds && !flow->stopped) {
		uint64_t due = flow->first_at + plan->interval * flow->begun;

		if (due > now)
			agenda_add(due, TASK_WORK, number);
		else
			begin_transfer(number, now);
	} else {
		finish(number, now);
	}
}

/* Called when the receiver has read more of the stream. */
static void delivered(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];
	const struct flow_plan *plan = &flow->plan;

	if (plan->app == APP_FRAMES)
		report(number, REC_DELIVERED, now, flow->delivered);
	if (plan->app == APP_TRANSFERS && plan->barrier != NEVER && flow->completed < flow->begun &&
	    flow->delivered >= flow->target) {
		flow->completed++;
		report(number, REC_COMPLETED, now, now - flow->began_at);
		barrier_arrive(number, now);
	}
}

/* Schedules the next write an interval after the time that was due, not after the present time. */
static void again(uint32_t number, uint64_t interval)
{
	struct flow *flow = &flows[number];

	flow->next_at += interval;
	agenda_add(flow->next_at, TASK_WORK, number);
}

static void work(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];
	const struct flow_plan *plan = &flow->plan;

	if (flow->stopped || flow->closing)
		return;
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
		again(number, plan->interval);
		break;
	case APP_ON_OFF:
		flow->greedy = !flow->greedy;
		write_more(flow);
		again(number, flow->greedy ? plan->interval : plan->off);
		break;
	case APP_FRAMES:
		flow->begun++;
		flow->to_write += frame_bytes(flow);
		report(number, REC_WRITTEN, now, flow->sent + flow->to_write);
		write_more(flow);
		again(number, plan->interval);
		break;
	case APP_REQUESTS:
		exchange_begin(number, now);
		break;
	case APP_DATAGRAMS:
		datagram_send(number, now);
		break;
	case APP_IPERF3:
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

/* Whether the connection failed (or timed out): the flow ends, and the host is told. */
static bool has_failed(uint32_t number, int fd, uint64_t now)
{
	struct flow *flow = &flows[number];
	int error = 0;
	socklen_t size = sizeof(error);

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	if (!error || flow->finished)
		return error;
	flow->stopped = true;
	flow->finished = true;
	report(number, REC_REFUSED, now, 0);
	return true;
}

static void become_connected(struct flow *flow)
{
	flow->connected = true;
	if (strcmp(flow->plan.cc, flow->plan.connect_cc) != 0)
		use_cc(flow->sender, flow->plan.cc);
	/* The flow was stopped before it connected. */
	if (flow->stopped)
		shutdown(flow->sender, SHUT_WR);
}

static void sender_event(uint32_t number, uint32_t events, uint64_t now)
{
	struct flow *flow = &flows[number];

	if (events & EPOLLERR) {
		read_acknowledgements(number, now);
		if (has_failed(number, flow->sender, now))
			return;
	}
	if (flow->plan.app == APP_REQUESTS) {
		server_event(number, events, now);
		return;
	}
	if (events & EPOLLOUT) {
		if (!flow->connected)
			become_connected(flow);
		write_more(flow);
	}
	/* The receiver closes its end when it has read everything. */
	if (events & (EPOLLRDHUP | EPOLLHUP) && flow->stopped) {
		finish(number, now);
		close(flow->sender);
		flow->sender = -1;
	}
}

static void receiver_event(uint32_t number, uint32_t events, uint64_t now)
{
	struct flow *flow = &flows[number];
	uint64_t before = flow->delivered;
	ssize_t size;

	if (events & EPOLLERR && has_failed(number, flow->receiver, now))
		return;
	if (flow->plan.app == APP_REQUESTS) {
		client_event(number, events, now);
		return;
	}
	size = discard(flow->receiver);
	if (size > 0) {
		flow->delivered += (uint64_t)size;
		delivered(number, now);
		if (flow->plan.read_chunk > 1 && before < READ_AT_ONCE && flow->delivered >= READ_AT_ONCE)
			read_in_chunks(flow);
		return;
	}
	if (size < 0 && errno == EAGAIN)
		return;
	read_facts(flow);
	close(flow->receiver);
	flow->receiver = -1;
}

static void arm(uint64_t when)
{
	struct itimerspec spec = {
		.it_value = { .tv_sec = (time_t)(when / 1000000000), .tv_nsec = (long)(when % 1000000000) },
	};

	if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL))
		fail_errno("cannot set the timer");
}

static void start(uint32_t number, uint64_t now)
{
	struct flow *flow = &flows[number];

	flow->first_at = flow->next_at = now;
	if (flow->plan.app == APP_DATAGRAMS) {
		datagrams_open(number, now);
		return;
	}
	if (flow->plan.app == APP_IPERF3) {
		iperf3_start(number);
		return;
	}
	listen_for(number);
	connect_flow(number);
	work(number, now);
}

/* Carries out what is due; returns false when the experiment is over. */
static bool do_what_is_due(uint64_t duration, uint64_t every)
{
	static uint64_t shown;
	uint64_t now = now_ns();
	struct entry entry;

	while (agenda_due(now, &entry)) {
		switch (entry.task) {
		case TASK_START:
			start(entry.flow, entry.at);
			break;
		case TASK_STOP:
			stop_at(entry.flow, entry.at);
			break;
		case TASK_REPLACE:
			replace_at(entry.flow);
			break;
		case TASK_WORK:
			work(entry.flow, entry.at);
			break;
		case TASK_SAMPLE:
			sample(entry.at);
			if (entry.flow == UINT32_MAX) {
				paths_report(entry.at - origin);
				cards_report(entry.at - origin);
			}
			/*
			 * The flow number UINT32_MAX marks the sample at which the measurement
			 * window opens; it does not repeat.
			 */
			if (entry.flow == 0 && entry.at + every < origin + duration)
				agenda_add(entry.at + every, TASK_SAMPLE, 0);
			/* Progress for the host, which sees by it that time has not stopped. */
			if ((entry.at - origin) * 1000 / duration > shown) {
				shown = (entry.at - origin) * 1000 / duration;
				printf("shoal-progress %llu\n", (unsigned long long)shown);
			}
			break;
		case TASK_END:
			sample(entry.at);
			paths_report(entry.at - origin);
			cards_report(entry.at - origin);
			return false;
		}
	}
	arm(agenda_next());
	return true;
}

static void handle(const struct epoll_event *event, uint64_t now)
{
	uint32_t flow = (uint32_t)event->data.u64;

	switch ((enum role)(event->data.u64 >> 32)) {
	case ROLE_SENDER:
		sender_event(flow, event->events, now);
		break;
	case ROLE_LISTENER:
		accept_from(&flows[flow]);
		break;
	case ROLE_RECEIVER:
		receiver_event(flow, event->events, now);
		break;
	case ROLE_SINK:
		datagrams_receive(flow, now);
		break;
	case ROLE_TIMER:
	case ROLE_RECORDS:
		break;
	}
}

/*
 * Waits for events. Records are moved in between without reading the clock, which would take time:
 * recording must not change anything.
 */
static int wait_for_work(struct epoll_event *events, int count)
{
	for (;;) {
		int found = wait_for_events(events, count), kept = 0;

		for (int i = 0; i < found; i++) {
			if ((enum role)(events[i].data.u64 >> 32) == ROLE_RECORDS)
				output_lines(origin);
			else
				events[kept++] = events[i];
		}
		/* Interrupted: the caller carries out what is due. */
		if (kept || found <= 0)
			return kept;
	}
}

void flows_run(uint64_t duration, uint64_t every, uint64_t window_start)
{
	struct epoll_event events[256];
	struct flow_record end = { .kind = REC_END };

	for (uint32_t i = 0; i < flow_count; i++)
		barrier_join(i);
	sockets_open();
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (timer < 0)
		fail_errno("cannot make the timer");
	watch(timer, EPOLLIN | EPOLLET, ROLE_TIMER, 0);
	for (uint32_t i = 0; i < flow_count; i++)
		if (flows[i].plan.app == APP_IPERF3)
			iperf3_listen(i);
	carriers_wait();
	/*
	 * A whole second, so that kernel timers have the same phase however long the set-up took.
	 */
	origin = (now_ns() / 1000000000 + 2) * 1000000000;
	watch(output_open(origin), EPOLLIN, ROLE_RECORDS, 0);
	lines_start(origin);
	agenda_add(origin + window_start, TASK_SAMPLE, UINT32_MAX);
	agenda_add(origin + every, TASK_SAMPLE, 0);
	for (uint32_t i = 0; i < flow_count; i++) {
		if (flows[i].plan.start < duration)
			agenda_add(origin + flows[i].plan.start, TASK_START, i);
		if (flows[i].plan.stop < duration)
			agenda_add(origin + flows[i].plan.stop, TASK_STOP, i);
		if (flows[i].plan.replaced < duration)
			agenda_add(origin + flows[i].plan.replaced, TASK_REPLACE, i);
	}
	agenda_add(origin + duration, TASK_END, 0);
	while (do_what_is_due(duration, every)) {
		int count = wait_for_work(events, sizeof(events) / sizeof(*events));
		uint64_t now = now_ns();

		for (int i = 0; i < count; i++)
			handle(&events[i], now);
	}
	end.time_ns = duration;
	output_record(&end);
	output_close();
	show_end();
}
