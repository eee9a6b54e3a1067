/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The application: a thread of its own, because its system calls may block while packets arrive and
 * leave.
 */
#include "guest.h"
#include "script.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t posted;
static int done;
static struct job *current;

static void *work(void *unused)
{
	(void)unused;
	while (sem_wait(&posted) == 0) {
		struct job *job = current;
		const long *a = job->arguments;
		uint64_t one = 1;

		errno = 0;
		job->result = syscall(job->number, a[0], a[1], a[2], a[3], a[4], a[5]);
		job->error = errno;
		job->ended_ns = now_ns();
		if (write(done, &one, sizeof(one)) != sizeof(one))
			fail_errno("the caller cannot answer");
	}
	fail_errno("the caller cannot wait");
}

int caller_start(void)
{
	pthread_t thread;

	done = eventfd(0, EFD_CLOEXEC);
	if (done < 0 || sem_init(&posted, 0, 0) || pthread_create(&thread, NULL, work, NULL))
		fail_errno("cannot start the caller");
	return done;
}

void caller_post(struct job *job)
{
	current = job;
	sem_post(&posted);
}

void caller_take(void)
{
	uint64_t count;

	if (read(done, &count, sizeof(count)) != sizeof(count))
		fail_errno("cannot take the end of a call");
}
