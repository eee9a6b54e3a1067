/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Applications that write a stream. */
#define _GNU_SOURCE
#include "flow.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define WRITE_SIZE (1 << 18)

static char zeros[WRITE_SIZE];

void stop(struct flow *flow)
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
 * Bytes that an endless stream writes next, or any on a host that does not segment: whole segments up to the limit of
 * unsent data, or 0 if there is no room (`__tcp_stream_memory_free`). The last segment of a write, and of a write that
 * meets the limit, has PSH, which a receiver acknowledges immediately (`tcp_measure_rcv_mss`, `__tcp_cleanup_rbuf`);
 * with other sizes this program would decide how often.
 */
static uint64_t stream_piece(const struct flow *flow)
{
	int limit = (int)flow->plan.unsent_limit, unsent, mss;
	socklen_t size = sizeof(mss);

	if (ioctl(flow->sender, SIOCOUTQNSD, &unsent) || getsockopt(flow->sender, IPPROTO_TCP, TCP_MAXSEG, &mss, &size))
		fail_errno("cannot ask how much is unsent");
	if (unsent >= limit)
		return 0;
	return (uint64_t)mss * (unsent + mss < limit ? (unsigned int)((limit - unsent) / mss) : 1);
}

void write_more(struct flow *flow)
{
	if (!flow->connected && flow->plan.app != APP_REQUESTS)
		return;
	while (flow->sender >= 0 && (!flow->stopped || flow->plan.app == APP_REQUESTS) && (flow->greedy || flow->to_write)) {
		uint64_t want = flow->greedy || flow->plan.in_pieces ? stream_piece(flow) : flow->to_write;
		bool last, more;
		ssize_t size;

		/*
		 * Ask the kernel to report when there is room. It would also report after a failed write, but in virtual time a
		 * system call that fails takes a microsecond (`handle_syscall`), during which no packet of the testbed moves.
		 */
		if (!want) {
			watch_sender_again(flow);
			return;
		}
		if (!flow->greedy && want > flow->to_write)
			want = flow->to_write;
		if (want > WRITE_SIZE)
			want = WRITE_SIZE;
		last = !flow->greedy && flow->plan.app == APP_TRANSFERS && flow->begun == flow->plan.rounds &&
		       want == flow->to_write;
		more = flow->greedy || last || (flow->plan.in_pieces && want < flow->to_write);
		size = send(flow->sender, zeros, want, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
		if (size < 0) {
			if (errno == EAGAIN)
				return;
			fail_errno("cannot send");
		}
		flow->sent += (uint64_t)size;
		if (!flow->greedy)
			flow->to_write -= (uint64_t)size;
		/* The FIN travels with the last data. */
		if ((last || flow->closing) && !flow->to_write && flow->plan.app != APP_REQUESTS)
			stop(flow);
	}
}
