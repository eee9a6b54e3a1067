/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The application: a thread of its own, because its system calls may block while packets arrive and
 * leave.
 */
#include "guest.h"
#include "script.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static int posted, done;
static struct job *current;

static void *work(void *unused)
{
	(void)unused;
	for (;;) {
		uint64_t count;
		struct job *job;
		const long *a;

		if (read(posted, &count, sizeof(count)) != sizeof(count))
			fail_errno("the caller cannot wait");
		job = current;
		a = job->arguments;
		errno = 0;
		job->result = syscall(job->number, a[0], a[1], a[2], a[3], a[4], a[5]);
		job->error = errno;
		job->ended_ns = now_ns();
		count = 1;
		if (write(done, &count, sizeof(count)) != sizeof(count))
			fail_errno("the caller cannot answer");
	}
	return NULL;
}

int caller_start(void)
{
	pthread_t thread;

	posted = eventfd(0, EFD_CLOEXEC);
	done = eventfd(0, EFD_CLOEXEC);
	if (posted < 0 || done < 0 || pthread_create(&thread, NULL, work, NULL))
		fail_errno("cannot start the caller");
	return done;
}

void caller_post(struct job *job)
{
	uint64_t one = 1;

	current = job;
	if (write(posted, &one, sizeof(one)) != sizeof(one))
		fail_errno("cannot post a call");
}

void caller_take(void)
{
	uint64_t count;

	if (read(done, &count, sizeof(count)) != sizeof(count))
		fail_errno("cannot take the end of a call");
}
